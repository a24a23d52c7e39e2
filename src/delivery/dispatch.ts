import { deliveryId } from '../domain/delivery-id.ts';
import { toAttempt } from '../domain/diagnosis.ts';
import type { RandomBytes } from '../domain/ids.ts';
import { nextStep } from '../domain/retry.ts';
import { signedHeaders } from '../domain/signature.ts';
import type { Clock } from '../platform/clock.ts';
import type { Egress, PostOutcome } from '../platform/egress/egress.ts';
import type { Database } from '../store/database.ts';
import {
  type Claimed,
  claimDeliveries,
  freeLanes,
  type KnownLane,
  type Result,
  renewLanes,
} from '../store/deliveries.ts';
import type { Destinations, OpenDestination } from './destinations.ts';
import { Flow, Host } from './flow.ts';
import type { Recorder } from './recorder.ts';

/** So long a worker that is stuck may delay its letters; of one that dies, others hear at once. */
const LEASE_MS = 20_000;
/** With less than this left, a lane is leased anew; workers look at their lanes twice a second. */
const RENEW_MS = 12_000;
const CLAIM_MAX = 1_000;
/** Over all webhooks: letters under way, and those fetched with them. */
const IN_FLIGHT_MAX = 2_000;
const HELD_MAX = 10_000;
const WINDOW_START = 4;
const WEBHOOK_WINDOW_MAX = 64;
const HOST_MAX = 1_000;
/** A webhook that is well has letters fetched ahead, many windows at a time, so that claims are few and large. */
const AHEAD = 16;
const WELL_FROM = 16;
/** How long a webhook is left to others whose address or secrets cannot be had here. */
const LEAVE_MS = 30_000;
const HOSTS_MAX = 10_000;

/** One webhook: what is under way to it and what waits here to follow. */
interface Lane {
  no: number;
  heldUntil: number;
  /** This worker cannot serve it until then. */
  leftUntil: number;
  flow: Flow;
  queue: Claimed[];
  /** Sequences that were claimed and whose results are not written yet: they still look due in the database. */
  underWay: Set<number>;
  /** The last claim gave all that there was room for, so there may be more. */
  more: boolean;
  /** The highest sequence that was claimed: what is new comes after it. */
  last: number;
}

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
  sent: (letter: Claimed, outcome: PostOutcome, succeeded: boolean) => void;
  leaseExpired: () => void;
}

/** Takes deliveries from the queues of the webhooks and sends them, as many at a time as each can bear. */
export class Dispatch {
  readonly #options: DispatchOptions;
  readonly #lanes = new Map<number, Lane>();
  readonly #hosts = new Map<string, Host>();
  #afterNo = 0;
  #inFlight = 0;
  #queued = 0;
  #allAnswered: (() => void) | undefined;

  constructor(options: DispatchOptions) {
    this.#options = options;
  }

