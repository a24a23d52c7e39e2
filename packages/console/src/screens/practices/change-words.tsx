import type { Change } from '../../api/generated.ts';
import { State, type StateKind } from '../../parts/state.tsx';

export const changeStates: Record<Change['state'], [StateKind, string]> = {
  pending: ['waiting', 'not answered'],
  applied: ['fine', 'applied'],
  rejected: ['stopped', 'rejected'],
};

export function ChangeState({ of: state }: { of: Change['state'] }) {
  const [kind, word] = changeStates[state];
  return <State kind={kind}>{word}</State>;
}

/** What people call the fields of a submission type. */
const fields: Record<string, string> = {
  title: 'Title',
  description: 'Description',
  form_id: 'Form',
  type: 'Kind',
  assignee_id: 'Assigned to',
  assignee_type: 'Assigned to a',
  order: 'Place in the list',
  suspended: 'Suspended',
  in_hours: 'Offered in hours',
  out_of_hours: 'Offered out of hours',
  daily_limit: 'Forms a day',
  pathway_id: 'Pathway',
};

export const toField = (name: string): string => {
  const words = name.replaceAll('_', ' ');
  return fields[name] ?? words.charAt(0).toUpperCase() + words.slice(1);
};

/** A value as people write it. */
export function toValue(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'nothing';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return value.toLocaleString('en');
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(toValue).join(', ');
  return Object.entries(value)
    .map(([name, one]) => `${toField(name)}: ${toValue(one)}`)
    .join('; ');
}

/** The names of what changed: `Title, Suspended`. */
export const toFields = ({ before, after }: Pick<Change, 'before' | 'after'>): string =>
  fieldsOf({ before, after }).map(toField).join(', ');

export const fieldsOf = ({ before, after }: Pick<Change, 'before' | 'after'>): string[] => [
  ...new Set([...Object.keys(before), ...Object.keys(after)]),
];

/** Where two texts differ: what they share at the beginning and at the end, and what each has between. */
export function differenceOf(
  one: string,
  other: string,
): { start: string; one: string; other: string; end: string } {
  const ones = Array.from(one);
  const others = Array.from(other);
  const shorter = Math.min(ones.length, others.length);
  let first = 0;
  while (first < shorter && ones[first] === others[first]) first++;
  let last = 0;
  while (last < shorter - first && ones.at(-1 - last) === others.at(-1 - last)) last++;
  return {
    start: ones.slice(0, first).join(''),
    one: ones.slice(first, ones.length - last).join(''),
    other: others.slice(first, others.length - last).join(''),
    end: ones.slice(ones.length - last).join(''),
  };
}
