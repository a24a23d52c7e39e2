/**
 * How much a receiver is given at a time: an AIMD window for each webhook, and a circuit breaker for each host. Time is
 * an argument.
 */

/**
 * An AIMD window (additive increase, multiplicative decrease, as in TCP): how many deliveries may be in flight to one webhook.
 * It opens by one with every success and closes by half with every failure, so a receiver that is well gets all it can
 * take, and one that hangs holds a single connection: fifty dead receivers take fifty places of the whole, not fifty
 * times sixty-four.
 */
export class AimdWindow {
  inFlight = 0;
  #size: number;
  readonly #max: number;

  constructor(start: number, max: number) {
    this.#size = start;
    this.#max = max;
  }

  get size(): number {
    return Math.floor(this.#size);
  }

  get hasRoom(): boolean {
    return this.inFlight < this.size;
  }

  begin(): void {
    this.inFlight++;
  }

  /** It was not sent after all, which says nothing about the receiver. */
  cancel(): void {
    this.inFlight--;
  }

  end(succeeded: boolean): void {
    this.inFlight--;
    this.#size = succeeded ? Math.min(this.#max, this.#size + 1) : Math.max(1, this.#size / 2);
  }
}

/** So many failures to reach a host, one after the other, and the circuit opens. */
const OPENS_AFTER = 5;
const REST_MIN_MS = 5_000;
const REST_MAX_MS = 60_000;
/**
 * While the circuit is open, the host is dialled this often, without a delivery. With deliveries alone, whose rests grow to a minute, a
 * host that came back waited for half a minute; and one more of them each time would use up an attempt and be put off by hours.
 */
export const DIAL_EVERY_MS = 4_000;

/**
 * What gathered while a host was away goes out at this pace, in parts of at most so many, which are claimed and sent together. At full speed, 20,000 deliveries took the
 * whole worker for seconds, and the p99 of everybody else's was 2.5 times as long; with one in a millisecond, it was 1.6 times as long.
 */
export const BACKLOG_EACH_MS = 2;
export const BACKLOG_PART = 10;
/** Where many webhooks wait for their turns, those of so long come together, and are claimed together: a claim names all who wait. */
const TURNS_MS = 80;
/** So long after the last part of it, its host counts as paced: between two of them there is a claim at most. */
const PACED_MS = 500;

/**
 * The circuit breaker of one host, which may stand behind many webhooks. When the host cannot even be reached, the circuit opens:
 * nothing is sent to any of them for a while. Then it is half open, and a single delivery goes as a probe: its success closes the
 * circuit, its failure makes the rest twice as long. Meanwhile the host is dialled every few seconds; when that works, the circuit is
 * half open at once. A host that takes a delivery and then fails or hangs has been reached: that
 * is for the webhook's own window to answer, since its neighbours on the same host may be well.
 *
 * When it is back, what has waited for it since before (`waitedMs` of a delivery tells) is paced by a leaky bucket: the webhooks of the host
 * reserve the parts of it, one after the other, however many they are.
 */
export class CircuitBreaker {
  inFlight = 0;
  /** When the next delivery may go; in the past while the circuit is closed. */
  restsUntil = 0;
  #unreached = 0;
  #restMs = REST_MIN_MS;
  #dialFrom = 0;
  /** When it came back; never: everything has waited for less. */
  #backAt = Number.NEGATIVE_INFINITY;
  #nextPart = Number.NEGATIVE_INFINITY;
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  /** How many deliveries more may be in flight. */
  room(now: number): number {
    if (now < this.restsUntil) return 0;
    return Math.max(0, (this.#unreached < OPENS_AFTER ? this.#max : 1) - this.inFlight);
  }

  /** Whether what has waited for so long has done so since before the host came back. */
  isBacklog(waitedMs: number, now: number): boolean {
    return waitedMs > now - this.#backAt;
  }

  /** Reserves the next part of the backlog, of so many deliveries. Returns when it may go. */
  reservePart(size: number, now: number): number {
    const at = Math.max(now, this.#nextPart);
    this.#nextPart = at + size * BACKLOG_EACH_MS;
    return at - now > TURNS_MS ? Math.ceil(at / TURNS_MS) * TURNS_MS : at;
  }

  /** Whether a backlog is going out. */
  isPacing(now: number): boolean {
    return now < this.#nextPart + PACED_MS;
  }

  begin(): void {
    this.inFlight++;
  }

  /** It was not sent after all, which says nothing about the host. */
  cancel(): void {
    this.inFlight--;
  }

  /** Whether to dial it now; whoever asks does, and tells what came of it by `dialled`. */
  wantsDial(now: number): boolean {
    if (now >= this.restsUntil || now < this.#dialFrom) return false;
    this.#dialFrom = now + DIAL_EVERY_MS;
    return true;
  }

  dialled(reached: boolean, now: number): void {
    if (reached) this.restsUntil = Math.min(this.restsUntil, now);
  }

  end(reached: boolean, now: number): void {
    this.inFlight--;
    if (reached) {
      if (this.#unreached >= OPENS_AFTER) this.#backAt = now;
      this.#unreached = 0;
      this.#restMs = REST_MIN_MS;
      this.restsUntil = 0;
      return;
    }
    this.#unreached++;
    if (this.#unreached < OPENS_AFTER || now < this.restsUntil) return;
    this.restsUntil = now + this.#restMs;
    this.#dialFrom = now + DIAL_EVERY_MS;
    this.#restMs = Math.min(REST_MAX_MS, this.#restMs * 2);
  }
}
