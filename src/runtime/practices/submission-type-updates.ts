import type { SubmissionTypePatch } from '../../contract/partner/submission-types.ts';
import { Problem } from '../../contract/problems.ts';
import { ruleBroken } from '../../contract/rules.ts';
import type { PartnerPrincipal } from '../../domain/access/principal.ts';
import { etagOf, ifMatchHolds } from '../../domain/practices/etag.ts';
import { localTime } from '../../domain/practices/local-time.ts';
import {
  applyPatch,
  type Directory,
  type StoredSubmissionType,
} from '../../domain/practices/submission-type.ts';
import type { Clock } from '../../platform/clock.ts';
import { Outage } from '../../platform/outage.ts';
import type { AuditRecord } from '../../store/audit-append.ts';
import { type Database, inTurn, type Transaction, transact } from '../../store/database.ts';
import { isWrittenThrough } from '../../store/database-errors.ts';
import {
  type Change,
  type Counted,
  changeSubmissionTypes,
  findDirectoryEntries,
  findSubmissionTypes,
  lockSubmissionTypes,
} from '../../store/practices/submission-types.ts';
import type { Sender } from '../../store/sql-functions.ts';
import { Batcher } from '../batcher.ts';

/**
 * The update of a submission type, the service's hottest write. The updates of concurrent requests are gathered and
 * written together, and as a rule none of them holds a lock while it is being decided:
 *
 *   1. Take the row: as this node last saw it, or read afresh.
 *   2. Decide each update on what the ones before it left behind (`applyPatch`, a pure function).
 *   3. Write the row if it still has the version that was decided on, with the audit entries, in one statement.
 *   4. What was not written, because somebody else was faster, is read afresh and decided again.
 *   5. What lost that race a few times is read under a lock, which nobody can win against.
 *
 * Two batches may be under way, never with the same row: what is decided in one cannot depend on how the other ends,
 * and the updates of a row keep their order.
 *
 * A remembered row is only ever a guess. A guess that leads to a change is proved right by step 3; every other answer
 * (not found, precondition failed, rule broken, nothing to change) is given on a fresh read alone.
 */

export interface Update {
  principal: PartnerPrincipal;
  id: string;
  patch: SubmissionTypePatch;
  ifMatch: string | undefined;
  requestId: string;
}

/** The row as it is now, or why the update was not made. */
export type UpdateOutcome = Counted | Error;

export interface SubmissionTypeUpdates {
  submit(update: Update): Promise<UpdateOutcome>;
}

const BATCH_MAX = 256;
const BATCHES_AT_ONCE = 2;
/**
 * Then the rows are locked. Another node that changes the same row over and over writes from memory, in one round trip, and always
 * wins against two: one caller on each of two nodes was enough for updates that lost twenty times in a row.
 */
const FREE_TRIES = 3;
const REMEMBERED_MAX = 10_000;

interface GatherOptions {
  db: Database;
  clock: Clock;
  /** Called when something was changed. */
  changed: () => void;
}

export function gatherUpdates({ db, clock, changed }: GatherOptions): SubmissionTypeUpdates {
  const lastSeen = new LastSeen();
  const write = async (updates: readonly Update[]) => {
    const outcomes = await updateTogether(db, clock, lastSeen, updates);
    changed();
    return outcomes;
  };
  return new Batcher(BATCH_MAX, write, {
    atOnce: BATCHES_AT_ONCE,
    keyOf: ({ principal, id }) => keyOf(principal.group.id, id),
  });
}

/** The updates of one row, in the order of their arrival. */
interface RowUpdates {
  groupId: string;
  id: string;
  localDay: string;
  items: { index: number; update: Update }[];
  /** Whether a form or an assignee is named, so that the group's directory has to be asked. */
  needsDirectory: boolean;
}

async function updateTogether(
  db: Database,
  clock: Clock,
  lastSeen: LastSeen,
  updates: readonly Update[],
): Promise<UpdateOutcome[]> {
  const outcomes: UpdateOutcome[] = [];
  let open = byRow(updates, clock.now());
  for (let attempt = 0; open.length > 0; attempt++) {
    try {
      open = await attemptOnce(db, clock, lastSeen, open, outcomes, attempt);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      const isAsked = isWrittenThrough(error);
      // When the first attempt fails nothing is written, and the batcher may try each update alone. Later, what
      // earlier attempts wrote must not be decided again: only those that are still open fail.
      if (attempt === 0 && !(isAsked && updates.length === 1)) throw error;
      const told = isAsked ? new Outage('the practice software is asked first from now on') : error;
      for (const { index } of open.flatMap(({ items }) => items)) outcomes[index] = told;
      break;
    }
  }
  return outcomes;
}

