import { isDeepStrictEqual } from 'node:util';
import {
  ADDRESS_RATE_LIMIT,
  OPERATOR_RATE_LIMIT,
  RATE_WINDOW_SECONDS,
  type Role,
  type Scope,
} from '../contract/access.ts';
import type { RefusalReason } from '../contract/partner/requests.ts';
import { cappedByNetwork, Problem, STOPPED_BY_PRACTICE } from '../contract/problems.ts';
import type { ValidationEntry } from '../contract/validate.ts';
import { type FoundGroup, hasExpired, isReached } from '../domain/access/access.ts';
import { contains } from '../domain/access/address-list.ts';
import type {
  GuestPrincipal,
  KeyHolder,
  OperatorPrincipal,
  PartnerPrincipal,
} from '../domain/access/principal.ts';
import type { RateDecision } from '../domain/access/rate-window.ts';
import { newSessionToken } from '../operations/access/sessions.ts';
import type { App } from '../operations/app.ts';
import { type FoundKey, isHolder } from '../runtime/access/access.ts';
import type { SessionHolder } from '../runtime/access/sessions.ts';
import type { Exchange } from './exchange.ts';
import { foreignCall, keepSession, sessionToken } from './session-cookie.ts';
import { addressKey } from './transport.ts';
import { bearerOf, unknownCaller } from './unknown-caller.ts';

/**
 * The door, in the order that the contract fixes: 401 key, 429 rate, 403 scope, 403 network. Each step stands on the
 * one before; nothing after the first failure is looked at.
 *
 * What the door remembers is there at once, so a step gives a promise only where it has to wait: a promise for each was a tenth of
 * a GET.
 */

/** Steps one and two: who is it, and may it call now. */
export function admitHolder(app: App, exchange: Exchange): KeyHolder | Promise<KeyHolder> {
  const found = findHolder(app, exchange);
  return found instanceof Promise
    ? found.then((late) => admitFound(app, exchange, late))
    : admitFound(app, exchange, found);
}

function admitFound(app: App, exchange: Exchange, found: FoundKey): KeyHolder | Promise<KeyHolder> {
  if (!found) return refuseStranger(app, exchange);
  const now = app.clock.now();
  exchange.trace.keyId = found.keyId;
  exchange.trace.partnerId = found.partnerId;
  exchange.trace.practiceGroupId = namedGroup(exchange);
  if (!isHolder(found)) return refuseKnown(app, exchange, found.reason);
  if (hasExpired(found, now)) return refuseKnown(app, exchange, 'expired');
  if (!mayComeFrom(found, exchange)) return refuseKnown(app, exchange, 'address_not_allowed');
  if (found.proof.kind === 'none') return countCall(app, exchange, found, now);
  return requireProof(app, exchange, found).then(() => countCall(app, exchange, found, now));
}

function countCall(
  app: App,
  exchange: Exchange,
  holder: KeyHolder,
  now: number,
): KeyHolder | Promise<KeyHolder> {
  const { keyId, rateLimitPerMinute: limit } = holder;
  const letIn = (decision: RateDecision): KeyHolder => {
    tellOrRefuse(exchange, decision, limit, 'default');
    app.keyUses.note(keyId, exchange.transport.address, now);
    return holder;
  };
  const decision = app.limits.keys.take(keyId, limit);
  return decision instanceof Promise ? decision.then(letIn) : letIn(decision);
}

export function mayComeFrom({ allowedFrom }: KeyHolder, { transport }: Exchange): boolean {
  return allowedFrom === undefined || contains(allowedFrom, transport.address);
}

