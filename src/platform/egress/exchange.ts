import type { Dispatcher } from 'undici';
import { clean } from './clean.ts';
import { CallFailed, exchangeFailure, failed, isConnectionLost } from './failures.ts';
import type { Listed } from './in-order.ts';
import type { Line, Load } from './line.ts';
import type { Origin } from './origin.ts';
import type { Failure, Letter, PostOutcome } from './outcome.ts';

/** Of an answer, this much is read; the rest is cut off, and the connection with it. */
const ANSWER_BYTES_MAX = 16 * 1024;
/** And this much is kept. */
const ANSWER_BYTES_KEPT = 1024;
/** Interim answers (103 Early Hints and the like) before the answer. */
const INTERIM_ANSWERS_MAX = 16;

type Headers = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];

/** One letter and its answer: what undici tells about the one request is gathered here. */
export class Exchange implements Load, Listed<Exchange> {
  readonly request: Dispatcher.DispatchOptions;
  readonly startedAt = performance.now();
  before: Exchange | undefined;
  after: Exchange | undefined;
  readonly #origin: Origin;
  readonly #done: (outcome: PostOutcome) => void;
  #line: Line;
  #isOver = false;
  #isSecondTry = false;
  #isHeard = false;
  #interimAnswers = 0;
  #status: number | undefined;
  #retryAfter: string | undefined;
  #bytes = 0;
  #kept: Buffer | undefined;

  /** `done` is called once. */
  constructor(letter: Letter, path: string, origin: Origin, done: (outcome: PostOutcome) => void) {
    this.request = { method: 'POST', path, headers: letter.headers, body: letter.body };
    this.#origin = origin;
    this.#done = done;
    this.#line = origin.take();
  }

  get isAwaiting(): boolean {
    return this.#status === undefined;
  }

  start(): void {
    this.#line.carry(this);
  }

  /** The time is up. */
  expire(): void {
    this.#settle(this.#stuckAt('timeout'), false);
  }

  /** Nobody waits any more. */
  stop(): void {
    this.#settle({ ...this.#stuckAt('stopped'), code: 'stopped' }, false);
  }

  onRequestStart(): void {}

  onRequestSent(): void {
    this.#line.noteSent();
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
    if (error instanceof CallFailed) this.#settle(error.failure, false);
    else if (this.#line.isWorn && !this.#isHeard && !this.#isSecondTry && isConnectionLost(error))
      this.#tryAgain();
    else
      this.#settle(exchangeFailure(error, { isSending: this.#line.isSending, status: this.#status }), false);
  }

  /** The connection was cut while it lay idle, which says nothing about the receiver: a new one tells. */
  #tryAgain(): void {
    this.#isSecondTry = true;
    this.#line.unload();
    this.#origin.drop(this.#line);
    this.#line = this.#origin.open();
    this.#line.carry(this);
  }

  #stuckAt(word: string): Failure {
    const { dialling, isSending } = this.#line;
    if (dialling) return failed(dialling.phase, `${dialling.phase}_${word}`, dialling.detail);
    if (this.#status !== undefined) return failed('answer', `body_${word}`, `${this.#bytes} bytes`);
    return isSending ? failed('send', `send_${word}`, '') : failed('answer', `answer_${word}`, '');
  }

  #cut(controller: Dispatcher.DispatchController, failure: Failure | undefined): void {
    this.#settle(failure, false);
    controller.abort(new Error('cut off'));
  }

  #settle(failure: Failure | undefined, keepLine: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#line.unload();
    if (keepLine) this.#origin.keep(this.#line);
    else this.#origin.drop(this.#line);
    this.#done({
      status: this.#status,
      retryAfter: this.#retryAfter,
      answer: this.#kept ? clean(this.#kept.subarray(0, ANSWER_BYTES_KEPT)) : '',
      durationMs: performance.now() - this.startedAt,
      failure,
    });
  }
}
