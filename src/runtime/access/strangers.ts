import { ADDRESS_RATE_LIMIT } from '../../contract/access.ts';
import type { RateDecision } from '../../domain/access/rate-window.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import { RateLimits } from './rate-limits.ts';

/** Addresses that are kept in mind. A window of 300 calls takes 4 KB, and each address has two: 40 MB at most. */
const ADDRESSES_MAX = 5_000;
/** Unknown credentials from addresses over their limit are looked up together this often. */
const LOOKUPS_EVERY_MS = 100;
/** Past its limit, a stranger waits so long for its answer. */
const HOLD_MS = 1_000;
/** Log lines about strangers: as many for each address as it has calls, and this many for all of them together. */
const LINES_PER_MINUTE = 3_000;
/**
 * Bodies of strangers are read at 40 MiB a second, all of them together: 125 connections that send 2 MiB each as soon as they may
 * would keep the process from everybody else for a sixth of the time. Each time so many go on, with one piece of 64 KiB each.
 */
const PACE_MS = 25;
const BYTES_PER_PACE = 1024 * 1024;
const GO_ON_PER_PACE = 16;
const SUMMARY_MS = 10_000;
/** Addresses that are told apart in one summary. */
const COUNTED_MAX = 1_000;

/**
 * Callers without a key that works, by their address. Below the limit, each refused request gets a log line. Over it, an address costs next to
 * nothing. Its unknown keys are looked up together ten times a second, because a caller with a valid key may share the address. One log line
 * stands for all its refused requests. Each of its connections gets one response a second: 500 connections make 500 requests a
 * second, and no more.
 */
export class Strangers {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #calls: RateLimits;
  readonly #lines: RateLimits;
  /** Refusals without a line of their own since the last summary. */
  #untold: { refusals: number; byAddress: Map<string, number> } | undefined;

  #nextLookup: Promise<void> | undefined;
  readonly #paused: (() => void)[] = [];
  /** Bytes of bodies since the last beat; undefined while none are read. */
  #bytes: number | undefined;

  constructor(clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#log = log;
    this.#calls = new RateLimits(clock, ADDRESSES_MAX);
    this.#lines = new RateLimits(clock, ADDRESSES_MAX);
  }

  /** Counts a call. */
  take(address: string): RateDecision {
    return this.#calls.take(address, ADDRESS_RATE_LIMIT);
  }

  /**
   * When an unknown credential from this address is looked up: at once, or with all others that wait. However many come from addresses over their
   * limit, the database has ten statements a second for them, and every one is looked up: a limit on lookups would refuse a valid key.
   */
  lookupTurn(address: string): Promise<void> | undefined {
    if (!this.#calls.isFull(address, ADDRESS_RATE_LIMIT)) return undefined;
    this.#nextLookup ??= new Promise((resolve) => {
      this.#clock.timer(LOOKUPS_EVERY_MS, () => {
        this.#nextLookup = undefined;
        resolve();
      });
    });
    return this.#nextLookup;
  }

  /** Returns after a while. */
  hold(): Promise<void> {
    return new Promise((resolve) => {
      this.#clock.timer(HOLD_MS, resolve);
    });
  }

  /** Counts what was read of a body. False: no more of it for now; `goOn` is called when it is its turn. */
  readonly pace = (bytes: number, goOn: () => void): boolean => {
    if (this.#bytes === undefined) this.#beat();
    this.#bytes = (this.#bytes ?? 0) + bytes;
    if (this.#bytes <= BYTES_PER_PACE) return true;
    this.#paused.push(goOn);
    return false;
  };

  #beat(): void {
    this.#bytes = 0;
    this.#clock.timer(PACE_MS, () => {
      const isIdle = this.#bytes === 0 && this.#paused.length === 0;
      this.#bytes = undefined;
      if (isIdle) return;
      this.#beat();
      for (const goOn of this.#paused.splice(0, GO_ON_PER_PACE)) goOn();
    });
  }

  /** Whether a refusal gets a line in the log. Those that do not are told together. */
  mayLog(address: string): boolean {
    if (
      this.#lines.take(address, ADDRESS_RATE_LIMIT).allowed &&
      this.#lines.take('all', LINES_PER_MINUTE).allowed
    )
      return true;
    this.#untold ??= this.#beginSummary();
    const { byAddress } = this.#untold;
    this.#untold.refusals++;
    const count = byAddress.get(address);
    if (count !== undefined || byAddress.size < COUNTED_MAX) byAddress.set(address, (count ?? 0) + 1);
    return false;
  }

  #beginSummary() {
    this.#clock.timer(SUMMARY_MS, () => this.#summarise());
    return { refusals: 0, byAddress: new Map<string, number>() };
  }

  #summarise(): void {
    if (!this.#untold) return;
    const { refusals, byAddress } = this.#untold;
    this.#untold = undefined;
    const [most = ['', 0]] = [...byAddress].sort(([, a], [, b]) => b - a);
    this.#log.warn(
      { refusals, addresses: byAddress.size, most: most[0], most_refusals: most[1] },
      'strangers past their limit',
    );
  }
}
