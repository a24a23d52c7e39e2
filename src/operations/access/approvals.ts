import { hash } from 'node:crypto';
import type { Approval } from '../../contract/approval.ts';
import type { AuditAction } from '../../contract/audit-actions.ts';
import type { Endpoint } from '../../contract/endpoint.ts';
import {
  approveApproval as approveEndpoint,
  collectApproval as collectEndpoint,
  declineApproval as declineEndpoint,
  getApproval as getEndpoint,
  listApprovals as listEndpoint,
} from '../../contract/operator/access/approvals.ts';
import { operatorEndpoints } from '../../contract/operator/index.ts';
import { Problem } from '../../contract/problems.ts';
import { check } from '../../contract/validate.ts';
import {
  approvalExpiry,
  approvalStatus,
  isCollectable,
  type StoredApproval,
} from '../../domain/access/approval.ts';
import type { OperatorPrincipal } from '../../domain/access/principal.ts';
import { newId } from '../../domain/ids.ts';
import {
  decideApproval,
  findApproval,
  insertApproval,
  listApprovalPage,
  lockApproval,
  takeAnswer,
} from '../../store/access/approvals.ts';
import { lockKey } from '../../store/access/keys.ts';
import { lockNetwork } from '../../store/access/networks.ts';
import { findOperator, hasCreated, lockOperator } from '../../store/access/operators.ts';
import { rehearse, type Transaction, transact, transactAsOne } from '../../store/database.ts';
import { type Actor, type App, nowIso, operation } from '../app.ts';
import { issueKey, issueKeys, rotateKey, updateKey } from './keys.ts';
import {
  addNetworkMember,
  createNetwork,
  deleteNetwork,
  removeNetworkMember,
  updateNetwork,
} from './networks.ts';
import { createOperator, presentOperator, updateOperator } from './operators.ts';

/**
 * A second person's approval. What waits is kept as it was asked for, after a rehearsal: it is carried out in a transaction that is undone, so
 * whoever asks hears at once what would be refused. Approved, it is carried out for good in one transaction with the decision, in the name of both. What it answers,
 * a new key for instance, is sealed and shown once, to whoever asked: who approves never sees it.
 */

/** What can be made to wait: each endpoint that declares it. */
const operations = {
  createOperator,
  updateOperator,
  issueKey,
  issueKeys,
  updateKey,
  rotateKey,
  createNetwork,
  updateNetwork,
  deleteNetwork,
  addNetworkMember,
  removeNetworkMember,
};
type Name = keyof typeof operations;

/**
 * The part of an object that decides what an operation means. If it has changed since the request, the operation is not carried out. Adding or
 * removing a member of a network means the same after each other change of the network.
 */
const basisOf: Partial<Record<Name, (tx: Transaction, id: string) => Promise<unknown>>> = {
  updateKey: keyBasis,
  rotateKey: keyBasis,
  updateNetwork: networkBasis,
  async updateOperator(tx, id) {
    const found = await lockOperator(tx, id);
    return found && [found.label, found.expires_at, found.revoked_at];
  },
};

async function keyBasis(tx: Transaction, id: string): Promise<unknown> {
  return (await lockKey(tx, id))?.version;
}

async function networkBasis(tx: Transaction, id: string): Promise<unknown> {
  const found = await lockNetwork(tx, id);
  return found && [found.name, found.scopes, found.partner_ids];
}

/** Locks the object, so it cannot change before the transaction ends. */
async function digestOfBasis(
  tx: Transaction,
  { operation, params }: { operation: string; params: Record<string, string> },
): Promise<string | null> {
  const basis = await basisOf[operation as Name]?.(tx, params.id ?? '');
  return basis === undefined ? null : hash('sha256', JSON.stringify(basis), 'base64url');
}

type Waiting = (app: App, call: Asked) => Promise<{ body: unknown }>;

interface Asked {
  params: Record<string, string>;
  body: unknown;
  principal: OperatorPrincipal;
  requestId: string;
  ifMatch: undefined;
}

export async function askForApproval(
  app: App,
  { operationId, approval: kind }: Endpoint,
  call: { params?: unknown; body?: unknown; principal: OperatorPrincipal; requestId: string },
): Promise<{ body: Approval }> {
  if (!kind || !(operationId in operations)) throw new Error(`${operationId} cannot be made to wait`);
  const params = (call.params ?? {}) as Record<string, string>;
  const body = call.body ?? null;
  const work: Work = { operation: operationId as Name, params, body, requestId: call.requestId };
  await rehearse(app.db, call.principal, (principal) => carryOut(app, work, principal));
  const { operatorId, name } = call.principal;
  const now = app.clock.now();
  const asked: Omit<StoredApproval, 'basis'> = {
    id: newId('apv', now, app.random),
    kind,
    operation: operationId,
    params,
    body,
    requested_by: operatorId,
    requested_name: name,
    requested_at: new Date(now).toISOString(),
    expires_at: approvalExpiry(now),
    decision: null,
    decided_by: null,
    decided_name: null,
    decided_at: null,
    reason: null,
    has_answer: false,
  };
  const stored = await transact(app.db, call.principal, async (tx) => {
    const stored = { ...asked, basis: await digestOfBasis(tx, asked) };
    insertApproval(tx, stored);
    record(app, tx, call, 'approval.request', null, stored);
    return stored;
  });
  return { body: present(app, stored) };
}

