import type { Role } from '../contract/access.ts';
import type {
  createOperator as createEndpoint,
  getOperator as getEndpoint,
  listOperators as listEndpoint,
  Operator,
  revokeOperator as revokeEndpoint,
} from '../contract/operator/operators.ts';
import { Problem } from '../contract/problems.ts';
import { secretHash } from '../domain/api-key.ts';
import { newId, randomBase62 } from '../domain/ids.ts';
import { SYSTEM } from '../domain/principal.ts';
import { isUniqueViolation, type Transaction, transact } from '../store/database.ts';
import {
  countOperators,
  findOperator,
  insertOperator,
  listOperatorPage,
  lockActiveAdmins,
  markOperatorRevoked,
  type StoredOperator,
  setOperatorToken,
} from '../store/operators.ts';
import { type Actor, type App, nowIso, type OperatorCall } from './app.ts';

type Maker = Pick<App, 'db' | 'clock' | 'random'>;

export async function createOperator(app: App, call: OperatorCall<typeof createEndpoint>) {
  const token = newToken(app);
  const operator = await transact(app.db, call.principal, async (tx) =>
    addOperator(
      app,
      tx,
      call,
      newId('opr', app.clock.now(), app.random),
      call.body.name,
      call.body.role,
      token,
    ),
  );
  return { body: { ...operator, token } };
}

export async function listOperators(app: App, call: OperatorCall<typeof listEndpoint>) {
  const page = await transact(app.db, call.principal, (tx) => listOperatorPage(tx, call.query));
  return { body: { ...page, data: page.data.map(presentOperator) } };
}

export async function getOperator(app: App, call: OperatorCall<typeof getEndpoint>) {
  const found = await transact(app.db, call.principal, (tx) => findOperator(tx, call.params.id));
  if (!found) throw new Problem('not_found');
  return { body: presentOperator(found) };
}

export async function revokeOperator(app: App, call: OperatorCall<typeof revokeEndpoint>) {
  const now = nowIso(app);
  const { id } = call.params;
  const body = await transact(app.db, call.principal, async (tx): Promise<Operator> => {
    const admins = await lockActiveAdmins(tx);
    const found = await findOperator(tx, id);
    if (!found) throw new Problem('not_found');
    const before = presentOperator(found);
    if (before.status === 'revoked') return before;
    if (admins.length === 1 && admins[0] === id)
      throw new Problem('conflict', { message: 'This is the last admin; make another one first.' });
    markOperatorRevoked(tx, id, now);
    const after = presentOperator({ ...found, revoked_at: now });
    tx.audit(record(call, now, 'operator.revoke', before, after));
    return after;
  });
  await app.access.settle();
  return { body };
}

/** The operator whose token comes from the configuration, or from the first start. */
const FIRST_OPERATOR = 'opr_first';

/**
 * Makes sure that somebody can come in. A configured token is the truth at every start; without one, the first start
 * makes a token and returns it, the only time that it is seen.
 */
export async function ensureFirstOperator(
  app: Maker,
  configured: string | undefined,
): Promise<string | undefined> {
  const system: Actor = { principal: SYSTEM, requestId: null };
  const ensured = transact(app.db, SYSTEM, async (tx) => {
    const found = await findOperator(tx, FIRST_OPERATOR);
    if (found && configured) {
      if (await setOperatorToken(tx, FIRST_OPERATOR, secretHash(configured))) {
        const before = presentOperator(found);
        const after = presentOperator({ ...found, revoked_at: null });
        const action = before.status === 'revoked' ? 'operator.restore' : 'operator.token';
        tx.audit(record(system, nowIso(app), action, before, after));
      }
      return undefined;
    }
    if (!configured && (await countOperators(tx)) > 0) return undefined;
    const token = configured ?? newToken(app);
    addOperator(app, tx, system, FIRST_OPERATOR, 'First operator', 'admin', token);
    return configured ? undefined : token;
  });
  return ensured.catch((error: unknown) => {
    if (!isUniqueViolation(error)) throw error;
    throw new Error(
      'PORTER_OPERATOR_TOKEN is the token of another operator. Unset it, or set one that only the first operator has.',
    );
  });
}

function addOperator(
  app: Maker,
  tx: Transaction,
  actor: Actor,
  id: string,
  name: string,
  role: Role,
  token: string,
): Operator {
  const now = nowIso(app);
  const operator: Operator = { id, name, role, status: 'active', created_at: now, revoked_at: null };
  insertOperator(tx, operator, secretHash(token));
  tx.audit(record(actor, now, 'operator.create', null, operator));
  return operator;
}

function presentOperator(operator: StoredOperator): Operator {
  return { ...operator, status: operator.revoked_at ? 'revoked' : 'active' };
}

function newToken(app: Maker): string {
  return `pto_${randomBase62(app.random, 40)}`;
}

function record(
  { principal, requestId }: Actor,
  at: string,
  action: string,
  before: Operator | null,
  after: Operator,
) {
  return { at, principal, action, subject: { type: 'operator', id: after.id }, requestId, before, after };
}
