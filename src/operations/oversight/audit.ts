import {
  getAuditAnchor as anchorEndpoint,
  getAuditEntry as getEndpoint,
  listAudit as listEndpoint,
  verifyAudit as verifyEndpoint,
} from '../../contract/operator/oversight/audit.ts';
import { Problem, ValidationProblem } from '../../contract/problems.ts';
import { readAnchor, type SignedAnchor } from '../../domain/oversight/anchor.ts';
import { currentAnchor } from '../../runtime/oversight/audit-anchors.ts';
import { type Transaction, transact } from '../../store/database.ts';
import { auditOrigin, findAuditEntry, listAuditEntries, readAuditHead } from '../../store/oversight/audit.ts';
import { operation } from '../app.ts';

export const listAudit = operation(listEndpoint, async (app, call) => {
  return { body: await transact(app.db, call.principal, (tx) => listAuditEntries(tx, call.query)) };
});

export const getAuditEntry = operation(getEndpoint, async (app, call) => {
  const body = await transact(app.db, call.principal, (tx) => findAuditEntry(tx, Number(call.params.seq)));
  if (!body) throw new Problem('not_found');
  return { body };
});

export const getAuditAnchor = operation(anchorEndpoint, async (app, _call) => {
  return { body: await currentAnchor(app) };
});

/** The chain by itself, and then whether it still is the one that the anchor was made of. */
export const verifyAudit = operation(verifyEndpoint, async (app, call) => {
  const given = call.query.anchor;
  const anchor = given === undefined ? undefined : readAnchor(given);
  if (given !== undefined && anchor === undefined) throw noAnchor();
  const verdict = await app.auditVerification.verify(call.gone);
  if (anchor === undefined) return { body: verdict };
  const problem = await transact(app.db, call.principal, (tx) => problemWith(tx, anchor));
  const { seq, at } = anchor;
  const compared = { seq, at, key_known: app.signer.knows(anchor.key), ...(problem && { problem }) };
  return { body: { ...verdict, ok: verdict.ok && problem === undefined, anchor: compared } };
});

async function problemWith(
  tx: Transaction,
  anchor: SignedAnchor,
): Promise<'not_genuine' | 'cut' | 'rewritten' | undefined> {
  if (!anchor.isGenuine) return 'not_genuine';
  const head = await readAuditHead(tx);
  const origin = auditOrigin(head?.cell ?? 0);
  if (!head || head.seq < anchor.seq) return 'cut';
  const hash =
    anchor.seq === origin.seq ? origin.hash.toString('hex') : (await findAuditEntry(tx, anchor.seq))?.hash;
  return hash === anchor.hash ? undefined : 'rewritten';
}

function noAnchor(): ValidationProblem {
  const message = 'Must be an anchor of the audit trail, one line as it was given out.';
  return new ValidationProblem([{ code: 'invalid_format', expected: 'string', path: ['anchor'], message }]);
}
