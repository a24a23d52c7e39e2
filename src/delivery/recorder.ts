import type { DeliveryOutcome } from '../contract/partner/usage.ts';
import { isBeyondHope } from '../domain/events/retry.ts';
import { type Clock, databaseTime } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';
import { Outage } from '../platform/outage.ts';
import type { Database } from '../store/database.ts';
import { disableWebhook } from '../store/events/deliveries.ts';
import {
  type LaneLow,
  type RecordedLane,
  type Result,
  recordResults,
} from '../store/events/deliveries-record.ts';
import { askDatabaseTime } from '../store/shared-clock.ts';

const RESULTS_MAX = 2_000;
/** As many are not too much for any database, and a sign that there is much to do. */
const RESULTS_FEW = 100;
/** To write results takes PostgreSQL a millisecond besides 6 µs for each: with so many that is little. */
const RESULTS_MANY = 1_000;
/** They do not wait for longer than that: those about the same object wait for them. */
const TURNS = 8;
const PAUSE_MS = 250;

/**
 * When a result has waited for so long to be written, the database is away or overwhelmed, and nothing more is sent: what was sent and not
 * recorded is sent again by whoever takes over. A write takes a few hundredths of a second.
 */
const RECORD_WAIT_MAX_MS = 1_000;

/** Where sending and recording meet: whoever holds the lanes that the results are about. */
export interface LaneHolder {
  /**
   * Asked right before results are written, and again whenever that is tried again: which of them may still be written, and before
   * which sequence of their lanes nothing will be new then.
   */
  prepare(results: readonly Result[]): { results: Result[]; lows: LaneLow[] };
  /** They are written. `lanes`: how their webhooks are doing now. */
  recorded(results: readonly Result[], lanes: readonly RecordedLane[]): void;
  /** They never will be. */
  unrecorded(results: readonly Result[]): void;
  /** These are done with, so what waited for that may be sent. */
  resume(results: readonly Result[]): void;
}

export interface RecorderOptions {
  db: Database;
  clock: Clock;
  log: Logger;
  /** The number of this worker. */
  me: number;
  usage: DeliveryUsage;
}

/** What counts attempts by webhook, once their results are recorded. */
export interface DeliveryUsage {
  deliver(webhookNo: number, outcome: DeliveryOutcome, delayMs: number, cause: string): void;
}

const OUTCOMES = { delivered: 'delivered', due: 'retried', failed: 'given_up' } as const;

/**
 * The batcher of results: writes what became of deliveries, many at a time. While one batch is being written the next one gathers.
 * While the database is away it keeps on trying. Nothing is claimed in that time, and after a second nothing is sent, so what waits
 * here is bounded (`RECORD_WAIT_MAX_MS`, `SENT_UNRECORDED_MAX`); if this process ends before it could write, the leases come free and the deliveries are sent once more.
 */
export class Recorder {
  readonly #options: RecorderOptions;
  readonly #holder: LaneHolder;
  #waiting: Result[] = [];
  #writing: Promise<void> | undefined;
  /** What is being written. */
  #batch: Result[] = [];
  #givenUp = false;

  constructor(options: RecorderOptions, holder: LaneHolder) {
    this.#options = options;
    this.#holder = holder;
  }

  add(result: Result): void {
    this.#waiting.push(result);
    this.#writing ??= this.#run();
  }

  /** How many results are not written yet. */
  get size(): number {
    return this.#batch.length + this.#waiting.length;
  }

  /** Results wait for too long: nothing more is to be sent until they are written. */
  isBehind(moment: number): boolean {
    const oldest = this.#batch[0] ?? this.#waiting[0];
    return oldest !== undefined && moment - oldest.answeredAt > RECORD_WAIT_MAX_MS;
  }

  /** When everything so far is written. */
  async idle(): Promise<void> {
    while (this.#writing) await this.#writing;
  }

  /** For a stop that cannot wait for the database to come back. */
  giveUp(): void {
    this.#givenUp = true;
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#gather();
      const batch = this.#waiting.splice(0, RESULTS_MAX);
      this.#batch = batch;
      await this.#write(batch);
      this.#batch = [];
      this.#holder.resume(batch);
    }
    this.#writing = undefined;
  }

