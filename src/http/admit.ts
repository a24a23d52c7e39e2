import {
  ADDRESS_RATE_LIMIT,
  OPERATOR_RATE_LIMIT,
  RATE_WINDOW_SECONDS,
  type Role,
  type Scope,
} from '../contract/access.ts';
import { Problem } from '../contract/problems.ts';
import type { ValidationEntry } from '../contract/validate.ts';
import { hasExpired } from '../domain/access.ts';
import type { KeyHolder, OperatorPrincipal, PartnerPrincipal } from '../domain/principal.ts';
import type { RateDecision } from '../domain/rate-window.ts';
import type { App } from '../operations/app.ts';
import type { Exchange } from './exchange.ts';
import { addressKey } from './transport.ts';

/**
 * The door, in the order that the contract fixes: 401 key, 429 rate, 403 scope, 403 network. Each step stands on the
 * one before; nothing after the first failure is looked at.
 */

/** Steps one and two: who is it, and may it call now. */
export async function admitHolder(app: App, exchange: Exchange): Promise<KeyHolder> {
  const key = exchange.headers['x-api-key'];
  const holder = typeof key === 'string' ? await app.access.holderOf(key) : undefined;
  if (!holder || hasExpired(holder, app.clock.now())) throw refuseStranger(app, exchange);
  exchange.trace.keyId = holder.keyId;
  exchange.trace.partnerId = holder.partnerId;
  exchange.trace.practiceGroupId = namedGroup(exchange);
  const { keyId, rateLimitPerMinute: limit } = holder;
  tellOrRefuse(exchange, await app.limits.keys.take(keyId, limit), limit, 'default');
  return holder;
}

/** Steps three and four; without a scope, any key will do. Without the header there is nobody to act for: that is for the validation to report. */
export async function admitPartner(
  app: App,
  exchange: Exchange,
  holder: KeyHolder,
  scope: Scope | undefined,
): Promise<PartnerPrincipal | ValidationEntry> {
  if (scope !== undefined && !holder.scopes.has(scope))
    throw new Problem('insufficient_permissions', { required_scopes: [scope] });
  const groupId = namedGroup(exchange);
  if (groupId === undefined) return groupMissing;
  const group = await app.access.reach(holder, groupId);
  if (!group) throw new Problem('forbidden');
  return { kind: 'partner', holder, group };
}

function namedGroup({ headers }: Exchange): string | undefined {
  const named = headers['x-practice-group-id'];
  return typeof named === 'string' && named !== '' ? named : undefined;
}

/** Whether a call that was let in would be let in again: for an answer that goes on. It is not counted again. */
export async function isStillAdmitted(
  app: App,
  { headers }: Exchange,
  scope: Scope | undefined,
): Promise<boolean> {
  const holder = await app.access.holderOf(String(headers['x-api-key']));
  if (!holder || hasExpired(holder, app.clock.now()) || (scope !== undefined && !holder.scopes.has(scope)))
    return false;
  return (await app.access.reach(holder, String(headers['x-practice-group-id']))) !== undefined;
}

const groupMissing: ValidationEntry = {
  code: 'invalid_type',
  expected: 'string',
  path: ['x-practice-group-id'],
  message: 'Send the ID of the practice group that you act for in the x-practice-group-id header.',
};

/** Operators have a limit too, so that one of them, or a program gone wrong, slows no partner down. */
export async function admitOperator(
  app: App,
  exchange: Exchange,
  isCounted: boolean,
): Promise<OperatorPrincipal> {
  const [, token] = /^bearer +(\S+)$/i.exec(exchange.headers.authorization ?? '') ?? [];
  const operator = token === undefined ? undefined : await app.access.operatorOf(token);
  if (!operator || hasExpired(operator, app.clock.now())) throw refuseStranger(app, exchange);
  exchange.trace.operatorId = operator.operatorId;
  if (isCounted) {
    const decision = app.limits.operators.take(operator.operatorId, OPERATOR_RATE_LIMIT);
    tellOrRefuse(exchange, decision, OPERATOR_RATE_LIMIT, 'operator');
  }
  return operator;
}

export function requireRole(operator: OperatorPrincipal, roles: readonly Role[]): void {
  if (roles.includes(operator.role)) return;
  throw new Problem('insufficient_permissions', {
    message: 'Your role does not allow this operation. Use a token with one of the required_roles.',
    required_roles: roles,
  });
}

/** Strangers are counted by address, so that their noise is refused early, and never at a partner's expense. */
function refuseStranger(app: App, exchange: Exchange): Problem {
  const who = `address ${addressKey(exchange.transport.address)}`;
  tellOrRefuse(exchange, app.limits.addresses.take(who, ADDRESS_RATE_LIMIT), ADDRESS_RATE_LIMIT, 'address');
  return new Problem('invalid_credentials');
}

function tellOrRefuse(
  exchange: Exchange,
  { allowed, remaining, roomInMs }: RateDecision,
  limit: number,
  policy: 'default' | 'address' | 'operator',
): void {
  // Rounded up: a call made that many whole seconds later is answered.
  const seconds = Math.ceil(roomInMs / 1000);
  exchange.outgoing.push(
    'ratelimit-policy',
    `"${policy}";q=${limit};w=${RATE_WINDOW_SECONDS}`,
    'ratelimit',
    `"${policy}";r=${remaining};t=${seconds}`,
  );
  if (!allowed) throw new Problem('rate_limit_exceeded', { retry_after: Math.max(1, seconds) });
}

export function missingGroup(admitted: PartnerPrincipal | ValidationEntry): admitted is ValidationEntry {
  return 'code' in admitted;
}
