import { AimdWindow } from './flow-control.ts';

/**
 * The lane of a webhook, as the worker sees it that holds the lease: what it has claimed of the webhook's queue, what of that
 * is in flight, and where the rest begins. It is a state machine without a clock and without I/O: `stepLane` takes an event,
 * changes the state, which is its own, and returns what is to be done. `laneInvariants` has what is true after every event.
 *
 * A delivery is claimed, waits in the queue of the lane, is sent, answered, and forgotten when its result is recorded. Nothing is
 * written about it in between, for the lane knows what it has. Of the deliveries about one object the lane has one under way at
 * a time: the next begins when the result of the one before is recorded, and until then it is put back into the database to wait.
 */

/** A worker that hangs delays the deliveries of its lanes for this long. A worker that dies delays none: other workers notice at once. */
export const LEASE_MS = 20_000;

/** A delivery that was handed to this worker to be sent. */
export interface ClaimedDelivery {
  sequence: number;
  /** Attempts that were made before. */
  tries: number;
  /** Of the object that it is about. */
  objectHash: string;
  /** The practice group whose event it is. */
  groupId: string;
  payload: string;
  /** The trace that its event came from. */
  traceparent?: string | undefined;
  acceptedMs: number;
  /** Never attempted, and not set aside. */
  isNew: boolean;
  /** It has to wait for an earlier one about the same object. */
  isBehind: boolean;
}

/** Of the result of a delivery, what matters to its lane. */
export interface LaneResult {
  sequence: number;
  objectHash: string;
  /** Waiting: it was not sent, because an earlier one about the same object is not finished. */
  state: 'delivered' | 'failed' | 'due' | 'waiting';
}

export interface LaneState {
  readonly window: AimdWindow;
  /** What was claimed and not begun, in the order in which it goes. */
  readonly queue: ClaimedDelivery[];
  /** The last claim gave all that there was room for, so there may be more. */
  hasMore: boolean;
  /** What was claimed and whose result is not recorded, by its sequence: in the database it still looks due. */
  readonly unrecorded: Map<number, ClaimedDelivery>;
  /** By object: the sequence of the delivery here that the others about it have to wait for. */
  readonly heads: Map<string, number>;
  /**
   * Objects of which deliveries are being set aside: how many of these results are not recorded, and the first such delivery. A
   * claim may not know of them yet.
   */
  readonly setAside: Map<string, { unrecorded: number; first: number }>;
  /** Sequences that are being put back since the lane was leased. */
  readonly puttingBack: Set<number>;
  /** What is new from here on was not claimed; undefined: the database knows. */
  claimFrom: number | undefined;
  /** The lowest that was given back since the last claim began. */
  givenBack: number;
  highest: number;
  /** What is new and unrecorded was not claimed in the order of its sequence. */
  isMixed: boolean;
  /** Since the last claim began it turned out that another worker has the lease, or nobody. */
  isLost: boolean;
}

export type LaneEvent =
  /** A claim begins. From now on, what is given back may be missing in its answer. `isHeld`: the lease is still good for long. */
  | { type: 'claiming'; isHeld: boolean; looksBack: boolean }
  /** It was answered. `isAll`: there was no more. `places`: how many may be sent, as far as others have a say in that. */
  | { type: 'claimed'; deliveries: readonly ClaimedDelivery[]; isAll: boolean; places: number }
  /** What was sent has ended, and this is what its result will say. */
  | { type: 'answered'; delivery: ClaimedDelivery; state: 'delivered' | 'failed' | 'due'; places: number }
  /** It was not sent after all: it is due as before. */
  | { type: 'notSent'; delivery: ClaimedDelivery }
  | { type: 'recorded'; result: LaneResult }
  /** Results were recorded, so what waited for that may go. */
  | { type: 'resumed'; places: number }
  /** Nobody will try to record it any more: the delivery is due as before. */
  | { type: 'unrecorded'; result: LaneResult }
  /** What was not begun is not to be sent from here: it is due in the database as before. */
  | { type: 'dropped' }
  /**
   * Another worker has the lease, or nobody: of the results since then none was recorded but successes, so nothing is known of
   * the queue any more.
   */
  | { type: 'lost' };

