/** Few at first, so that what comes of the first is under way while the rest of a burst follows. */
export const BATCH_MIN = 100;
export const BATCH_MAX = 1_000;

/**
 * How much of a burst is taken at a time (AIMD, as a window of deliveries): three times as much each time, up to what was too much for the time
 * that a statement has. That is a third of what failed, and grows slowly from there: whatever is too large now would be too large again.
 */
export class BatchSize {
  size = BATCH_MIN;
  #most = BATCH_MAX;

  /** Even the first batch is too much: whoever comes with little had better not take as many others along, and wait until that fails. */
  get isCut(): boolean {
    return this.size < BATCH_MIN;
  }

  /** A batch was taken, and there is more. */
  grow(): void {
    this.#most = Math.min(BATCH_MAX, this.#most * 1.1);
    this.size = Math.min(Math.floor(this.#most), this.size * 3);
  }

  /** The batch was too much. */
  shrink(): void {
    this.#most = Math.max(1, Math.floor(this.size / 3));
    this.size = Math.min(BATCH_MIN, this.#most);
  }

  /** Nothing is left. */
  reset(): void {
    this.size = BATCH_MIN;
    this.#most = BATCH_MAX;
  }
}
