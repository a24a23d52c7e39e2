import type { LineStream } from '../../contract/endpoint.ts';
import {
  exportAccessLog as exportEndpoint,
  listAccessLog as listEndpoint,
} from '../../contract/operator/oversight/access-log.ts';
import { Problem } from '../../contract/problems.ts';
import { type Transaction, transact } from '../../store/database.ts';
import {
  type AccessBatch,
  listAccessPage,
  readAccessBounds,
  readBatches,
  readBatchHash,
} from '../../store/oversight/access-log.ts';
import { operation } from '../app.ts';

export const listAccessLog = operation(listEndpoint, async (app, { principal, query }) => {
  // Whoever asks right after a call finds it.
  await app.accessLog.flush();
  // A look at the log is not in it: the next page would be another.
  return { body: await transact(app.db, principal, (tx) => listAccessPage(tx, query)), read: [] };
});

const BATCHES_AT_ONCE = 20;

/**
 * The head is read first: what is appended meanwhile is for the next export. It goes out as fast as its reader takes it, and ends, without the line
 * that says where (`to`; `end` after what was received), when the reader has lost their access.
 */
export const exportAccessLog = operation(exportEndpoint, async (app, call) => {
  const { query, principal, stillAdmitted } = call;
  const inTransaction = <T>(work: (tx: Transaction) => Promise<T>) => transact(app.db, principal, work);
  await app.accessLog.flush();
  const bounds = await inTransaction(readAccessBounds);
  const after = query.after_batch === undefined ? bounds.cleared : Number(query.after_batch);
  const from =
    after === bounds.cleared ? bounds.cleared_hash : await inTransaction((tx) => readBatchHash(tx, after));
  if (!from) throw new Problem('not_found');

  async function* lines(): AsyncGenerator<string> {
    const { practice_group_id } = query;
    yield line({ from: { batch: after, hash: from?.toString('hex'), practice_group_id } });
    for (let seen = after; seen < bounds.batch; ) {
      const limit = Math.min(BATCHES_AT_ONCE, bounds.batch - seen);
      const batches = await inTransaction((tx) => readBatches(tx, seen, limit));
      if (batches.length === 0) break;
      if (!(await stillAdmitted())) return;
      yield batches.map((batch) => linesOf(batch, practice_group_id)).join('');
      seen = batches.at(-1)?.no ?? bounds.batch;
    }
    yield line({ to: { batch: bounds.batch, hash: bounds.hash.toString('hex') } });
    if (practice_group_id !== undefined) yield* received(practice_group_id);
  }

  async function* received(practice_group_id: string): AsyncGenerator<string> {
    let cursor: string | undefined;
    let count = 0;
    do {
      const filter = { practice_group_id, cursor, page_size: 100, receivedOnly: true } as const;
      const page = await inTransaction((tx) => listAccessPage(tx, filter));
      if (!(await stillAdmitted())) return;
      yield page.data.map((entry) => line({ received: entry })).join('');
      count += page.data.length;
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    yield line({ end: { received: count } });
  }

  const stream: LineStream = lines();
  return { lines: stream };
});

/** An entry goes out as it was hashed. What is another practice group's, or was erased, has its digest in its place. */
function linesOf({ no, at, hash, entries }: AccessBatch, groupId: string | undefined): string {
  const texts = entries.map(({ body, digest, erased_by, practice_group_id }) => {
    if (groupId !== undefined && practice_group_id !== groupId)
      return line({ digest: digest.toString('hex') });
    if (erased_by === null) return `${body}\n`;
    return line({ digest: digest.toString('hex'), erased_by, entry: JSON.parse(body) });
  });
  return line({ batch: no, at, entries: entries.length, hash: hash.toString('hex') }) + texts.join('');
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}
