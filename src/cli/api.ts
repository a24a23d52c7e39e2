import type { Page } from '../contract/page.ts';
import { problemCatalogue, validationEntry } from '../contract/problems.ts';
import { type Connection, isLoopback, operatorHeaders, partnerHeaders } from './connection.ts';
import { Failure, Unreachable } from './exit.ts';
import { type Asked, hintFor, type Side } from './hints.ts';
import { isObject, parseJson } from './json.ts';
import { inLine, type Printer } from './printer.ts';
import type { World } from './world.ts';

export interface Request {
  query?: Record<string, string | number | undefined> | undefined;
  body?: unknown;
  headers?: Record<string, string>;
  /** How long to wait for the answer, if not for the usual time. */
  waitMs?: number;
}

/** Longer than anything that the service does before it answers. */
const ANSWER_MS = 120_000;
const PAGE_SIZE_MAX = 100;

/** Calls the service over HTTP, as a partner or as an operator. */
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
    const whole = withHeaders(request, await this.partnerHeaders());
    return (await this.#json<T>('partner', method, `/v1${path}`, whole)).value;
  }

  async partnerHeaders(): Promise<Record<string, string>> {
    const connection = await this.connection();
    if (connection.demo && !this.#toldOfDemo)
      this.#out.note(`Using the demo world: ${connection.url}, practice group ${connection.group}.`);
    this.#toldOfDemo = true;
    return partnerHeaders(connection);
  }

  async operator<T>(method: string, path: string, request: Request = {}): Promise<T> {
    return (await this.operatorAnswer<T>(method, path, request)).value;
  }

  async operatorAnswer<T>(method: string, path: string, request: Request): Promise<Told<T>> {
    const connection = await this.connection();
    const whole = withHeaders(request, operatorHeaders(connection));
    return this.#json('operator', method, `/operator/v1${path}`, whole);
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

  /** The whole answer, with whatever status. */
  async answer(method: string, path: string, request: Request = {}): Promise<Answer> {
    const signal = AbortSignal.timeout(request.waitMs ?? ANSWER_MS);
    const response = await this.open(method, path, request, signal);
    return this.readWhole(response);
  }

  async readWhole(response: Response): Promise<Answer> {
    const text = await response.text().catch((error) => this.#fail(error));
    return { status: response.status, headers: response.headers, text };
  }

  /** An answer whose body is still to be read. */
  async open(method: string, path: string, request: Request, signal: AbortSignal): Promise<Response> {
    const { url } = await this.connection();
    const query = Object.entries(request.query ?? {}).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)]],
    );
    const address = `${url}${path}${query.length > 0 ? `?${new URLSearchParams(query)}` : ''}`;
    return this.#world
      .fetch(address, {
        method,
        redirect: 'manual',
        headers: {
          ...(request.body !== undefined && { 'content-type': 'application/json' }),
          ...request.headers,
        },
        body: request.body === undefined ? null : JSON.stringify(request.body),
        signal: AbortSignal.any([signal, this.#world.stop]),
      })
      .catch((error) => this.#fail(error));
  }

  async #fail(error: unknown): Promise<never> {
    if (this.#world.stop.aborted || !isNetworkError(error)) throw error;
    throw unreachable((await this.connection()).url, error);
  }

  /** What an answer that is a refusal says, with what to do about it here. */
  async refusal(side: Side, answer: Answer): Promise<Refused> {
    const connection = await this.connection();
    return refused(answer, connection.url, { command: this.#command, side, connection });
  }

  async #json<T>(side: Side, method: string, path: string, request: Request): Promise<Told<T>> {
    const answer = await this.#out.during('Waiting for the service', this.answer(method, path, request));
    const value = answer.text === '' ? undefined : parseJson(answer.text);
    if (answer.status >= 300 || (answer.text !== '' && value === undefined))
      throw await this.refusal(side, answer);
    return { value: value as T, headers: answer.headers };
  }
}

interface Told<T> {
  value: T;
  headers: Headers;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
}

function withHeaders(request: Request, headers: Record<string, string>): Request {
  return { ...request, headers: { ...request.headers, ...headers } };
}

/** What `fetch` fails with when the network does; a mistake in the call itself has no cause. */
export function isNetworkError(error: unknown): error is Error {
  return error instanceof Error && (error.name === 'TimeoutError' || error.cause !== undefined);
}

function unreachable(url: string, error: Error): Unreachable {
  const { cause, message, name } = error as Error & { cause?: { code?: string; message?: string } };
  const reason = name === 'TimeoutError' ? 'no answer in time' : (cause?.code ?? cause?.message ?? message);
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
  return new Unreachable(
    `Nothing answers at ${url} (${reason}).`,
    'Is the service running (`porter serve`), and is the address right (--url, PORTER_URL)?',
  );
}

/** A refusal, told by the body that came with it. */
export class Refused extends Failure {
  readonly status: number;
  readonly body: object;
  /** How long the service asks to be left alone. */
  readonly retryAfterSeconds: number;

  constructor(answer: Pick<Answer, 'status' | 'headers'>, message: string, hint: string, body: object) {
    super(message, hint);
    this.status = answer.status;
    this.retryAfterSeconds = Number(/^\d+$/.exec(answer.headers.get('retry-after') ?? '')?.[0] ?? 0);
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

export function refused(answer: Answer, url: string, asked?: Asked): Refused {
  const { status, headers, text } = answer;
  const body = problemOf(text);
  if (!body)
    return new Refused(
      answer,
      `The answer has status ${status} and is not one of Porter's.`,
      `Is ${url} the address of a Porter service?`,
      { error: 'not_porter', statusCode: status, message: text.slice(0, 200) },
    );
  const entry = body.error === true ? validationEntry : entryOf(body.error);
  const hint = (asked && hintFor(asked, body)) ?? entry?.remedy;
  const page =
    body.doc_url ?? (body.error === true ? `${url}/docs/errors/${validationEntry.code}` : undefined);
  const request = body.request_id ?? headers.get('x-request-id');
  const hints = [
    ...(typeof body.message === 'string' && hint !== undefined ? [hint] : []),
    ...(body.retry_after === undefined ? [] : [`Try again in ${body.retry_after} s.`]),
    ...(page === undefined ? [] : [`More: ${page}`]),
    ...(request === null ? [] : [`Request: ${request}`]),
  ];
  // The API has one sentence for both, which speaks of a key.
  const isToken = asked?.side === 'operator' && body.error === 'invalid_credentials';
  const message = isToken ? 'The operator token is invalid or expired.' : sentence(body, entry?.message);
  return new Refused(answer, message, hints.map(inLine).join('\n'), body);
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

function problemOf(text: string): ProblemBody | undefined {
  const body = parseJson(text);
  if (!isObject(body)) return undefined;
  const { error, message } = body;
  const told = typeof error === 'string' && typeof message === 'string';
  const listed = error === true && Array.isArray(message) && message.every(isEntry);
  return told || listed ? (body as unknown as ProblemBody) : undefined;
}

function isEntry(value: unknown): boolean {
  return isObject(value) && Array.isArray(value.path) && typeof value.message === 'string';
}
