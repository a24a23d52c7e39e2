import { setImmediate } from 'node:timers/promises';
import type { Line, LineStream } from '../../contract/endpoint.ts';
import {
  type ImportOutcome,
  ITEMS_MAX,
  importItems as importEndpoint,
  itemKinds,
} from '../../contract/operator/practices/import.ts';
import { Problem } from '../../contract/problems.ts';
import { ruleBroken } from '../../contract/rules.ts';
import {
  type Current,
  changesOf,
  type Decision,
  decide,
  digestOf,
  type Fields,
  type Item,
  type ItemKey,
  itemKey,
  keyText,
  type Outcome,
  readItem,
  refusalOfType,
} from '../../domain/practices/import.ts';
import { inUse } from '../../domain/practices/in-use.ts';
import { refused, withFewEntries } from '../../domain/refused-item.ts';
import { type Transaction, transact } from '../../store/database.ts';
import { isUniqueViolation } from '../../store/database-errors.ts';
import { findAssigneeUses, findFormUses, lockAssignee, lockForm } from '../../store/practices/directory.ts';
import {
  type Found,
  findItems,
  insertItems,
  lockImports,
  raiseVersions,
  updateItems,
  type Written,
} from '../../store/practices/import.ts';
import { deleteGroup, findGroupUses, lockGroup } from '../../store/practices/practice-groups.ts';
import { removeWithTombstone } from '../../store/practices/removed-items.ts';
import { overruleProposals } from '../../store/practices/write-through.ts';
import { type Actor, type App, nowIso, type OperatorCall, operation } from '../app.ts';
import { answerChunk, lastLine } from '../lines.ts';

type Call = OperatorCall<typeof importEndpoint>;

/**
 * What the practice software says, in chunks of a thousand, each a transaction. Every item is decided by itself (domain/practices/import.ts), in the order of
 * the lines, on what those before it left; then each kind is written in one statement.
 */
export const importItems = operation(importEndpoint, async (app, call) => {
  if (call.lines) return { lines: importLines(app, call, call.lines) };
  const entries = call.body.items.map((value, index) => entryOf({ index, value }));
  return { body: { outcomes: await importChunk(app, call, entries) } };
});

interface Entry {
  index: number;
  id: string | null;
  read: Item | Outcome;
}

const isItem = (read: Item | Outcome): read is Item => 'kind' in read;

function entryOf(line: Line): Entry {
  const { index } = line;
  if ('isTooLong' in line) return { index, id: null, read: refused(new Problem('payload_too_large')) };
  if ('problems' in line) return { index, id: null, read: refused(line.problems) };
  const item = readItem(line.value);
  const { id } = (line.value ?? {}) as { id?: unknown };
  if (Array.isArray(item)) return { index, id: isShown(id) ? id : null, read: refused(item) };
  return { index, id: item.id, read: item };
}

/** No ID is longer, and an answer does not repeat a text of any length. */
const isShown = (id: unknown): id is string => typeof id === 'string' && id.length <= 255;

/** While one chunk is written, the next one is read: not more, so that whoever sends waits for whoever writes. */
async function* importLines(app: App, call: Call, lines: AsyncIterable<Line[]>): LineStream {
  let writing: Promise<string> | undefined;
  const chunk: Entry[] = [];
  try {
    for await (const some of lines) {
      for (const line of some) chunk.push(entryOf(line));
      while (chunk.length >= ITEMS_MAX) {
        if (writing) yield await writing;
        writing = written(app, call, chunk.splice(0, ITEMS_MAX));
        // If it fails while the next lines are waited for, it is told when they have come. Unheard, it would end the process.
        writing.catch(() => {});
      }
    }
    if (writing) yield await writing;
    writing = undefined;
    if (chunk.length > 0) yield await written(app, call, chunk);
  } catch (error) {
    // The lines that have no outcome were not taken: whoever sends them again loses nothing.
    yield lastLine(error);
  } finally {
    await writing?.catch(() => {});
  }
}

function written(app: App, call: Call, entries: readonly Entry[]): Promise<string> {
  return answerChunk(call, () => importChunk(app, call, entries));
}

