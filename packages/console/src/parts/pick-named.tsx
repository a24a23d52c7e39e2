import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { ComboBox } from 'react-aria-components/ComboBox';
import { Input } from 'react-aria-components/Input';
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox';
import { Popover } from 'react-aria-components/Popover';
import { one } from '../api/client.ts';
import { PartnerName, PracticeName } from './name.tsx';

const kinds = {
  partner: { label: 'Partner', any: 'any partner', Name: PartnerName },
  practice_group: { label: 'Practice', any: 'any practice', Name: PracticeName },
};

interface PickNamedProps {
  kind: keyof typeof kinds;
  value: string | undefined;
  onChange: (id: string | undefined) => void;
}

/** A word of a filter's sentence that is a partner or a practice: there may be thousands, so it is found by a part of its name. */
export function PickNamed({ kind, value, onChange }: PickNamedProps) {
  const { label, Name } = kinds[kind];
  if (value === undefined) return <Finder kind={kind} onChange={onChange} />;
  return (
    <span className="picked">
      <Name id={value} />
      <Button className="link" aria-label={`Any ${label.toLowerCase()}`} onPress={() => onChange(undefined)}>
        ×
      </Button>
    </span>
  );
}

const LENGTH_MIN = 2;

function Finder({ kind, onChange }: Omit<PickNamedProps, 'value'>) {
  const { label, any } = kinds[kind];
  const [text, setText] = useState('');
  const [isOpen, setOpen] = useState(false);
  const q = text.trim();
  const first = useFirst(kind, isOpen);
  const found = useQuery({
    ...one('search', { query: { q } }),
    enabled: q.length >= LENGTH_MIN,
    placeholderData: keepPreviousData,
  });
  const hits = (found.data?.data ?? []).filter((hit) => hit.kind === kind);
  const items = q.length < LENGTH_MIN ? first : hits.map(({ id, title }) => ({ id, name: title }));
  return (
    <ComboBox
      aria-label={label}
      inputValue={text}
      onInputChange={setText}
      items={items}
      menuTrigger="focus"
      allowsEmptyCollection
      onOpenChange={setOpen}
      onSelectionChange={(key) => {
        if (key !== null) onChange(String(key));
      }}
    >
      <Input className="pick" placeholder={any} spellCheck={false} />
      <Popover className="popover">
        <ListBox<(typeof items)[number]>
          className="options"
          renderEmptyState={() => <p className="soft">Nothing is called that.</p>}
        >
          {({ name }) => (
            <ListBoxItem textValue={name}>
              <bdi>{name}</bdi>
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </ComboBox>
  );
}

const FIRST = 20;

/** Before anything is typed. */
function useFirst(kind: keyof typeof kinds, isWanted: boolean): { id: string; name: string }[] {
  const query = { page_size: FIRST };
  const partners = useQuery({ ...one('listPartners', { query }), enabled: isWanted && kind === 'partner' });
  const practices = useQuery({
    ...one('listAllPracticeGroups', { query }),
    enabled: isWanted && kind === 'practice_group',
  });
  return (kind === 'partner' ? partners : practices).data?.data ?? [];
}
