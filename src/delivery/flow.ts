/**
 * How many letters may be under way to one place at a time. The window opens with every success and closes by half with
 * every failure, so a place that is well gets all it can take, and one that hangs holds a single connection: fifty dead
 * receivers take fifty places of the whole, not fifty times sixty-four.
 */
export class Flow {
  inFlight = 0;
  #window: number;
  readonly #max: number;

  constructor(start: number, max: number) {
    this.#window = start;
    this.#max = max;
  }

  get window(): number {
    return Math.floor(this.#window);
  }

  get hasRoom(): boolean {
    return this.inFlight < this.window;
  }

  begin(): void {
    this.inFlight++;
  }

  end(succeeded: boolean): void {
    this.inFlight--;
    this.#window = succeeded ? Math.min(this.#max, this.#window + 1) : Math.max(1, this.#window / 2);
  }
}

/** So many failures to reach a host, one after the other, and it is left alone for a while. */
const BREAKS_AFTER = 5;
const REST_MIN_MS = 5_000;
const REST_MAX_MS = 60_000;

/**
 * One host, which may stand behind many webhooks. When it cannot even be reached, nothing is sent to any of them for a
 * while, then a single letter goes as a probe: its success opens the way, its failure makes the rest twice as long. A host
 * that takes a letter and then fails or hangs has been reached: that is for the webhook's own window to answer, since
 * its neighbours on the same host may be well.
 */
export class Host {
  inFlight = 0;
  /** When the next letter may go; in the past while the host is well. */
  restsUntil = 0;
  #unreached = 0;
  #restMs = REST_MIN_MS;
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  hasRoom(now: number): boolean {
    if (now < this.restsUntil) return false;
    return this.inFlight < (this.#unreached < BREAKS_AFTER ? this.#max : 1);
  }

  begin(): void {
    this.inFlight++;
  }

  end(reached: boolean, now: number): void {
    this.inFlight--;
    if (reached) {
      this.#unreached = 0;
      this.#restMs = REST_MIN_MS;
      this.restsUntil = 0;
      return;
    }
    this.#unreached++;
    if (this.#unreached < BREAKS_AFTER || now < this.restsUntil) return;
    this.restsUntil = now + this.#restMs;
    this.#restMs = Math.min(REST_MAX_MS, this.#restMs * 2);
  }
}
