import type { Line, LineStream } from '../../contract/endpoint.ts';
import { ITEMS_MAX, itemKinds } from '../../contract/operator/practices/import.ts';
import { reconcileItems as reconcileEndpoint } from '../../contract/operator/practices/reconcile.ts';
import { Problem } from '../../contract/problems.ts';
import { withCommas } from '../../contract/wording.ts';
import { type Current, digestOf, type ItemKey, presentItem } from '../../domain/practices/import.ts';
import { type Digested, Named, readDigested } from '../../domain/practices/reconcile.ts';
import { refused } from '../../domain/refused-item.ts';
import { transact } from '../../store/database.ts';
import { listItems, readItems } from '../../store/practices/import.ts';
import { type App, newSalt, nowIso, type OperatorCall, operation } from '../app.ts';
import { lastLine } from '../lines.ts';

type Call = OperatorCall<typeof reconcileEndpoint>;

/** As many as a comparison keeps in mind, about 40 bytes each. A deployment that has more compares practice by practice. */
const NAMED_MAX = 2_000_000;

/**
 * Compares chunk by chunk what was sent with what is here; then goes through all that is here for what was not named. What is made meanwhile is
 * left out of that: whoever sent the list could not know of it.
 */
export const reconcileItems = operation(reconcileEndpoint, (app, call) => {
  return { lines: differences(app, call, call.lines ?? nothing()) };
});

async function* nothing(): AsyncGenerator<Line[]> {}

async function* differences(app: App, call: Call, lines: AsyncIterable<Line[]>): LineStream {
  const began = nowIso(app);
  const named = new Named(newSalt(app));
  const { practice_group_id: only, include } = call.query;
  const tell = (key: ItemKey, difference: string, current?: Current) => {
    const { kind, id, practice_group_id, assignee_type } = presentItem({ ...key, fields: null });
    const { sourceVersion = null, fields = null } = current ?? {};
    const item = include && fields && { ...presentItem({ ...key, fields }), ...versionOf(sourceVersion) };
    return line({ kind, id, practice_group_id, assignee_type, difference, ...(item && { item }) });
  };
  // Lines may come for hours, and whoever sends them may be revoked meanwhile.
  const mayGoOn = async () => {
    if (!(await call.stillAdmitted())) throw new Problem('invalid_credentials');
  };
  const compare = async (chunk: readonly Digested[]): Promise<string> => {
    await mayGoOn();
    const keys = chunk.map(({ key }) => key);
    const found = await transact(app.db, call.principal, (tx) => readItems(tx, keys));
    return chunk
      .map(({ key, digest }) => {
        const current = found.get(key.key);
        if (!current?.fields) return tell(key, 'missing_here');
        return digestOf({ ...key, fields: current.fields }) === digest ? '' : tell(key, 'differs', current);
      })
      .join('');
  };
  try {
    let chunk: Digested[] = [];
    for await (const some of lines) {
      for (const one of some) {
        const read = readLine(one, only);
        if (!('key' in read)) {
          yield line({ index: one.index, problem: read.problem });
          continue;
        }
        named.add(read.key);
        chunk.push(read);
      }
      if (named.size > NAMED_MAX) {
        yield line({ problem: refused(tooMany()).problem });
        return;
      }
      if (chunk.length < ITEMS_MAX) continue;
      yield await compare(chunk);
      chunk = [];
    }
    if (chunk.length > 0) yield await compare(chunk);
    for (const kind of itemKinds) {
      let after: ItemKey | undefined;
      do {
        await mayGoOn();
        const page = await transact(app.db, call.principal, (tx) =>
          listItems(tx, kind, { only, after, madeUntil: began, limit: ITEMS_MAX }),
        );
        yield page
          .filter(({ key }) => !named.has(key))
          .map(({ key, ...current }) => tell(key, 'missing_there', current))
          .join('');
        after = page.length === ITEMS_MAX ? page.at(-1)?.key : undefined;
      } while (after);
    }
  } catch (error) {
    yield lastLine(error);
  }
}

function readLine(one: Line, only: string | undefined): Digested | ReturnType<typeof refused> {
  if ('isTooLong' in one) return refused(new Problem('payload_too_large'));
  if ('problems' in one) return refused(one.problems);
  const read = readDigested(one.value);
  if (Array.isArray(read)) return refused(read);
  if (only === undefined || read.key.groupId === only) return read;
  const message = `Only ${only} is compared. Send its items alone, or leave practice_group_id out of the address.`;
  const path = [read.key.kind === 'practice_group' ? 'id' : 'practice_group_id'];
  return refused([{ code: 'invalid_value', expected: 'string', path, message }]);
}

function tooMany(): Problem {
  const message = `More than ${withCommas(NAMED_MAX)} items cannot be compared at once. Compare practice by practice, with practice_group_id.`;
  return new Problem('payload_too_large', { message });
}

const versionOf = (source_version: number | null) => (source_version === null ? {} : { source_version });

const line = (value: object) => `${JSON.stringify(value)}\n`;
