import type { Read } from '../contract/endpoint.ts';
import { type RandomBytes, randomBase62 } from '../domain/ids.ts';
import { type OperatorPrincipal, type PartnerPrincipal, SYSTEM } from '../domain/principal.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';
import { Outage } from '../platform/outage.ts';
import { type AccessEntry, appendAccessLog } from '../store/access-log.ts';
import { type Database, transact } from '../store/database.ts';

/** What was read of events, deliveries and practices is written down within a second: so much a crash can lose. */
const SOON_MS = 1_000;
/** What partners read of settings, which name no patient, within a minute: they do it most, and a minute's calls become one entry. */
const LATER_MS = 60_000;
const BATCH = 500;
const WAITING_MAX = 20_000;
const ANCHOR_MS = 3_600_000;

type Waiting = Map<string, AccessEntry>;

/**
 * Who read what. It is written behind the answers, many entries at a time, and calls of one kind are one entry with a count: a GET
 * pays for a look into a map. What partners received is not written here: the deliveries tell. Once an hour the head of the log goes
 * into the audit, so that whoever keeps one line of that can tell whether this was cut short.
 */
export class AccessLog {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #random: RandomBytes;
  readonly #soon: Waiting = new Map();
  readonly #later: Waiting = new Map();
  readonly #timers = new Map<Waiting, () => void>();
  #anchoredAt: number;
  #writing: Promise<void> = Promise.resolve();
  #closed = false;
  /** How many entries were not kept. */
  dropped = 0;

  constructor(db: Database, clock: Clock, log: Logger, random: RandomBytes) {
    this.#db = db;
    this.#clock = clock;
    this.#log = log;
    this.#random = random;
    this.#anchoredAt = clock.monotonic();
  }

  add(principal: PartnerPrincipal | OperatorPrincipal, operation: string, read: Read): void {
    const isPartner = principal.kind === 'partner';
    const waiting = isPartner && read.isOfSettings ? this.#later : this.#soon;
    const actorId = isPartner ? principal.holder.keyId : principal.operatorId;
    const key = `${actorId}\n${operation}\n${read.practiceGroupId}\n${read.object}\n${read.objectId}\n${read.eventId}\n${read.positions?.first}`;
    const known = waiting.get(key);
    const now = this.#clock.now();
    if (known && known.positions?.last === read.positions?.last) {
      known.count++;
      known.lastAt = now;
      return;
    }
    if (this.#soon.size + this.#later.size >= WAITING_MAX) {
      this.dropped++;
      return;
    }
    waiting.set(known ? `${key}\n${read.positions?.last}` : key, {
      actor: isPartner
        ? { type: 'partner', id: actorId, partner_id: principal.holder.partnerId }
        : { type: 'operator', id: actorId },
      operation,
      ...read,
      count: 1,
      firstAt: now,
      lastAt: now,
    });
    if (!this.#timers.has(waiting)) this.#writeAfter(waiting, waiting === this.#soon ? SOON_MS : LATER_MS);
  }

  /** Returns when all that waits is written, or cannot be at this moment. Never throws. */
  async flush(): Promise<void> {
    await Promise.all([this.#write(this.#soon), this.#write(this.#later)]);
  }

  /** The last flush. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const cancel of this.#timers.values()) cancel();
    await this.flush();
  }

  #writeAfter(waiting: Waiting, milliseconds: number): void {
    if (this.#closed) return;
    const cancel = this.#clock.timer(milliseconds, () => void this.#write(waiting));
    this.#timers.set(waiting, cancel);
  }

  #write(waiting: Waiting): Promise<void> {
    this.#timers.get(waiting)?.();
    this.#timers.delete(waiting);
    this.#writing = this.#writing.then(() => this.#writeAll(waiting));
    return this.#writing;
  }

  async #writeAll(waiting: Waiting): Promise<void> {
    while (waiting.size > 0) {
      const batch = [...waiting].slice(0, BATCH);
      // Whoever reads the same meanwhile begins an entry of its own.
      for (const [key] of batch) waiting.delete(key);
      try {
        await this.#append(batch.map(([, entry]) => entry));
      } catch (error) {
        if (error instanceof Outage) {
          for (const [key, entry] of batch)
            waiting.set(waiting.has(key) ? `${key}\n${entry.lastAt}` : key, entry);
          return this.#writeAfter(waiting, SOON_MS);
        }
        this.dropped += batch.length;
        this.#log.error({ err: error, entries: batch.length }, 'the access log could not be written');
      }
    }
  }

  async #append(entries: readonly AccessEntry[]): Promise<void> {
    const at = new Date(this.#clock.now()).toISOString();
    const isAnchor = this.#clock.monotonic() - this.#anchoredAt >= ANCHOR_MS;
    await transact(this.#db, SYSTEM, async (tx) => {
      const { batch, hash } = await appendAccessLog(tx, at, entries, () => randomBase62(this.#random, 22));
      if (isAnchor)
        tx.audit({
          at,
          principal: SYSTEM,
          action: 'access_log.anchor',
          subject: { type: 'access_log', id: 'access_log' },
          requestId: null,
          before: null,
          after: { batch, hash: hash.toString('hex') },
        });
    });
    if (isAnchor) this.#anchoredAt = this.#clock.monotonic();
  }
}
