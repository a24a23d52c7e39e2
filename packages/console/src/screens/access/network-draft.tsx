import { Checkbox } from 'react-aria-components/Checkbox';
import { CheckboxGroup } from 'react-aria-components/CheckboxGroup';
import { Label } from 'react-aria-components/Label';
import type { Network, Partner } from '../../api/generated.ts';

/** What can be said of a network. */
export type Draft = Pick<Network, 'name' | 'practice_group_ids' | 'scopes' | 'partner_ids'>;
type Scope = NonNullable<Network['scopes']>[number];

export const emptyDraft: Draft = { name: '', practice_group_ids: [], scopes: null, partner_ids: null };

const sorted = (names: readonly string[] | null) => JSON.stringify(names && [...names].sort());

export const isSame = (one: Draft, other: Draft): boolean =>
  one.name === other.name &&
  sorted(one.practice_group_ids) === sorted(other.practice_group_ids) &&
  sorted(one.scopes) === sorted(other.scopes) &&
  sorted(one.partner_ids) === sorted(other.partner_ids);

const scopes: Record<Scope, string> = {
  'practice-groups:read': 'Read the practice',
  'submission-types:read': 'Read submission types',
  'submission-types:write': 'Change submission types',
  'webhooks:read': 'Read webhooks',
  'webhooks:write': 'Manage webhooks',
  'events:read': 'Receive events',
};

interface CapProps<T> {
  label: string;
  all: string;
  of: readonly T[] | null;
  choices: readonly { value: T; title: string }[];
  change: (to: T[] | null) => void;
}

/** Everything, or only what is ticked. */
function Cap<T extends string>({ label, all, of: ticked, choices, change }: CapProps<T>) {
  return (
    <CheckboxGroup
      className="ticks"
      value={ticked === null ? choices.map(({ value }) => value) : [...ticked]}
      onChange={(values) => change(values as T[])}
    >
      <Label>{label}</Label>
      <Tick
        isSelected={ticked === null}
        change={(isAll) => change(isAll ? null : choices.map(({ value }) => value))}
      >
        {all}
      </Tick>
      {ticked !== null &&
        choices.map(({ value, title }) => (
          <Checkbox key={value} value={value} className="tick">
            <Box />
            <bdi>{title}</bdi>
          </Checkbox>
        ))}
    </CheckboxGroup>
  );
}

function Tick({
  isSelected,
  change,
  children,
}: {
  isSelected: boolean;
  change: (isSelected: boolean) => void;
  children: React.ReactNode;
}) {
  return (
    // It stands outside of the group's values: it is about all of them.
    <label className="tick">
      <input type="checkbox" checked={isSelected} onChange={(event) => change(event.target.checked)} />
      {children}
    </label>
  );
}

function Box() {
  return (
    <svg viewBox="0 0 16 16" aria-hidden="true" className="box">
      <path d="M3 8.5 6.5 12 13 4.5" />
    </svg>
  );
}

export function ScopeCap({ of, change }: { of: Draft['scopes']; change: (to: Scope[] | null) => void }) {
  return (
    <Cap
      label="What it lets through"
      all="Everything that a key may"
      of={of}
      choices={(Object.entries(scopes) as [Scope, string][]).map(([value, title]) => ({ value, title }))}
      change={change}
    />
  );
}

export function PartnerCap({
  of,
  partners,
  change,
}: {
  of: Draft['partner_ids'];
  partners: readonly Partner[];
  change: (to: string[] | null) => void;
}) {
  return (
    <Cap
      label="For keys of"
      all="Every partner"
      of={of}
      choices={partners.map(({ id, name }) => ({ value: id, title: name }))}
      change={change}
    />
  );
}
