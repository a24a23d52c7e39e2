import type { AuditAction } from '../../contract/audit-actions.ts';
import {
  createOperator as createEndpoint,
  getOperator as getEndpoint,
  listOperators as listEndpoint,
  type Operator,
  revokeOperator as revokeEndpoint,
  updateOperator as updateEndpoint,
} from '../../contract/operator/access/operators.ts';
import { Problem } from '../../contract/problems.ts';
import { ruleBroken } from '../../contract/rules.ts';
import { keyStatus } from '../../domain/access/access.ts';
import { secretHash } from '../../domain/access/api-key.ts';
import { NeedsApproval } from '../../domain/access/approval.ts';
import { SYSTEM } from '../../domain/access/principal.ts';
import { widensOperator } from '../../domain/access/widening.ts';
import { newId, randomBase62 } from '../../domain/ids.ts';
import {
  countOperators,
  findOperator,
  findUnusedToken,
  insertOperator,
  keepUnusedToken,
  listOperatorPage,
  lockActiveAdmins,
  lockOperator,
  markOperatorRevoked,
  type StoredOperator,
  setOperatorToken,
  unusedTokenOwner,
  updateOperatorRow,
} from '../../store/access/operators.ts';
import { type Transaction, transact } from '../../store/database.ts';
import { isUniqueViolation } from '../../store/database-errors.ts';
import { type Actor, type App, nowIso, operation } from '../app.ts';
import { withdrawInvitationsBy } from './invitations.ts';
import { refuseTooFar } from './keys.ts';
import { endSessionsOf } from './sessions.ts';

type Maker = Pick<App, 'db' | 'clock' | 'random' | 'sealer'>;

export const createOperator = operation(createEndpoint, async (app, call) => {
  const token = newToken(app);
  const { name, role, label = null, emergency = false, expires_at } = call.body;
  const wanted = { name, role, label, emergency, expires_at: expiry(app, expires_at) ?? null };
  const operator = await transact(app.db, call.principal, async (tx) =>
    addOperator(app, tx, call, { id: newId('opr', app.clock.now(), app.random), ...wanted }, token),
  );
  return { body: { ...operator, token } };
});

/** Of a token, as it is stored; undefined where nothing is said about it. */
function expiry(app: App, expiresAt: string | null | undefined): string | null | undefined {
  if (!expiresAt) return expiresAt === undefined ? undefined : null;
  if (Date.parse(expiresAt) <= app.clock.now()) throw ruleBroken('expiry_in_the_past');
  refuseTooFar(expiresAt);
  return new Date(expiresAt).toISOString();
}

export const listOperators = operation(listEndpoint, async (app, call) => {
  const page = await transact(app.db, call.principal, (tx) => listOperatorPage(tx, call.query));
  return { body: { ...page, data: page.data.map((one) => presentOperator(app, one)) } };
});

export const getOperator = operation(getEndpoint, async (app, call) => {
  const found = await transact(app.db, call.principal, (tx) => findOperator(tx, call.params.id));
  if (!found) throw new Problem('not_found');
  return { body: presentOperator(app, found) };
});

export const updateOperator = operation(updateEndpoint, async (app, call) => {
  const expires_at = expiry(app, call.body.expires_at);
  const { label } = call.body;
  const body = await transact(app.db, call.principal, async (tx) => {
    const admins = expires_at ? await lockActiveAdmins(tx, nowIso(app)) : [];
    const found = await lockOperator(tx, call.params.id);
    if (!found) throw new Problem('not_found');
    const endsSooner = expires_at && (found.expires_at === null || expires_at < found.expires_at);
    if (endsSooner) refuseLastAdmin(admins, found.id);
    const changed = {
      ...found,
      ...(label !== undefined && { label }),
      ...(expires_at !== undefined && { expires_at }),
    };
    const before = presentOperator(app, found);
    const body = presentOperator(app, changed);
    if (changed.label !== found.label || changed.expires_at !== found.expires_at) {
      if (app.refusesWidening && widensOperator(found, changed)) throw new NeedsApproval();
      updateOperatorRow(tx, changed);
      tx.audit(recordOperator(call, nowIso(app), 'operator.update', before, body));
    }
    return body;
  });
  // Nodes remember for a second until when a token works. Also when it is no sooner: whoever says it again may not have heard the answer.
  if (expires_at) await app.access.settle();
  else app.access.forget();
  return { body };
});

export const revokeOperator = operation(revokeEndpoint, async (app, call) => {
  const now = nowIso(app);
  const { id } = call.params;
  const body = await transact(app.db, call.principal, async (tx): Promise<Operator> => {
    const admins = await lockActiveAdmins(tx, now);
    const found = await findOperator(tx, id);
    if (!found) throw new Problem('not_found');
    const before = presentOperator(app, found);
    if (before.status === 'revoked') return before;
    refuseLastAdmin(admins, id);
    markOperatorRevoked(tx, id, now);
    const after = presentOperator(app, { ...found, revoked_at: now });
    tx.audit(recordOperator(call, now, 'operator.revoke', before, after));
    await withdrawInvitationsBy(app, tx, call, id);
    return after;
  });
  await app.access.settle();
  return { body };
});

