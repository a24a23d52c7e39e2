import { type DeliveryOutcome, deliveryOutcomes } from '../../contract/partner/usage.ts';
import { CALL_MS, DELIVERY_SECONDS, LONGER_MS } from '../../contract/sla.ts';
import { SYSTEM } from '../../domain/access/principal.ts';
import { bucketOf, callOutcome } from '../../domain/oversight/usage.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import { Outage } from '../../platform/outage.ts';
import { type Database, transact } from '../../store/database.ts';
import { addUsage, type CountedDay } from '../../store/oversight/usage.ts';
import type { Figures } from './figures.ts';

const WRITTEN_EVERY_MS = 1_000;
/** Counters in memory: a key and an operation, or a webhook, each. */
const COUNTERS_MAX = 100_000;
const DELIVERY_MS = DELIVERY_SECONDS.map((seconds) => seconds * 1000);
interface OfKey {
  partnerId: string;
  /** By outcome, for each operation. */
  operations: Map<string, Map<string, number>>;
  /** Of the partner: by the bounds of `CALL_MS`. */
  times: number[];
}

interface OfWebhook {
  outcomes: number[];
  /** By the bounds of `DELIVERY_SECONDS`. */
  times: number[];
}

/** What was counted and is not written yet. */
class Counts {
  readonly keys = new Map<string, OfKey>();
  readonly partners = new Map<string, number[]>();
  readonly webhooks = new Map<number, OfWebhook>();

  timesOf(partnerId: string): number[] {
    const known = this.partners.get(partnerId);
    if (known) return known;
    const times = none(CALL_MS.length + 1);
    this.partners.set(partnerId, times);
    return times;
  }

  key(keyId: string, partnerId: string): OfKey {
    const made = { partnerId, operations: new Map(), times: this.timesOf(partnerId) };
    this.keys.set(keyId, made);
    return made;
  }

  webhook(no: number): OfWebhook {
    const made = { outcomes: none(deliveryOutcomes.length), times: none(DELIVERY_MS.length + 1) };
    this.webhooks.set(no, made);
    return made;
  }

  add(other: Counts): void {
    for (const [keyId, { partnerId, operations }] of other.keys) {
      const own = this.keys.get(keyId) ?? this.key(keyId, partnerId);
      for (const [operation, outcomes] of operations) {
        const known = own.operations.get(operation) ?? new Map<string, number>();
        own.operations.set(operation, known);
        for (const [outcome, count] of outcomes) known.set(outcome, (known.get(outcome) ?? 0) + count);
      }
    }
    for (const [partnerId, times] of other.partners) addTo(this.timesOf(partnerId), times);
    for (const [no, { outcomes, times }] of other.webhooks) {
      const own = this.webhooks.get(no) ?? this.webhook(no);
      addTo(own.outcomes, outcomes);
      addTo(own.times, times);
    }
  }

  on(day: string): CountedDay {
    return {
      day,
      calls: [...this.keys].flatMap(([keyId, { partnerId, operations }]) =>
        [...operations].flatMap(([operation, outcomes]) =>
          [...outcomes].map(([outcome, count]) => ({ partnerId, keyId, operation, outcome, count })),
        ),
      ),
      callTimes: [...this.partners].flatMap(([partnerId, times]) =>
        counted(times, CALL_MS).map((one) => ({ partnerId, ...one })),
      ),
      deliveries: [...this.webhooks].flatMap(([webhookNo, { outcomes }]) =>
        outcomes.flatMap((count, at) =>
          count === 0 ? [] : { webhookNo, outcome: deliveryOutcomes[at] as DeliveryOutcome, count },
        ),
      ),
      deliveryTimes: [...this.webhooks].flatMap(([webhookNo, { times }]) =>
        counted(times, DELIVERY_MS).map((one) => ({ webhookNo, ...one })),
      ),
    };
  }
}

const none = (length: number) => new Array<number>(length).fill(0);

function addTo(own: number[], more: readonly number[]): void {
  for (const [at, count] of more.entries()) own[at] = (own[at] ?? 0) + count;
}

function counted(times: readonly number[], bounds: readonly number[]): { upToMs: number; count: number }[] {
  return times.flatMap((count, at) => (count === 0 ? [] : { upToMs: bounds[at] ?? LONGER_MS, count }));
}

