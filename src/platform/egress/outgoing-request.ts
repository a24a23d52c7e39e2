import type { Dispatcher } from 'undici';
import type { Listed } from './linked-list.ts';
import {
  CallFailed,
  exchangeFailure,
  type Failure,
  failed,
  isConnectionLost,
  type PostOutcome,
  type PostRequest,
} from './outcome.ts';
import type { ConnectionPool, OutgoingConnection, PendingRequest } from './outgoing-connection.ts';

/** Of an answer, this much is read; the rest is cut off, and the connection with it. */
const ANSWER_BYTES_MAX = 16 * 1024;
/** And this much is kept. */
const ANSWER_BYTES_KEPT = 1024;
/** Interim answers (103 Early Hints and the like) before the answer. */
const INTERIM_ANSWERS_MAX = 16;

type Headers = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];

/** One POST and its answer: what undici tells about it is gathered here. */
export class OutgoingRequest implements PendingRequest, Listed<OutgoingRequest> {
  readonly request: Dispatcher.DispatchOptions;
  readonly startedAt = performance.now();
  before: OutgoingRequest | undefined;
  after: OutgoingRequest | undefined;
  readonly #isStale: PostRequest['isStale'];
  readonly #pool: ConnectionPool;
  readonly #done: (outcome: PostOutcome) => void;
  #connection: OutgoingConnection;
  #isOver = false;
  /** Set once the request is made again: how the worn connection of the first try broke. */
  #lost: Failure | undefined;
  #isHeard = false;
  #interimAnswers = 0;
  #status: number | undefined;
  #retryAfter: string | undefined;
  #bytes = 0;
  #kept: Buffer | undefined;

  /** `done` is called once. */
  constructor(post: PostRequest, path: string, pool: ConnectionPool, done: (outcome: PostOutcome) => void) {
    this.#isStale = post.isStale;
    this.request = { method: post.method ?? 'POST', path, headers: post.headers, body: post.body };
    this.#pool = pool;
    this.#done = done;
    this.#connection = pool.take();
  }

  get isAwaiting(): boolean {
    return this.#status === undefined;
  }

  start(): void {
    this.#connection.send(this);
  }

  /** The time is up. */
  expire(): void {
    this.#settle(this.#stuckAt('timeout'), false);
  }

  /** Nobody waits any more. */
  stop(): void {
    this.#settle({ ...this.#stuckAt('stopped'), code: 'stopped' }, false);
  }

  /** The connection is established. To throw ends the request and keeps the connection: undici has written nothing yet. */
  onRequestStart(): void {
    if (this.#isStale?.()) throw new CallFailed(this.#lost ?? failed('send', 'stale', ''));
  }

  onRequestSent(): void {
    this.#connection.noteSent();
  }

  onResponseStarted(): void {
    this.#isHeard = true;
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    if (status >= 200) {
      this.#status = status;
      const retryAfter = headers['retry-after'];
      this.#retryAfter = (Array.isArray(retryAfter) ? retryAfter[0] : retryAfter)?.trim();
    } else if (++this.#interimAnswers > INTERIM_ANSWERS_MAX) {
      this.#cut(controller, failed('answer', 'invalid_http', 'too many interim answers'));
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#kept) this.#kept = chunk;
    else if (this.#kept.length < ANSWER_BYTES_KEPT) this.#kept = Buffer.concat([this.#kept, chunk]);
    this.#bytes += chunk.length;
    if (this.#bytes > ANSWER_BYTES_MAX) this.#cut(controller, undefined);
  }

  onResponseEnd(): void {
    this.#settle(undefined, true);
  }

  onResponseError(_controller: unknown, error: Error): void {
    if (this.#isOver) return;
    const { isSending, isWorn } = this.#connection;
    const failure =
      error instanceof CallFailed
        ? error.failure
        : exchangeFailure(error, { isSending, status: this.#status });
    if (failure.code === 'stale') this.#settle(failure, true);
    else if (isWorn && !this.#isHeard && !this.#lost && isConnectionLost(error)) this.#tryAgain(failure);
    else this.#settle(failure, false);
  }

  /** The connection was cut while it lay idle, which says nothing about the receiver: a new one tells. */
  #tryAgain(lost: Failure): void {
    this.#lost = lost;
    this.#connection.release();
    this.#pool.drop(this.#connection);
    this.#connection = this.#pool.open();
    this.#connection.send(this);
  }

  #stuckAt(word: string): Failure {
    const { dialling, isSending } = this.#connection;
    if (dialling) return failed(dialling.phase, `${dialling.phase}_${word}`, dialling.detail);
    if (this.#status !== undefined) return failed('answer', `body_${word}`, `${this.#bytes} bytes`);
    return isSending ? failed('send', `send_${word}`, '') : failed('answer', `answer_${word}`, '');
  }

  #cut(controller: Dispatcher.DispatchController, failure: Failure | undefined): void {
    this.#settle(failure, false);
    controller.abort(new Error('cut off'));
  }

  #settle(failure: Failure | undefined, keepConnection: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { isLocal } = this.#connection;
    this.#connection.release();
    if (keepConnection) this.#pool.keep(this.#connection);
    else {
      if (failure) this.#connection.reset();
      this.#pool.drop(this.#connection);
    }
    this.#done({
      status: this.#status,
      retryAfter: this.#retryAfter,
      answer: this.#kept ? clean(this.#kept.subarray(0, ANSWER_BYTES_KEPT)) : '',
      durationMs: performance.now() - this.startedAt,
      failure,
      isLocal,
      ...(this.#lost && { wasRepeated: true }),
    });
  }
}

/** What a store or a terminal would choke on, or obey. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** Bytes that somebody else chose as text that can be stored and shown. */
function clean(bytes: Buffer): string {
  return bytes
    .toString('utf8', 0, wholeCharacters(bytes))
    .replaceAll('\r\n', '\n')
    .replaceAll(CONTROL, '\ufffd');
}

/** The length without the beginning of a character whose end was cut off. */
function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) break;
    if (byte < 0xc0) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}
