import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';
import { Outage } from '../platform/outage.ts';
import type { Database } from '../store/database.ts';
import { type LaneLow, type LaneState, type Result, recordResults } from '../store/deliveries-record.ts';

const RESULTS_MAX = 2_000;
/** As many are not too much for any database, and a sign that there is much to do. */
const RESULTS_FEW = 100;
/** To write results takes PostgreSQL a millisecond besides 6 µs for each: with so many that is little. */
const RESULTS_MANY = 1_000;
/** They do not wait for longer than that: those about the same object wait for them. */
const TURNS = 8;
const PAUSE_MS = 250;

export interface RecorderOptions {
  db: Database;
  clock: Clock;
  log: Logger;
  me: number;
  /** What else there is to say of the lanes, at the moment of writing. */
  lowsAfter: (results: readonly Result[]) => LaneLow[];
  /** What was true when it was added and may not be written any more. */
  isVoid: (result: Result) => boolean;
  /** Called once with every batch that was written. */
  written: (results: readonly Result[], lanes: readonly LaneState[]) => void;
  /** What follows from it, tried again while the database is away. */
  afterwards: (results: readonly Result[], lanes: readonly LaneState[]) => Promise<void>;
  /** One that cannot be written at all. */
  unwritten: (result: Result) => void;
}

/**
 * Writes what became of letters, many at a time: while one batch is being written the next one gathers. While the database
 * is away it keeps on trying. Nothing is claimed in that time, so what waits here is bounded by what was under way;
 * if this process ends before it could write, the lanes come free and the letters are sent once more.
 */
export class Recorder {
  readonly #options: RecorderOptions;
  #waiting: Result[] = [];
  #writing: Promise<void> | undefined;
  #givenUp = false;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  add(result: Result): void {
    this.#waiting.push(result);
    this.#writing ??= this.#run();
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
      await this.#write(this.#waiting.splice(0, RESULTS_MAX));
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
    const { db, clock, log, me, lowsAfter, written, afterwards } = this.#options;
    let results = given;
    let lanes: LaneState[] | undefined;
    for (;;) {
      try {
        if (!lanes) {
          results = this.#withoutVoid(results);
          if (results.length === 0) return;
          const at = new Date(clock.now()).toISOString();
          lanes = await recordResults(db, at, me, results, lowsAfter(results));
          written(results, lanes);
        }
        return await afterwards(results, lanes);
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

  #withoutVoid(results: Result[]): Result[] {
    const { isVoid, unwritten } = this.#options;
    return results.filter((result) => {
      if (!isVoid(result)) return true;
      unwritten(result);
      return false;
    });
  }

  /** One odd result must not hold up its neighbours, and what came of an attempt matters more than how it looked. */
  async #writeEach(results: Result[]): Promise<void> {
    if (results.length > 1) for (const one of results) await this.#write([one]);
    else if (results[0]?.attempt) await this.#write([{ ...results[0], attempt: '' }]);
    else for (const one of results) this.#options.unwritten(one);
  }
}
