import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';
import { type Database, statement } from './database.ts';

/** How often the database's clock is read. */
const MEASURE_EVERY_MS = 5_000;
/** Readings at the start: the first also waits for a connection, and the one with the shortest round trip counts. */
const FIRST_READINGS = 3;
/** Two clocks that nobody corrects drift apart by less than this share of the time: a reading loses that much of its worth. */
const DRIFT = 1e-4;
/** A node whose own clock is further off than this sends nothing. Clocks that are looked after (NTP) agree to milliseconds. */
const SKEW_MAX_MS = 3_000;

/** The database's clock, read once. */
interface Reading {
  /** By our monotonic clock, in the middle of the round trip. */
  moment: number;
  databaseMs: number;
  /** Half the round trip: the database's clock was read somewhere in it. */
  errorMs: number;
}

/**
 * The database's time on this node, without asking for it each time. The clock of the server is read every few seconds, and in between
 * the monotonic clock counts on from there, so the clock of this machine has no part in it, whether it is wrong or is being set.
 *
 * The error is half a round trip, which for most is less than a millisecond, and 0.1 ms for each second since. For what cannot bear that
 * (leases, retry times, retention) statements ask the clock of the server themselves: `databaseTime`.
 *
 * How far the clock of this machine is off is told too. If it is more than a few seconds, something is wrong here, nobody knows what, and
 * this node leaves deliveries to the others.
 */
export class SharedClock implements Clock {
  readonly #own: Clock;
  readonly #log: Logger;
  #reading: Reading | undefined;
  #wasOff = false;

  constructor(own: Clock, log: Logger) {
    this.#own = own;
    this.#log = log;
  }

  now(): number {
    const given = this.#own.databaseNow();
    if (given !== undefined) return given;
    if (!this.#reading) throw new Error('the clock of the database was not read yet');
    return Math.floor(timeBy(this.#reading, this.#own.monotonic()));
  }

  monotonic(): number {
    return this.#own.monotonic();
  }

  sleep(milliseconds: number): Promise<void> {
    return this.#own.sleep(milliseconds);
  }

  timer(milliseconds: number, fire: () => void): () => void {
    return this.#own.timer(milliseconds, fire);
  }

  databaseNow(): number | undefined {
    return this.#own.databaseNow();
  }

  /** By how much the clock of this machine is ahead of the database's; negative: behind. */
  skewMs(): number {
    return this.#own.now() - this.now();
  }

  /** Why this node must not send; undefined: its clock is right. */
  fault(): string | undefined {
    const skewMs = this.skewMs();
    if (Math.abs(skewMs) <= SKEW_MAX_MS + (this.#reading?.errorMs ?? 0)) return undefined;
    const seconds = (Math.abs(skewMs) / 1000).toFixed(1);
    return `The clock of this node is ${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} the database's: set it (NTP). Until then this node delivers nothing.`;
  }

  metrics(): string {
    return [
      "# HELP porter_clock_skew_seconds By how much this node's own clock is ahead of the database's; beyond 3 either way it delivers nothing.",
      '# TYPE porter_clock_skew_seconds gauge',
      `porter_clock_skew_seconds ${(this.skewMs() / 1000).toFixed(3)}`,
      '',
    ].join('\n');
  }

  /** Reads the clock of the database for the first time. Nothing can be decided before. */
  async begin(db: Database): Promise<void> {
    for (let reading = 0; reading < FIRST_READINGS; reading++) await this.#measure(db);
  }

  /** Reads it again and again, and says when this node's own is off. Ends when what is returned is called. */
  follow(db: Database): () => void {
    let ended = false;
    let cancel = () => {};
    const again = async () => {
      // While the database is away the last reading stands.
      await this.#measure(db).catch(() => {});
      this.#tell();
      if (!ended) cancel = this.#own.timer(MEASURE_EVERY_MS, again);
    };
    void again();
    return () => {
      ended = true;
      cancel();
    };
  }

  async #measure(db: Database): Promise<void> {
    if (this.#own.databaseNow() !== undefined) return;
    const sent = this.#own.monotonic();
    const databaseMs = await serverNow(db);
    const received = this.#own.monotonic();
    const fresh = { moment: (sent + received) / 2, databaseMs, errorMs: (received - sent) / 2 };
    if (!this.#reading || isBetter(fresh, this.#reading)) this.#reading = fresh;
  }

  #tell(): void {
    const fault = this.fault();
    if (fault && !this.#wasOff) this.#log.error({ skew_ms: Math.round(this.skewMs()) }, fault);
    if (!fault && this.#wasOff)
      this.#log.info({ skew_ms: Math.round(this.skewMs()) }, 'the clock of this node is right again');
    this.#wasOff = fault !== undefined;
  }
}

function timeBy({ moment, databaseMs }: Reading, now: number): number {
  return databaseMs + now - moment;
}

/** A reading is kept while it is the sharper one. If the two contradict each other, the server's clock was set, or it is another server. */
function isBetter(fresh: Reading, kept: Reading): boolean {
  const keptErrorMs = kept.errorMs + DRIFT * (fresh.moment - kept.moment);
  const apart = Math.abs(fresh.databaseMs - timeBy(kept, fresh.moment));
  return fresh.errorMs <= keptErrorMs || apart > fresh.errorMs + keptErrorMs;
}

/** The database's time, asked for now: for what is seldom decided and cannot be undone. */
export async function askDatabaseTime(db: Database, clock: Clock): Promise<number> {
  return clock.databaseNow() ?? (await serverNow(db));
}

async function serverNow(db: Database): Promise<number> {
  const [row] = await statement<{ ms: number }>(
    db,
    'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms',
    [],
  );
  return row?.ms ?? Number.NaN;
}
