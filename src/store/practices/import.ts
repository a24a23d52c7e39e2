import type { ItemKind } from '../../contract/operator/practices/import.ts';
import {
  type Current,
  type Fields,
  type Item,
  type ItemKey,
  itemKey,
} from '../../domain/practices/import.ts';
import type { submissionTypeDefaults } from '../../domain/practices/submission-type.ts';
import type { Transaction } from '../database.ts';

/** Items by the thousand: one statement for each kind, to read and to write. */

interface Table {
  name: string;
  /** The columns of the key, with where their values come from. */
  key: Readonly<Record<string, (item: ItemKey) => string>>;
  /** The columns of the fields, with their types. */
  fields: Readonly<Record<string, string>>;
  /** How the rows are kept while they are decided on. */
  lock: string;
}

const groupId = (item: ItemKey) => item.groupId;
const id = (item: ItemKey) => item.id;

const TABLES: Record<ItemKind, Table> = {
  practice_group: {
    name: 'practice_groups',
    key: { id },
    fields: { name: 'text', ods_code: 'text', timezone: 'text', address: 'jsonb', opening_hours: 'jsonb' },
    lock: 'KEY SHARE',
  },
  form: {
    name: 'forms',
    key: { practice_group_id: groupId, id },
    fields: { title: 'text' },
    lock: 'KEY SHARE',
  },
  assignee: {
    name: 'assignees',
    key: { practice_group_id: groupId, type: ({ assigneeType }) => assigneeType, id },
    fields: { name: 'text' },
    lock: 'KEY SHARE',
  },
  submission_type: {
    name: 'submission_types',
    key: { practice_group_id: groupId, id },
    fields: {
      pathway_id: 'text',
      title: 'text',
      form_id: 'text',
      description: 'text',
      in_hours: 'boolean',
      out_of_hours: 'boolean',
      suspended: 'boolean',
      external_url: 'text',
      external_url_name: 'text',
      type: 'request_type',
      default_priority: 'priority',
      daily_limit: 'integer',
      patient_eligibility_check: 'boolean',
      assignee_id: 'text',
      assignee_type: 'assignee_type',
      order: 'double precision',
    } satisfies Record<keyof typeof submissionTypeDefaults | 'pathway_id' | 'title', string>,
    lock: 'NO KEY UPDATE',
  },
};

const LOCKS = 64;
const LOCK_SPACE = 72_057_594;

/**
 * Of two chunks that name the same practice groups, one waits for the other: only so it is certain which version is the newer one, also of
 * what is not there. Locks of PostgreSQL's memory, in one order; practice groups share them, so that a chunk of a thousand takes 64 at most.
 */
export function lockImports(tx: Transaction, groupIds: Iterable<string>): void {
  findByKey(tx);
  const places = new Set([...groupIds].map((one) => placeOf(one)));
  tx.defer('SELECT pg_advisory_xact_lock($1, place) FROM unnest($2::integer[]) AS place', [
    LOCK_SPACE,
    [...places].sort((a, b) => a - b),
  ]);
}

/**
 * Each item by the index of its key, in this transaction. A plan that was made while a table was small goes through all of it when it is large,
 * for each thousand anew: an import of 100,000 items took 1.5 times as long.
 */
function findByKey(tx: Transaction): void {
  tx.defer(
    `SELECT set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
            set_config('enable_mergejoin', 'off', true)`,
  );
}

function placeOf(text: string): number {
  let hash = 0;
  for (let at = 0; at < text.length; at++) hash = (hash * 31 + text.charCodeAt(at)) % 1_000_003;
  return hash % LOCKS;
}

export interface Found extends Current {
  /** Of a submission type that was removed: its version. */
  lastVersion: number;
}

/** What is there of these items, and the highest version that each ever had; locked, to be decided on. */
export async function findItems(tx: Transaction, keys: readonly ItemKey[]): Promise<Map<string, Found>> {
  const found = new Map<string, Found>();
  const rows = readAll(tx, keys, true, (item, current) => merge(found, item, { ...current, lastVersion: 0 }));
  const graves = readGraves(tx, keys).then((rows) => {
    for (const { place, source_version, version } of rows)
      merge(found, keys[place - 1] as ItemKey, {
        fields: null,
        sourceVersion: source_version,
        lastVersion: version,
      });
  });
  await Promise.all([rows, graves]);
  return found;
}