  /** What is answered in the same turn of the event loop is written together; in a burst, also what the next turns bring. */
  async #gather(): Promise<void> {
    for (let turns = 0; turns < TURNS; turns++) {
      const before = this.#waiting.length;
      await new Promise(setImmediate);
      const now = this.#waiting.length;
      if (now === before || now < RESULTS_FEW || now >= RESULTS_MANY) return;
    }
  }

  async #write(given: Result[]): Promise<void> {
    const { db, clock, log, me } = this.#options;
    let results = given;
    let lanes: RecordedLane[] | undefined;
    for (;;) {
      try {
        if (!lanes) {
          const prepared = this.#holder.prepare(results);
          results = prepared.results;
          if (results.length === 0) return;
          const time = { at: databaseTime(clock), moment: clock.monotonic() };
          lanes = await recordResults(db, time, me, results, prepared.lows);
          this.#holder.recorded(results, lanes);
          this.#count(results);
        }
        return await this.#disableHopeless(results, lanes);
      } catch (error) {
        if (error instanceof Outage) {
          if (this.#givenUp) return;
          // Written or not, nobody knows; written again it changes nothing.
          await clock.sleep(PAUSE_MS);
          if (lanes || results.length <= RESULTS_FEW) continue;
          // They may have been more than it can write in its time.
          const half = results.length >> 1;
          await this.#write(results.slice(0, half));
          return this.#write(results.slice(half));
        }
        const what = lanes ? 'what follows from results was not done' : 'results could not be written';
        log.error({ err: error, results: results.length }, what);
        return lanes ? undefined : this.#writeEach(results);
      }
    }
  }

  #count(results: readonly Result[]): void {
    for (const { webhookNo, state, delayMs, cause } of results)
      if (state !== 'waiting') this.#options.usage.deliver(webhookNo, OUTCOMES[state], delayMs, cause);
  }

  /** One odd result must not hold up its neighbours, and what came of an attempt matters more than how it looked. */
  async #writeEach(results: Result[]): Promise<void> {
    if (results.length > 1) for (const one of results) await this.#write([one]);
    else if (results[0]?.attempt) await this.#write([{ ...results[0], attempt: '' }]);
    else this.#holder.unrecorded(results);
  }

  /** Once results are written, a webhook may be past hope. */
  async #disableHopeless(results: readonly Result[], lanes: readonly RecordedLane[]): Promise<void> {
    const { db, clock } = this.#options;
    // Of the address that it has now, not of one that a delivery was still under way to.
    const gone = new Map<number, string>();
    // One that only had deliveries put back to wait may be well again by now.
    const failed = new Set<number>();
    for (const one of results) {
      if (one.gone) gone.set(one.webhookNo, one.gone);
      if (one.state === 'due' || one.state === 'failed') failed.add(one.webhookNo);
    }
    for (const [webhookNo, url] of gone)
      await this.#disable(webhookNo, 'The receiver answered 410 Gone.', { url });
    for (const { webhook_no, failing_since } of lanes) {
      if (!failing_since || !failed.has(webhook_no)) continue;
      const since = Date.parse(failing_since);
      // By the time that was measured first: that costs nothing.
      if (isBeyondHope(since, clock.now()) && isBeyondHope(since, await askDatabaseTime(db, clock)))
        await this.#disable(webhook_no, `No delivery has succeeded for 5 days, since ${failing_since}.`, {
          failingSince: failing_since,
        });
    }
  }

  async #disable(
    webhookNo: number,
    reason: string,
    still: { url: string } | { failingSince: string },
  ): Promise<void> {
    const { db, clock, log } = this.#options;
    const now = new Date(clock.now()).toISOString();
    if (await disableWebhook(db, webhookNo, `${reason} Activate the webhook to resume.`, now, still))
      log.warn({ webhook_no: webhookNo, reason }, 'webhook disabled');
  }
}
