/**
 * A fair semaphore: lets a few through at a time, callers in turns, and what each of them wants in the order in which it comes.
 */
export class Gate {
  /** The caller whose turn it is comes first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #free: number;

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  async through<T>(caller: string, work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#queueOf(caller).push(resolve));
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  #queueOf(caller: string): (() => void)[] {
    const queue = this.#waiting.get(caller) ?? [];
    this.#waiting.set(caller, queue);
    return queue;
  }

  #next(): void {
    const [turn] = this.#waiting;
    if (!turn) {
      this.#free++;
      return;
    }
    const [caller, queue] = turn;
    const proceed = queue.shift();
    // To the end of the line, if there is more.
    this.#waiting.delete(caller);
    if (queue.length > 0) this.#waiting.set(caller, queue);
    proceed?.();
  }
}
