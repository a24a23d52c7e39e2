import { type Problem, problemCodes, type ValidationError } from './generated/types.ts';
import { isRecord } from './shape.ts';
import type { UnknownProblem } from './unknown.ts';

/**
 * Why a call was refused, told apart by `error`: `true` for a request that is not valid, with a list of all that is wrong
 * in `message`, and a code for everything else.
 */
export type ApiProblem = ValidationError | Problem | UnknownProblem;

/** Every error of a call, except the reason of your own AbortSignal. */
export class PorterError extends Error {
  override name = 'PorterError';
}

/** No answer arrived, or only a part of it. `cause` is what fetch threw. */
export class PorterConnectionError extends PorterError {
  override name = 'PorterConnectionError';
}

/** The answer took longer than `timeoutMs`. */
export class PorterTimeoutError extends PorterConnectionError {
  override name = 'PorterTimeoutError';
}

/** The service refused the call. */
export class PorterApiError extends PorterError {
  override name = 'PorterApiError';
  readonly status: number;
  readonly problem: ApiProblem;
  readonly headers: Headers;
  /** Quote it to support, or ask `porter.requests.get` about it. */
  readonly requestId: string | undefined;
  /** A page about this error. */
  readonly docUrl: string | undefined;

  constructor(status: number, headers: Headers, body: unknown) {
    const problem = readProblem(body);
    super(problem.error === true ? describe(problem) : `${status} ${problem.error}: ${problem.message}`);
    this.status = status;
    this.headers = headers;
    this.problem = problem;
    this.requestId = headers.get('x-request-id') ?? undefined;
    this.docUrl = 'doc_url' in problem && typeof problem.doc_url === 'string' ? problem.doc_url : undefined;
  }
}

function readProblem(body: unknown): ApiProblem {
  const { error, message } = isRecord(body) ? body : {};
  if (error === true && Array.isArray(message) && message.every(isEntry))
    return body as unknown as ValidationError;
  if (typeof message !== 'string')
    return { error: 'unknown', message: 'The answer is not one of Porter.', body };
  const isKnown = (problemCodes as readonly unknown[]).includes(error);
  return isKnown ? (body as Problem) : { error: 'unknown', message, body };
}

function isEntry(entry: unknown): boolean {
  if (!isRecord(entry) || typeof entry.message !== 'string' || !Array.isArray(entry.path)) return false;
  return entry.path.every((part) => typeof part === 'string' || typeof part === 'number');
}

function describe({ message }: ValidationError): string {
  const entries = message.map(({ path, message }) => `${path.join('.') || 'body'}: ${message}`);
  return `400 not valid: ${entries.join('; ')}`;
}
