import { Readable } from 'node:stream';
import { readBody } from '../../packages/sdk/src/body.ts';
import type { Answer } from '../../packages/sdk/src/call.ts';
import { PorterApiError, PorterConnectionError, PorterTimeoutError } from '../../packages/sdk/src/errors.ts';
import { isRecord } from '../../packages/sdk/src/shape.ts';
import { openStream, type StreamBody } from '../../packages/sdk/src/stream.ts';
import { type ApiRequest, Transport } from '../../packages/sdk/src/transport.ts';
import type { Approval } from '../contract/approval.ts';
import type { Page } from '../contract/page.ts';
import { problemCatalogue, validationEntry } from '../contract/problems.ts';
import { type Connection, isLoopback, keyHeader, operatorHeaders, partnerHeaders } from './connection.ts';
import { Closed, Failure, Unreachable, Waiting } from './exit.ts';
import { type Asked, hintFor, type Side } from './hints.ts';
import { linesOf } from './lines.ts';
import { inLine, type Printer } from './printer.ts';
import type { World } from './world.ts';

export interface Request {
  query?: Record<string, string | number | undefined> | undefined;
  body?: unknown;
  headers?: Record<string, string>;
  /** How long to wait for the answer, if not for the usual time. */
  waitMs?: number;
}

/** What a probe answered, with whatever status. */
export interface Probed {
  status: number;
  headers: Headers;
  /** Parsed if it is JSON, the text itself if not. */
  body: unknown;
}

/** Longer than anything that the service does before it answers. */
const ANSWER_MS = 120_000;
export const PAGE_SIZE_MAX = 100;

/** Calls the service as a partner or as an operator, over the transport of the client library. */
export class Api {
  readonly #world: World;
  readonly #out: Printer;
  readonly #connect: () => Promise<Connection>;
  readonly #command: string;
  #connection: Promise<Connection> | undefined;
  #toldOfDemo = false;

  constructor(world: World, out: Printer, connect: () => Promise<Connection>, command: string) {
    this.#world = world;
    this.#out = out;
    this.#connect = connect;
    this.#command = command;
  }

  connection(): Promise<Connection> {
    this.#connection ??= this.#connect();
    return this.#connection;
  }

