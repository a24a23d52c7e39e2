import type { Page } from '../contract/page.ts';
import { problemCatalogue, validationEntry } from '../contract/problems.ts';
import { type Connection, operatorHeaders, partnerHeaders } from './connection.ts';
import { Failure, Unreachable } from './exit.ts';
import type { Printer } from './printer.ts';
import type { World } from './world.ts';

export interface Request {
  query?: Record<string, string | number | undefined> | undefined;
  body?: unknown;
  headers?: Record<string, string>;
}

/** Longer than anything that the service does before it answers. */
const ANSWER_MS = 120_000;
const PAGE_SIZE_MAX = 100;

/** Calls the service over HTTP, as a partner or as an operator. */
export class Api {
  readonly #world: World;
  readonly #out: Printer;
  readonly #connect: () => Promise<Connection>;
  #connection: Promise<Connection> | undefined;
  #toldOfDemo = false;

  constructor(world: World, out: Printer, connect: () => Promise<Connection>) {
    this.#world = world;
    this.#out = out;
    this.#connect = connect;
  }

  connection(): Promise<Connection> {
    this.#connection ??= this.#connect();
    return this.#connection;
  }

  async partner<T>(method: string, path: string, request: Request = {}): Promise<T> {
    return this.#json(method, `/v1${path}`, withHeaders(request, await this.partnerHeaders()));
  }

  async partnerHeaders(): Promise<Record<string, string>> {
    const connection = await this.connection();
    if (connection.demo && !this.#toldOfDemo)
      this.#out.note(`Using the demo world: ${connection.url}, practice group ${connection.group}.`);
    this.#toldOfDemo = true;
    return partnerHeaders(connection);
  }

  async operator<T>(method: string, path: string, request: Request = {}): Promise<T> {
    const connection = await this.connection();
    return this.#json(method, `/operator/v1${path}`, withHeaders(request, operatorHeaders(connection)));
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
  async answer(method: string, path: string, request: Request = {}, ms = ANSWER_MS): Promise<Answer> {
    const response = await this.open(method, path, request, AbortSignal.timeout(ms));
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
    throw this.#world.stop.aborted ? error : unreachable((await this.connection()).url, error);
  }

  async #json<T>(method: string, path: string, request: Request): Promise<T> {
    const { url } = await this.connection();
    const answer = await this.#out.during('Waiting for the service', this.answer(method, path, request));
    const value = answer.text === '' ? undefined : parsed(answer.text);
    if (answer.status >= 300 || (answer.text !== '' && value === undefined)) throw refused(answer, url);
    return value as T;
  }
}

interface Answer {
  status: number;
  headers: Headers;
  text: string;
}

function withHeaders(request: Request, headers: Record<string, string>): Request {
  return { ...request, headers: { ...request.headers, ...headers } };
}

function unreachable(url: string, error: unknown): Unreachable {
  const { cause, message, name } = error as Error & { cause?: { code?: string; message?: string } };
  const reason = name === 'TimeoutError' ? 'no answer in time' : (cause?.code ?? cause?.message ?? message);
  return new Unreachable(
    `Nothing answers at ${url} (${reason}).`,
    'Is the service running (`porter serve`), and is the address right (--url, PORTER_URL)?',
  );
}

/** A refusal, told by the body that came with it. */
export class Refused extends Failure {
  readonly status: number;
  readonly body: object;

  constructor(status: number, message: string, hint: string, body: object) {
    super(message, hint);
    this.status = status;
    this.body = body;
  }

  override toJSON(): object {
    return this.body;
  }
}

interface ProblemBody {
  error: keyof typeof problemCatalogue | true;
  message: string | { path: (string | number)[]; message: string }[];
  request_id?: string;
  doc_url?: string;
  required_scopes?: string[];
  required_roles?: string[];
  path?: (string | number)[];
  retry_after?: number;
}

export function refused({ status, headers, text }: Answer, url: string): Refused {
  const body = problemOf(text);
  if (!body)
    return new Refused(
      status,
      `The answer has status ${status} and is not one of Porter's.`,
      `Is ${url} the address of a Porter service?`,
      { error: 'not_porter', statusCode: status, message: text.slice(0, 200) },
    );
  const { remedy } = body.error === true ? validationEntry : (problemCatalogue[body.error] ?? { remedy: '' });
  const lacks = [...(body.required_scopes ?? []), ...(body.required_roles ?? [])];
  const hints = [
    ...(typeof body.message === 'string' ? [remedy] : []),
    ...(lacks.length > 0 ? [`Needed: ${lacks.join(' or ')}`] : []),
    ...(body.retry_after === undefined ? [] : [`Try again in ${body.retry_after} s.`]),
    `More: ${body.doc_url ?? `${url}/docs/errors/${validationEntry.code}`}`,
    `Request: ${body.request_id ?? headers.get('x-request-id')}`,
  ];
  return new Refused(status, sentence(body), hints.join('\n'), body);
}

function sentence({ message, path }: ProblemBody): string {
  if (typeof message === 'string') return path?.length ? `${message} (${path.join('.')})` : message;
  const entries = message.map((one) => `\n  ${one.path.join('.') || 'request'}: ${one.message}`);
  return `The request is not valid.${entries.join('')}`;
}

function problemOf(text: string): ProblemBody | undefined {
  const body = parsed(text) as Partial<ProblemBody> | null | undefined;
  return body?.error !== undefined && body.message !== undefined ? (body as ProblemBody) : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
