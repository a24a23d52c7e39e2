import { Problem, type ProblemCode, ValidationProblem } from '../contract/problems.ts';
import type { ValidationEntry } from '../contract/validate.ts';
import type { Logger } from '../platform/logger.ts';
import { Outage } from '../platform/outage.ts';
import type { Refusals } from '../runtime/oversight/refusals.ts';
import { type Exchange, respond } from './exchange.ts';

export interface Refusing {
  log: Logger;
  docsUrl: string;
  refusals: Pick<Refusals, 'add'>;
}

/** Turns whatever went wrong into the bytes that the contract promises. */
export function refuse(error: unknown, exchange: Exchange, { log, docsUrl, refusals }: Refusing): void {
  if (error instanceof ValidationProblem) {
    exchange.trace.error = 'validation_error';
    answer(exchange, 400, validationBody(error.entries), refusals);
    return;
  }
  const problem = asProblem(error, exchange, log);
  exchange.trace.error = problem.code;
  if (error instanceof Outage && error.told !== undefined) exchange.trace.away = 'practice_software';
  if (error instanceof Outage) exchange.outgoing.push('retry-after', String(error.retryAfterSeconds));
  const { retry_after } = problem.details;
  if (retry_after !== undefined) exchange.outgoing.push('retry-after', String(retry_after));
  answer(exchange, problem.status, problemBody(problem, exchange.id, docsUrl), refusals);
}

/** What a partner is refused is kept, so that it can ask why (`getRefusedRequest`). */
function answer(exchange: Exchange, status: number, body: string, refusals: Refusing['refusals']): void {
  respond(exchange, status, body);
  const { keyId, partnerId, practiceGroupId, operation, reason } = exchange.trace;
  if (keyId === undefined || partnerId === undefined) return;
  const path = (exchange.raw.url ?? '').split('?', 1)[0] ?? '';
  const { id: requestId, method } = exchange;
  const { address } = exchange.transport;
  const whose = { keyId, partnerId, practiceGroupId, reason, address };
  refusals.add({ requestId, ...whose, operation, method, path, status, body });
}

function asProblem(error: unknown, exchange: Exchange, log: Logger): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof Outage) {
    log.warn({ request_id: exchange.id, reason: error.message }, 'outage');
    return new Problem('service_unavailable', error.told === undefined ? {} : { message: error.told });
  }
  // Anything else is a bug. Its story goes to the log; the caller gets the number to ask about.
  log.error({ request_id: exchange.id, err: error }, 'bug');
  return new Problem('internal_error');
}

/**
 * A body of 2 MiB holds 300,000 unknown fields: with an entry for each, the response would have 40 MB. A body of 64 KiB, the most that a partner
 * sends, holds fewer than 10,000 and gets an entry for each.
 */
const ENTRIES_MAX = 10_000;

export function validationBody(entries: readonly ValidationEntry[], statusCode = 400): string {
  const message = entries.slice(0, ENTRIES_MAX);
  const more = entries.length - message.length;
  if (more > 0)
    message.push({
      code: 'more_problems',
      expected: 'never',
      path: [],
      message: `${more} more problems are not listed. Correct these, and send the request again.`,
    });
  return JSON.stringify({ error: true, statusCode, message });
}

function problemBody(problem: Problem, requestId: string, docsUrl: string): string {
  const { message: _message, ...details } = problem.details;
  return JSON.stringify({
    error: problem.code,
    statusCode: problem.status,
    message: problem.message,
    request_id: requestId,
    doc_url: docUrl(docsUrl, problem.code),
    ...details,
  });
}

function docUrl(docsUrl: string, code: ProblemCode): string {
  return `${docsUrl}/errors/${code}`;
}

/** What is wrong before there is anything to validate: the bytes are no HTTP, or the address cannot be read. */
export const invalidHttp = (message: string): ValidationEntry => ({
  code: 'invalid_http',
  expected: 'string',
  path: [],
  message,
});

export const malformedRequest = (message: string) => new ValidationProblem([invalidHttp(message)]);