/** An assertion that does not hold is not used up: nobody can fill the memory of those that were. */
async function requireProof(app: App, exchange: Exchange, holder: KeyHolder): Promise<void> {
  const shown = await exchange.desk.prove(exchange.raw, holder);
  exchange.proved = holder.proof;
  if (!shown) return;
  if ('refused' in shown) return refuseKnown(app, exchange, shown.refused);
  const { keyId, rateLimitPerMinute: limit } = holder;
  const roomInMs = app.assertions.waitMs(keyId, limit);
  if (roomInMs > 0) tellOrRefuse(exchange, { allowed: false, remaining: 0, roomInMs }, limit, 'default');
  if (!(await app.assertions.use({ keyId, ...shown.assertion })))
    await refuseKnown(app, exchange, 'proof_replayed');
}

/** Who it is, without a word about whether it may come in. */
export function findHolder(app: App, exchange: Exchange): FoundKey | Promise<FoundKey> {
  const key = exchange.headers['x-api-key'];
  return typeof key === 'string' ? app.access.holderOf(key, () => lookupTurn(app, exchange)) : undefined;
}

/** By the token that was sent, or else by the session of the console. */
export function findOperator(app: App, exchange: Exchange): Found<OperatorPrincipal> {
  // Whoever was invited is no operator.
  const operatorOf = (caller: Caller | undefined) => (caller?.kind === 'operator' ? caller : undefined);
  const found = findCaller(app, exchange);
  return found instanceof Promise ? found.then(operatorOf) : operatorOf(found);
}

type Caller = OperatorPrincipal | GuestPrincipal;

function findCaller(app: App, exchange: Exchange): Found<Caller> {
  const token = bearerOf(exchange);
  if (token !== undefined) return app.access.operatorOf(token, () => lookupTurn(app, exchange));
  const session = findOwnSession(app, exchange);
  return session instanceof Promise ? session.then((late) => late?.principal) : session?.principal;
}

/** Whoever the cookie is of, wherever the call comes from. */
export function findSession(app: App, exchange: Exchange): Found<SessionHolder> {
  const token = sessionToken(exchange);
  return token === undefined
    ? undefined
    : app.access.sessions.holderOf(token, () => lookupTurn(app, exchange));
}

/** The same of a call that the console itself made. */
export function findOwnSession(app: App, exchange: Exchange): Found<SessionHolder> {
  return foreignCall(exchange) === undefined ? findSession(app, exchange) : undefined;
}

type Found<T> = T | undefined | Promise<T | undefined>;

/**
 * Steps three and four; without scopes, any key will do. Without the header there is nobody to act for: that is for the validation to
 * report. A network may let the key through and still not grant what it wants to do. A call about the partner itself needs no header, and
 * goes by the key's own group, though its practice may have stopped the partner: whoever was given a key learns from such a call which
 * groups the header may name.
 */
export function admitPartner(
  app: App,
  exchange: Exchange,
  holder: KeyHolder,
  scopes: readonly Scope[],
  isAboutItself = false,
): PartnerPrincipal | ValidationEntry | Promise<PartnerPrincipal> {
  if (!hasAll(holder, scopes)) throw new Problem('insufficient_permissions', { required_scopes: scopes });
  const groupId = isAboutItself ? holder.homeGroupId : namedGroup(exchange);
  if (groupId === undefined) return groupMissing;
  const group = reachWith(app, holder, groupId, scopes);
  if (!(group instanceof Promise) && isReached(group)) return { kind: 'partner', holder, group };
  if (isAboutItself) return admitAboutItself(holder, group);
  return admitThroughNetwork(app, exchange, holder, scopes, group);
}

async function admitAboutItself(
  holder: KeyHolder,
  own: FoundGroup | Promise<FoundGroup>,
): Promise<PartnerPrincipal> {
  const found = await own;
  if (!found) throw new Problem('forbidden');
  return { kind: 'partner', holder, group: isReached(found) ? found : found.stoppedBy };
}

