import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import {
  type ImportOutcome,
  type ItemKind,
  itemKinds,
  type RemovedItem,
  removedItems,
  type WholeItem,
  wholeItems,
} from '../../contract/operator/practices/import.ts';
import type { Problem } from '../../contract/problems.ts';
import { ruleBroken } from '../../contract/rules.ts';
import { check, type ValidationEntry } from '../../contract/validate.ts';
import { refused } from '../refused-item.ts';
import { defaultOpeningHours } from './local-time.ts';
import { wholeAddress } from './practice-group.ts';
import { brokenRule, type Directory, submissionTypeDefaults } from './submission-type.ts';

/** What an item is found by. */
export interface ItemKey {
  kind: ItemKind;
  /** Of a practice group, itself. */
  groupId: string;
  /** Empty for what is no assignee. */
  assigneeType: string;
  id: string;
  /** All of it as one text. */
  key: string;
}

/** An item with all its fields, those that were left out at their defaults. */
export interface Item extends ItemKey {
  sourceVersion: number | null;
  /** Null: to be removed. */
  fields: Fields | null;
}

export type Fields = Record<string, unknown>;

/** No part but the last can hold a space, so they cannot run into each other. */
export const keyText = (kind: ItemKind, groupId: string, assigneeType: string, id: string) =>
  `${kind} ${groupId} ${assigneeType} ${id}`;

export function itemKey(kind: ItemKind, groupId: string, assigneeType: string, id: string): ItemKey {
  return { kind, groupId, assigneeType, id, key: keyText(kind, groupId, assigneeType, id) };
}

/** Reads an item, or tells everything that is wrong with it. */
export function readItem(value: unknown): Item | ValidationEntry[] {
  const { kind, delete: removed } = (value ?? {}) as { kind?: unknown; delete?: unknown };
  if (!itemKinds.includes(kind as ItemKind)) return [unknownKind];
  const schema = (removed === true ? removedItems : wholeItems)[kind as ItemKind];
  const checked = check(schema, value);
  return checked.ok ? itemOf(checked.value) : checked.problems;
}

export const unknownKind: ValidationEntry = {
  code: 'invalid_value',
  expected: 'string',
  path: ['kind'],
  message: `Must be one of ${itemKinds.join(', ')}.`,
};

function itemOf(item: WholeItem | RemovedItem): Item {
  const groupId = item.kind === 'practice_group' ? item.id : item.practice_group_id;
  const assigneeType = item.kind === 'assignee' ? item.assignee_type : '';
  return {
    ...itemKey(item.kind, groupId, assigneeType, item.id),
    sourceVersion: item.source_version ?? null,
    fields: item.delete === true ? null : fieldsOf(item),
  };
}

function fieldsOf(item: WholeItem): Fields {
  switch (item.kind) {
    case 'practice_group':
      return {
        name: item.name,
        ods_code: item.ods_code ?? null,
        timezone: item.timezone ?? 'Europe/London',
        address: wholeAddress(item.address),
        opening_hours: item.opening_hours ?? defaultOpeningHours,
      };
    case 'form':
      return { title: item.title };
    case 'assignee':
      return { name: item.name };
    case 'submission_type': {
      const { kind: _k, id: _i, practice_group_id: _g, source_version: _v, delete: _d, ...fields } = item;
      return { ...submissionTypeDefaults, ...fields };
    }
  }
}

type Told = Omit<ItemKey, 'key'> & Pick<Item, 'fields'>;

/** The item in the words of the import, all fields told. */
export function presentItem({ kind, groupId, assigneeType, id, fields }: Told): Fields {
  return {
    kind,
    id,
    ...(kind !== 'practice_group' && { practice_group_id: groupId }),
    ...(kind === 'assignee' && { assignee_type: assigneeType }),
    ...fields,
  };
}

/** SHA-256 over the canonical JSON (RFC 8785) of the whole item, its version left out: the same on both sides if and only if they agree. */
export function digestOf(item: Told): string {
  const told = presentItem(item);
  return hash('sha256', canonicalObject(told, orderOf(Object.keys(told))));
}

/** Names in the order of their UTF-16 units, no blanks; texts and numbers as `JSON.stringify` writes them, which is what RFC 8785 takes over. */
function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  return canonicalObject(value as Fields, labelled(Object.keys(value)));
}

type Order = [name: string, label: string][];

function canonicalObject(value: Fields, order: Order): string {
  let text = '';
  for (const [name, label] of order) text += `${text === '' ? '' : ','}${label}${canonicalJson(value[name])}`;
  return `{${text}}`;
}

const labelled = (names: readonly string[]): Order =>
  names.toSorted().map((name) => [name, `${JSON.stringify(name)}:`]);

/** Whole items have one of a few lists of names: to sort and to quote them each time was half of a digest. */
const orders = new Map<string, Order>();

function orderOf(names: readonly string[]): Order {
  const key = names.join();
  const order = orders.get(key) ?? labelled(names);
  orders.set(key, order);
  return order;
}

// ---- Deciding ----

/** What is there of an item. The version is the highest that it ever had, also before it was removed. */
export interface Current {
  fields: Fields | null;
  sourceVersion: number | null;
}

export type Outcome = Omit<ImportOutcome, 'index' | 'id'>;
export type Decision = Outcome & { next: Current };

/**
 * What comes of an item, given what is there. Only an older version is stale: the same one again is taken, so that it can put right what was
 * changed here since.
 */
export function decide(
  item: Item,
  current: Current,
  refusal: (fields: Fields) => Problem | undefined,
): Decision {
  const { sourceVersion: known } = current;
  const { sourceVersion: sent, fields } = item;
  if (sent !== null && known !== null && sent < known) return { outcome: 'stale', next: current };
  const sourceVersion = sent ?? known;
  if (fields === null) {
    const outcome = current.fields === null ? 'unchanged' : 'deleted';
    return { outcome, next: { fields: null, sourceVersion } };
  }
  if (current.fields !== null && isDeepStrictEqual(fields, current.fields))
    return { outcome: 'unchanged', next: { fields: current.fields, sourceVersion } };
  const problem = refusal(fields);
  if (problem) return { ...refused(problem), next: current };
  return { outcome: current.fields === null ? 'created' : 'updated', next: { fields, sourceVersion } };
}

/** Why the fields of a submission type cannot stand, if so: the four rules, all of them, since an item is whole. */
export function refusalOfType(fields: Fields, directory: Directory): Problem | undefined {
  const rule = brokenRule(fields as Parameters<typeof brokenRule>[0], fields, directory);
  return rule && ruleBroken(rule);
}

/** The fields that differ, as they were and as they are. */
export function changesOf(before: Fields, after: Fields): { before: Fields; after: Fields } {
  const changed = Object.keys(after).filter((name) => !isDeepStrictEqual(before[name], after[name]));
  const of = (fields: Fields) => Object.fromEntries(changed.map((name) => [name, fields[name]]));
  return { before: of(before), after: of(after) };
}