export type LaneCommand =
  /** Claim what is new from there on (undefined: from where the database says), and none of these. */
  | { type: 'claim'; from: number | undefined; except: readonly number[] }
  /** Record that it waits for this one (0: for one that was set aside). */
  | { type: 'putBack'; delivery: ClaimedDelivery; after: number }
  | { type: 'send'; delivery: ClaimedDelivery }
  /** There is room again, and there may be more. */
  | { type: 'claimMore' };

const WINDOW_MAX = 64;
/** A webhook that is well has deliveries claimed ahead, many windows at a time, so that claims are few and large. */
const AHEAD = 16;
const WELL_FROM = 16;
/** So many deliveries a webhook is given that nothing is known of. */
export const WINDOW_START = 4;

/**
 * So many deliveries of a webhook may be sent, or in flight, without their results being recorded: if the way to the database is cut,
 * whoever takes over sends no more than these once more. It was 889 of 2,000 without a bound. A record of 200 takes PostgreSQL 2 ms, so
 * a webhook that is well does not come near.
 */
export const SENT_UNRECORDED_MAX = 256;

export function newLane(windowSize = WINDOW_START): LaneState {
  return {
    window: new AimdWindow(windowSize, WINDOW_MAX),
    queue: [],
    hasMore: false,
    unrecorded: new Map(),
    heads: new Map(),
    setAside: new Map(),
    puttingBack: new Set(),
    claimFrom: undefined,
    givenBack: Number.POSITIVE_INFINITY,
    highest: 0,
    isMixed: false,
    isLost: false,
  };
}

/** Changes the state in place: there are thousands of events a second, and the maps of a lane are large. */
export function stepLane(lane: LaneState, event: LaneEvent): LaneCommand[] {
  switch (event.type) {
    case 'claiming':
      return [beginClaim(lane, event.isHeld, event.looksBack)];
    case 'claimed':
      // It may be another worker's by now.
      if (lane.isLost) return [];
      lane.hasMore = !event.isAll;
      return [...take(lane, event.deliveries, event.isAll), ...sendNext(lane, event.places)];
    case 'answered':
      return answered(lane, event.delivery, event.state, event.places);
    case 'notSent':
      lane.window.cancel();
      returnToQueue(lane, event.delivery.sequence);
      forget(lane, event.delivery.sequence, event.delivery.objectHash);
      return [];
    case 'recorded':
      settle(lane, event.result);
      return [];
    case 'resumed':
      return lane.queue.length > 0 ? sendNext(lane, event.places) : [];
    case 'unrecorded':
      unrecorded(lane, event.result);
      return [];
    case 'dropped':
      drop(lane);
      return [];
    case 'lost':
      lane.isLost = true;
      lane.claimFrom = undefined;
      lane.puttingBack.clear();
      drop(lane);
      return [];
  }
}

export function isIdle(lane: LaneState): boolean {
  return lane.unrecorded.size === 0;
}

/** Many deliveries are claimed ahead for it. */
export function isWell(lane: LaneState): boolean {
  return lane.window.size >= WELL_FROM;
}

/** How many deliveries more it may be given. */
export function roomIn(lane: LaneState): number {
  const { size, inFlight } = lane.window;
  const capacity = isWell(lane) ? size * AHEAD : size;
  return Math.max(0, capacity - inFlight - lane.queue.length);
}

/**
 * Whether a result may not be recorded any more. A delivery that was put back before the lane was lost must not be if the lane is
 * leased again: those before it were not recorded, are new, and would be overtaken.
 */
export function isVoid(lane: LaneState, { sequence, state }: LaneResult): boolean {
  return state === 'waiting' && !lane.puttingBack.has(sequence);
}

/**
 * Once these results are recorded, what is the lowest sequence that may be new (`open_from`)? While others are under way it may be
 * told too low, as if these were not recorded yet: the next results make up for it, and with thousands of them under way to be
 * exact takes long.
 */
