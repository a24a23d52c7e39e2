import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { BODY_BYTES_MAX, type Endpoint } from '../contract/endpoint.ts';
import { toJsonSchema } from '../contract/json-schema.ts';
import { operatorEndpoints } from '../contract/operator/index.ts';
import { partnerEndpoints } from '../contract/partner/index.ts';
import { Problem, ValidationProblem } from '../contract/problems.ts';
import { check, type ValidationEntry } from '../contract/validate.ts';
import type { App } from '../operations/app.ts';
import { operatorHandlers, partnerHandlers } from '../operations/handlers.ts';
import { admitHolder, admitOperator, admitPartner, missingGroup, requireRole } from './admit.ts';
import { parseJson, readBody } from './body.ts';
import { malformedRequest } from './refuse.ts';

/**
 * Routes, read off the contract. Every request of an endpoint goes the same way, in the order that the contract fixes:
 * body size, key, rate, scope, network, validation, then the operation. (Transport comes before, in server.ts.)
 */

type Handler = (app: App, call: unknown) => Promise<{ body: unknown; etag?: string }>;

export function mountEndpoints(server: FastifyInstance, app: App): void {
  for (const [id, endpoint] of Object.entries(partnerEndpoints)) {
    mount(server, endpoint, partnerRoute(app, endpoint, partnerHandlers[id as never] as Handler));
  }
  for (const [id, endpoint] of Object.entries(operatorEndpoints)) {
    mount(server, endpoint, operatorRoute(app, endpoint, operatorHandlers[id as never] as Handler));
  }
}

type Route = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

function mount(server: FastifyInstance, endpoint: Endpoint, handler: Route): void {
  const { status, body } = endpoint.response;
  server.route({
    method: endpoint.method,
    url: endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    // The serialiser is compiled from the response's schema: what is not declared there cannot leave the house.
    ...(body && { schema: { response: { [status]: toJsonSchema(body, { io: 'output' }) } } }),
    handler,
  });
}

function partnerRoute(app: App, endpoint: Endpoint, handle: Handler): Route {
  const scope = 'scope' in endpoint.access ? endpoint.access.scope : undefined;
  if (!scope) throw new Error(`${endpoint.operationId} names no scope`);
  return async (request, reply) => {
    request.trace.operation = endpoint.operationId;
    const reading = readBody(request.raw, endpoint.bodyBytesMax ?? BODY_BYTES_MAX);
    const bytes = reading instanceof Promise ? await reading : reading;
    const holder = await admitHolder(app, request, reply);
    const admitted = await admitPartner(app, request, holder, scope);
    if (missingGroup(admitted))
      throw new ValidationProblem([admitted, ...problemsOf(endpoint, request, bytes)]);
    return answer(app, endpoint, handle, admitted, request, reply, bytes);
  };
}

function operatorRoute(app: App, endpoint: Endpoint, handle: Handler): Route {
  const roles = 'roles' in endpoint.access ? endpoint.access.roles : [];
  return async (request, reply) => {
    request.trace.operation = endpoint.operationId;
    const bytes = await readBody(request.raw, endpoint.bodyBytesMax ?? BODY_BYTES_MAX);
    const operator = await admitOperator(app, request, reply);
    requireRole(operator, roles);
    return answer(app, endpoint, handle, operator, request, reply, bytes);
  };
}

async function answer(
  app: App,
  endpoint: Endpoint,
  handle: Handler,
  principal: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  bytes: Buffer,
): Promise<unknown> {
  const input = validate(endpoint, request, bytes);
  const { body, etag } = await handle(app, {
    ...input,
    principal,
    requestId: request.id,
    ifMatch: request.headers['if-match'],
  });
  if (etag !== undefined) reply.header('etag', etag);
  reply.code(endpoint.response.status);
  return body;
}

interface Parts {
  params?: unknown;
  query?: unknown;
  body?: unknown;
}

/** All problems of path, query and body together. */
function validate(endpoint: Endpoint, request: FastifyRequest, bytes: Buffer): Parts {
  const parts: Parts = {};
  const problems: ValidationEntry[] = [];
  if (endpoint.params) parts.params = take(check(endpoint.params, request.params), problems);
  if (endpoint.query) parts.query = take(check(endpoint.query, request.query), problems);
  if (endpoint.body && !(endpoint.bodyOptional && bytes.length === 0)) {
    parts.body = take(check(endpoint.body, parseJson(request.raw, bytes), endpoint.readOnly), problems);
  }
  if (problems.length > 0) throw new ValidationProblem(problems);
  return parts;
}

function take<T>(
  checked: { ok: true; value: T } | { ok: false; problems: ValidationEntry[] },
  problems: ValidationEntry[],
): T | undefined {
  if (checked.ok) return checked.value;
  problems.push(...checked.problems);
  return undefined;
}

function problemsOf(endpoint: Endpoint, request: FastifyRequest, bytes: Buffer): ValidationEntry[] {
  try {
    validate(endpoint, request, bytes);
    return [];
  } catch (error) {
    if (error instanceof ValidationProblem) return error.entries;
    throw error;
  }
}

const allEndpoints: Endpoint[] = [...Object.values(partnerEndpoints), ...Object.values(operatorEndpoints)];
const shapes = allEndpoints.map(({ method, path }) => ({
  method,
  shape: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));

const UNREADABLE = '/unreadable-address';

/**
 * The address by which a request is routed. `GET http://host/path` asks for `/path`; escapes that stand for no text
 * have no route, and so come to `mountNothing` like any address that does not exist.
 */
export function readableAddress(url: string): string {
  const address = withoutOrigin(url);
  return isDecodable(pathOf(address)) ? address : UNREADABLE;
}

function withoutOrigin(url: string): string {
  return url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?]*\/?/i, '/');
}

function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? '';
}

function isDecodable(path: string): boolean {
  if (!path.includes('%')) return true;
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** Whatever has no route: the same door first, so that a stranger cannot tell which addresses exist. */
export function mountNothing(server: FastifyInstance, app: App): void {
  server.setNotFoundHandler(async (request, reply) => {
    request.trace.operation = 'none';
    const unreadable = request.url === UNREADABLE;
    const path = pathOf(unreadable ? withoutOrigin(request.originalUrl) : request.url);
    await readBody(request.raw, BODY_BYTES_MAX);
    if (/^\/operator(\/|$)/.test(path)) await admitOperator(app, request, reply);
    else if (/^\/v\d+(\/|$)/.test(path)) await admitHolder(app, request, reply);

    if (unreadable) throw malformedRequest('The address of the request cannot be read.');
    const methods = shapes.filter(({ shape }) => shape.test(path)).map(({ method }) => method);
    if (methods.length === 0) throw new Problem('not_found');
    reply.header('allow', [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', '));
    throw new Problem('method_not_allowed');
  });
}