/** Another admin must remain. If this admin does not expire, the other must not expire either. */
function refuseLastAdmin(admins: Awaited<ReturnType<typeof lockActiveAdmins>>, id: string): void {
  const found = admins.find((admin) => admin.id === id);
  const others = admins.filter(
    (admin) => admin.id !== id && !(found?.expires_at === null && admin.expires_at),
  );
  if (!found || others.length > 0) return;
  const which = found.expires_at === null ? 'the last admin that does not expire' : 'the last admin';
  throw new Problem('conflict', { message: `This is ${which}. Create another one first.` });
}

/** The operator whose token comes from the configuration, or from the first start. */
const FIRST_OPERATOR = 'opr_first';

/**
 * Makes sure that somebody can come in. A configured token is the truth at every start; without one, the first start
 * makes a token and returns it, and so does every start until somebody has used it: a first start may fail, or nobody may have looked.
 * Until then it is kept, sealed.
 */
export async function ensureFirstOperator(
  app: Maker,
  configured: string | undefined,
): Promise<string | undefined> {
  const ensured = transact(app.db, SYSTEM, async (tx) => {
    const found = await findOperator(tx, FIRST_OPERATOR);
    if (found && configured) {
      await replaceToken(app, tx, found, configured);
      return undefined;
    }
    if (found) return unusedToken(app, tx, found);
    if (!configured && (await countOperators(tx)) > 0) return undefined;
    const token = configured ?? newToken(app);
    const first = { id: FIRST_OPERATOR, name: 'First operator', role: 'admin' as const };
    addOperator(app, tx, SYSTEM_ACTOR, { ...first, label: null, emergency: false, expires_at: null }, token);
    if (configured) return undefined;
    keepToken(app, tx, token);
    return token;
  });
  return ensured.catch((error: unknown) => {
    if (!isUniqueViolation(error)) throw error;
    throw new Error(
      'PORTER_OPERATOR_TOKEN is the token of another operator. Unset it, or set one that only the first operator has.',
    );
  });
}

const SYSTEM_ACTOR: Actor = { principal: SYSTEM, requestId: null };

async function replaceToken(
  app: Maker,
  tx: Transaction,
  found: StoredOperator,
  token: string,
): Promise<void> {
  const now = nowIso(app);
  if (!(await setOperatorToken(tx, found.id, secretHash(token), now))) return;
  const before = presentOperator(app, found);
  const expires_at = before.status === 'expired' ? null : found.expires_at;
  const after = presentOperator(app, { ...found, revoked_at: null, expires_at });
  const action = before.status === 'active' ? 'operator.token' : 'operator.restore';
  tx.audit(recordOperator(SYSTEM_ACTOR, now, action, before, after));
  // A token that has leaked is no use any more, and neither is what was begun with it; nor does who was revoked come back by an old cookie.
  await endSessionsOf(app, tx, SYSTEM_ACTOR, found.id);
}

/** The token that nobody has used yet, if there is one. Under a master key that is lost it cannot be read any more: then another takes its place. */
async function unusedToken(app: Maker, tx: Transaction, found: StoredOperator): Promise<string | undefined> {
  const kept = await findUnusedToken(tx, found.id);
  if (!kept) return undefined;
  if (app.sealer.keyIds.includes(kept.keyId))
    return app.sealer.open(kept, unusedTokenOwner(found.id)).toString('utf8');
  const token = newToken(app);
  await replaceToken(app, tx, found, token);
  keepToken(app, tx, token);
  return token;
}

function keepToken(app: Maker, tx: Transaction, token: string): void {
  const sealed = app.sealer.seal(Buffer.from(token), unusedTokenOwner(FIRST_OPERATOR));
  keepUnusedToken(tx, FIRST_OPERATOR, sealed);
}

type Wanted = Pick<Operator, 'id' | 'name' | 'role' | 'label' | 'emergency' | 'expires_at'>;

function addOperator(app: Maker, tx: Transaction, actor: Actor, wanted: Wanted, token: string): Operator {
  const now = nowIso(app);
  const { id, name, role, label, emergency, expires_at } = wanted;
  const operator: Operator = {
    id,
    name,
    kind: 'token',
    role,
    label,
    issuer: null,
    subject: null,
    emergency,
    status: 'active',
    expires_at,
    last_used_at: null,
    created_at: now,
    revoked_at: null,
  };
  const { principal } = actor;
  insertOperator(
    tx,
    operator,
    secretHash(token),
    principal.kind === 'operator' ? principal.operatorId : null,
  );
  tx.audit(recordOperator(actor, now, 'operator.create', null, operator));
  return operator;
}

export function presentOperator(app: Pick<App, 'clock'>, operator: StoredOperator): Operator {
  return { ...operator, status: keyStatus(operator, app.clock.now()) };
}

function newToken(app: Maker): string {
  return `pto_${randomBase62(app.random, 40)}`;
}

export function recordOperator(
  { principal, requestId }: Actor,
  at: string,
  action: AuditAction,
  before: Operator | null,
  after: Operator,
) {
  return { at, principal, action, subject: { type: 'operator', id: after.id }, requestId, before, after };
}
