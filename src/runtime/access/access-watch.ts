import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import { Outage } from '../../platform/outage.ts';

/** Permissions are remembered for a second, so a stream ends at most two seconds after its reader lost access. */
const LOOK_MS = 500;

interface Watched {
  /** Whether the call that opened the stream would be let in at this moment. */
  stillAdmitted(): Promise<boolean>;
  /** Undefined when its reader has taken everything. */
  handedAt: number | undefined;
  stuck: AbortController;
}

/** Ends the streams of readers who have lost their access: by signing out, a revocation, an expiry, or a network that is gone. */
export class AccessWatch<S extends Watched> {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #open: ReadonlySet<S>;
  readonly #end: (stream: S) => void;
  #watching = false;

  constructor(clock: Clock, log: Logger, open: ReadonlySet<S>, end: (stream: S) => void) {
    this.#clock = clock;
    this.#log = log;
    this.#open = open;
    this.#end = end;
  }

  /** Goes on for as long as any stream is open. */
  begin(): void {
    if (!this.#watching) void this.#watch();
  }

  async #watch(): Promise<void> {
    this.#watching = true;
    while (this.#open.size > 0) {
      await Promise.all([...this.#open].map((stream) => this.#look(stream)));
      await new Promise<void>((resolve) => this.#clock.timer(LOOK_MS, resolve));
    }
    this.#watching = false;
  }

  async #look(stream: S): Promise<void> {
    try {
      if (await stream.stillAdmitted()) return;
    } catch (error) {
      // While the database is away there is nothing to send, and the stream asks again before it sends something.
      if (error instanceof Outage) return;
      this.#log.error({ err: error }, 'a stream ends because its access cannot be looked up');
    }
    this.#end(stream);
    // A reader that takes nothing would keep the connection.
    if (stream.handedAt !== undefined) stream.stuck.abort();
  }
}
