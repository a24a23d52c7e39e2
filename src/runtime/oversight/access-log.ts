import type { Read } from '../../contract/endpoint.ts';
import { type OperatorPrincipal, type PartnerPrincipal, SYSTEM } from '../../domain/access/principal.ts';
import { type RandomBytes, randomBase62 } from '../../domain/ids.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import { Outage } from '../../platform/outage.ts';
import { type Database, transact } from '../../store/database.ts';
import { type AccessEntry, appendAccessLog } from '../../store/oversight/access-log.ts';

/** What was read of events, deliveries and practices is written down within a second: so much a crash can lose. */
const SOON_MS = 1_000;
/** What partners read of settings, which name no patient, within a minute: they do it most, and a minute's calls become one entry. */
const LATER_MS = 60_000;
const BATCH = 500;
const WAITING_MAX = 20_000;
const ANCHOR_MS = 3_600_000;

/**
 * Entries that wait to be written, found by strings that are there already: 0.4 to 0.8 µs a call on a busy machine, 3 to 5 with a key
 * that is put together for each.
 */
class Waiting {
  #tree = new Map<string, Map<string, Map<string | undefined, Map<string, AccessEntry>>>>();
  #entries: AccessEntry[] = [];

  get size(): number {
    return this.#entries.length;
  }

  /** The one of the same read by the same caller. */
  find(actorId: string, read: Read, operation: string): AccessEntry | undefined {
    return this.#tree.get(actorId)?.get(operation)?.get(read.practiceGroupId)?.get(detailOf(read));
  }

  put(entry: AccessEntry): void {
    const ofActor = branch(this.#tree, whoIs(entry.actor));
    const ofOperation = branch(ofActor, entry.operation);
    branch(ofOperation, entry.practiceGroupId).set(detailOf(entry), entry);
    this.#entries.push(entry);
  }

  take(): AccessEntry[] {
    const taken = this.#entries;
    this.#entries = [];
    this.#tree = new Map();
    return taken;
  }
}

function branch<K, L, V>(tree: Map<K, Map<L, V>>, key: K): Map<L, V> {
  const known = tree.get(key) ?? new Map<L, V>();
  tree.set(key, known);
  return known;
}

type Reader = PartnerPrincipal | OperatorPrincipal;

/** Of a key, whoever acts with it in the portal is told apart from its programs, and from others. */
const whoIs = ({ id, session_id }: AccessEntry['actor']): string => session_id ?? id;

function callerOf(principal: Reader): string {
  if (principal.kind === 'operator') return principal.operatorId;
  return principal.person?.sessionId ?? principal.holder.keyId;
}

function actorOf(principal: Reader): AccessEntry['actor'] {
  if (principal.kind === 'operator') return { type: 'operator', id: principal.operatorId };
  const { holder, person } = principal;
  const by = person && { name: person.name, session_id: person.sessionId };
  return { type: 'partner', id: holder.keyId, partner_id: holder.partnerId, ...by };
}

/** What the operation and the practice group leave open. */
function detailOf({ isOfSettings, object, objectId, eventId, positions }: Read): string {
  if (isOfSettings) return objectId ?? '';
  const shown = positions && `${positions.first} ${positions.last} ${positions.eventTypes?.join()}`;
  return `${shown}\n${eventId}\n${object}\n${objectId}`;
}

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
  readonly #soon = new Waiting();
  readonly #later = new Waiting();
  readonly #timers = new Map<Waiting, () => void>();
  #anchoredAt: number;
  #writing: Promise<unknown> = Promise.resolve();
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

  add(principal: Reader, operation: string, read: Read): void {
    const isPartner = principal.kind === 'partner';
    const waiting = isPartner && read.isOfSettings ? this.#later : this.#soon;
    const known = waiting.find(callerOf(principal), read, operation);
    const now = this.#clock.now();
    if (known) {
      known.count++;
      known.lastAt = now;
      return;
    }
    if (this.#soon.size + this.#later.size >= WAITING_MAX) {
      this.dropped++;
      return;
    }
    waiting.put({
      actor: actorOf(principal),
      operation,
      ...read,
      count: 1,
      firstAt: now,
      lastAt: now,
    });
    if (!this.#timers.has(waiting)) this.#writeAfter(waiting, waiting === this.#soon ? SOON_MS : LATER_MS);
  }

  /** Returns when all that waits is written, or cannot be at this moment, which is false. Never throws. */
  async flush(): Promise<boolean> {
    const written = await Promise.all([this.#write(this.#soon), this.#write(this.#later)]);
    return written.every(Boolean);
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

  #write(waiting: Waiting): Promise<boolean> {
    this.#timers.get(waiting)?.();
    this.#timers.delete(waiting);
    const written = this.#writing.then(() => this.#writeAll(waiting));
    this.#writing = written;
    return written;
  }

  async #writeAll(waiting: Waiting): Promise<boolean> {
    const entries = waiting.take();
    for (let from = 0; from < entries.length; from += BATCH) {
      const batch = entries.slice(from, from + BATCH);
      try {
        await this.#append(batch);
      } catch (error) {
        if (error instanceof Outage) {
          for (const entry of entries.slice(from)) putBack(waiting, entry);
          if (!this.#timers.has(waiting)) this.#writeAfter(waiting, SOON_MS);
          return false;
        }
        this.dropped += batch.length;
        this.#log.error({ err: error, entries: batch.length }, 'the access log could not be written');
      }
    }
    return true;
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

/** Beside what was read meanwhile. */
function putBack(waiting: Waiting, entry: AccessEntry): void {
  const newer = waiting.find(whoIs(entry.actor), entry, entry.operation);
  if (!newer) {
    waiting.put(entry);
    return;
  }
  newer.count += entry.count;
  newer.firstAt = entry.firstAt;
}