/** What is there of these items at this moment, to be told. */
export async function readItems(tx: Transaction, keys: readonly ItemKey[]): Promise<Map<string, Current>> {
  const found = new Map<string, Current>();
  findByKey(tx);
  await readAll(tx, keys, false, (item, current) => found.set(item.key, current));
  return found;
}

async function readAll(
  tx: Transaction,
  keys: readonly ItemKey[],
  locked: boolean,
  take: (item: ItemKey, current: Current) => void,
): Promise<void> {
  const byKind = Map.groupBy(keys, ({ kind }) => kind);
  const reads = [...byKind].map(async ([kind, wanted]) => {
    for (const row of await readRows(tx, kind, wanted, locked))
      take(wanted[row.place - 1] as ItemKey, currentOf(kind, row));
  });
  await Promise.all(reads);
}

function currentOf(kind: ItemKind, row: Fields): Current {
  return {
    fields: Object.fromEntries(Object.keys(TABLES[kind].fields).map((name) => [name, row[name]])),
    sourceVersion: row.source_version as number | null,
  };
}

interface Stretch {
  /** Of this practice group alone. */
  only: string | undefined;
  after: ItemKey | undefined;
  madeUntil: string;
  limit: number;
}

/** Items in the order of their keys, a stretch of them. */
export async function listItems(
  tx: Transaction,
  kind: ItemKind,
  { only, after, madeUntil, limit }: Stretch,
): Promise<(Current & { key: ItemKey })[]> {
  const { name, key, fields } = TABLES[kind];
  const columns = Object.keys(key);
  const group = kind === 'practice_group' ? 'id' : 'practice_group_id';
  const values = Object.values(key).map((of) => (after ? of(after) : null));
  const rows = await tx.query<Fields>(
    `SELECT ${columns.map((column) => `t."${column}" AS "key_${column}"`).join(', ')}, t.source_version,
            ${Object.keys(fields)
              .map((field) => `t."${field}"`)
              .join(', ')}
       FROM ${name} t
      WHERE ($1::text IS NULL OR t.${group} = $1) AND t.created_at <= $2
        AND ($4::text IS NULL OR (${columns.map((column) => `t.${column}`).join(', ')}) > (${columns.map((_, at) => `$${at + 4}::text`).join(', ')}))
      ORDER BY ${columns.map((column) => `t.${column}`).join(', ')} LIMIT $3`,
    [only ?? null, madeUntil, limit, ...values],
  );
  return rows.map((row) => {
    const id = row.key_id as string;
    const groupId = (row.key_practice_group_id ?? id) as string;
    const assigneeType = (row.key_type ?? '') as string;
    return { key: itemKey(kind, groupId, assigneeType, id), ...currentOf(kind, row) };
  });
}

/** A row and a tombstone may both be there, and come in any order. */
function merge(found: Map<string, Found>, item: ItemKey, one: Found): void {
  const { key } = item;
  const other = found.get(key);
  const versions = [one.sourceVersion, other?.sourceVersion ?? null].filter((version) => version !== null);
  found.set(key, {
    fields: one.fields ?? other?.fields ?? null,
    sourceVersion: versions.length === 0 ? null : Math.max(...versions),
    lastVersion: Math.max(one.lastVersion, other?.lastVersion ?? 0),
  });
}

type Row = Fields & { place: number };

/** Locked in the order of their keys, as everybody does. */
function readRows(tx: Transaction, kind: ItemKind, wanted: ItemKey[], locked: boolean): Promise<Row[]> {
  const { name, key, fields, lock } = TABLES[kind];
  wanted.sort((a, b) => (a.key < b.key ? -1 : 1));
  const columns = Object.keys(key);
  return tx.query<Row>(
    `SELECT wanted.place, t.source_version, ${Object.keys(fields)
      .map((field) => `t."${field}"`)
      .join(', ')}
       FROM unnest(${columns.map((_, at) => `$${at + 1}::text[]`).join(', ')}) WITH ORDINALITY AS wanted (${columns.join(', ')}, place)
       JOIN ${name} t ON ${columns.map((column) => `t.${column} = wanted.${column}`).join(' AND ')}
      ORDER BY wanted.place ${locked ? `FOR ${lock} OF t` : ''}`,
    Object.values(key).map((of) => wanted.map(of)),
  );
}