/** Settles the outcomes of the rows that it can; returns the others. */
async function attemptOnce(
  db: Database,
  clock: Clock,
  lastSeen: LastSeen,
  rows: readonly RowUpdates[],
  outcomes: UpdateOutcome[],
  attempt: number,
): Promise<RowUpdates[]> {
  const { decided, written } =
    attempt < FREE_TRIES
      ? await changeFreely(db, clock, rows, (row) => (attempt === 0 ? lastSeen.get(row) : undefined))
      : await changeLocked(db, clock, rows);

  const open: RowUpdates[] = [];
  for (const { row, change, certain, outcomes: settled, base } of decided) {
    const submittedToday = change && written.get(change);
    if (change ? submittedToday === undefined : !certain) {
      lastSeen.forget(row);
      open.push(row);
      continue;
    }
    lastSeen.remember(row, change?.next ?? base);
    row.items.forEach(({ index }, position) => {
      const outcome = settled[position] as UpdateOutcome;
      outcomes[index] =
        submittedToday === undefined || outcome instanceof Error ? outcome : { ...outcome, submittedToday };
    });
  }
  return open;
}

interface Changed {
  decided: Decided[];
  /** Those that were, with their count of the day. */
  written: Map<Change, number>;
}

async function changeFreely(
  db: Database,
  clock: Clock,
  rows: readonly RowUpdates[],
  guessOf: (row: RowUpdates) => Counted | undefined,
): Promise<Changed> {
  const guessed = rows.map((row) => (row.needsDirectory ? undefined : guessOf(row)));
  const asked = rows.filter((_, index) => !guessed[index]);
  const fresh =
    asked.length === 0 ? NOTHING : await transact(db, principalsOf(asked), (tx) => readRows(tx, asked));

  const now = new Date(clock.now()).toISOString();
  const decided = rows.map((row, index) => {
    const guess = guessed[index];
    return decide(row, guess ?? fresh.row(row), fresh.directory, now, guess === undefined);
  });
  return { decided, written: await writeChanges(inTurn(db), decided, now) };
}

/** Nobody else writes the rows between reading and writing, so nothing stays open. */
function changeLocked(db: Database, clock: Clock, rows: readonly RowUpdates[]): Promise<Changed> {
  return transact(db, principalsOf(rows), async (tx) => {
    lockSubmissionTypes(tx, rows);
    const fresh = await readRows(tx, rows);
    const now = new Date(clock.now()).toISOString();
    const decided = rows.map((row) => decide(row, fresh.row(row), fresh.directory, now, true));
    return { decided, written: await writeChanges(tx, decided, now) };
  });
}

const principalsOf = (rows: readonly RowUpdates[]) =>
  rows.flatMap(({ items }) => items.map(({ update }) => update.principal));

function byRow(updates: readonly Update[], nowMs: number): RowUpdates[] {
  const rows = new Map<string, RowUpdates>();
  const days = new Map<string, string>();
  updates.forEach((update, index) => {
    const { id: groupId, timezone } = update.principal.group;
    const localDay = days.get(timezone) ?? localTime(nowMs, timezone).day;
    days.set(timezone, localDay);
    const row = rows.get(keyOf(groupId, update.id)) ?? {
      groupId,
      id: update.id,
      localDay,
      items: [],
      needsDirectory: false,
    };
    row.items.push({ index, update });
    row.needsDirectory ||= namesSomething(update.patch);
    rows.set(keyOf(groupId, update.id), row);
  });
  return [...rows.values()];
}

const namesSomething = (patch: SubmissionTypePatch) =>
  'form_id' in patch || 'assignee_id' in patch || 'assignee_type' in patch;

interface Decided {
  row: RowUpdates;
  /** The row as it was found. */
  base: StoredSubmissionType | undefined;
  change: Change | undefined;
  /** One for each update. */
  outcomes: UpdateOutcome[];
  /** False when a guess led to anything but a change: it must be decided again on a fresh read. */
  certain: boolean;
}

function decide(
  row: RowUpdates,
  base: Counted | undefined,
  directory: (groupId: string) => Directory,
  now: string,
  fresh: boolean,
): Decided {
  let current = base;
  let certain = true;
  const records: AuditRecord[] = [];
  const changed = new Set<keyof SubmissionTypePatch>();

  const outcomes = row.items.map(({ update }): UpdateOutcome => {
    if (!current) return new Problem('not_found');
    const refused = (problem: Problem) => {
      certain = fresh;
      return problem;
    };
    if (!ifMatchHolds(update.ifMatch, etagOf(current.type.version)))
      return refused(new Problem('precondition_failed'));
    const result = applyPatch(current.type, update.patch, directory(row.groupId), now);
    if (result.outcome === 'refused') return refused(ruleBroken(result.rule));
    if (result.outcome === 'unchanged') {
      certain = fresh;
      return current;
    }
    current = { type: result.next, submittedToday: current.submittedToday };
    for (const field of result.changed) changed.add(field);
    records.push({
      at: now,
      principal: update.principal,
      action: 'submission_type.update',
      subject: { type: 'submission_type', id: row.id },
      practiceGroupId: row.groupId,
      requestId: update.requestId,
      before: result.before,
      after: result.after,
    });
    return current;
  });

  const change =
    base && current && records.length > 0 && certain
      ? {
          oldVersion: base.type.version,
          next: current.type,
          changed: [...changed],
          localDay: row.localDay,
          records,
        }
      : undefined;
  return { row, base: base?.type, change, outcomes, certain };
}

