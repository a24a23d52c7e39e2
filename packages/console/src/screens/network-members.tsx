import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Button, ComboBox, Input, Label, ListBox, ListBoxItem, Popover } from 'react-aria-components';
import { one } from '../api/client.ts';
import { pageOf } from '../frame/addresses.ts';
import { useEvery } from '../parts/every.ts';
import { toCount } from './network-words.tsx';

interface MembersProps {
  of: readonly string[];
  /** Who is in it now. */
  before: readonly string[];
  nameOf: (id: string) => string;
  /** Undefined: one may only look. */
  change: ((to: string[]) => void) | undefined;
}

/** The practices of a network; in a draft, those that join in brass and those that leave in red. */
export function Members({ of: members, before, nameOf, change }: MembersProps) {
  const left = before.filter((id) => !members.includes(id));
  return (
    <section aria-labelledby="members">
      <h2 id="members">{toCount(members.length, 'practice')}</h2>
      <ul className="plain lines">
        {members.map((id) => (
          <li key={id} className={before.includes(id) ? undefined : 'gains'}>
            <Link to={pageOf('practice_group', id)}>
              <bdi>{nameOf(id)}</bdi>
            </Link>
            {!before.includes(id) && <span>joins</span>}
            {change && (
              <Button
                className="link"
                aria-label={`Remove ${nameOf(id)}`}
                onPress={() => change(members.filter((other) => other !== id))}
              >
                Remove
              </Button>
            )}
          </li>
        ))}
        {left.map((id) => (
          <li key={id} className="loses">
            <bdi>{nameOf(id)}</bdi>
            <span>leaves</span>
            {change && (
              <Button
                className="link"
                aria-label={`Keep ${nameOf(id)}`}
                onPress={() => change([...members, id])}
              >
                Keep
              </Button>
            )}
          </li>
        ))}
      </ul>
      {change && <Add except={members} add={(id) => change([...members, id])} />}
    </section>
  );
}

const SUGGESTED_MAX = 8;
const SEARCH_LENGTH_MIN = 2;

function Add({ except, add }: { except: readonly string[]; add: (id: string) => void }) {
  const [text, setText] = useState('');
  const q = text.trim();
  const { items: first } = useEvery('listAllPracticeGroups', {}, 2);
  const { data } = useQuery({
    ...one('search', { query: { q } }),
    enabled: q.length >= SEARCH_LENGTH_MIN,
  });
  const found = (data?.data ?? [])
    .filter(({ kind }) => kind === 'practice_group')
    .map(({ id, title, subtitle }) => ({ id, name: title, more: subtitle }));
  const near = first
    .filter(({ name }) => name.toLowerCase().includes(q.toLowerCase()))
    .map(({ id, name, ods_code }) => ({ id, name, more: ods_code }));
  const items = [...new Map([...near, ...found].map((item) => [item.id, item])).values()]
    .filter(({ id }) => !except.includes(id))
    .slice(0, SUGGESTED_MAX);
  return (
    <ComboBox
      className="combo"
      items={items}
      inputValue={text}
      onInputChange={setText}
      selectedKey={null}
      onSelectionChange={(id) => {
        if (id === null) return;
        add(String(id));
        setText('');
      }}
      menuTrigger="focus"
    >
      <Label>Add a practice</Label>
      <Input placeholder="Its name, ODS code or ID" />
      <Popover className="popover">
        <ListBox<(typeof items)[number]>>
          {({ name, more }) => (
            <ListBoxItem textValue={name}>
              <bdi>{name}</bdi> <span className="soft">{more}</span>
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </ComboBox>
  );
}