function readGraves(tx: Transaction, keys: readonly ItemKey[]) {
  return tx.query<{ place: number; source_version: number | null; version: number }>(
    `SELECT wanted.place, r.source_version, r.version
       FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS wanted (group_id, kind, assignee_type, id, place)
       JOIN removed_items r ON r.practice_group_id = wanted.group_id AND r.kind = wanted.kind
        AND r.assignee_type = wanted.assignee_type AND r.id = wanted.id`,
    [
      keys.map(groupId),
      keys.map(({ kind }) => kind),
      keys.map(({ assigneeType }) => assigneeType),
      keys.map(id),
    ],
  );
}

export type Written = Item & { fields: Fields; lastVersion: number };

/**
 * Those that are not there. To look for each once more (ON CONFLICT) was a sixth of the server's processor time: somebody who has made one meanwhile
 * is met as a unique violation. The version of a submission type goes on from that of the last one of its name.
 */
export function insertItems(tx: Transaction, kind: ItemKind, items: readonly Written[], now: string): void {
  writeItems(tx, kind, items, now, '');
}

/** Those that are there, and are held. */
export function updateItems(tx: Transaction, kind: ItemKind, items: readonly Written[], now: string): void {
  const { key, fields } = TABLES[kind];
  const set = [...Object.keys(fields), 'source_version', 'updated_at'].map(
    (one) => `"${one}" = excluded."${one}"`,
  );
  if (kind === 'submission_type') set.push('version = known.version + 1');
  writeItems(
    tx,
    kind,
    items,
    now,
    ` ON CONFLICT (${Object.keys(key).join(', ')}) DO UPDATE SET ${set.join(', ')}`,
  );
}

/** A list for each column: rows of JSON would name each column in each row. */
function writeItems(
  tx: Transaction,
  kind: ItemKind,
  items: readonly Written[],
  now: string,
  otherwise: string,
): void {
  const { name, key, fields } = TABLES[kind];
  const columns: [name: string, type: string, values: unknown[]][] = [
    ...Object.entries(key).map(
      ([column, of]) => [column, 'text', items.map(of)] as [string, string, unknown[]],
    ),
    ...Object.entries(fields).map(
      ([field, type]) =>
        [field, type, items.map((item) => stored(item.fields[field], type))] as [string, string, unknown[]],
    ),
    ['source_version', 'bigint', items.map(({ sourceVersion }) => sourceVersion)],
  ];
  if (kind === 'submission_type')
    columns.push(['version', 'integer', items.map(({ lastVersion }) => lastVersion + 1)]);
  tx.defer(
    `INSERT INTO ${name} AS known (${columns.map(([column]) => `"${column}"`).join(', ')}, created_at, updated_at)
     SELECT *, $1::timestamptz, $1::timestamptz FROM unnest(${columns.map(([, type], at) => `$${at + 2}::${type}[]`).join(', ')})${otherwise}`,
    [now, ...columns.map(([, , values]) => values)],
  );
}

const stored = (value: unknown, type: string) =>
  type === 'jsonb' && value !== null ? JSON.stringify(value) : value;

/** A newer version said the same: nothing changes but what an older one may still do. */
export function raiseVersions(tx: Transaction, kind: ItemKind, items: readonly Item[]): void {
  const { name, key } = TABLES[kind];
  const columns = Object.keys(key);
  tx.defer(
    `UPDATE ${name} t SET source_version = wanted.source_version
       FROM unnest(${columns.map((_, at) => `$${at + 2}::text[]`).join(', ')}, $1::bigint[]) AS wanted (${columns.join(', ')}, source_version)
      WHERE ${columns.map((column) => `t.${column} = wanted.${column}`).join(' AND ')}`,
    [items.map(({ sourceVersion }) => sourceVersion), ...Object.values(key).map((of) => items.map(of))],
  );
}