  async partner<T>(method: string, path: string, request: Request = {}): Promise<T> {
    const headers = await this.#partnerHeaders();
    return (await this.#json<T>('partner', method, `/v1${path}`, request, headers)).data;
  }

  /** What a partner asks about itself: a key is enough. */
  async aboutItself<T>(path: string, request: Request = {}): Promise<T> {
    const headers = await this.#partnerHeaders(keyHeader);
    return (await this.#json<T>('partner', 'GET', `/v1${path}`, request, headers)).data;
  }

  /** A command for both sides calls as an operator if there is a token. */
  async isOperator(): Promise<boolean> {
    return (await this.connection()).operatorToken !== undefined;
  }

  /** The same path on either side. */
  async either<T>(method: string, path: string, request: Request = {}): Promise<T> {
    return (await this.isOperator())
      ? this.operator<T>(method, path, request)
      : this.partner<T>(method, path, request);
  }

  async operator<T>(method: string, path: string, request: Request = {}): Promise<T> {
    return (await this.operatorAnswer<T>(method, path, request)).data;
  }

  async operatorAnswer<T>(method: string, path: string, request: Request): Promise<Answer<T>> {
    const headers = operatorHeaders(await this.connection());
    const answer = await this.#json<T>('operator', method, `/operator/v1${path}`, request, headers);
    if (isApproval(answer)) throw new Waiting(answer.data);
    return answer;
  }

  /** Reads pages until there are `limit` entries. */
  async list<T>(read: (query: Request['query']) => Promise<Page<T>>, limit: number): Promise<Page<T>> {
    const data: T[] = [];
    let next_cursor: string | null = null;
    do {
      const page_size = Math.min(PAGE_SIZE_MAX, limit - data.length);
      const page: Page<T> = await read({ page_size, cursor: next_cursor ?? undefined });
      data.push(...page.data);
      next_cursor = page.next_cursor;
    } while (next_cursor !== null && data.length < limit);
    return { data, count: data.length, next_cursor };
  }

  /** Lines that are sent as they are made, and the lines of the answer as they come. */
  async *operatorLines<T>(
    path: string,
    query: Record<string, string>,
    lines: AsyncIterable<string>,
  ): AsyncGenerator<T> {
    const connection = await this.connection();
    const url = `${connection.url}/operator/v1${path}?${new URLSearchParams(query)}`;
    const source = { mistake: undefined as unknown };
    const request = {
      method: 'POST',
      headers: { ...operatorHeaders(connection), 'content-type': 'application/x-ndjson' },
      body: Readable.toWeb(Readable.from(bytesOf(lines, source))) as ReadableStream,
      duplex: 'half',
      signal: this.#world.stop,
    } as const;
    try {
      const response = await this.#world.fetch(url, request);
      if (!response.ok || !response.body)
        throw new PorterApiError(response.status, response.headers, await readBody(response));
      for await (const { text } of linesOf(response.body)) yield JSON.parse(text) as T;
    } catch (error) {
      // What was wrong with the lines is told, not that they ended early.
      if (source.mistake !== undefined) throw source.mistake;
      const isKnown = error instanceof PorterApiError || !(error instanceof Error);
      await this.#fail(
        isKnown ? error : new PorterConnectionError(error.message, { cause: error }),
        'operator',
      );
    }
  }

  async probe(path: string, timeoutMs: number): Promise<Probed> {
    const transport = await this.#transport();
    const request = { method: 'GET', path, options: { signal: this.#world.stop, timeoutMs } };
    const answer = transport.send(request, async (response) => ({
      status: response.status,
      headers: response.headers,
      body: await readBody(response),
    }));
    return answer.catch((error) => (error instanceof PorterApiError ? probed(error) : this.#fail(error)));
  }

  /** An event stream that is open and still to be read. */
  async stream(path: string, query: object, cursor: string | undefined): Promise<StreamBody> {
    const headers = await this.#partnerHeaders();
    const request = { path: `/v1${path}`, query, headers, cursor, signal: this.#world.stop };
    return openStream(await this.#transport(), request).catch((error) => this.#fail(error, 'partner'));
  }

  async #partnerHeaders(headersOf = partnerHeaders): Promise<Record<string, string>> {
    const connection = await this.connection();
    if (connection.demo && !this.#toldOfDemo)
      this.#out.note(`Using the demo world: ${connection.url}, practice group ${connection.group}.`);
    this.#toldOfDemo = true;
    return headersOf(connection);
  }

  /** Nothing is repeated: whoever typed the command sees what came of it, and decides. */
  async #transport(): Promise<Transport> {
    const { url } = await this.connection();
    return new Transport({ baseUrl: url, fetch: this.#world.fetch, timeoutMs: ANSWER_MS, maxRetries: 0 });
  }

  async #json<T>(
    side: Side,
    method: string,
    path: string,
    { query, body, headers, waitMs }: Request,
    credentials: Record<string, string>,
  ): Promise<Answer<T>> {
    const request: ApiRequest = {
      method,
      path,
      query: query ?? {},
      body,
      headers: { ...headers, ...credentials },
      options: { signal: this.#world.stop, timeoutMs: waitMs },
    };
    const answer = (await this.#transport()).call<T>(request).withResponse();
    return this.#out.during(
      'Waiting for the service',
      answer.catch((error) => this.#fail(error, side)),
    );
  }

  /** What a call failed with, as a person at a command line needs to hear it. */
  async #fail(error: unknown, side?: Side): Promise<never> {
    const connection = await this.connection();
    const { url } = connection;
    if (error instanceof PorterApiError)
      throw refused(error, url, side && { command: this.#command, side, connection });
    if (error instanceof PorterConnectionError)
      throw isOutside(error) ? unreachable(url, error) : error.cause;
    throw error;
  }
}

async function* bytesOf(
  lines: AsyncIterable<string>,
  source: { mistake: unknown },
): AsyncGenerator<Uint8Array> {
  try {
    for await (const line of lines) yield Buffer.from(line);
  } catch (error) {
    source.mistake = error;
    throw error;
  }
}

function probed({ status, headers, problem }: PorterApiError): Probed {
  return { status, headers, body: problem.error === 'unknown' ? problem.body : problem };
}

/** The network failed, or nobody answered. A mistake in the call itself has no cause. */
export function isOutside(error: PorterConnectionError): boolean {
  const { cause } = error;
  if (error instanceof PorterTimeoutError || cause === undefined) return true;
  return cause instanceof Error && (cause.name === 'TimeoutError' || cause.cause !== undefined);
}

function unreachable(url: string, error: PorterConnectionError): Unreachable {
  const { name, message, cause } = (error.cause ?? error) as Error & {
    cause?: { code?: string; message?: string };
  };
  const isLate = error instanceof PorterTimeoutError || name === 'TimeoutError';
  const reason = isLate ? 'no answer in time' : (cause?.code ?? cause?.message ?? message);
  // What TLS makes of an answer that is plain text.
  if (/^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/.test(reason))
    return isLoopback(url)
      ? new Unreachable(`${url} does not speak HTTPS; try ${url.replace(/^https/, 'http')}`)
      : new Unreachable(`${url} does not speak HTTPS.`, 'Is its port right (--url, PORTER_URL)?');
  if (/^(CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|ERR_TLS_CERT)/.test(reason))
    return new Unreachable(
      `The certificate of ${url} is not trusted (${reason}).`,
      'Use the name that is on the certificate (--url, PORTER_URL), or name its authority in NODE_EXTRA_CA_CERTS.',
    );
  if (/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/.test(reason))
    return new Closed(
      `The connection to ${url} was closed before the answer was there (${reason}).`,
      'Is the service stopping, or are there too many connections from this machine (PORTER_CONNECTIONS_PER_ADDRESS_MAX)?',
    );
  return new Unreachable(
    `Nothing answers at ${url} (${reason}).`,
    'Is the service running, and is the address right (--url, PORTER_URL)?',
  );
}

/** A refusal, told by the body that came with it. */
export class Refused extends Failure {
  readonly status: number;
  readonly headers: Headers;
  readonly body: object;

  constructor({ status, headers }: PorterApiError, message: string, hint: string, body: object) {
    super(message, hint);
    this.status = status;
    this.headers = headers;
    this.body = body;
  }

  override toJSON(): object {
    return this.body;
  }
}

interface ProblemBody {
  error: string | true;
  message: string | { path: (string | number)[]; message: string }[];
  request_id?: string;
  doc_url?: string;
  required_scopes?: string[];
  required_roles?: string[];
  path?: (string | number)[] | undefined;
  retry_after?: number;
}

export function refused(error: PorterApiError, url: string, asked?: Asked): Refused {
  const { status, headers } = error;
  const body = problemOf(error);
  if (!body)
    return new Refused(
      error,
      `The answer has status ${status} and is not one of Porter's.`,
      `Is ${url} the address of a Porter service?`,
      { error: 'not_porter', statusCode: status, message: textOf(probed(error).body).slice(0, 200) },
    );
  const entry = body.error === true ? validationEntry : entryOf(body.error);
  const hint = (asked && hintFor(asked, body)) ?? entry?.remedy;
  const page =
    body.doc_url ?? (body.error === true ? `${url}/docs/errors/${validationEntry.code}` : undefined);
  const request = body.request_id ?? headers.get('x-request-id');
  const hints = [
    ...(typeof body.message === 'string' && hint ? [hint] : []),
    ...(body.retry_after === undefined ? [] : [`Try again in ${body.retry_after} s.`]),
    ...(page === undefined ? [] : [`More: ${page}`]),
    ...(request === null ? [] : [`Request: ${request}`]),
  ];
  // The API has one sentence for both, which speaks of a key.
  const isToken = asked?.side === 'operator' && body.error === 'invalid_credentials';
  const message = isToken ? 'The operator token is invalid or expired.' : sentence(body, entry?.message);
  return new Refused(error, message, hints.map(inLine).join('\n'), body);
}

/** Not an answer of the operation, but that it waits. */
function isApproval(answer: Answer<unknown>): answer is Answer<Approval> {
  return answer.status === 202 && isRecord(answer.data) && 'requested_by' in answer.data;
}

/** What a refusal says: one sentence, or one for each field of a request that is not valid. */
export function faultsOf({ message, path }: Pick<ProblemBody, 'message' | 'path'>): string[] {
  if (typeof message === 'string') return [path?.length ? `${message} (${path.join('.')})` : message];
  return message.map((one) => `${one.path.join('.') || 'request'}: ${one.message}`);
}

/** What the service always says about such a refusal ends with what to do; the hint here says it better. */
function sentence(body: ProblemBody, usual: string | undefined): string {
  if (body.message === usual) return usual.replace(/(?<=\.) .*/, '');
  const faults = faultsOf(body).map(inLine);
  return body.error === true ? ['The request is not valid.', ...faults].join('\n  ') : faults.join();
}

function entryOf(code: string): { message: string; remedy: string } | undefined {
  return Object.hasOwn(problemCatalogue, code)
    ? problemCatalogue[code as keyof typeof problemCatalogue]
    : undefined;
}

/** A code that is younger than this version is a refusal of Porter's all the same. */
function problemOf({ problem }: PorterApiError): ProblemBody | undefined {
  if (problem.error !== 'unknown') return problem as ProblemBody;
  const { body } = problem;
  const isTold = isRecord(body) && typeof body.error === 'string' && typeof body.message === 'string';
  return isTold ? (body as unknown as ProblemBody) : undefined;
}

function textOf(body: unknown): string {
  return typeof body === 'string' ? body : (JSON.stringify(body) ?? '');
}
