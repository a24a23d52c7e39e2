import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ComboBox } from 'react-aria-components/ComboBox';
import { FieldError } from 'react-aria-components/FieldError';
import { Input } from 'react-aria-components/Input';
import { Label } from 'react-aria-components/Label';
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox';
import { Popover } from 'react-aria-components/Popover';
import { Text } from 'react-aria-components/Text';
import { one } from '../api/client.ts';

export interface PickedPractice {
  id: string;
  name: string;
}

const LENGTH_MIN = 2;

/** Finds a practice by its name, its ODS code or its ID, as it is typed. */
export function PracticeSearch({
  label,
  description,
  error,
  onPick,
  clears = false,
}: {
  label: string;
  description?: string;
  error?: string | undefined;
  /** null: what was picked is being changed. */
  onPick: (practice: PickedPractice | null) => void;
  /** Whether it is empty again after each pick, for the next one. */
  clears?: boolean;
}) {
  const [text, setText] = useState('');
  const [picked, setPicked] = useState<PickedPractice | null>(null);
  // Each pick of several begins anew: a list that stays open would hide the page from those who hear it.
  const [round, setRound] = useState(0);
  const q = text.trim();
  const isAsked = q.length >= LENGTH_MIN && text !== picked?.name;
  const { data } = useQuery({
    ...one('search', { query: { q } }),
    enabled: isAsked,
    placeholderData: keepPreviousData,
  });
  const found = isAsked ? (data?.data ?? []).filter(({ kind }) => kind === 'practice_group') : [];
  const pick = (id: string | null) => {
    const hit = found.find((one) => one.id === id);
    if (!hit) return;
    const practice = { id: hit.id, name: hit.title };
    setPicked(clears ? null : practice);
    setText(clears ? '' : practice.name);
    if (clears) setRound(round + 1);
    onPick(practice);
  };
  const type = (next: string) => {
    setText(next);
    if (picked && next !== picked.name) {
      setPicked(null);
      onPick(null);
    }
  };
  return (
    <ComboBox
      key={round}
      autoFocus={round > 0}
      items={found}
      inputValue={text}
      onInputChange={type}
      value={picked?.id ?? null}
      onChange={(id) => pick(id as string | null)}
      menuTrigger="input"
      allowsEmptyCollection={isAsked}
      allowsCustomValue
      isInvalid={error !== undefined}
      validationBehavior="aria"
      className="practice-search"
    >
      <Label>{label}</Label>
      <Input placeholder="Name, ODS code or ID" autoComplete="off" spellCheck={false} />
      {description && <Text slot="description">{description}</Text>}
      <FieldError>{error}</FieldError>
      <Popover className="popover">
        <ListBox
          renderEmptyState={() => (
            <p className="soft small">
              {isAsked && data
                ? 'No practice is called that.'
                : 'The practices that are called so come here.'}
            </p>
          )}
        >
          {(hit: (typeof found)[number]) => (
            <ListBoxItem id={hit.id} textValue={hit.title} className="option">
              <span>{hit.title}</span>
              <span className="soft small">{hit.subtitle ?? hit.id}</span>
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </ComboBox>
  );
}
