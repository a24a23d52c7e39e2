import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { Dialog } from 'react-aria-components/Dialog';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { one } from '../api/client.ts';
import type { SearchHit, SearchResult } from '../api/generated.ts';
import { Failure } from '../parts/failure.tsx';
import { pageOf, titleOf } from './addresses.ts';
import { type Recent, recent, remember } from './recent.ts';

/** One box for everything. An ID opens what it belongs to at once; for the rest, the first hit is one Enter away. */
export function Search({ isOpen, setOpen }: { isOpen: boolean; setOpen: (open: boolean) => void }) {
  return (
    <ModalOverlay className="overlay" isDismissable isOpen={isOpen} onOpenChange={setOpen}>
      <Modal className="modal search">
        <Dialog aria-label="Search">{({ close }) => <Box close={close} />}</Dialog>
      </Modal>
    </ModalOverlay>
  );
}

const LENGTH_MIN = 2;
const TYPING_MS = 150;

function Box({ close }: { close: () => void }) {
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const [active, setActive] = useState(0);
  const wasPasted = useRef(false);
  /** Enter was pressed before the answer came. */
  const opensFirst = useRef(false);
  const wanted = text.trim();
  const q = useSettled(wanted, wasPasted.current ? 0 : TYPING_MS);
  const isLongEnough = q.length >= LENGTH_MIN;
  const query = useQuery({
    ...one('search', { query: { q } }),
    enabled: isLongEnough,
    placeholderData: keepPreviousData,
  });
  const found = isLongEnough ? query.data : undefined;
  const isAnswered = found !== undefined && q === wanted && !query.isPlaceholderData;
  const groups = wanted ? byKind(found) : [{ title: 'Opened before', options: recent() }];
  const options = groups.flatMap((group) => group.options);

  const open = (option: Recent) => {
    remember(option);
    close();
    void navigate({ to: option.to });
  };

  useEffect(() => {
    if (!isAnswered) return;
    setActive(0);
    const first = options[0];
    const [exact, ...others] = found.data.filter((hit) => hit.exact);
    if (exact && others.length === 0 && (exact.matched === 'id' || wasPasted.current)) open(toOption(exact));
    else if (first && opensFirst.current) open(first);
    opensFirst.current = false;
  }, [isAnswered, found]);

  const press = (event: React.KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setActive((active + step + options.length) % Math.max(1, options.length));
    } else if (event.key === 'Enter') {
      event.preventDefault();
      const option = options[active];
      if (option && (isAnswered || !wanted)) open(option);
      else opensFirst.current = true;
    }
  };

  return (
    <>
      <input
        role="combobox"
        aria-label="Search"
        aria-expanded={options.length > 0}
        aria-controls="found"
        aria-autocomplete="list"
        aria-activedescendant={options[active] && `found-${active}`}
        placeholder="An ID, a name, a URL, a request ID, the last four of a key"
        autoComplete="off"
        spellCheck={false}
        maxLength={255}
        // biome-ignore lint/a11y/noAutofocus: the box was asked for
        autoFocus
        value={text}
        onPaste={() => {
          wasPasted.current = true;
        }}
        onChange={({ target, nativeEvent }) => {
          wasPasted.current = (nativeEvent as InputEvent).inputType === 'insertFromPaste';
          setText(target.value);
        }}
        onKeyDown={press}
      />
      <div id="found" role="listbox" aria-label="Found" className="found" tabIndex={-1}>
        {groups.map(({ title, options: ofGroup }) =>
          ofGroup.length === 0 ? null : (
            // biome-ignore lint/a11y/useSemanticElements: a group of options, not of fields
            <div key={title} role="group" aria-label={title}>
              <p className="soft" aria-hidden="true">
                {title}
              </p>
              {ofGroup.map((option) => {
                const index = options.indexOf(option);
                return (
                  // biome-ignore lint/a11y/useKeyWithClickEvents: keys are taken by the box
                  <div
                    key={`${option.to} ${option.title}`}
                    id={`found-${index}`}
                    role="option"
                    tabIndex={-1}
                    aria-selected={index === active}
                    ref={index === active ? intoSight : undefined}
                    onClick={() => open(option)}
                    onPointerMove={() => setActive(index)}
                  >
                    <bdi>{option.title}</bdi>
                    {option.subtitle && <bdi className="soft">{option.subtitle}</bdi>}
                  </div>
                );
              })}
            </div>
          ),
        )}
      </div>
      <p role="status" className="soft">
        {toStatus(wanted, isAnswered ? found : undefined)}
      </p>
      {query.error && isLongEnough && <Failure error={query.error} retry={() => void query.refetch()} />}
    </>
  );
}

const intoSight = (option: HTMLElement | null) => option?.scrollIntoView({ block: 'nearest' });

const toOption = ({ title, subtitle, open }: SearchHit): Recent => ({
  title,
  subtitle,
  to: pageOf(open.kind, open.id),
});

/** Hits come grouped already; a kind of which there is more says so. */
function byKind(found: SearchResult | undefined): { title: string; options: Recent[] }[] {
  if (!found) return [];
  return [...Map.groupBy(found.data, ({ kind }) => kind)].map(([kind, hits]) => ({
    title: found.more.includes(kind) ? `${titleOf(kind)}, the first ${hits.length}` : titleOf(kind),
    options: hits.map(toOption),
  }));
}

function toStatus(wanted: string, found: SearchResult | undefined): string {
  if (!wanted) return 'An ID opens at once. Names and addresses are found by a part of them.';
  if (wanted.length < LENGTH_MIN) return 'Type one character more.';
  if (!found) return '';
  if (found.count === 0) return 'Nothing is called that. IDs are found as a whole, names and URLs by a part.';
  return found.count === 1 ? '1 found. Enter opens it.' : `${found.count} found. Enter opens the marked one.`;
}

/** The value once it has not changed for so long. */
function useSettled(value: string, milliseconds: number): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value, milliseconds]);
  return settled;
}
