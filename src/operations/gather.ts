import { Outage } from '../platform/outage.ts';

/**
 * Gathers what concurrent callers want written and writes it together: while one batch is under way the next one
 * gathers. A lone caller waits for nobody. Every caller gets an answer of its own; when a batch fails, each of its
 * items is tried alone, so that one bad item never spoils its neighbours.
 */
export class Gatherer<Item, Result> {
  readonly #write: (items: readonly Item[]) => Promise<readonly Result[]>;
  readonly #batchMax: number;
  #waiting: Waiting<Item, Result>[] = [];
  #state: 'idle' | 'gathering' | 'writing' = 'idle';

  constructor(batchMax: number, write: (items: readonly Item[]) => Promise<readonly Result[]>) {
    this.#batchMax = batchMax;
    this.#write = write;
  }

  submit(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (this.#state === 'writing') return;
      // Requests that arrived in the same turn of the event loop join the first batch; a full one need not wait for them.
      if (this.#waiting.length >= this.#batchMax) void this.#run();
      else if (this.#state === 'idle') setImmediate(() => this.#state === 'gathering' && void this.#run());
      if (this.#state === 'idle') this.#state = 'gathering';
    });
  }

  async #run(): Promise<void> {
    this.#state = 'writing';
    let current = this.#begin();
    while (current) {
      const settle = await current;
      // The next batch is on its way before the callers of this one go on: the database works while they answer.
      current = this.#begin();
      settle();
    }
    this.#state = 'idle';
  }

  /** Returns what tells the callers of the batch how it went; undefined when nobody waits. */
  #begin(): Promise<() => void> | undefined {
    const batch = this.#waiting.splice(0, this.#batchMax);
    return batch.length === 0 ? undefined : this.#attempt(batch);
  }

  async #attempt(batch: Waiting<Item, Result>[]): Promise<() => void> {
    try {
      const results = await this.#write(batch.map((one) => one.item));
      return () =>
        batch.forEach((one, index) => {
          one.resolve(results[index] as Result);
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
        one.resolve((await this.#write([one.item]))[0] as Result);
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
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}