  /**
   * Fetches what is due and there is room for, and begins to send it. Returns how many letters that were, and whether
   * there may be more that could be fetched at once. `onward`: of webhooks that are well, only what is new.
   */
  async claim(onward = false): Promise<{ count: number; more: boolean }> {
    const { db, clock, me, destinations } = this.#options;
    const now = clock.now();
    await this.#renew(now);
    const budget = Math.min(CLAIM_MAX, HELD_MAX - this.#inFlight - this.#queued);
    if (budget <= 0) return { count: 0, more: false };
    const known = this.#known(now, onward);
    const until = now + LEASE_MS;
    const claimed = await claimDeliveries(db, {
      at: new Date(now).toISOString(),
      until: new Date(until).toISOString(),
      me,
      afterNo: this.#afterNo,
      deliveriesMax: budget,
      usualRoom: WINDOW_START,
      known: [...known.values()],
    });
    // Whoever was left out because the claim was full comes first the next time.
    const full = claimed.length === budget;
    const before = this.#afterNo;
    this.#afterNo = full ? (claimed.at(-1)?.webhook_no ?? 0) : 0;

    await destinations.learn(claimed);
    const fetched = Map.groupBy(claimed, (one) => one.webhook_no);
    for (const [no, letters] of fetched) {
      const lane = this.#lane(no);
      if (letters[0]?.lease_expired) this.#options.leaseExpired();
      if (lane.heldUntil - now <= RENEW_MS) lane.heldUntil = until;
      lane.more = full || letters.length >= (known.get(no)?.room ?? WINDOW_START);
      lane.queue.push(...letters);
      for (const { sequence } of letters) {
        lane.underWay.add(sequence);
        if (sequence > lane.last) lane.last = sequence;
      }
      this.#queued += letters.length;
      this.#pump(lane);
    }
    await this.#leave([...fetched.keys()].filter((no) => !destinations.get(no)));
    return { count: claimed.length, more: full || before !== 0 };
  }

  /** Results that were written no longer look due. */
  settled(results: readonly Result[]): void {
    for (const { webhookNo, sequence } of results) this.#lanes.get(webhookNo)?.underWay.delete(sequence);
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
    const known = this.#lanes.get(no);
    if (known) return known;
    const lane: Lane = {
      no,
      heldUntil: 0,
      leftUntil: 0,
      flow: new Flow(WINDOW_START, WEBHOOK_WINDOW_MAX),
      queue: [],
      underWay: new Set(),
      more: false,
      last: 0,
    };
    this.#lanes.set(no, lane);
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

  /** The lanes that are in use, or were a moment ago. The others are forgotten: every claim names all that are known. */
  #known(now: number, onward: boolean): Map<number, KnownLane> {
    const known = new Map<number, KnownLane>();
    for (const lane of this.#lanes.values()) {
      const held = lane.heldUntil - now > RENEW_MS;
      if (!held && lane.underWay.size === 0 && lane.leftUntil <= now) this.#lanes.delete(lane.no);
      else {
        const { no, underWay } = lane;
        const last = onward && held && lane.last > 0 ? lane.last : undefined;
        known.set(no, { no, room: this.#roomOf(lane, now), held, last, underWay });
      }
    }
    return known;
  }

  #roomOf({ no, flow, queue, leftUntil }: Lane, now: number): number {
    if (leftUntil > now) return 0;
    const origin = this.#options.destinations.get(no)?.origin;
    const rests = origin !== undefined && (this.#hosts.get(origin)?.restsUntil ?? 0) > now;
    return rests ? 0 : Math.max(0, capacityOf(flow) - flow.inFlight - queue.length);
  }

  async #leave(nos: readonly number[]): Promise<void> {
    if (nos.length === 0) return;
    for (const no of nos) {
      const lane = this.#lane(no);
      lane.heldUntil = 0;
      lane.leftUntil = this.#options.clock.now() + LEAVE_MS;
    }
    await freeLanes(this.#options.db, this.#options.me, nos);
  }

  /** Keeps the lanes that have letters under way. One that was lost to another worker gets no more from here. */
  async #renew(now: number): Promise<void> {
    const { db, me } = this.#options;
    const waning = [...this.#lanes.values()].filter(
      (lane) => lane.underWay.size > 0 && lane.heldUntil - now <= RENEW_MS,
    );
    if (waning.length === 0) return;
    const until = now + LEASE_MS;
    const nos = waning.map((lane) => lane.no);
    const kept = await renewLanes(db, me, new Date(until).toISOString(), nos);
    for (const lane of waning) {
      if (kept.has(lane.no)) lane.heldUntil = until;
      else this.#drop(lane);
    }
  }

  /** Sends as much of the queue as there is room for. */
  #pump(lane: Lane): void {
    const { clock, destinations } = this.#options;
    const destination = destinations.get(lane.no);
    if (!destination) {
      this.#drop(lane);
      return;
    }
    const host = this.#host(destination.origin);
    const now = clock.now();
    while (
      lane.queue.length > 0 &&
      this.#inFlight < IN_FLIGHT_MAX &&
      lane.flow.hasRoom &&
      host.hasRoom(now)
    ) {
      const letter = lane.queue.shift() as Claimed;
      this.#queued--;
      void this.#send(letter, lane, destination, host);
    }
    // Behind a host that rests, letters would only grow old here.
    if (lane.flow.inFlight === 0) this.#drop(lane);
  }

  async #send(letter: Claimed, lane: Lane, destination: OpenDestination, host: Host): Promise<void> {
    const { clock, post } = this.#options;
    lane.flow.begin();
    host.begin();
    this.#inFlight++;
    const startedAt = clock.now();
    const headers = signedHeaders({
      id: deliveryId(destination.id, letter.sequence),
      timestampSeconds: Math.floor(startedAt / 1000),
      sequence: letter.sequence,
      body: letter.payload,
      secrets: destination.secrets.flatMap(({ bytes, expiresAt }) => (expiresAt > startedAt ? bytes : [])),
    });
    const outcome = await post({ url: destination.url, headers, body: letter.payload });
    this.#inFlight--;
    // Broken off because the service ends: nothing can be said about the receiver, and the letter is due as before.
    if (outcome.failure?.code !== 'stopped') this.#judge(letter, outcome, lane, host, startedAt);
    if (this.#inFlight === 0) this.#allAnswered?.();
  }

  #judge(letter: Claimed, outcome: PostOutcome, lane: Lane, host: Host, startedAt: number): void {
    const { clock, random, sent, recorder, hungry } = this.#options;
    const now = clock.now();
    const judged = { ...outcome, broken: outcome.failure !== undefined };
    const step = nextStep(letter.tries + 1, judged, now, random);
    const succeeded = step.state === 'delivered';
    const gone = step.state !== 'delivered' && step.gone;
    recorder.add({
      webhookNo: lane.no,
      sequence: letter.sequence,
      triesBefore: letter.tries,
      state: step.state,
      dueAt: new Date(step.state === 'due' ? step.dueAt : now).toISOString(),
      attempt: JSON.stringify([toAttempt(outcome, startedAt)]),
      gone,
    });
    sent(letter, outcome, succeeded);
    lane.flow.end(succeeded);
    host.end(wasReached(outcome), now);
    if (gone) this.#drop(lane);
    this.#pump(lane);
    if (lane.more && lane.queue.length + lane.flow.inFlight <= refillAt(lane.flow)) {
      lane.more = false;
      hungry();
    }
  }

  /** Forgets what was not begun: it is due in the database as before. */
  #drop(lane: Lane): void {
    this.#queued -= lane.queue.length;
    for (const { sequence } of lane.queue.splice(0)) lane.underWay.delete(sequence);
  }
}

function wasReached({ failure }: PostOutcome): boolean {
  return failure === undefined || failure.phase === 'send' || failure.phase === 'answer';
}

function capacityOf({ window }: Flow): number {
  return window >= WELL_FROM ? window * AHEAD : window;
}

/** With so many left, more are fetched. */
function refillAt({ window }: Flow): number {
  return window >= WELL_FROM ? window * 2 : window / 2;
}
