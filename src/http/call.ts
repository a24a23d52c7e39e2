import { type Endpoint, IDEMPOTENCY_KEY, type Line, takesIdempotencyKey } from '../contract/endpoint.ts';
import { Problem, ValidationProblem } from '../contract/problems.ts';
import { type Checked, check, nothing, type ValidationEntry } from '../contract/validate.ts';
import type { GuestPrincipal, OperatorPrincipal, PartnerPrincipal } from '../domain/access/principal.ts';
import { type Exchange, parseJson } from './exchange.ts';

const EITHER_TYPE =
  'Send the body as application/json, or a JSON text on each line as application/x-ndjson; uncompressed.';

/** What a request asks for, once it is known to be what the contract declares. */
export interface Parts {
  params?: unknown;
  query?: unknown;
  body?: unknown;
  principal?: PartnerPrincipal | OperatorPrincipal | GuestPrincipal;
  requestId: string;
  traceparent?: string | undefined;
  ifMatch: string | undefined;
  idempotencyKey?: string | undefined;
  lastEventId?: string | undefined;
  stillAdmitted?: () => Promise<boolean>;
  gone?: AbortSignal;
  lines?: AsyncIterable<Line[]>;
}

/**
 * All problems of path, query, headers and body together. Where no query or body is declared, none may be sent; a body of
 * GET and DELETE means nothing in HTTP and is passed over.
 */
export function validator(endpoint: Endpoint) {
  const { method, params, query = nothing, body, bodyOptional, readOnly, response } = endpoint;
  const takesKey = takesIdempotencyKey(endpoint);
  // Most calls have no query, and what that amounts to need not be found out each time.
  let noQuery: Checked<unknown> | undefined;
  const takesBody = method !== 'GET' && method !== 'DELETE';
  /** What is no JSON is one problem among the others. */
  const checkBody = (exchange: Exchange, bytes: Buffer): Checked<unknown> => {
    try {
      const { value, problems } = parseJson(exchange.raw, bytes);
      const checked = check(body ?? nothing, value, readOnly);
      if (problems.length === 0) return checked;
      return { ok: false, problems: checked.ok ? problems : [...problems, ...checked.problems] };
    } catch (error) {
      if (error instanceof ValidationProblem) return { ok: false, problems: error.entries };
      const isOfOtherType = error instanceof Problem && error.code === 'unsupported_media_type';
      throw endpoint.lines && isOfOtherType ? new Problem(error.code, { message: EITHER_TYPE }) : error;
    }
  };
  return (exchange: Exchange, bytes: Buffer, isOfLines = false): Parts => {
    const parts: Parts = { requestId: exchange.id, ifMatch: exchange.headers['if-match'] };
    if (exchange.span) parts.traceparent = exchange.span.traceparent;
    const problems: ValidationEntry[] = [];
    if (params) parts.params = take(check(params, exchange.params), problems);
    if (exchange.url.includes('?')) parts.query = take(check(query, exchange.query), problems);
    else {
      noQuery ??= check(query, {});
      parts.query = take(noQuery, problems);
    }
    if (response.stream) parts.lastEventId = lastEventId(exchange);
    if (takesKey) parts.idempotencyKey = take(idempotencyKey(exchange), problems);
    if (takesBody && !isOfLines && (bytes.length > 0 || (body && !bodyOptional)))
      parts.body = take(checkBody(exchange, bytes), problems);
    if (problems.length > 0) throw new ValidationProblem(problems);
    return parts;
  };
}

function idempotencyKey({ headers }: Exchange): Checked<string | undefined> {
  const key = headers['idempotency-key'];
  if (key === undefined || (typeof key === 'string' && IDEMPOTENCY_KEY.test(key)))
    return { ok: true, value: key };
  const message = 'Must be 1 to 255 visible ASCII characters, without blanks.';
  return {
    ok: false,
    problems: [{ code: 'invalid_format', expected: 'string', path: ['idempotency-key'], message }],
  };
}

/** A browser that has not seen an ID yet sends none, or an empty one. */
function lastEventId({ headers }: Exchange): string | undefined {
  return String(headers['last-event-id'] ?? '') || undefined;
}

function take<T>(checked: Checked<T>, problems: ValidationEntry[]): T | undefined {
  if (checked.ok) return checked.value;
  // One by one: a batch of events can have more problems than a call takes arguments.
  for (const problem of checked.problems) problems.push(problem);
  return undefined;
}

/** One problem more, in front of those that the rest of the request has. */
export function withProblems(first: ValidationEntry, validate: () => unknown): unknown {
  try {
    validate();
    return new ValidationProblem([first]);
  } catch (error) {
    return error instanceof ValidationProblem ? new ValidationProblem([first, ...error.entries]) : error;
  }
}