interface Work {
  operation: Name;
  params: Record<string, string>;
  body: unknown;
  requestId: string;
}

/** As part of the transaction that is under way for this principal. Tells whether other nodes have to forget when it is committed. */
async function carryOut(
  app: App,
  { operation, params, body, requestId }: Work,
  principal: OperatorPrincipal,
): Promise<{ answer: unknown; settles: boolean }> {
  let settles = false;
  const settle = async () => {
    settles = true;
  };
  const within = { ...app, access: { ...app.access, settle, forget: () => {} } };
  // What was sent without a body is carried out without one.
  const call: Asked = { params, body: body ?? undefined, principal, requestId, ifMatch: undefined };
  const result = await (operations[operation] as unknown as Waiting)(within, call);
  const { response }: Endpoint = operatorEndpoints[operation];
  const shown = response.body && check(response.body, result.body);
  if (shown && !shown.ok) throw new Error(`${operation} answers something else than it declares`);
  return { answer: shown ? shown.value : null, settles };
}

export const listApprovals = operation(listEndpoint, async (app, { principal, query }) => {
  const page = await transact(app.db, principal, (tx) => listApprovalPage(tx, query, nowIso(app)));
  return { body: { ...page, data: page.data.map((one) => present(app, one)) } };
});

export const getApproval = operation(getEndpoint, async (app, call) => {
  const found = await transact(app.db, call.principal, (tx) => findApproval(tx, call.params.id));
  if (!found) throw new Problem('not_found');
  return { body: present(app, found) };
});

export const approveApproval = operation(approveEndpoint, async (app, call) => {
  const { id } = call.params;
  const { operatorId, name } = call.principal;
  const asked = await transact(app.db, call.principal, (tx) => findApproval(tx, id));
  if (!asked) throw new Problem('not_found');
  const operation = asked.operation as Name;
  const roles: readonly string[] = operatorEndpoints[operation].access.roles;
  if (!roles.includes(call.principal.role))
    throw new Problem('insufficient_permissions', { message: NOT_YOUR_ROLE, required_roles: roles });
  if (asked.requested_by === operatorId) throw new Problem('insufficient_permissions', { message: ANOTHER });
  const behalf: OperatorPrincipal = {
    kind: 'operator',
    operatorId: asked.requested_by,
    name: asked.requested_name,
    role: call.principal.role,
    expiresAt: Number.POSITIVE_INFINITY,
    approvedBy: { id: operatorId, name },
  };
  const { approval, settles } = await transactAsOne(app.db, behalf, async (tx) => {
    const before = await lockPending(app, tx, id, { decision: 'approved', by: operatorId });
    // Whoever says it again may not have heard the answer, and other nodes may remember still.
    if (before.decision) return { approval: before, settles: true };
    const requester = await findOperator(tx, asked.requested_by);
    const still = requester && presentOperator(app, requester);
    if (still?.status !== 'active' || !roles.includes(still.role))
      throw new Problem('conflict', { message: ASKER_GONE });
    await refuseSecondIdentity(app, tx, call.principal, before);
    if (before.basis !== (await digestOfBasis(tx, before)))
      throw new Problem('conflict', { message: CHANGED });
    const { requestId } = call;
    const { params, body } = before;
    const { answer, settles } = await carryOut(app, { operation, params, body, requestId }, behalf);
    const after = decided(app, before, call.principal, 'approved', null);
    decideApproval(tx, after, app.sealer.seal(Buffer.from(JSON.stringify(answer)), ownerOf(id)));
    const approval = { ...after, has_answer: true };
    record(app, tx, call, 'approval.approve', before, approval);
    return { approval, settles };
  });
  if (settles) await app.access.settle();
  else app.access.forget();
  return { body: present(app, approval) };
});

/** A person may hold several operators. Refuses an operator that the requester could have made for this approval. */
async function refuseSecondIdentity(
  app: App,
  tx: Transaction,
  { operatorId }: OperatorPrincipal,
  { requested_by, requested_at }: StoredApproval,
): Promise<void> {
  const refuse = (message: string) => new Problem('insufficient_permissions', { message });
  const approver = await findOperator(tx, operatorId);
  if (!approver || Date.parse(approver.created_at) >= Date.parse(requested_at)) throw refuse(TOO_NEW);
  if (!app.people) return;
  if (approver.kind !== 'person') throw refuse(NO_PERSON);
  if (await hasCreated(tx, operatorId, requested_by)) throw refuse(YOUR_TOKEN);
}

