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
  #underWay = false;

  constructor(batchMax: number, write: (items: readonly Item[]) => Promise<readonly Result[]>) {
    this.#batchMax = batchMax;
    this.#write = write;
  }

  submit(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (this.#underWay) return;
      this.#underWay = true;
      // Requests that arrived in the same turn of the event loop join the first batch.
      setImmediate(() => void this.#run());
    });
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) await this.#writeBatch(this.#waiting.splice(0, this.#batchMax));
    this.#underWay = false;
  }

  async #writeBatch(batch: Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#write(batch.map((one) => one.item));
      batch.forEach((one, index) => {
        one.resolve(results[index] as Result);
      });
    } catch (error) {
      if (batch.length === 1 || error instanceof Outage) {
        for (const one of batch) one.reject(error);
        return;
      }
      await this.#writeEach(batch);
    }
  }

  /** One by one. An outage that begins meanwhile fails all that are left: each would only wait for it to be told. */
  async #writeEach(batch: Waiting<Item, Result>[]): Promise<void> {
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
  }
}

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}