async function admitThroughNetwork(
  app: App,
  exchange: Exchange,
  holder: KeyHolder,
  scopes: readonly Scope[],
  reached: FoundGroup | Promise<FoundGroup>,
): Promise<PartnerPrincipal> {
  const group = await reached;
  if (isReached(group)) return { kind: 'partner', holder, group };
  const withAny =
    group ?? (scopes.length > 0 && (await app.access.reach(holder, namedGroup(exchange) ?? '')));
  if (!withAny) throw new Problem('forbidden');
  if (!isReached(withAny)) throw stopped(exchange);
  throw new Problem('forbidden', { message: cappedByNetwork(scopes) });
}

/** Told to nobody but those who would reach the group otherwise: they know that it is there. */
function stopped(exchange: Exchange): Problem {
  exchange.trace.reason = 'stopped_by_practice';
  return new Problem('forbidden', { message: STOPPED_BY_PRACTICE });
}

const hasAll = (holder: KeyHolder, scopes: readonly Scope[]) =>
  scopes.every((scope) => holder.scopes.has(scope));

/** The group, if the key may act for it with each of these scopes. */
function reachWith(
  app: App,
  holder: KeyHolder,
  groupId: string,
  scopes: readonly Scope[],
): FoundGroup | Promise<FoundGroup> {
  const group = app.access.reach(holder, groupId, scopes[0]);
  return scopes.length > 1 ? reachWithMore(app, holder, groupId, scopes.slice(1), group) : group;
}

async function reachWithMore(
  app: App,
  holder: KeyHolder,
  groupId: string,
  scopes: readonly Scope[],
  reached: FoundGroup | Promise<FoundGroup>,
): Promise<FoundGroup> {
  const found = await reached;
  return isReached(found) ? reachWith(app, holder, groupId, scopes) : found;
}

function namedGroup({ headers }: Exchange): string | undefined {
  const named = headers['x-practice-group-id'];
  return typeof named === 'string' && named !== '' ? named : undefined;
}

/** Whether a call that was let in would be let in again: for an answer that goes on. It is not counted again. */
export async function isStillAdmitted(
  app: App,
  exchange: Exchange,
  scopes: readonly Scope[],
): Promise<boolean> {
  const { headers } = exchange;
  const holder = await app.access.holderOf(String(headers['x-api-key']));
  if (!isHolder(holder) || hasExpired(holder, app.clock.now()) || !mayComeFrom(holder, exchange))
    return false;
  if (!hasAll(holder, scopes)) return false;
  // What it has shown is good for as long as the same is asked for.
  if (holder.proof.kind !== 'none' && !isDeepStrictEqual(holder.proof, exchange.proved)) return false;
  return isReached(await reachWith(app, holder, String(headers['x-practice-group-id']), scopes));
}

const groupMissing: ValidationEntry = {
  code: 'invalid_type',
  expected: 'string',
  path: ['x-practice-group-id'],
  message: 'Send the ID of the practice group that you act for in the x-practice-group-id header.',
};

/** Operators have a limit too, so that one of them, or a program gone wrong, slows no partner down. */
export function admitOperator(
  app: App,
  exchange: Exchange,
  isCounted: boolean,
): OperatorPrincipal | Promise<OperatorPrincipal> {
  const letIn = (operator: Caller | undefined) => {
    if (!operator || hasExpired(operator, app.clock.now())) return refuseStranger(app, exchange);
    if (operator.kind === 'guest') return refuseStranger(app, exchange, notForGuests(operator));
    exchange.trace.operatorId = operator.operatorId;
    return isCounted || operator.sessionId !== undefined
      ? countAndRenew(app, exchange, operator, isCounted)
      : operator;
  };
  const found = findCaller(app, exchange);
  return found instanceof Promise ? found.then(letIn) : letIn(found);
}

/** It is a 401 still: an open page of an operator asks again who is signed in, because another session may have taken the place of its own. */
const notForGuests = ({ partner }: GuestPrincipal) =>
  new Problem('invalid_credentials', {
    message: `This is for operators, and you were invited as one of a ${partner ? 'partner' : 'practice'}. Yours is what is below ${partner ? '/portal/v1' : '/practice/v1'}.`,
  });

