import { Outage } from '../platform/outage.ts';

export interface BatcherOptions<Item> {
  /** So many batches may be under way together. More than one needs `keyOf`. */
  atOnce?: number;
  /** What an item writes to. Items of one key are written in the order of their arrival, never in two batches at once. */
  keyOf?: (item: Item) => string;
}

/** Of what is still to be waited for, the result is a promise. */
type Write<Item, Result> = (items: readonly Item[]) => Promise<readonly (Result | Promise<Result>)[]>;

/**
 * A batcher: what concurrent callers want written is written together, and while one batch is under way the next one
 * fills. A lone caller waits for nobody. Every caller gets an answer of its own; when a batch fails, each of its
 * items is tried alone, so that one bad item never spoils its neighbours.
 *
 * Where two batches may be under way, the database finds the next one waiting instead of standing still while it is
 * built. The second goes only once it is half as large as the first: small batches would cost more than the wait.
 */
export class Batcher<Item, Result> {
  readonly #write: Write<Item, Result>;
  readonly #batchMax: number;
  readonly #atOnce: number;
  readonly #keyOf: ((item: Item) => string) | undefined;
  /** Whoever comes for a key that is being written waits here until that is done. */
  readonly #held = new Map<string, Waiting<Item, Result>[]>();
  #waiting: Waiting<Item, Result>[] = [];
  #filling = false;
  #batches = 0;
  #itemsUnderWay = 0;

  constructor(
    batchMax: number,
    write: Write<Item, Result>,
    { atOnce = 1, keyOf }: BatcherOptions<Item> = {},
  ) {
    this.#batchMax = batchMax;
    this.#write = write;
    this.#atOnce = atOnce;
    this.#keyOf = keyOf;
  }

  submit(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      const one = { item, key: this.#keyOf?.(item), resolve, reject };
      if (this.#hold(one)) return;
      this.#waiting.push(one);
      // Requests that arrived in the same turn of the event loop join the batch; a full one need not wait for them.
      if (this.#waiting.length >= this.#batchMax) this.#begin();
      else if (!this.#filling && this.#mayBegin()) {
        this.#filling = true;
        setImmediate(() => {
          this.#filling = false;
          this.#begin();
        });
      }
    });
  }

  #mayBegin(): boolean {
    if (this.#batches === 0) return true;
    return this.#batches < this.#atOnce && this.#waiting.length * 2 >= this.#itemsUnderWay;
  }

  #begin(): void {
    if (this.#waiting.length === 0 || !this.#mayBegin()) return;
    const batch = this.#take();
    this.#batches++;
    this.#itemsUnderWay += batch.length;
    void this.#attempt(batch).then((settle) => {
      this.#batches--;
      this.#itemsUnderWay -= batch.length;
      for (const { key } of batch) this.#free(key);
      // The next batch is on its way before the callers of this one go on: the database works while they answer.
      this.#begin();
      settle();
    });
  }

  #take(): Waiting<Item, Result>[] {
    const batch = this.#waiting.splice(0, this.#batchMax);
    for (const { key } of batch) if (key !== undefined) this.#held.set(key, []);
    // What did not fit may be for a key that is now being written.
    if (this.#waiting.length > 0) this.#waiting = this.#waiting.filter((one) => !this.#hold(one));
    return batch;
  }

  #hold(one: Waiting<Item, Result>): boolean {
    const held = one.key === undefined ? undefined : this.#held.get(one.key);
    held?.push(one);
    return held !== undefined;
  }

  #free(key: string | undefined): void {
    const held = key === undefined ? undefined : this.#held.get(key);
    if (!held) return;
    this.#held.delete(key as string);
    this.#waiting.push(...held);
  }

  /** Returns what tells the callers of the batch how it went. */
  async #attempt(batch: Waiting<Item, Result>[]): Promise<() => void> {
    try {
      const results = await this.#write(batch.map((one) => one.item));
      return () =>
        batch.forEach((one, index) => {
          one.resolve(results[index] as Result | Promise<Result>);
        });
    } catch (error) {
      if (batch.length > 1 && !(error instanceof Outage)) return this.#attemptEach(batch);
      return () => {
        for (const one of batch) one.reject(error);
      };
    }
  }

  /** One by one. An outage that begins meanwhile fails all that are left: each would only wait for it to be told. */
  async #attemptEach(batch: Waiting<Item, Result>[]): Promise<() => void> {
    let outage: Outage | undefined;
    for (const one of batch) {
      try {
        if (outage) throw outage;
        one.resolve((await this.#write([one.item]))[0] as Result | Promise<Result>);
      } catch (error) {
        if (error instanceof Outage) outage = error;
        one.reject(error);
      }
    }
    return () => {};
  }
}

interface Waiting<Item, Result> {
  item: Item;
  key: string | undefined;
  resolve: (result: Result | Promise<Result>) => void;
  reject: (error: unknown) => void;
}
