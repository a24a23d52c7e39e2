/**
 * Runs tasks a few at a time, those with the same name one after another. `add` resolves when there is room for more, so
 * that whoever adds reads no faster than the tasks are done.
 */
export class KeyedQueue {
  readonly #atOnceMax: number;
  readonly #waitingMax: number;
  readonly #queue: { name: string; task: () => Promise<void> }[] = [];
  readonly #busy = new Set<string>();
  readonly #full: (() => void)[] = [];
  #running = 0;

  constructor({ atOnceMax, waitingMax }: { atOnceMax: number; waitingMax: number }) {
    this.#atOnceMax = atOnceMax;
    this.#waitingMax = waitingMax;
  }

  /** `task` must not fail. */
  add(name: string, task: () => Promise<void>): Promise<void> {
    this.#queue.push({ name, task });
    this.#pump();
    if (this.#queue.length < this.#waitingMax) return Promise.resolve();
    return new Promise((resolve) => this.#full.push(resolve));
  }

  #pump(): void {
    while (this.#running < this.#atOnceMax) {
      const at = this.#queue.findIndex(({ name }) => !this.#busy.has(name));
      const [next] = at === -1 ? [] : this.#queue.splice(at, 1);
      if (!next) break;
      this.#running++;
      this.#busy.add(next.name);
      void next.task().finally(() => {
        this.#running--;
        this.#busy.delete(next.name);
        this.#pump();
      });
    }
    if (this.#queue.length < this.#waitingMax) for (const resolve of this.#full.splice(0)) resolve();
  }
}
