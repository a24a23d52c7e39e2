import { deliveryId } from '../domain/delivery-id.ts';
import { keptAttempt } from '../domain/diagnosis.ts';
import type { RandomBytes } from '../domain/ids.ts';
import { nextStep } from '../domain/retry.ts';
import { signedHeaders } from '../domain/signature.ts';
import type { Clock } from '../platform/clock.ts';
import type { Egress, PostOutcome } from '../platform/egress/egress.ts';
import type { Database } from '../store/database.ts';
import {
  claimDeliveries,
  freeLanes,
  type KnownLane,
  type Letter,
  readVersions,
  renewLanes,
} from '../store/deliveries.ts';
import type { LaneLow, Result } from '../store/deliveries-record.ts';
import type { Destinations, OpenDestination } from './destinations.ts';
import { Host } from './flow.ts';
import { Lane, WINDOW_START } from './lane.ts';
import type { Recorder } from './recorder.ts';

/** So long a worker that is stuck may delay its letters; of one that dies, others hear at once. */
const LEASE_MS = 20_000;
/** With less than this left, a lane is leased anew; workers look at their lanes twice a second. */
const RENEW_MS = 12_000;
const CLAIM_MAX = 3_000;
/** Over all webhooks: letters under way, and those fetched with them. */
const IN_FLIGHT_MAX = 2_000;
/** When there were too many under way, and are so few again, others are fetched. */
const IN_FLIGHT_FEWER = 1_800;
const HELD_MAX = 10_000;
const HOST_MAX = 1_000;
/** How long a webhook is left to others whose address or secrets cannot be had here. */
const LEAVE_MS = 30_000;
const HOSTS_MAX = 10_000;
const NARROW_MAX = 10_000;

export interface DispatchOptions {
  db: Database;
  clock: Clock;
  random: RandomBytes;
  /** This worker's number, which no other has. */
  me: number;
  post: Egress['post'];
  destinations: Destinations;
  recorder: Recorder;
  /** There is room again, and there may be something to fill it. */
  hungry: () => void;
  sent: (letter: Letter, outcome: PostOutcome, succeeded: boolean, now: number) => void;
  leaseExpired: () => void;
}

/**
 * Takes deliveries from the queues of the webhooks and sends them, as many at a time as each can bear. What it remembers for a
 * while, it remembers by the monotonic clock: one that is set back by a day must not keep a host at rest for a day.
 */
export class Dispatch {
  readonly #options: DispatchOptions;
  readonly #lanes = new Map<number, Lane>();
  /** How much webhooks could bear that failed when their lanes were forgotten, the latest last. */
  readonly #narrow = new Map<number, number>();
  readonly #hosts = new Map<string, Host>();
  #afterNo = 0;
  /** Whether a round through the webhooks, by one claim or several, has brought anything so far. */
  #keptInRound = false;
  #inFlight = 0;
  #queued = 0;
  #allAnswered: (() => void) | undefined;

  constructor(options: DispatchOptions) {
    this.#options = options;
  }