/**
 * Counts calls and deliveries. One costs a look into two maps and two additions; once a second what has gathered is added to what is
 * stored, one row for each thing that was counted, however often. A process that is killed loses that second; where the answer to a write is lost, it is
 * written again, and may count twice. The day is that of the write, so around midnight a second's worth may count for the next.
 */
export class Usage {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #figures: Figures;
  #counts = new Counts();
  /** What could not be written, by its day. */
  readonly #unwritten = new Map<string, Counts>();
  #counters = 0;
  #cancel: (() => void) | undefined;
  #writing: Promise<void> = Promise.resolve();
  #closed = false;
  /** How many calls and deliveries were not counted. */
  dropped = 0;

  /** `figures` counts the same by the minute, for charts. */
  constructor(db: Database, clock: Clock, log: Logger, figures: Figures) {
    this.#figures = figures;
    this.#db = db;
    this.#clock = clock;
    this.#log = log;
  }

  call(partnerId: string, keyId: string, operation: string, status: number, elapsedMs: number): void {
    const outcome = callOutcome(status);
    this.#figures.call(partnerId, outcome);
    const ofKey = this.#counts.keys.get(keyId);
    const outcomes = ofKey?.operations.get(operation) ?? this.#meet(partnerId, keyId, operation);
    if (!outcomes) return;
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    const times = ofKey?.times ?? this.#counts.timesOf(partnerId);
    const bucket = bucketOf(CALL_MS, elapsedMs);
    times[bucket] = (times[bucket] as number) + 1;
  }

  /** `delayMs`: from the acceptance of its event to the answer. `cause`: the kind of status, or where it broke off. */
  deliver(webhookNo: number, outcome: DeliveryOutcome, delayMs: number, cause: string): void {
    this.#figures.deliver(webhookNo, outcome, delayMs, cause);
    const counts =
      this.#counts.webhooks.get(webhookNo) ?? (this.#takeCounter() && this.#counts.webhook(webhookNo));
    if (!counts) return;
    addOne(counts.outcomes, deliveryOutcomes.indexOf(outcome));
    if (outcome === 'delivered') addOne(counts.times, bucketOf(DELIVERY_MS, delayMs));
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

  #meet(partnerId: string, keyId: string, operation: string): Map<string, number> | undefined {
    if (!this.#takeCounter()) return undefined;
    const ofKey = this.#counts.keys.get(keyId) ?? this.#counts.key(keyId, partnerId);
    const outcomes = new Map<string, number>();
    ofKey.operations.set(operation, outcomes);
    return outcomes;
  }

  #takeCounter(): boolean {
    if (this.#counters >= COUNTERS_MAX) {
      this.dropped++;
      return false;
    }
    this.#counters++;
    this.#wait();
    return true;
  }

  #wait(): void {
    if (this.#closed || this.#cancel) return;
    this.#cancel = this.#clock.timer(WRITTEN_EVERY_MS, () => void this.flush());
  }

  async #write(): Promise<void> {
    if (this.#counters === 0) return;
    const today = new Date(this.#clock.now()).toISOString().slice(0, 10);
    const unwritten = this.#unwritten.get(today) ?? new Counts();
    unwritten.add(this.#counts);
    this.#counts = new Counts();
    this.#unwritten.set(today, unwritten);
    for (const [day, counts] of this.#unwritten) {
      try {
        await transact(this.#db, SYSTEM, async (tx) => addUsage(tx, counts.on(day)));
      } catch (error) {
        if (error instanceof Outage) {
          this.#counters = this.#countersLeft();
          this.#wait();
          return;
        }
        this.#log.error({ err: error, day }, 'usage could not be written');
      }
      this.#unwritten.delete(day);
    }
    this.#counters = this.#countersLeft();
  }

  #countersLeft(): number {
    return [this.#counts, ...this.#unwritten.values()].reduce(
      (sum, { keys, webhooks }) =>
        sum + webhooks.size + keys.values().reduce((all, { operations }) => all + operations.size, 0),
      0,
    );
  }
}

function addOne(counts: number[], at: number): void {
  counts[at] = (counts[at] ?? 0) + 1;
}
