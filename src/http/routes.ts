import compileSerialiser from 'fast-json-stringify';
import findMyWay from 'find-my-way';
import { roleNames } from '../contract/access.ts';
import { type Approval, waitingResponse } from '../contract/approval.ts';
import {
  BODY_BYTES_MAX,
  type Endpoint,
  type LineStream,
  type Read,
  type Stream,
  scopesFor,
  takesIdempotencyKey,
} from '../contract/endpoint.ts';
import { toJsonSchema } from '../contract/json-schema.ts';
import { operatorEndpoints } from '../contract/operator/index.ts';
import { partnerEndpoints } from '../contract/partner/index.ts';
import { namedKeyEndpoints, portalEndpoints } from '../contract/portal/index.ts';
import { practiceEndpoints } from '../contract/practice/index.ts';
import { PATH_UNKNOWN, Problem } from '../contract/problems.ts';
import { verbatimText } from '../contract/verbatim.ts';
import { NeedsApproval } from '../domain/access/approval.ts';
import { askForApproval } from '../operations/access/approvals.ts';
import type { App } from '../operations/app.ts';
import { answerOnce } from '../operations/idempotency.ts';
import { operationOf } from '../operations/index.ts';
import { pathOf, UNREADABLE, withoutOrigin } from './address.ts';
import {
  admitHolder,
  admitOperator,
  admitPartner,
  findHolder,
  findOperator,
  findOwnSession,
  isOperatorStillAdmitted,
  isStillAdmitted,
  missingGroup,
  refuseStranger,
  requireRole,
} from './admit.ts';
import { type Parts, validator, withProblems } from './call.ts';
import {
  countBody,
  EVENTS_TYPE,
  type Exchange,
  hasBody,
  isLines,
  LINES_TYPE,
  readBody,
  readLines,
  refuseLength,
  respond,
  respondStream,
} from './exchange.ts';
import { admitGuest, admitNamedKey, isGuestStillAdmitted, namesKey } from './guests.ts';
import { readNoter } from './reads.ts';
import { malformedRequest } from './refuse.ts';
import { respondPage, wantsPage } from './reports.ts';

/**
 * Routes, read off the contract. Every request of an endpoint goes the same way, in the order that the contract fixes:
 * body size, key, rate, scope, network, validation, then the operation. (Transport comes before, in server.ts.)
 */

/** Answers a request. What it throws is refused as the contract says. */
export type Handler = (exchange: Exchange) => Promise<void>;

export interface Route {
  method: string;
  /** In OpenAPI's notation: `/v1/care-nav/submission-types/{id}`. */
  path: string;
  handler: Handler;
}

/** Longer than any that fits into the headers: how long an ID may be is for the contract to say. */
const PARAMETER_LENGTH_MAX = 16 * 1024;

/** Finds who answers, and leaves the parameters of the path with the request. A HEAD is a GET whose body is not sent. */
export function createRouter(routes: readonly Route[], otherwise: Handler): (exchange: Exchange) => Handler {
  const router = findMyWay({ maxParamLength: PARAMETER_LENGTH_MAX });
  for (const { method, path, handler } of routes) {
    const pattern = path.replaceAll(/\{(\w+)\}/g, ':$1');
    for (const name of method === 'GET' ? (['GET', 'HEAD'] as const) : [method as 'POST'])
      router.on(name, pattern, () => {}, handler);
  }
  return (exchange) => {
    const found = router.find(exchange.method as 'GET', exchange.url);
    if (!found) return otherwise;
    exchange.params = found.params;
    return found.store as Handler;
  };
}

type Result =
  | { body: unknown; etag?: string; read?: readonly Read[]; replayed?: true; sameFor?: object }
  /** The body as it goes out. */
  | { text: string | undefined; etag?: string | undefined; replayed?: true }
  /** Nothing was done: a second person is asked. */
  | { waiting: Approval }
  | { stream: Stream }
  | { lines: LineStream };
type Operation = (app: App, call: unknown) => Result | Promise<Result>;

export function endpointRoutes(app: App): Route[] {
  return allEndpoints.map((endpoint) => ({ ...endpoint, handler: handlerOf(app, endpoint) }));
}

