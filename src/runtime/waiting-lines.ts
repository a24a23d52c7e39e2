import type { Semaphore } from '../platform/semaphore.ts';
import { Batcher } from './batcher.ts';

/**
 * For each thing that somebody else has locked, those who wait for it. They are written together, and few such transactions wait at once: each has
 * a connection, which others need.
 */
export class WaitingLines<Item, Result> {
  readonly #batchMax: number;
  readonly #waiting: Semaphore;
  readonly #write: (items: readonly Item[]) => Promise<readonly Result[]>;
  readonly #lines = new Map<string, { batcher: Batcher<Item, Result>; length: number }>();

  /** `waiting`: shared by all whose transactions take connections of one pool. */
  constructor(
    batchMax: number,
    waiting: Semaphore,
    write: (items: readonly Item[]) => Promise<readonly Result[]>,
  ) {
    this.#batchMax = batchMax;
    this.#waiting = waiting;
    this.#write = write;
  }

  async submit(name: string, item: Item): Promise<Result> {
    const line = this.#lineOf(name);
    line.length++;
    try {
      return await line.batcher.submit(item);
    } finally {
      line.length--;
      if (line.length === 0) this.#lines.delete(name);
    }
  }

  #lineOf(name: string) {
    const known = this.#lines.get(name);
    if (known) return known;
    const write = (items: readonly Item[]) => this.#waiting.run(name, () => this.#write(items));
    const line = { batcher: new Batcher(this.#batchMax, write), length: 0 };
    this.#lines.set(name, line);
    return line;
  }
}