/** An update by itself, decided on a fresh read: what became of it, or the change that is to be made. */
export async function decideAlone(
  tx: Transaction,
  update: Update,
  nowMs: number,
): Promise<
  | { outcome: UpdateOutcome }
  | {
      version: number;
      before: unknown;
      after: unknown;
      write: (tx: Transaction) => Promise<UpdateOutcome | undefined>;
    }
> {
  const rows = byRow([update], nowMs);
  const fresh = await readRows(tx, rows);
  const now = new Date(nowMs).toISOString();
  const [decided] = rows.map((row) => decide(row, fresh.row(row), fresh.directory, now, true));
  const [outcome] = decided?.outcomes ?? [];
  if (!decided || !outcome) throw new Error('an update was not decided');
  const [record] = decided.change?.records ?? [];
  if (!decided.change || !record || outcome instanceof Error) return { outcome };
  const { change } = decided;
  return {
    version: change.oldVersion,
    before: record.before,
    after: record.after,
    /** Undefined: the row has changed since, or the form or assignee is gone. */
    async write(tx) {
      const submittedToday = (await writeChanges(tx, [decided], now)).get(change);
      return submittedToday === undefined ? undefined : { ...outcome, submittedToday };
    },
  };
}

async function writeChanges(
  sender: Sender,
  decided: readonly Decided[],
  now: string,
): Promise<Map<Change, number>> {
  const changing = decided.filter(({ change }) => change);
  if (changing.length === 0) return new Map();
  const principals = changing.flatMap(({ row }) =>
    row.items.slice(0, 1).map(({ update }) => update.principal),
  );
  return changeSubmissionTypes(
    sender,
    principals,
    now,
    changing.flatMap(({ change }) => change ?? []),
  );
}

interface Fresh {
  row(wanted: { groupId: string; id: string }): Counted | undefined;
  directory(groupId: string): Directory;
}

const NOTHING: Fresh = {
  row: () => undefined,
  directory: () => ({ hasForm: () => false, hasAssignee: () => false }),
};

/** Reads the rows, and the forms and assignees that their updates name, at one moment. */
async function readRows(tx: Transaction, wanted: readonly RowUpdates[]): Promise<Fresh> {
  const named = wanted
    .flatMap(({ items }) => items.map(({ update }) => update))
    .filter(({ patch }) => namesSomething(patch))
    .map(({ principal, patch }) => ({
      groupId: principal.group.id,
      formId: patch.form_id ?? null,
      assigneeId: patch.assignee_id ?? null,
    }));

  const [rows, entries] = await Promise.all([
    findSubmissionTypes(tx, wanted),
    named.length === 0 ? [] : findDirectoryEntries(tx, wanted, named),
  ]);
  const found = new Map(rows.map((row) => [keyOf(row.type.practice_group_id, row.type.id), row]));
  const known = new Set(entries.map(({ practice_group_id, type, id }) => keyOf(practice_group_id, type, id)));
  return {
    row: ({ groupId, id }) => found.get(keyOf(groupId, id)),
    directory: (groupId) => ({
      hasForm: (id) => known.has(keyOf(groupId, null, id)),
      hasAssignee: (type, id) => known.has(keyOf(groupId, type, id)),
    }),
  };
}

/** No ID of a practice group holds a space, so the parts cannot run into each other. */
const keyOf = (...parts: (string | null)[]) => parts.join(' ');

/** The rows as this node last saw them, the longest unused going first. */
class LastSeen {
  readonly #rows = new Map<string, StoredSubmissionType>();

  /** The count of the day is not remembered: writing tells it. */
  get({ groupId, id }: RowUpdates): Counted | undefined {
    const type = this.#rows.get(keyOf(groupId, id));
    return type && { type, submittedToday: 0 };
  }

  remember({ groupId, id }: RowUpdates, type: StoredSubmissionType | undefined): void {
    const key = keyOf(groupId, id);
    this.#rows.delete(key);
    if (!type) return;
    this.#rows.set(key, type);
    if (this.#rows.size > REMEMBERED_MAX) this.#rows.delete(this.#rows.keys().next().value as string);
  }

  forget({ groupId, id }: RowUpdates): void {
    this.#rows.delete(keyOf(groupId, id));
  }
}
