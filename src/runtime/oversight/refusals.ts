import { RATE_WINDOW_SECONDS } from '../../contract/access.ts';
import { SYSTEM } from '../../domain/access/principal.ts';
import type { Clock } from '../../platform/clock.ts';
import { type Logger, redact, redactJson } from '../../platform/logger.ts';
import { Outage } from '../../platform/outage.ts';
import { type Database, transact } from '../../store/database.ts';
import { insertRefusals, type Refusal } from '../../store/oversight/refusals.ts';

const WAITING_MAX = 10_000;
const WAITING_LENGTH_MAX = 32 * 1024 * 1024;
/** Twice what a key is usually answered: a client that hammers on after a 429 does not fill the table. */
const PER_MINUTE_MAX = 600;
const BATCH = 500;
const PATH_LENGTH_MAX = 2_048;
const GROUP_LENGTH_MAX = 255;
/** A body of 64 KiB can hold thousands of unknown fields, and the answer has an entry for each. */
const BODY_LENGTH_MAX = 64 * 1024;
const ENTRIES_MAX = 100;

/**
 * The calls of partners that were refused, kept so that they can ask why. They are written behind the answer, never in
 * its way, many at a time; what cannot be kept is counted. While the database is out of reach they wait, and the next
 * refusal, or whoever asks, tries again.
 */
export class Refusals {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #waiting: Refusal[] = [];
  readonly #minute = { began: 0, counts: new Map<string, number>() };
  #waitingLength = 0;
  #writing: Promise<boolean> | undefined;
  /** How many were not kept. */
  dropped = 0;

  constructor(db: Database, clock: Clock, log: Logger) {
    this.#db = db;
    this.#clock = clock;
    this.#log = log;
  }

  add(refusal: Omit<Refusal, 'at'>): void {
    if (
      this.#waiting.length >= WAITING_MAX ||
      this.#waitingLength >= WAITING_LENGTH_MAX ||
      !this.#takeFrom(refusal.keyId)
    ) {
      this.dropped++;
      return;
    }
    const kept = {
      ...refusal,
      at: new Date(this.#clock.now()).toISOString(),
      practiceGroupId: refusal.practiceGroupId && redact(refusal.practiceGroupId).slice(0, GROUP_LENGTH_MAX),
      path: redact(refusal.path).slice(0, PATH_LENGTH_MAX),
      body: redactJson(shortened(refusal.body)),
    };
    this.#waiting.push(kept);
    this.#waitingLength += lengthOf(kept);
    void this.flush();
  }

  /** Returns when all that waits is written, or cannot be at this moment, which is false. Never throws. */
  flush(): Promise<boolean> {
    this.#writing ??= this.#write();
    return this.#writing;
  }

  #takeFrom(keyId: string): boolean {
    const now = this.#clock.monotonic();
    if (now - this.#minute.began >= RATE_WINDOW_SECONDS * 1000) {
      this.#minute.began = now;
      this.#minute.counts.clear();
    }
    const count = this.#minute.counts.get(keyId) ?? 0;
    this.#minute.counts.set(keyId, count + 1);
    return count < PER_MINUTE_MAX;
  }

  async #write(): Promise<boolean> {
    try {
      // Refusals of the same turn of the event loop are written together, after their answers.
      await new Promise((resolve) => setImmediate(resolve));
      while (this.#waiting.length > 0) {
        const batch = this.#waiting.slice(0, BATCH);
        const written = await this.#tryWrite(batch);
        if (written === 'later') return false;
        if (written === 'never') await this.#writeEach(batch);
        this.#waiting.splice(0, batch.length);
        this.#waitingLength -= batch.reduce((sum, one) => sum + lengthOf(one), 0);
      }
      return true;
    } finally {
      this.#writing = undefined;
    }
  }

  /** One that cannot be written does not take the others along. An outage that begins meanwhile does. */
  async #writeEach(batch: readonly Refusal[]): Promise<void> {
    for (const one of batch)
      if (batch.length === 1 || (await this.#tryWrite([one])) !== 'done') this.dropped++;
  }

  async #tryWrite(batch: readonly Refusal[]): Promise<'done' | 'later' | 'never'> {
    try {
      await transact(this.#db, SYSTEM, (tx) => insertRefusals(tx, batch));
      return 'done';
    } catch (error) {
      if (error instanceof Outage) return 'later';
      this.#log.error({ err: error, refusals: batch.length }, 'refusals could not be written');
      return 'never';
    }
  }
}

const lengthOf = ({ path, body }: Refusal) => path.length + body.length;

function shortened(body: string): string {
  if (body.length <= BODY_LENGTH_MAX) return body;
  const parsed = JSON.parse(body) as { message: unknown };
  if (!Array.isArray(parsed.message)) return body;
  let length = 0;
  const kept = parsed.message.slice(0, ENTRIES_MAX).filter((entry, place) => {
    length += JSON.stringify(entry).length;
    return place === 0 || length <= BODY_LENGTH_MAX;
  });
  return JSON.stringify({ ...parsed, message: kept });
}