export function openFromAfter(lane: LaneState, results: readonly LaneResult[]): number {
  // Without knowing where the unclaimed ones begin, nothing can be said.
  let openFrom = lane.claimFrom ?? 0;
  const isExact = lane.isMixed || results.length >= lane.unrecorded.size;
  const recorded = new Set(isExact ? results.map(({ sequence }) => sequence) : []);
  for (const [sequence, { isNew }] of lane.unrecorded) {
    if (!isNew || recorded.has(sequence)) continue;
    if (sequence < openFrom) openFrom = sequence;
    if (!isExact) break;
  }
  return openFrom;
}

/** What is true of a lane after every event. */
export const laneInvariants = {
  /** Of the deliveries about one object, one at a time is queued or in flight. */
  oneUnderWayPerObject: ({ queue, heads, window }: LaneState): boolean =>
    queue.every(({ objectHash, sequence }) => heads.get(objectHash) === sequence) &&
    heads.size >= queue.length + window.inFlight,

  /** None is queued while an earlier one about its object is not recorded. */
  inOrderOfSequence: ({ queue, unrecorded }: LaneState): boolean =>
    queue.every(
      ({ objectHash, sequence }) =>
        !unrecorded
          .values()
          .some((earlier) => earlier.objectHash === objectHash && earlier.sequence < sequence),
    ),

  /** What was claimed is known here until its result is recorded, or nobody will record it. */
  nothingLostBetweenClaimAndRecord: ({ queue, heads, puttingBack, unrecorded, window }: LaneState): boolean =>
    queue.every((delivery) => unrecorded.get(delivery.sequence) === delivery) &&
    heads.values().every((sequence) => unrecorded.has(sequence)) &&
    puttingBack.values().every((sequence) => unrecorded.has(sequence)) &&
    unrecorded.size >= queue.length + window.inFlight + puttingBack.size,

  /** The database is never told that nothing is new where something is. */
  openFromNeverPassesAnUnfinished: (lane: LaneState): boolean => {
    const openFrom = openFromAfter(lane, []);
    return (
      openFrom <= lane.givenBack &&
      lane.unrecorded.values().every(({ isNew, sequence }) => !isNew || openFrom <= sequence)
    );
  },
} as const satisfies Record<string, (lane: LaneState) => boolean>;

function beginClaim(lane: LaneState, isHeld: boolean, looksBack: boolean): LaneCommand {
  lane.givenBack = Number.POSITIVE_INFINITY;
  lane.isLost = false;
  // What was recorded by now, the claim will see by itself.
  for (const [object, { unrecorded }] of lane.setAside) if (unrecorded === 0) lane.setAside.delete(object);
  // Whoever held it meanwhile may have left gaps.
  if (!isHeld) lane.claimFrom = undefined;
  const from = lane.claimFrom;
  const overlaps = looksBack || from === undefined || from <= lane.highest;
  return { type: 'claim', from, except: overlaps ? [...lane.unrecorded.keys()] : [] };
}

/** Takes what was claimed into the queue. What has to wait for an earlier one about the same object is put back. */
function take(lane: LaneState, deliveries: readonly ClaimedDelivery[], isAll: boolean): LaneCommand[] {
  const commands: LaneCommand[] = [];
  let next = lane.claimFrom;
  for (const delivery of deliveries) {
    const { sequence, objectHash, isNew } = delivery;
    // What was given back meanwhile may be about the same object, and goes first: both come with the next claim.
    if (sequence > lane.givenBack) continue;
    const head = lane.heads.get(objectHash);
    const aside = lane.setAside.size > 0 ? lane.setAside.get(objectHash) : undefined;
    // It was set aside and is due again. Claimed once more when the other one is finished.
    if (!isNew && (head !== undefined || (aside !== undefined && aside.first < sequence))) continue;
    lane.unrecorded.set(sequence, delivery);
    if (isNew) {
      next = sequence + 1;
      if (sequence > lane.highest) lane.highest = sequence;
      else lane.isMixed = true;
      if (head !== undefined || delivery.isBehind || aside) {
        noteSetAside(lane, delivery);
        lane.puttingBack.add(sequence);
        commands.push({ type: 'putBack', delivery, after: head ?? 0 });
        continue;
      }
    }
    lane.heads.set(objectHash, sequence);
    lane.queue.push(delivery);
  }
  if (next !== undefined)
    lane.claimFrom = Math.min(isAll ? Math.max(next, lane.highest + 1) : next, lane.givenBack);
  return commands;
}

