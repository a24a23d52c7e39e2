import type { FastifyReply, FastifyRequest } from 'fastify';
import { ADDRESS_RATE_LIMIT, RATE_WINDOW_SECONDS, type Role, type Scope } from '../contract/access.ts';
import { Problem } from '../contract/problems.ts';
import type { ValidationEntry } from '../contract/validate.ts';
import type { App, OperatorCall, PartnerCall } from '../operations/app.ts';
import { addressKey } from './transport.ts';

/**
 * The door, in the order that the contract fixes: 401 key, 429 rate, 403 scope, 403 network. Each step stands on the
 * one before; nothing after the first failure is looked at.
 */

type PartnerPrincipal = PartnerCall<never>['principal'];
type OperatorPrincipal = OperatorCall<never>['principal'];
type KeyHolder = PartnerPrincipal['holder'];

/** Steps one and two: who is it, and may it call now. */
export async function admitHolder(
  app: App,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<KeyHolder> {
  const key = request.headers['x-api-key'];
  const lookup = typeof key === 'string' ? app.access.holderOf(key) : undefined;
  // Remembered holders come without a promise; awaiting them anyway would cost every request a turn of the queue.
  const holder = lookup instanceof Promise ? await lookup : lookup;
  if (!holder || holder.expiresAt <= app.clock.now()) throw refuseStranger(app, request, reply);

  request.trace.keyId = holder.keyId;
  request.trace.partnerId = holder.partnerId;
  takeOrRefuse(app, reply, holder.keyId, holder.rateLimitPerMinute, 'default');
  return holder;
}

/** Steps three and four. Without the header there is nobody to act for: that is for the validation to report. */
export async function admitPartner(
  app: App,
  request: FastifyRequest,
  holder: KeyHolder,
  scope: Scope,
): Promise<PartnerPrincipal | ValidationEntry> {
  if (!holder.scopes.has(scope)) throw new Problem('insufficient_permissions', { required_scopes: [scope] });
  const groupId = request.headers['x-practice-group-id'];
  if (typeof groupId !== 'string' || groupId === '') return groupMissing;

  const lookup = app.access.reach(holder, groupId);
  const group = lookup instanceof Promise ? await lookup : lookup;
  if (!group) throw new Problem('forbidden');
  request.trace.practiceGroupId = group.id;
  return { kind: 'partner', holder, group };
}

const groupMissing: ValidationEntry = {
  code: 'invalid_type',
  expected: 'string',
  path: ['x-practice-group-id'],
  message: 'Send the ID of the practice group that you act for in the x-practice-group-id header.',
};

export async function admitOperator(
  app: App,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<OperatorPrincipal> {
  const [, token] = /^bearer +(\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
  const operator = token === undefined ? undefined : await app.access.operatorOf(token);
  if (!operator) throw refuseStranger(app, request, reply);
  request.trace.operatorId = operator.operatorId;
  return operator;
}

export function requireRole(operator: OperatorPrincipal, roles: readonly Role[]): void {
  if (roles.includes(operator.role)) return;
  throw new Problem('insufficient_permissions', {
    message: 'Your role does not allow this operation.',
    required_roles: roles,
  });
}

/** Strangers are counted by address, so that guessing is slow, and never at a partner's expense. */
function refuseStranger(app: App, request: FastifyRequest, reply: FastifyReply): Problem {
  const who = `address ${addressKey(request.trace.address)}`;
  takeOrRefuse(app, reply, who, ADDRESS_RATE_LIMIT, 'address');
  return new Problem('invalid_credentials');
}

function takeOrRefuse(app: App, reply: FastifyReply, who: string, limit: number, policy: string): void {
  const { allowed, remaining, roomInMs } = app.limits.take(who, limit);
  // Rounded up: a call made that many whole seconds later is answered.
  const seconds = Math.ceil(roomInMs / 1000);
  reply.header('ratelimit-policy', `"${policy}";q=${limit};w=${RATE_WINDOW_SECONDS}`);
  reply.header('ratelimit', `"${policy}";r=${remaining};t=${seconds}`);
  if (!allowed) throw new Problem('rate_limit_exceeded', { retry_after: Math.max(1, seconds) });
}

export function missingGroup(admitted: PartnerPrincipal | ValidationEntry): admitted is ValidationEntry {
  return 'code' in admitted;
}