function handlerOf(app: App, endpoint: Endpoint): Handler {
  // The validator of the endpoint makes the call that its function takes.
  const operation = operationOf(endpoint) as unknown as Operation;
  if ('roles' in endpoint.access) return operatorHandler(app, ...waitingFor(app, endpoint, operation));
  if ('guests' in endpoint.access) return guestHandler(app, endpoint, operation);
  return partnerHandler(app, endpoint, operation);
}

/** Where the deployment wants a second person, an operation is asked for, and not done. */
function waitingFor(app: App, endpoint: Endpoint, operation: Operation): [Endpoint, Operation] {
  if (!endpoint.approval || !app.deployment.approvals.includes(endpoint.approval))
    return [endpoint, operation];
  const ask = (within: App, call: unknown) => askForApproval(within, endpoint, call as never);
  if (endpoint.approvalFor === 'widening') return [endpoint, askedIfItWidens(operation, ask)];
  return [{ ...endpoint, response: waitingResponse }, ask];
}

function askedIfItWidens(
  operation: Operation,
  ask: (app: App, call: unknown) => Promise<{ body: Approval }>,
): Operation {
  return async (app, call) => {
    try {
      return await operation({ ...app, refusesWidening: true }, call);
    } catch (error) {
      if (!(error instanceof NeedsApproval)) throw error;
      return { waiting: (await ask(app, call)).body };
    }
  };
}

function partnerHandler(app: App, endpoint: Endpoint, operation: Operation): Handler {
  if (!('scope' in endpoint.access || 'anyKey' in endpoint.access))
    throw new Error(`${endpoint.operationId} is not for partners`);
  const scopes = scopesFor(endpoint);
  const isAboutItself = 'aboutItself' in endpoint.access;
  const validate = validator(endpoint);
  const { serialise, send } = sender(endpoint);
  const run = runner(endpoint, operation, serialise);
  const note = readNoter(app.accessLog, endpoint);
  return async (exchange) => {
    exchange.trace.operation = endpoint.operationId;
    const isPerson = endpoint.portal === 'only' || (endpoint.portal && namesKey(exchange));
    const find = isPerson ? findOwnSession : findHolder;
    const bytes = hasBody(exchange.raw) ? await bodyOf(app, exchange, endpoint, find) : NONE;
    const named = isPerson ? await admitNamedKey(app, exchange, endpoint.method !== 'GET') : undefined;
    const found = named ? named.holder : admitHolder(app, exchange);
    const holder = found instanceof Promise ? await found : found;
    const reached = admitPartner(app, exchange, holder, scopes, isAboutItself);
    const admitted = reached instanceof Promise ? await reached : reached;
    if (missingGroup(admitted)) throw withProblems(admitted, () => validate(exchange, bytes));
    if (named) admitted.person = named.person;
    const call = validate(exchange, bytes);
    call.principal = admitted;
    if (endpoint.response.stream) call.stillAdmitted = () => isStillAdmitted(app, exchange, scopes);
    const done = run(app, call);
    const result = done instanceof Promise ? await done : done;
    note?.(admitted, call, result);
    return send(exchange, result);
  };
}

function operatorHandler(app: App, endpoint: Endpoint, operation: Operation): Handler {
  const roles = 'roles' in endpoint.access ? endpoint.access.roles : [];
  // Reports of what has happened (role `source`) are never rate-limited. An endpoint open to every role is not a report.
  const isCounted = !roles.includes('source') || roles.length === roleNames.length;
  const lasts = endpoint.response.stream ?? endpoint.response.lines ?? endpoint.lines;
  const validate = validator(endpoint);
  const { serialise, send } = sender(endpoint);
  const run = runner(endpoint, operation, serialise);
  const note = readNoter(app.accessLog, endpoint);
  return async (exchange) => {
    exchange.trace.operation = endpoint.operationId;
    const isEmpty = !hasBody(exchange.raw);
    // No body has no type, and as many lines as an empty one.
    const takesLines = isLines(exchange.raw)
      ? endpoint.lines !== undefined
      : endpoint.lines === 'only' && isEmpty;
    // Of a body that goes on, not a byte is read before its sender is known.
    const bytes = takesLines || isEmpty ? NONE : await bodyOf(app, exchange, endpoint, findOperator);
    const admitted = admitOperator(app, exchange, isCounted);
    const operator = admitted instanceof Promise ? await admitted : admitted;
    requireRole(operator, roles);
    if (endpoint.lines === 'only' && !takesLines) throw notLines();
    const call = validate(exchange, bytes, takesLines);
    call.principal = operator;
    if (takesLines) {
      exchange.desk.liftTimeout(exchange);
      call.lines = readLines(exchange.raw);
    }
    if (endpoint.long) call.gone = whenGone(exchange);
    if (lasts) call.stillAdmitted = () => isOperatorStillAdmitted(app, exchange, operator, roles);
    const result = await run(app, call);
    note?.(operator, call, result);
    return send(exchange, result);
  };
}

