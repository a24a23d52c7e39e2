import type { Clock } from '../platform/clock.ts';
import type { Database } from '../store/database.ts';
import { askForWrites, probeWrite } from '../store/write-probe.ts';

/** So often a write is tried at most, whoever asks and how often. */
const PROBE_EVERY_MS = 5_000;
/** Whoever asks is not kept waiting for longer: a disk that hangs, or a synchronous standby that is away. */
const PROBE_MS = 3_000;

/**
 * Ready means that a publish would commit. Whether the database is there and takes writes is asked each time, which writes nothing; whether
 * a write really commits is tried every few seconds.
 */
export class Readiness {
  readonly #db: Database;
  readonly #clock: Clock;
  #probe: { at: number; isOver: boolean; committed: Promise<boolean> } | undefined;

  constructor(db: Database, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
  }

  async isReady(): Promise<boolean> {
    return (await succeeds(askForWrites(this.#db))) && (await this.#inTime(this.#lastProbe()));
  }

  #lastProbe(): Promise<boolean> {
    const now = this.#clock.monotonic();
    if (!this.#probe || (this.#probe.isOver && now - this.#probe.at >= PROBE_EVERY_MS)) {
      const probe = { at: now, isOver: false, committed: succeeds(probeWrite(this.#db)) };
      this.#probe = probe;
      void probe.committed.then(() => {
        probe.isOver = true;
      });
    }
    return this.#probe.committed;
  }

  #inTime(committed: Promise<boolean>): Promise<boolean> {
    return new Promise((resolve) => {
      const cancel = this.#clock.timer(PROBE_MS, () => resolve(false));
      void committed.then((value) => {
        cancel();
        resolve(value);
      });
    });
  }
}

function succeeds(work: Promise<void>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}