async function importChunk(app: App, actor: Actor, entries: readonly Entry[]): Promise<ImportOutcome[]> {
  const items = entries.flatMap(({ read }) => (isItem(read) ? [read] : []));
  const outcomes = await decideTogether(app, actor, items);
  // People of a practice that goes are out when it is told, also when it is told again.
  if (items.some(({ kind, fields }) => kind === 'practice_group' && fields === null))
    await app.access.settle();
  return withFewEntries(
    entries.map(({ index, id, read }) => ({
      index,
      id,
      ...(isItem(read) ? (outcomes.get(read) as Outcome) : read),
    })),
  );
}

/** So often somebody else may make what is about to be made, other than by an import: imports wait for each other. */
const TRIES_MAX = 5;

async function decideTogether(
  app: App,
  actor: Actor,
  items: readonly Item[],
  tries = 1,
): Promise<Map<Item, Outcome>> {
  if (items.length === 0) return new Map();
  try {
    return await transact(app.db, actor.principal, async (tx) => {
      lockImports(tx, new Set(items.map(({ groupId }) => groupId)));
      const run = new Chunk(tx, nowIso(app));
      for (const some of runsOf(items)) await run.take(some);
      // The statements leave first: PostgreSQL writes while the digests are computed, which is half of what is left to do here.
      await setImmediate();
      tx.audit(...run.audit(actor));
      return run.outcomes;
    });
  } catch (error) {
    // All of it is undone, and decided anew on what is there now.
    if (!isUniqueViolation(error) || tries === TRIES_MAX) throw error;
    return decideTogether(app, actor, items, tries + 1);
  }
}

/** What is removed must not be in use, which takes a look at all that is there: so what comes before it is written first. */
function* runsOf(items: readonly Item[]): Generator<Item[]> {
  let run: Item[] = [];
  for (const item of items) {
    if (run[0] && removesUsable(run[0]) !== removesUsable(item)) {
      yield run;
      run = [];
    }
    run.push(item);
  }
  yield run;
}

const removesUsable = ({ fields, kind }: Item) => fields === null && kind !== 'submission_type';

interface Change {
  key: ItemKey;
  before: Fields | null;
  after: Fields | null;
}

/** One transaction. */
class Chunk {
  readonly outcomes = new Map<Item, Outcome>();
  readonly #tx: Transaction;
  readonly #now: string;
  readonly #changes: Change[] = [];

  constructor(tx: Transaction, now: string) {
    this.#tx = tx;
    this.#now = now;
  }

  async take(items: readonly Item[]): Promise<void> {
    const found = await findItems(this.#tx, [...namedBy(items).values()]);
    const state = new Map<string, Current>(found);
    if (items[0] && removesUsable(items[0])) for (const item of items) await this.#remove(item, state);
    else this.#change(items, found, state);
  }

  #settle(item: Item, { next, ...outcome }: Decision, state: Map<string, Current>): void {
    this.outcomes.set(item, outcome);
    state.set(item.key, next);
  }

