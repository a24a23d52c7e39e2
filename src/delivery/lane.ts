import type { ClaimedLane, KnownLane, Letter } from '../store/deliveries.ts';
import type { LaneLow, Result } from '../store/deliveries-record.ts';
import type { OpenDestination } from './destinations.ts';
import { Flow, type Host } from './flow.ts';

const WINDOW_MAX = 64;
/** A webhook that is well has letters fetched ahead, many windows at a time, so that claims are few and large. */
const AHEAD = 16;
const WELL_FROM = 16;
/** So many letters a webhook is given that nothing is known of. */
export const WINDOW_START = 4;

/**
 * One webhook, as the worker that holds its lane sees it: what is under way to it, and what waits here to follow. It knows
 * which letters of the queue it has been handed, so nothing has to be written to them until they are finished, and it keeps
 * the order of letters about one object: the next one begins when the result of the one before it is written.
 */
export class Lane {
  readonly no: number;
  /** By the monotonic clock, as the next one. */
  heldUntil = 0;
  /** This worker cannot serve it until then. */
  leftUntil = 0;
  readonly flow: Flow;
  /** Where its letters go, as of the last claim; undefined: that cannot be had. */
  place: { destination: OpenDestination; host: Host } | undefined;
  readonly queue: Letter[] = [];
  /** The last claim gave all that there was room for, so there may be more. */
  more = false;
  /** Sequences that were claimed and whose results are not written yet, so that they still look due in the database; true: new ones. */
  readonly #underWay = new Map<number, boolean>();
  /** By object: the letter here that the others about it have to wait for. */
  readonly #first = new Map<string, number>();
  /**
   * Objects whose letters are being set aside: how many of these results are not written, and the first such letter. A claim
   * may not know of them yet.
   */
  readonly #setAside = new Map<string, { unwritten: number; first: number }>();
  /** Sequences that are being put back since it was leased. */
  readonly #puttingBack = new Set<number>();
  /** What is new from here on was not claimed; undefined: the database knows. */
  #from: number | undefined;
  /** The lowest that was given back since the last claim began. */
  #givenBack = Number.POSITIVE_INFINITY;
  #highest = 0;
  /** What is new and under way was not claimed in the order of its sequence. */
  #isMixed = false;
  /** Since the last claim began it turned out that it was lost to another worker. */
  #isLost = false;

  constructor(no: number, window = WINDOW_START) {
    this.no = no;
    this.flow = new Flow(window, WINDOW_MAX);
  }

  get isIdle(): boolean {
    return this.#underWay.size === 0;
  }

