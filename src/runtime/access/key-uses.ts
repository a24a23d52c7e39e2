import { SYSTEM } from '../../domain/access/principal.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import { Outage } from '../../platform/outage.ts';
import { recordKeyUses } from '../../store/access/keys.ts';
import { type Database, transact } from '../../store/database.ts';

const WRITTEN_EVERY_MS = 60_000;
const BATCH = 1_000;

interface Use {
  at: number;
  from: string;
}

/**
 * When and from where each key was used last. A call leaves it in memory; once a minute what has gathered is written, one row for each
 * key, whatever it was used for. A crash loses the last minute. There are never more than there are keys that work.
 */
export class KeyUses {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #log: Logger;
  #uses = new Map<string, Use>();
  #cancel: (() => void) | undefined;
  #closed = false;

  constructor(db: Database, clock: Clock, log: Logger) {
    this.#db = db;
    this.#clock = clock;
    this.#log = log;
  }

  note(keyId: string, from: string, at: number): void {
    const known = this.#uses.get(keyId);
    if (known) {
      known.at = at;
      known.from = from;
      return;
    }
    this.#uses.set(keyId, { at, from });
    this.#wait();
  }

  /** Writes what is left, and nothing from then on. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancel?.();
    await this.#write();
  }

  #wait(): void {
    if (this.#closed || this.#cancel) return;
    this.#cancel = this.#clock.timer(WRITTEN_EVERY_MS, () => {
      this.#cancel = undefined;
      void this.#write();
    });
  }

  async #write(): Promise<void> {
    const uses = [...this.#uses];
    this.#uses = new Map();
    for (let start = 0; start < uses.length; start += BATCH) {
      const batch = uses.slice(start, start + BATCH);
      try {
        await transact(this.#db, SYSTEM, (tx) => recordKeyUses(tx, batch.map(asRow)));
      } catch (error) {
        if (error instanceof Outage) this.#keep(uses.slice(start));
        else this.#log.error({ err: error, keys: batch.length }, 'the last use of keys could not be written');
        if (error instanceof Outage) return;
      }
    }
  }

  /** For the next time, unless there was a later use meanwhile. */
  #keep(uses: readonly [string, Use][]): void {
    for (const [keyId, use] of uses) if (!this.#uses.has(keyId)) this.#uses.set(keyId, use);
    this.#wait();
  }
}

const asRow = ([keyId, { at, from }]: [string, Use]) => ({ keyId, at: new Date(at).toISOString(), from });