async function countAndRenew(
  app: App,
  exchange: Exchange,
  operator: OperatorPrincipal,
  isCounted: boolean,
): Promise<OperatorPrincipal> {
  if (isCounted) await countOperator(app, exchange, operator);
  if (operator.sessionId !== undefined) await renewSession(app, exchange);
  return operator;
}

export async function countOperator(
  { limits }: App,
  exchange: Exchange,
  { operatorId }: OperatorPrincipal,
): Promise<void> {
  const decision = await limits.operators.take(operatorId, OPERATOR_RATE_LIMIT);
  tellOrRefuse(exchange, decision, OPERATOR_RATE_LIMIT, 'operator');
}

/** From time to time an answer brings another token. */
export async function renewSession(app: App, exchange: Exchange): Promise<void> {
  const holder = await findSession(app, exchange);
  if (!holder) return;
  const token = await app.access.sessions.rotate(holder, () => newSessionToken(app));
  if (token !== undefined) keepSession(exchange, token, (holder.times.expiresAt - app.clock.now()) / 1000);
}

/** Whether a call that was let in would be let in again: for an answer that goes on. */
export async function isOperatorStillAdmitted(
  app: App,
  exchange: Exchange,
  admitted: OperatorPrincipal,
  roles: readonly Role[],
): Promise<boolean> {
  // A session's token may have changed since.
  const { sessionId } = admitted;
  const operator = await (sessionId === undefined
    ? findOperator(app, exchange)
    : app.access.sessions.principalOf(sessionId));
  return (
    operator?.kind === 'operator' && !hasExpired(operator, app.clock.now()) && roles.includes(operator.role)
  );
}

export function requireRole(operator: OperatorPrincipal, roles: readonly Role[]): void {
  if (roles.includes(operator.role)) return;
  throw new Problem('insufficient_permissions', {
    message: 'Your role does not allow this operation. Use a token with one of the required_roles.',
    required_roles: roles,
  });
}

/** Strangers are counted by address, so that their noise is refused early, and never at a partner's expense. */
export async function refuseStranger(
  app: App,
  exchange: Exchange,
  problem = unknownCaller(app.environment, exchange),
): Promise<never> {
  await countStranger(app, exchange);
  throw problem;
}

export async function countStranger(
  { strangers }: Pick<App, 'strangers'>,
  exchange: Exchange,
): Promise<void> {
  const decision = strangers.take(addressKey(exchange.transport.address));
  if (!decision.allowed) {
    // Sent ahead of an answer that is held back, it would be held back for no longer than that one.
    if (exchange.response.socket === null) exchange.raw.socket.destroy();
    await strangers.hold();
  }
  tellOrRefuse(exchange, decision, ADDRESS_RATE_LIMIT, 'address');
}

/** The holder of the whole key, and nobody else, learns that it was one: no secret any more, and the honest one has to know. */
const LEAKED = 'This API key was reported as leaked and has been revoked. Contact support for a new one.';

/**
 * The same 401 as for a stranger, and at the address's expense: whoever has found a key must not learn whether it would work elsewhere or
 * with more. Why it was is kept for the partner and the operator.
 */
function refuseKnown(app: App, exchange: Exchange, reason: RefusalReason): Promise<never> {
  exchange.trace.reason = reason;
  return refuseStranger(
    app,
    exchange,
    new Problem('invalid_credentials', reason === 'leaked' ? { message: LEAKED } : undefined),
  );
}

export function lookupTurn({ strangers }: App, { transport }: Exchange): Promise<void> | undefined {
  return strangers.lookupTurn(addressKey(transport.address));
}

export function tellOrRefuse(
  exchange: Exchange,
  { allowed, remaining, roomInMs }: RateDecision,
  limit: number,
  policy: 'default' | 'address' | 'operator' | 'guest',
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