const TOO_NEW =
  'You became an operator after this was asked for. An operator who was one before has to approve it.';
const NO_PERSON =
  'People sign in through a provider here, and a person has to approve this. Sign in to the console instead of using a token.';
const YOUR_TOKEN = 'You created the token that asked for this. Another person has to approve it.';
const CHANGED =
  'The object has changed since this was asked for, so it may mean something else now. Decline it, and ask for it again if it is still wanted.';
const NOT_YOUR_ROLE =
  'Your role does not allow what waits here. Somebody with one of the required_roles can approve it.';
const ANOTHER = 'You asked for this yourself. Somebody else has to approve it.';
const ASKER_GONE =
  'Whoever asked for this may no longer do it. Decline it, and ask for it yourself if it is still wanted.';

export const declineApproval = operation(declineEndpoint, async (app, call) => {
  const approval = await transact(app.db, call.principal, async (tx) => {
    const by = call.principal.operatorId;
    const before = await lockPending(app, tx, call.params.id, { decision: 'declined', by });
    if (before.decision) return before;
    const after = decided(app, before, call.principal, 'declined', call.body.reason);
    decideApproval(tx, after, undefined);
    record(app, tx, call, 'approval.decline', before, after);
    return after;
  });
  return { body: present(app, approval) };
});

export const collectApproval = operation(collectEndpoint, async (app, call) => {
  const { id } = call.params;
  return transact(app.db, call.principal, async (tx) => {
    const found = await lockApproval(tx, id);
    if (!found || found.requested_by !== call.principal.operatorId) throw new Problem('not_found');
    const answer = isCollectable(found, app.clock.now()) ? await takeAnswer(tx, id) : undefined;
    if (!answer)
      throw new Problem('conflict', { message: found.decision === 'approved' ? COLLECTED : NOT_APPROVED });
    if (!app.sealer.keyIds.includes(answer.keyId)) throw new Problem('conflict', { message: UNREADABLE });
    const text = app.sealer.open(answer, ownerOf(id)).toString('utf8');
    record(app, tx, call, 'approval.collect', found, { ...found, has_answer: false });
    return { body: { operation: found.operation, answer: JSON.parse(text) } };
  });
});

const COLLECTED =
  'The answer was collected, or was not in time. A key that nobody has can be revoked, and another asked for.';
const UNREADABLE =
  'The answer cannot be read: the service has another master key since. Collect it when the old one is in PORTER_MASTER_KEY_PREVIOUS again; or revoke a key that nobody has, and ask for another.';
const NOT_APPROVED = 'It was not approved, so there is nothing to collect.';

/** One that waits; or that the same person has decided in the same way, who did not hear the answer. */
async function lockPending(
  app: App,
  tx: Transaction,
  id: string,
  { decision, by }: { decision: 'approved' | 'declined'; by: string },
): Promise<StoredApproval> {
  const found = await lockApproval(tx, id);
  if (!found) throw new Problem('not_found');
  const status = approvalStatus(found, app.clock.now());
  if (status === 'pending' || (found.decision === decision && found.decided_by === by)) return found;
  throw new Problem('conflict', { message: status === 'expired' ? EXPIRED : `It was ${status} already.` });
}

const EXPIRED = 'It waited for too long. Ask for it again.';

function decided(
  app: App,
  before: StoredApproval,
  { operatorId, name }: OperatorPrincipal,
  decision: 'approved' | 'declined',
  reason: string | null,
): StoredApproval {
  const decided_at = nowIso(app);
  return { ...before, decision, decided_by: operatorId, decided_name: name, decided_at, reason };
}

function ownerOf(id: string): string {
  return `approvals ${id}`;
}

function present({ clock }: App, approval: StoredApproval): Approval {
  const { id, kind, operation, params, body, requested_at, expires_at, decided_at, reason } = approval;
  const { decided_by, decided_name } = approval;
  return {
    id,
    kind,
    operation,
    summary: operatorEndpoints[operation as Name].summary,
    params,
    body,
    status: approvalStatus(approval, clock.now()),
    requested_by: { id: approval.requested_by, name: approval.requested_name },
    requested_at,
    expires_at,
    decided_by: decided_by === null ? null : { id: decided_by, name: decided_name ?? '' },
    decided_at,
    reason,
    is_collectable: isCollectable(approval, clock.now()),
  };
}

function record(
  app: App,
  tx: Transaction,
  { principal, requestId }: Actor,
  action: AuditAction,
  before: StoredApproval | null,
  after: StoredApproval,
): void {
  const at = nowIso(app);
  const subject = { type: 'approval', id: after.id };
  const shown = (one: StoredApproval) => present(app, one);
  tx.audit({
    at,
    principal,
    action,
    subject,
    requestId,
    before: before && shown(before),
    after: shown(after),
  });
}
