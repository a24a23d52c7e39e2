import { readBody } from './body.ts';
import { type Answer, Call, PageCall, type PageOf } from './call.ts';
import { PorterApiError, PorterConnectionError, PorterTimeoutError } from './errors.ts';
import { finite } from './finite.ts';
import {
  type CallOptions,
  defaultRuntime,
  type Idempotency,
  type IfMatch,
  type PorterOptions,
  type Runtime,
} from './options.ts';
import { isRepeatable, mayPass, waitBefore, wasNotDone } from './retry.ts';
import { isRecord } from './shape.ts';
import { checkLimit, startTimer } from './timer.ts';

/** Requests → answers: sends, waits, sends again, and gives up in time. */

export interface ApiRequest {
  method: string;
  path: string;
  query?: object;
  body?: unknown;
  headers?: Record<string, string>;
  options: CallOptions & IfMatch & Idempotency;
}

/** What is done with an answer once its headers are there; the time limit holds until it is done. */
type Reader<T> = (response: Response) => Promise<T>;

const TIMEOUT_MS = 30_000;
const MAX_RETRIES = 3;
const MAX_RETRY_MS = 90_000;

/** Knows neither keys nor tokens: whoever calls is in the headers. */
export interface TransportOptions
  extends Pick<PorterOptions, 'fetch' | 'timeoutMs' | 'maxRetries' | 'maxRetryMs' | 'runtime'> {
  /** Without a slash at the end. */
  baseUrl: string;
  /** Sent with every request. */
  headers?: Record<string, string>;
}

export class Transport {
  readonly #options: TransportOptions;
  readonly #baseUrl: string;
  readonly runtime: Runtime;

  constructor(options: TransportOptions) {
    checkLimit('timeoutMs', options.timeoutMs ?? TIMEOUT_MS);
    this.#options = options;
    this.#baseUrl = options.baseUrl;
    this.runtime = { ...defaultRuntime, ...options.runtime };
  }

  call<T>(request: ApiRequest): Call<T> {
    return new Call(this.send(request, readJson<T>));
  }

  pages<Item, Page extends PageOf<Item>>(
    request: ApiRequest,
    readItem: (item: unknown) => Item | undefined = readRecord<Item>,
  ): PageCall<Item, Page> {
    const answer = this.send(request, async (response) => {
      const answer = await readJson<Page>(response);
      const data = readPage(answer.data, readItem);
      if (!data) throw new PorterApiError(answer.status, answer.headers, answer.data);
      return { ...answer, data };
    });
    return new PageCall(answer, (cursor, isFeed) => {
      // The feed takes either a moment or a cursor to begin at.
      const query = { ...request.query, cursor, ...(isFeed && { since: undefined }) };
      return this.pages({ ...request, query }, readItem);
    });
  }

  /** `insist` repeats the call for as long as it says so, whatever the limits. */
  async send<T>(given: ApiRequest, read: Reader<T>, insist?: (error: unknown) => boolean): Promise<T> {
    const request = withIdempotencyKey(given);
    const { signal, maxRetries = this.#options.maxRetries ?? MAX_RETRIES } = request.options;
    const { now, sleep } = this.runtime;
    const latest = now() + (this.#options.maxRetryMs ?? MAX_RETRY_MS);
    const repeatable = isRepeatable(request.method, request.options);
    let mayBeDone = false;
    for (let retries = 0; ; retries++) {
      try {
        return await this.#attempt(request, read, mayBeDone);
      } catch (error) {
        const wait = waitBefore(retries, error, this.runtime);
        const isInTime = retries < maxRetries && now() + wait <= latest;
        const again = insist ? insist(error) : isInTime && mayPass(error, repeatable);
        if (!again) throw error;
        mayBeDone ||= !wasNotDone(error);
        await sleep(wait, signal);
      }
    }
  }

  async #attempt<T>(request: ApiRequest, read: Reader<T>, mayBeDone: boolean): Promise<T> {
    const { signal, timeoutMs = this.#options.timeoutMs ?? TIMEOUT_MS } = request.options;
    checkLimit('timeoutMs', timeoutMs);
    signal?.throwIfAborted();
    const { fetch = globalThis.fetch } = this.#options;
    const body = request.body === undefined ? null : JSON.stringify(request.body, finite);
    const url = this.#url(request);
    const controller = new AbortController();
    const stop = () => controller.abort(signal?.reason);
    signal?.addEventListener('abort', stop, { once: true });
    const late = new PorterTimeoutError(`No answer from ${this.#baseUrl} within ${timeoutMs} ms.`);
    const timer = startTimer(() => controller.abort(late), timeoutMs);
    try {
      const response = await fetch(url, {
        method: request.method,
        headers: this.#headers(request),
        body,
        // Followed, a redirect would carry the key to wherever it leads.
        redirect: 'manual',
        signal: controller.signal,
      });
      // What a lost attempt has deleted is gone, as it should be.
      const isGone = mayBeDone && request.method === 'DELETE' && response.status === 404;
      if (!response.ok && !isGone)
        throw new PorterApiError(response.status, response.headers, await readBody(response));
      return await read(response);
    } catch (error) {
      if (error instanceof PorterApiError) throw error;
      signal?.throwIfAborted();
      if (controller.signal.aborted) throw late;
      throw new PorterConnectionError(`The connection to ${this.#baseUrl} failed.`, { cause: error });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
    }
  }

  #url({ path, query = {} }: ApiRequest): string {
    const given = Object.entries(query).filter(([, value]) => value !== undefined);
    const search = new URLSearchParams(
      given.map(([name, value]): [string, string] => [name, String(finite(name, value))]),
    ).toString();
    return `${this.#baseUrl}${path}${search && `?${search}`}`;
  }

  #headers({ body, headers, options }: ApiRequest): Record<string, string> {
    const { requestId, ifMatch, idempotencyKey } = options;
    return {
      ...this.#options.headers,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(requestId !== undefined && { 'x-request-id': requestId }),
      ...(ifMatch !== undefined && { 'if-match': ifMatch }),
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      ...headers,
    };
  }
}

/** One for all attempts of a POST: the service does it once, however often it hears of it. */
function withIdempotencyKey(request: ApiRequest): ApiRequest {
  const { method, options } = request;
  if (method !== 'POST' || options.idempotencyKey !== undefined) return request;
  return { ...request, options: { ...options, idempotencyKey: crypto.randomUUID() } };
}

async function readJson<T>(response: Response): Promise<Answer<T>> {
  const { status, headers } = response;
  const hasData = response.ok && status !== 204;
  const body = hasData ? await readBody(response) : await response.body?.cancel();
  if (hasData && !isRecord(body)) throw new PorterApiError(status, headers, body);
  return {
    data: body as T,
    status,
    headers,
    requestId: headers.get('x-request-id') ?? undefined,
    etag: headers.get('etag') ?? undefined,
  };
}

const readRecord = <T>(value: unknown): T | undefined => (isRecord(value) ? (value as T) : undefined);

function readPage<Item, Page extends PageOf<Item>>(
  page: Page,
  readItem: (item: unknown) => Item | undefined,
): Page | undefined {
  const { data, next_cursor: cursor }: { data: unknown; next_cursor: unknown } = page;
  if (!Array.isArray(data) || (cursor !== null && typeof cursor !== 'string')) return undefined;
  const items = data.map(readItem);
  return items.includes(undefined) ? undefined : { ...page, data: items };
}
