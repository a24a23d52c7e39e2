import type { CallOutcome, DeliveryOutcome } from '../../contract/partner/usage.ts';
import { SYSTEM } from '../../domain/access/principal.ts';
import {
  CALL_PLACES,
  DELIVERY_PLACES,
  placeOfCall,
  placesOfDelivery,
  startOf,
} from '../../domain/oversight/figures.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import { Outage } from '../../platform/outage.ts';
import { type Database, transact } from '../../store/database.ts';
import { addFigures, type CountedMinute } from '../../store/oversight/figures.ts';

const WRITTEN_EVERY_MS = 10_000;
/** Partners and webhooks that are counted at a time. */
const SUBJECTS_MAX = 100_000;
/** Minutes that wait while the database is away; then the oldest are given up. */
const UNWRITTEN_MAX = 60;

type Minute = { calls: Map<string, number[]>; deliveries: Map<number, number[]> };

/**
 * Counts calls and deliveries by the minute, for charts. One costs a look into a map and one or two additions; what has gathered is added to what is stored
 * every ten seconds: a statement for a minute, however much it is. A process that is killed loses what it has not written.
 */
export class Figures {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #log: Logger;
  /** By the minute in which it was counted. */
  readonly #minutes = new Map<number, Minute>();
  #current: Minute = empty();
  #currentAt = 0;
  #cancel: (() => void) | undefined;
  #writing: Promise<void> = Promise.resolve();
  #closed = false;
  /** All that this node has counted, written or not. */
  readonly total = { calls: 0, deliveries: 0 };

  constructor(db: Database, clock: Clock, log: Logger) {
    this.#db = db;
    this.#clock = clock;
    this.#log = log;
  }

  call(partnerId: string, outcome: CallOutcome): void {
    this.total.calls++;
    const counts = this.#countsOf('calls', partnerId, CALL_PLACES);
    if (counts) addOne(counts, placeOfCall(outcome));
  }

  deliver(webhookNo: number, outcome: DeliveryOutcome, delayMs: number, cause: string): void {
    this.total.deliveries++;
    const counts = this.#countsOf('deliveries', webhookNo, DELIVERY_PLACES);
    if (counts) for (const place of placesOfDelivery(outcome, delayMs, cause)) addOne(counts, place);
  }

  /** Returns when all that was counted is written, or cannot be at this moment. Never throws. */
  flush(): Promise<void> {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  /** The last flush. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.flush();
  }

  #countsOf<K extends keyof Minute>(
    kind: K,
    subject: K extends 'calls' ? string : number,
    places: number,
  ): number[] | undefined {
    const minute = startOf(this.#clock.now(), 1);
    if (minute !== this.#currentAt) this.#turn(minute);
    this.#wait();
    const known = this.#current[kind] as Map<string | number, number[]>;
    const counts = known.get(subject);
    if (counts || known.size >= SUBJECTS_MAX) return counts;
    const made = new Array<number>(places).fill(0);
    known.set(subject, made);
    return made;
  }

  #wait(): void {
    if (this.#closed || this.#cancel) return;
    this.#cancel = this.#clock.timer(WRITTEN_EVERY_MS, () => void this.flush());
  }

  /** What was counted so far waits to be written, as of its minute. */
  #turn(minute: number): void {
    if (this.#current.calls.size + this.#current.deliveries.size > 0) {
      this.#keep(this.#currentAt, this.#current);
      this.#current = empty();
    }
    this.#currentAt = minute;
  }

  #keep(at: number, { calls, deliveries }: Minute): void {
    const known = this.#minutes.get(at) ?? empty();
    this.#minutes.set(at, known);
    addAll(known.calls, calls);
    addAll(known.deliveries, deliveries);
  }

  async #write(): Promise<void> {
    this.#turn(this.#currentAt);
    for (const [at, minute] of [...this.#minutes]) {
      // More may be counted in this minute while it is being written.
      this.#minutes.delete(at);
      try {
        await transact(this.#db, SYSTEM, async (tx) => addFigures(tx, counted(at, minute)));
      } catch (error) {
        if (error instanceof Outage) {
          this.#keep(at, minute);
          for (const old of [...this.#minutes.keys()].sort().slice(0, -UNWRITTEN_MAX))
            this.#minutes.delete(old);
          this.#wait();
          return;
        }
        this.#log.error({ err: error }, 'figures could not be written');
      }
    }
  }
}

const empty = (): Minute => ({ calls: new Map(), deliveries: new Map() });

function addOne(counts: number[], place: number): void {
  counts[place] = (counts[place] ?? 0) + 1;
}

function addAll<K>(own: Map<K, number[]>, more: ReadonlyMap<K, readonly number[]>): void {
  for (const [subject, counts] of more) {
    const known = own.get(subject);
    own.set(subject, known ? known.map((count, place) => count + (counts[place] ?? 0)) : [...counts]);
  }
}

function counted(at: number, { calls, deliveries }: Minute): CountedMinute {
  return {
    at,
    calls: [...calls].map(([partnerId, counts]) => ({ partnerId, counts })),
    deliveries: [...deliveries].map(([webhookNo, counts]) => ({ webhookNo, counts })),
  };
}
