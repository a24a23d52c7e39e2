import type {
  getAuditEntry as getEndpoint,
  listAudit as listEndpoint,
  verifyAudit as verifyEndpoint,
} from '../contract/operator/audit.ts';
import { Problem } from '../contract/problems.ts';
import { Redactions } from '../domain/audit-chain.ts';
import {
  auditOrigin,
  findAuditEntry,
  listAuditEntries,
  readAuditHead,
  walkAuditChain,
} from '../store/audit.ts';
import { transact } from '../store/database.ts';
import type { App, OperatorCall } from './app.ts';

export async function listAudit(app: App, call: OperatorCall<typeof listEndpoint>) {
  return { body: await transact(app.db, call.principal, (tx) => listAuditEntries(tx, call.query)) };
}

export async function getAuditEntry(app: App, call: OperatorCall<typeof getEndpoint>) {
  const body = await transact(app.db, call.principal, (tx) => findAuditEntry(tx, Number(call.params.seq)));
  if (!body) throw new Problem('not_found');
  return { body };
}

/** Hashing holds up everybody else; between two stretches their calls go on. */
const STRETCH = 500;

/**
 * Walks the chain from its origin to the head as it stood at the start. Entries never change, so each stretch is a
 * short transaction of its own: one long snapshot would slow every other writer down. Only an erasure changes one, and what it
 * says about that may stand behind the head that was walked to: then the walk is made again.
 */
export async function verifyAudit(app: App, call: OperatorCall<typeof verifyEndpoint>) {
  for (let walk = 1; ; walk++) {
    const { head, redactions, ...found } = await walkChain(app, call);
    if (found.firstBad !== undefined) return verdict(found.entries, found.firstBad);
    const firstBad = redactions.firstBad();
    if (firstBad === undefined) return { body: { ok: true, entries: found.entries } };
    const now = await transact(app.db, call.principal, readAuditHead);
    if (now?.seq === head.seq || walk === WALKS_MAX) return verdict(found.entries, firstBad);
  }
}

/** Erasures are rare: whoever meets one on each of so many walks has met something else. */
const WALKS_MAX = 3;

async function walkChain(app: App, call: OperatorCall<typeof verifyEndpoint>) {
  const redactions = new Redactions();
  const head = await transact(app.db, call.principal, readAuditHead);
  if (!head) return { head: { seq: 0 }, redactions, entries: 0, firstBad: 1 };
  const origin = auditOrigin(head.cell);
  const first = origin.seq + 1;
  const entries = head.seq - origin.seq;
  const bad = (firstBad: number) => ({ head, redactions, entries: Math.max(0, entries), firstBad });
  if (entries < 0) return bad(first);
  if (head.first !== undefined && head.first < first) return bad(head.first);
  let seen = origin;
  while (seen.seq < head.seq) {
    const from = seen;
    const walk = await transact(app.db, call.principal, (tx) =>
      walkAuditChain(tx, from, head.seq, STRETCH, redactions),
    );
    if (walk.firstBad) return bad(walk.firstBad);
    if (walk.entries === 0) return bad(from.seq + 1);
    seen = { seq: from.seq + walk.entries, hash: walk.hash };
  }
  if (!seen.hash.equals(head.hash)) return bad(Math.max(seen.seq, first));
  if (head.last !== undefined && head.last > head.seq) return bad(head.seq + 1);
  return { head, redactions, entries, firstBad: undefined };
}

function verdict(entries: number, firstBad: number) {
  return { body: { ok: false, entries, first_bad: firstBad } };
}