function answered(
  lane: LaneState,
  delivery: ClaimedDelivery,
  state: 'delivered' | 'failed' | 'due',
  places: number,
): LaneCommand[] {
  if (state === 'due') noteSetAside(lane, delivery);
  lane.window.end(state === 'delivered');
  const commands = sendNext(lane, places);
  if (isHungry(lane)) {
    lane.hasMore = false;
    commands.push({ type: 'claimMore' });
  }
  return commands;
}

function isHungry(lane: LaneState): boolean {
  const { size, inFlight } = lane.window;
  return lane.hasMore && lane.queue.length + inFlight <= (isWell(lane) ? size * 4 : size / 2);
}

function sendNext(lane: LaneState, places: number): LaneCommand[] {
  const commands: LaneCommand[] = [];
  while (commands.length < places && lane.window.hasRoom && !isAhead(lane)) {
    const delivery = lane.queue.shift();
    if (!delivery) break;
    lane.window.begin();
    commands.push({ type: 'send', delivery });
  }
  // Behind a host that rests, deliveries would only grow old here.
  if (lane.window.inFlight === 0 && !isAhead(lane)) drop(lane);
  return commands;
}

/** As much was sent as may be before results are recorded. */
function isAhead({ unrecorded, queue, puttingBack }: LaneState): boolean {
  return unrecorded.size - queue.length - puttingBack.size >= SENT_UNRECORDED_MAX;
}

/** A result that sets this delivery aside is about to be recorded. */
function noteSetAside(lane: LaneState, { objectHash, sequence }: ClaimedDelivery): void {
  const known = lane.setAside.get(objectHash);
  if (!known) lane.setAside.set(objectHash, { unrecorded: 1, first: sequence });
  else {
    known.unrecorded++;
    known.first = Math.min(known.first, sequence);
  }
}

function settle(lane: LaneState, { sequence, objectHash, state }: LaneResult): void {
  forget(lane, sequence, objectHash);
  if (state !== 'due' && state !== 'waiting') return;
  lane.puttingBack.delete(sequence);
  const aside = lane.setAside.get(objectHash);
  if (aside) aside.unrecorded--;
}

function unrecorded(lane: LaneState, result: LaneResult): void {
  returnToQueue(lane, result.sequence);
  settle(lane, result);
}

/**
 * It is as new as before. Those that are being put back behind it must be claimed anew with it: the database would not find
 * anything before them that was set aside, and hold them for the next to be sent.
 */
function returnToQueue(lane: LaneState, sequence: number): void {
  if (!lane.unrecorded.get(sequence)?.isNew) return;
  giveBack(lane, sequence);
  for (const later of lane.puttingBack) if (later > sequence) lane.puttingBack.delete(later);
}

function drop(lane: LaneState): void {
  for (const { sequence, objectHash, isNew } of lane.queue.splice(0)) {
    if (isNew) giveBack(lane, sequence);
    forget(lane, sequence, objectHash);
  }
}

function giveBack(lane: LaneState, sequence: number): void {
  lane.givenBack = Math.min(lane.givenBack, sequence);
  if (lane.claimFrom !== undefined) lane.claimFrom = Math.min(lane.claimFrom, sequence);
}

function forget(lane: LaneState, sequence: number, objectHash: string): void {
  lane.unrecorded.delete(sequence);
  if (isIdle(lane)) lane.isMixed = false;
  if (lane.heads.get(objectHash) === sequence) lane.heads.delete(objectHash);
}