/** What people of a partner or of a practice ask for themselves. It is their own: it is in no log of reads. */
function guestHandler(app: App, endpoint: Endpoint, operation: Operation): Handler {
  if (!('guests' in endpoint.access)) throw new Error(`${endpoint.operationId} is not for guests`);
  const { guests } = endpoint.access;
  const validate = validator(endpoint);
  const { send } = sender(endpoint);
  return async (exchange) => {
    exchange.trace.operation = endpoint.operationId;
    const bytes = hasBody(exchange.raw) ? await bodyOf(app, exchange, endpoint, findOwnSession) : NONE;
    const guest = await admitGuest(app, exchange, guests);
    const call = validate(exchange, bytes);
    call.principal = guest;
    if (endpoint.response.stream) call.stillAdmitted = () => isGuestStillAdmitted(app, guest);
    return send(exchange, await operation(app, call));
  };
}

const NONE = Buffer.alloc(0);

/**
 * The body of a caller who is known at this moment; whether it may come in is decided when the body has arrived. A stranger's is
 * counted for its size, which is judged first, and refused.
 */
function bodyOf(
  app: App,
  exchange: Exchange,
  { bodyBytesMax = BODY_BYTES_MAX }: Endpoint,
  find: (app: App, exchange: Exchange) => unknown,
): Promise<Buffer> {
  const { raw } = exchange;
  refuseLength(raw, bodyBytesMax);
  const refuse = async (): Promise<Buffer> => {
    await countBody(raw, bodyBytesMax, app.strangers.pace);
    return refuseStranger(app, exchange);
  };
  const take = (found: unknown) => (found ? readBody(raw, bodyBytesMax) : refuse());
  const found = find(app, exchange);
  return found instanceof Promise ? found.then(take) : take(found);
}

type Serialiser = (body: unknown) => string;
type Schema = NonNullable<Endpoint['response']['body']>;

/** By schema: several endpoints may answer with the same one, and several services may be in one process. */
const serialisers = new WeakMap<Schema, Serialiser>();

/**
 * The serialiser is compiled from the response's schema: what is not declared there cannot leave the house. It is made with
 * the first answer: all of them together made the start about 0.2 s longer.
 */
function serialiserOf(schema: Schema): Serialiser {
  const known = serialisers.get(schema);
  if (known) return known;
  const compiled: Serialiser = compileSerialiser(toJsonSchema(schema, { io: 'output' }));
  serialisers.set(schema, compiled);
  return compiled;
}