  /** Many letters are fetched ahead for it. */
  get isWell(): boolean {
    return this.flow.window >= WELL_FROM;
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  /** How many letters more it may be given. */
  get room(): number {
    return Math.max(0, this.#capacity - this.flow.inFlight - this.queue.length);
  }

  get isHungry(): boolean {
    const { window, inFlight } = this.flow;
    return this.more && this.queue.length + inFlight <= (this.isWell ? window * 4 : window / 2);
  }

  get #capacity(): number {
    const { window } = this.flow;
    return this.isWell ? window * AHEAD : window;
  }

  /** What a claim has to know of it. From then on, what is given back may be missing in the answer. */
  beginClaim(room: number, held: boolean, lookBack: boolean): KnownLane {
    this.#givenBack = Number.POSITIVE_INFINITY;
    this.#isLost = false;
    // What was written by now, the claim will see by itself.
    for (const [object, { unwritten }] of this.#setAside) if (unwritten === 0) this.#setAside.delete(object);
    // Whoever held it meanwhile may have left gaps.
    if (!held) this.#from = undefined;
    const from = this.#from;
    const overlaps = lookBack || from === undefined || from <= this.#highest;
    return { no: this.no, room, held, from, underWay: overlaps ? this.#underWay.keys() : [] };
  }

  /** Takes what was claimed into its queue. Returns what has to wait for an earlier letter about the same object. */
  take(letters: ClaimedLane['letters'], isAll: boolean): Result[] {
    const putBack: Result[] = [];
    let next = this.#from;
    for (const letter of letters) {
      const { sequence, objectHash, isNew } = letter;
      // What was given back meanwhile may be about the same object, and goes first: both come with the next claim.
      if (sequence > this.#givenBack) continue;
      const first = this.#first.get(objectHash);
      const aside = this.#setAside.size > 0 ? this.#setAside.get(objectHash) : undefined;
      // It was set aside and is due again. Claimed once more when the other one is finished.
      if (!isNew && (first !== undefined || (aside !== undefined && aside.first < sequence))) continue;
      this.#underWay.set(sequence, isNew);
      if (isNew) {
        next = sequence + 1;
        if (sequence > this.#highest) this.#highest = sequence;
        else this.#isMixed = true;
        if (first !== undefined || letter.isBehind || aside) {
          putBack.push(this.#behind(letter, first ?? 0));
          continue;
        }
      }
      this.#first.set(objectHash, sequence);
      this.queue.push(letter);
    }
    if (next !== undefined)
      this.#from = Math.min(isAll ? Math.max(next, this.#highest + 1) : next, this.#givenBack);
    return putBack;
  }

  #behind({ sequence, objectHash, tries }: Letter, after: number): Result {
    this.noteSetAside(objectHash, sequence);
    this.#puttingBack.add(sequence);
    return {
      webhookNo: this.no,
      sequence,
      objectHash,
      triesBefore: tries,
      state: 'waiting',
      retryAt: undefined,
      after,
      attempt: '',
      gone: undefined,
    };
  }

  /** A result that sets a letter about this object aside is about to be written. */
  noteSetAside(object: string, sequence: number): void {
    const known = this.#setAside.get(object);
    if (!known) this.#setAside.set(object, { unwritten: 1, first: sequence });
    else {
      known.unwritten++;
      known.first = Math.min(known.first, sequence);
    }
  }

  /** The result of a letter was written, or nobody will try to any more: then the letter is due as before. */
  settle({ sequence, objectHash, state }: Result, isWritten: boolean): void {
    if (!isWritten && this.#underWay.get(sequence)) this.#giveBack(sequence);
    this.#forget(sequence, objectHash);
    if (state !== 'due' && state !== 'waiting') return;
    this.#puttingBack.delete(sequence);
    const aside = this.#setAside.get(objectHash);
    if (aside) aside.unwritten--;
  }

  /**
   * One that was put back before it was lost must not be written if it is leased again: those before it were not written, are
   * new, and would be overtaken.
   */
  isVoid({ sequence, state }: Result): boolean {
    return state === 'waiting' && !this.#puttingBack.has(sequence);
  }

  /**
   * Another worker has it, or nobody: of the results since then none was written but successes, so nothing is known of the
   * queue any more. Returns how many letters were forgotten.
   */
  lose(): number {
    this.#isLost = true;
    this.heldUntil = 0;
    this.#from = undefined;
    this.#puttingBack.clear();
    return this.drop();
  }

  /** Forgets what was not begun: it is due in the database as before. Returns how many that were. */
  drop(): number {
    const dropped = this.queue.splice(0);
    for (const { sequence, objectHash, isNew } of dropped) {
      if (isNew) this.#giveBack(sequence);
      this.#forget(sequence, objectHash);
    }
    return dropped.length;
  }

  /**
   * Once these results are written, what is the lowest sequence that may be new? While others are under way it may be told too low, as
   * if these were not written yet: the next results make up for it, and with thousands of them under way to be exact takes long.
   */
  lowAfter(results: readonly Result[]): LaneLow {
    // Without knowing where the unclaimed ones begin, nothing can be said.
    let low = this.#from ?? 0;
    const isExact = this.#isMixed || results.length >= this.#underWay.size;
    const written = new Set(isExact ? results.map(({ sequence }) => sequence) : []);
    for (const [sequence, isNew] of this.#underWay) {
      if (!isNew || written.has(sequence)) continue;
      if (sequence < low) low = sequence;
      if (!isExact) break;
    }
    return { no: this.no, low };
  }

  #giveBack(sequence: number): void {
    this.#givenBack = Math.min(this.#givenBack, sequence);
    if (this.#from !== undefined) this.#from = Math.min(this.#from, sequence);
  }

  #forget(sequence: number, objectHash: string): void {
    this.#underWay.delete(sequence);
    if (this.isIdle) this.#isMixed = false;
    if (this.#first.get(objectHash) === sequence) this.#first.delete(objectHash);
  }
}