  /** Decides all of them, and writes what came of it in the end. */
  #change(items: readonly Item[], found: Map<string, Found>, state: Map<string, Current>): void {
    const has = (...key: Parameters<typeof keyText>) => Boolean(state.get(keyText(...key))?.fields);
    for (const item of items) {
      const { kind, groupId } = item;
      const refusal = (fields: Fields) => {
        if (kind === 'practice_group') return undefined;
        if (!has('practice_group', groupId, '', groupId)) return ruleBroken('practice_group_unknown');
        if (kind !== 'submission_type') return undefined;
        return refusalOfType(fields, {
          hasForm: (id) => has('form', groupId, '', id),
          hasAssignee: (type, id) => has('assignee', groupId, type, id),
        });
      };
      this.#settle(item, decide(item, state.get(item.key) ?? NOTHING, refusal), state);
    }
    const last = [...new Map(items.map((item) => [item.key, item])).entries()];
    for (const kind of itemKinds) {
      const made: Written[] = [];
      const changed: Written[] = [];
      const raised: Item[] = [];
      const removed: Item[] = [];
      for (const [key, item] of last) {
        if (item.kind !== kind) continue;
        const base = found.get(key) ?? { ...NOTHING, lastVersion: 0 };
        const { fields, sourceVersion } = state.get(key) ?? NOTHING;
        const one = { ...item, fields, sourceVersion };
        const isNewer = sourceVersion !== base.sourceVersion;
        if (fields !== null && fields !== base.fields)
          (base.fields === null ? made : changed).push({ ...one, fields, lastVersion: base.lastVersion });
        else if (fields !== null && isNewer) raised.push(one);
        else if (fields === null && (base.fields !== null || isNewer)) removed.push(one);
        if (fields !== base.fields) this.#changes.push({ key: item, before: base.fields, after: fields });
      }
      if (made.length > 0) insertItems(this.#tx, kind, made, this.#now);
      if (changed.length > 0) updateItems(this.#tx, kind, changed, this.#now);
      if (raised.length > 0) raiseVersions(this.#tx, kind, raised);
      if (removed.length > 0) removeWithTombstone(this.#tx, kind, removed, this.#now);
    }
    const same = items.filter(
      (item) => item.kind === 'submission_type' && this.outcomes.get(item)?.outcome === 'unchanged',
    );
    if (same.length > 0) void overruleProposals(this.#tx.deferred, same);
  }

  /** One after the other: what others use is looked for each time, and removals are few. */
  async #remove(item: Item, state: Map<string, Current>): Promise<void> {
    const current = state.get(item.key) ?? NOTHING;
    const decision = decide(item, current, () => undefined);
    const used = decision.outcome === 'deleted' ? await this.#usesOf(item) : undefined;
    if (used) {
      this.#settle(item, { ...refused(used), next: current }, state);
      return;
    }
    this.#settle(item, decision, state);
    if (decision.outcome === 'stale') return;
    const { sourceVersion } = decision.next;
    if (decision.outcome === 'unchanged' && sourceVersion === current.sourceVersion) return;
    if (item.kind === 'practice_group') deleteGroup(this.#tx, item.id, this.#now, sourceVersion);
    else removeWithTombstone(this.#tx, item.kind, [{ ...item, sourceVersion }], this.#now);
    if (decision.outcome === 'deleted')
      this.#changes.push({ key: item, before: current.fields, after: null });
  }

  async #usesOf({ kind, groupId, assigneeType, id }: Item): Promise<Problem | undefined> {
    const tx = this.#tx;
    if (kind === 'form') {
      await lockForm(tx, groupId, id);
      return inUse(`The form ${id}`, await findFormUses(tx, groupId, id));
    }
    if (kind === 'assignee') {
      await lockAssignee(tx, groupId, assigneeType, id);
      return inUse(`The assignee ${id}`, await findAssigneeUses(tx, groupId, assigneeType, id));
    }
    await lockGroup(tx, id);
    return inUse(`The practice group ${id}`, await findGroupUses(tx, id, this.#now));
  }

  /**
   * One entry for each practice group of the chunk: it is found in the history of the practice, and the head of the chain, which all wait for,
   * is held for fifty entries and not for a thousand. What was changed and removed is told whole; what is new, by its digest, which proves what was sent.
   */
  audit({ principal, requestId }: Actor) {
    const byGroup = Map.groupBy(this.#changes, ({ key }) => key.groupId);
    return [...byGroup].map(([groupId, changes]) => {
      const told = changes.map(({ key, before, after }) => {
        const { kind, id, assigneeType } = key;
        const name = { kind, id, ...(assigneeType !== '' && { assignee_type: assigneeType }) };
        if (before && after) {
          const changed = changesOf(before, after);
          return { before: { ...name, ...changed.before }, after: { ...name, ...changed.after } };
        }
        if (before) return { before: { ...name, ...before } };
        return { after: { ...name, digest: digestOf({ ...key, fields: after }) } };
      });
      return {
        at: this.#now,
        principal,
        action: 'practice_group.import' as const,
        subject: { type: 'practice_group', id: groupId },
        practiceGroupId: groupId,
        requestId,
        before: told.flatMap((one) => one.before ?? []),
        after: told.flatMap((one) => one.after ?? []),
      };
    });
  }
}

const NOTHING: Current = { fields: null, sourceVersion: null };

/** The items, their practice groups, and what they point to. */
function namedBy(items: readonly Item[]): Map<string, ItemKey> {
  const named = new Map<string, ItemKey>();
  const name = (...key: Parameters<typeof keyText>) => {
    const text = keyText(...key);
    if (!named.has(text)) named.set(text, itemKey(...key));
  };
  for (const item of items) {
    named.set(item.key, item);
    const { groupId, kind, fields } = item;
    name('practice_group', groupId, '', groupId);
    if (kind !== 'submission_type' || fields === null) continue;
    const { form_id, assignee_id, assignee_type } = fields as Record<string, string | null | undefined>;
    if (form_id) name('form', groupId, '', form_id);
    if (assignee_id && assignee_type) name('assignee', groupId, assignee_type, assignee_id);
  }
  return named;
}
