import type {
  getAuditEntry as getEndpoint,
  listAudit as listEndpoint,
  verifyAudit as verifyEndpoint,
} from '../contract/operator/audit.ts';
import { Problem } from '../contract/problems.ts';
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
 * short transaction of its own: one long snapshot would slow every other writer down.
 */
export async function verifyAudit(app: App, call: OperatorCall<typeof verifyEndpoint>) {
  const head = await transact(app.db, call.principal, readAuditHead);
  if (!head) return verdict(0, 1);
  const origin = auditOrigin(head.cell);
  const first = origin.seq + 1;
  const entries = head.seq - origin.seq;
  if (entries < 0) return verdict(0, first);
  if (head.first !== undefined && head.first < first) return verdict(entries, head.first);
  let seen = origin;
  while (seen.seq < head.seq) {
    const from = seen;
    const walk = await transact(app.db, call.principal, (tx) => walkAuditChain(tx, from, head.seq, STRETCH));
    if (walk.firstBad) return verdict(entries, walk.firstBad);
    if (walk.entries === 0) return verdict(entries, from.seq + 1);
    seen = { seq: from.seq + walk.entries, hash: walk.hash };
  }
  if (!seen.hash.equals(head.hash)) return verdict(entries, Math.max(seen.seq, first));
  if (head.last !== undefined && head.last > head.seq) return verdict(entries, head.seq + 1);
  return { body: { ok: true, entries } };
}

function verdict(entries: number, firstBad: number) {
  return { body: { ok: false, entries, first_bad: firstBad } };
}