  /**
   * Fetches what there is room for, and begins to send it. Returns how many letters that were, and whether there may be more
   * that could be fetched at once. `lookBack`: also what was set aside and is due.
   */
  async claim(lookBack: boolean): Promise<{ count: number; more: boolean }> {
    const { db, clock, me, destinations, recorder } = this.#options;
    const now = clock.now();
    const moment = clock.monotonic();
    await this.#renew(now, moment);
    if (lookBack) await this.#dropChanged();
    const budget = Math.min(CLAIM_MAX, HELD_MAX - this.#inFlight - this.#queued);
    // What could not be sent would be dropped, and fetched again at once.
    if (budget <= 0 || this.#inFlight >= IN_FLIGHT_MAX) return { count: 0, more: false };
    const known = this.#known(moment, lookBack);
    const claimed = await claimDeliveries(db, {
      at: new Date(now).toISOString(),
      until: new Date(now + LEASE_MS).toISOString(),
      me,
      afterNo: this.#afterNo,
      deliveriesMax: budget,
      usualRoom: WINDOW_START,
      lookBack,
      known: [...known.values()].sort((a, b) => a.no - b.no),
    });
    const count = claimed.reduce((sum, { letters }) => sum + letters.length, 0);
    // Whoever was left out because the claim was full comes first the next time. A webhook without a letter took a place too.
    const full = claimed.reduce((sum, { letters }) => sum + Math.max(1, letters.length), 0) >= budget;
    const before = this.#afterNo;
    this.#afterNo = full ? (claimed.at(-1)?.webhookNo ?? 0) : 0;

    await destinations.learn(claimed);
    const arrived = clock.monotonic();
    let passed = false;
    const held = this.#inFlight + this.#queued;
    if (before === 0) this.#keptInRound = false;
    for (const { webhookNo, leaseExpired, letters } of claimed) {
      const lane = this.#lane(webhookNo);
      if (leaseExpired) this.#options.leaseExpired();
      // What was claimed may be another worker's by now.
      if (lane.isLost) continue;
      const destination = destinations.get(webhookNo);
      lane.place = destination && { destination, host: this.#host(destination.origin) };
      if (lane.heldUntil - moment <= RENEW_MS) lane.heldUntil = moment + LEASE_MS;
      lane.more = full || letters.length >= (known.get(webhookNo)?.room ?? WINDOW_START);
      const queued = lane.queue.length;
      const putBack = lane.take(letters, !lane.more);
      for (const result of putBack) recorder.add(result);
      // Those that wait for another one took the room of those behind them, which need not.
      if (putBack.length > 0 && lane.more) passed = true;
      this.#queued += lane.queue.length - queued;
      this.#pump(lane, arrived);
    }
    this.#keptInRound ||= this.#inFlight + this.#queued > held;
    await this.#leave(claimed.flatMap(({ webhookNo }) => (destinations.get(webhookNo) ? [] : webhookNo)));
    // A round through all webhooks of which nothing was kept, because it is all under way, is not made again at once.
    return { count, more: full || passed || (before !== 0 && this.#keptInRound) };
  }

  /** Results that were written no longer look due. */
  settled(results: readonly Result[], areWritten: boolean): void {
    for (const result of results) this.#lanes.get(result.webhookNo)?.settle(result, areWritten);
  }

  /** These lanes are not this worker's, as it turned out when results were written. */
  lost(nos: Iterable<number>): void {
    for (const no of nos) {
      const lane = this.#lanes.get(no);
      if (lane) this.#queued -= lane.lose();
    }
  }

  /** It may not be written any more. */
  isVoid(result: Result): boolean {
    return result.state === 'waiting' && this.#lane(result.webhookNo).isVoid(result);
  }

  /** For each lane that these results are about: before where nothing will be new once they are written. */
  lowsAfter(results: readonly Result[]): LaneLow[] {
    const byLane = Map.groupBy(results, ({ webhookNo }) => webhookNo);
    return [...byLane].map(([no, those]) => this.#lane(no).lowAfter(those));
  }

  /** When all that is under way is answered. */
  async idle(): Promise<void> {
    while (this.#inFlight > 0)
      await new Promise<void>((resolve) => {
        this.#allAnswered = resolve;
      });
  }

  /** Begins nothing more; others may have what was not begun. */
  abandonQueues(): void {
    for (const lane of this.#lanes.values()) this.#drop(lane);
  }

  /** To be called when all results are written. */
  freeLanes(): Promise<void> {
    return freeLanes(this.#options.db, this.#options.me);
  }

  #lane(no: number): Lane {
    let lane = this.#lanes.get(no);
    if (!lane) {
      lane = new Lane(no, this.#narrow.get(no));
      this.#lanes.set(no, lane);
    }
    return lane;
  }

  #host(origin: string): Host {
    const known = this.#hosts.get(origin);
    if (known) return known;
    if (this.#hosts.size >= HOSTS_MAX)
      for (const [key, { inFlight }] of this.#hosts) if (inFlight === 0) this.#hosts.delete(key);
    const host = new Host(HOST_MAX);
    this.#hosts.set(origin, host);
    return host;
  }

  /**
   * The lanes that are in use, or must not be given anything. The others are forgotten, unless they are well and may go on at
   * once: every claim names all that are known, and among thousands of webhooks most have a letter now and then.
   */
  #known(moment: number, lookBack: boolean): Map<number, KnownLane> {
    const known = new Map<number, KnownLane>();
    for (const lane of this.#lanes.values()) {
      const held = lane.heldUntil - moment > RENEW_MS;
      const room = this.#roomOf(lane, moment);
      if (lane.isIdle && room > 0 && !(held && lane.isWell)) this.#forget(lane);
      else known.set(lane.no, lane.beginClaim(room, held, lookBack));
    }
    return known;
  }

  /** One that hangs must not begin with a whole window again whenever its letters are retried. */
  #forget({ no, flow: { window } }: Lane): void {
    this.#lanes.delete(no);
    this.#narrow.delete(no);
    if (window >= WINDOW_START) return;
    this.#narrow.set(no, window);
    if (this.#narrow.size > NARROW_MAX) this.#narrow.delete(this.#narrow.keys().next().value as number);
  }

  #roomOf({ room, leftUntil, place }: Lane, moment: number): number {
    if (leftUntil > moment) return 0;
    return place && place.host.restsUntil > moment ? 0 : room;
  }

  async #leave(nos: readonly number[]): Promise<void> {
    if (nos.length === 0) return;
    for (const no of nos) {
      const lane = this.#lane(no);
      lane.heldUntil = 0;
      lane.leftUntil = this.#options.clock.monotonic() + LEAVE_MS;
    }
    await freeLanes(this.#options.db, this.#options.me, nos);
  }

  /** Keeps the lanes that have letters under way. One that was lost to another worker gets no more from here. */
  async #renew(now: number, moment: number): Promise<void> {
    const { db, me } = this.#options;
    const waning = [...this.#lanes.values()].filter(
      (lane) => !lane.isIdle && lane.heldUntil - moment <= RENEW_MS,
    );
    if (waning.length === 0) return;
    const nos = waning.map((lane) => lane.no);
    const kept = await renewLanes(db, me, new Date(now + LEASE_MS).toISOString(), nos);
    for (const lane of waning) {
      if (kept.has(lane.no)) lane.heldUntil = moment + LEASE_MS;
      else this.#queued -= lane.lose();
    }
  }

  /** What waits here for a webhook that was paused, deleted or changed is not for the address that is known. */
  async #dropChanged(): Promise<void> {
    const { db } = this.#options;
    const queued = [...this.#lanes.values()].filter((lane) => lane.queue.length > 0);
    if (queued.length === 0) return;
    const versions = await readVersions(
      db,
      queued.map((lane) => lane.no),
    );
    for (const lane of queued)
      if (versions.get(lane.no) !== lane.place?.destination.version) this.#drop(lane);
  }

  /** Sends as much of the queue as there is room for. */
  #pump(lane: Lane, moment: number): void {
    if (!lane.place) {
      this.#drop(lane);
      return;
    }
    const { destination, host } = lane.place;
    while (
      lane.queue.length > 0 &&
      this.#inFlight < IN_FLIGHT_MAX &&
      lane.flow.hasRoom &&
      host.hasRoom(moment)
    ) {
      const letter = lane.queue.shift() as Letter;
      this.#queued--;
      this.#send(letter, lane, destination, host);
    }
    // Behind a host that rests, letters would only grow old here.
    if (lane.flow.inFlight === 0) this.#drop(lane);
  }

  #send(letter: Letter, lane: Lane, destination: OpenDestination, host: Host): void {
    const { clock, post } = this.#options;
    lane.flow.begin();
    host.begin();
    this.#inFlight++;
    const startedAt = clock.now();
    const headers = signedHeaders({
      id: deliveryId(destination.id, letter.sequence, letter.acceptedMs),
      timestampSeconds: Math.floor(startedAt / 1000),
      sequence: letter.sequence,
      body: letter.payload,
      secrets: destination.secretsAt(startedAt),
    });
    void post({ url: destination.url, headers, body: letter.payload }).then((outcome) =>
      this.#answered(letter, outcome, lane, host, destination.url, startedAt),
    );
  }

  #answered(
    letter: Letter,
    outcome: PostOutcome,
    lane: Lane,
    host: Host,
    url: string,
    startedAt: number,
  ): void {
    const { hungry } = this.#options;
    this.#inFlight--;
    if (this.#inFlight === IN_FLIGHT_FEWER) hungry();
    // Broken off because the service ends: nothing can be said about the receiver, and the letter is due as before.
    if (outcome.failure?.code !== 'stopped') this.#judge(letter, outcome, lane, host, url, startedAt);
    if (this.#inFlight === 0) this.#allAnswered?.();
  }

  #judge(letter: Letter, outcome: PostOutcome, lane: Lane, host: Host, url: string, startedAt: number): void {
    const { clock, random, sent, recorder, hungry } = this.#options;
    const now = clock.now();
    const { status, retryAfter, failure } = outcome;
    const step = nextStep(
      letter.tries + 1,
      { status, retryAfter, broken: failure !== undefined },
      now,
      random,
    );
    const succeeded = step.state === 'delivered';
    const gone = step.state !== 'delivered' && step.gone;
    if (step.state === 'due') lane.noteSetAside(letter.objectHash, letter.sequence);
    recorder.add({
      webhookNo: lane.no,
      sequence: letter.sequence,
      objectHash: letter.objectHash,
      triesBefore: letter.tries,
      state: step.state,
      retryAt: step.state === 'due' ? new Date(step.dueAt).toISOString() : undefined,
      after: 0,
      attempt: `[${keptAttempt(outcome, startedAt)}]`,
      gone: gone ? url : undefined,
    });
    sent(letter, outcome, succeeded, now);
    lane.flow.end(succeeded);
    const moment = clock.monotonic();
    host.end(wasReached(outcome), moment);
    if (gone) this.#drop(lane);
    this.#pump(lane, moment);
    if (lane.isHungry) {
      lane.more = false;
      hungry();
    }
  }

  #drop(lane: Lane): void {
    this.#queued -= lane.drop();
  }
}

function wasReached({ failure }: PostOutcome): boolean {
  return failure === undefined || failure.phase === 'send' || failure.phase === 'answer';
}