function sender({ operationId, response: { status, body: schema, verbatim, page } }: Endpoint) {
  let compiled: Serialiser | undefined;
  const serialise = (body: unknown): string | undefined => {
    if (!schema) return undefined;
    if (verbatim) return verbatimText(schema, body);
    compiled ??= serialiserOf(schema);
    return compiled(body);
  };
  // The practice group that the door remembers was a twentieth of a GET to put into JSON for each call.
  const texts = new WeakMap<object, string | undefined>();
  const keptText = (body: unknown, sameFor: object): string | undefined => {
    const known = texts.get(sameFor);
    if (known !== undefined) return known;
    const text = serialise(body);
    texts.set(sameFor, text);
    return text;
  };
  const send = (exchange: Exchange, result: Result): Promise<void> | void => {
    if ('waiting' in result)
      return respond(exchange, waitingResponse.status, serialiserOf(waitingResponse.body)(result.waiting));
    if ('stream' in result) return respondStream(exchange, result.stream, EVENTS_TYPE);
    if ('lines' in result) return respondStream(exchange, lineStream(result.lines), LINES_TYPE, status);
    if (result.etag !== undefined) exchange.outgoing.push('etag', result.etag);
    if (result.replayed) exchange.outgoing.push('idempotent-replayed', 'true');
    if ('text' in result) return respond(exchange, status, result.text);
    if (page) exchange.outgoing.push('vary', 'accept');
    if (page && wantsPage(exchange.headers)) return respondPage(exchange, operationId, result.body);
    const { body, sameFor } = result;
    respond(exchange, status, sameFor ? keptText(body, sameFor) : serialise(body));
  };
  return { serialise, send };
}

/** A POST with an Idempotency-Key is carried out once, and answered as often as it is made. */
function runner(
  endpoint: Endpoint,
  operation: Operation,
  serialise: (body: unknown) => string | undefined,
): (app: App, call: Parts) => Result | Promise<Result> {
  if (!takesIdempotencyKey(endpoint) || endpoint.idempotency === 'own') return operation;
  return (app, call) => {
    const { idempotencyKey, principal } = call;
    if (idempotencyKey === undefined || principal === undefined) return operation(app, call);
    const carryOut = async (within: App, keyed: unknown) => {
      const result = await operation(within, keyed);
      if (!('body' in result)) throw new Error(`${endpoint.operationId} has no answer to keep`);
      return result;
    };
    return answerOnce(app, endpoint, { ...call, idempotencyKey, principal }, { carryOut, serialise });
  };
}

/** It ends by itself; a reader that leaves is noticed at the next piece. */
function lineStream(text: LineStream): Stream {
  return { text, close: () => {}, stuck: new AbortController().signal };
}

function whenGone({ response }: Exchange): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  return gone.signal;
}

function notLines(): Problem {
  const message = 'Send the body as application/x-ndjson, uncompressed: a JSON text on each line.';
  return new Problem('unsupported_media_type', { message });
}

const allEndpoints: Endpoint[] = [
  partnerEndpoints,
  operatorEndpoints,
  portalEndpoints,
  namedKeyEndpoints,
  practiceEndpoints,
].flatMap((table) => Object.values<Endpoint>(table));
const shapes = allEndpoints.map(({ method, path }) => ({
  method,
  path,
  shape: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));

/** Whatever has no route: the same door first, so that a stranger cannot tell which addresses exist. */
export function nothingThere(app: App, servesApi: boolean): Handler {
  return async (exchange) => {
    const unreadable = exchange.url === UNREADABLE;
    const path = unreadable ? pathOf(withoutOrigin(exchange.raw.url ?? '')) : exchange.path;
    await countBody(exchange.raw, BODY_BYTES_MAX, app.strangers.pace);
    if (!servesApi) throw new Problem('not_found', { message: PATH_UNKNOWN });
    if (/^\/operator(\/|$)/.test(path)) await admitOperator(app, exchange, true);
    else if (/^\/portal(\/|$)/.test(path)) await admitGuest(app, exchange, 'partner');
    else if (/^\/practice(\/|$)/.test(path)) await admitGuest(app, exchange, 'practice');
    else if (/^\/v\d+(\/|$)/.test(path)) await admitHolder(app, exchange);

    if (unreadable)
      throw malformedRequest(
        'The address of the request cannot be read: write a % that stands for itself as %25.',
      );
    const fitting = shapes.filter(({ shape }) => shape.test(path));
    if (fitting.length === 0) throw new Problem('not_found', { message: PATH_UNKNOWN });
    // An address of its own, `/keys/bulk`, is not also an ID of `/keys/{id}`.
    const own = fitting.filter((one) => one.path === path);
    const methods = (own.length > 0 ? own : fitting).map(({ method }) => method);
    exchange.outgoing.push('allow', [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', '));
    throw new Problem('method_not_allowed');
  };
}
