import fc from 'fast-check';
import { expect } from 'vitest';
import {
  type ClaimedDelivery,
  isVoid,
  type LaneCommand,
  type LaneEvent,
  type LaneResult,
  laneInvariants,
  newLane,
  openFromAfter,
  stepLane,
} from '../../src/domain/events/lane.ts';

/**
 * One lane against a simple model of its queue in the database, of the other workers and of a receiver. Claims and records are not
 * instantaneous: each begins, is executed by the database, and comes back, and anything may happen in between.
 */
export const STEP = fc.oneof(
  { weight: 4, arbitrary: fc.record({ publish: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 4, arbitrary: fc.record({ claim: fc.boolean(), room: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 4, arbitrary: fc.constant('claim is executed' as const) },
  {
    weight: 4,
    arbitrary: fc.record({ claimed: fc.constant(true), places: fc.integer({ min: 0, max: 4 }) }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      answer: fc.nat(5),
      state: fc.constantFrom('delivered' as const, 'delivered' as const, 'due' as const, 'failed' as const),
      places: fc.integer({ min: 0, max: 4 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ record: fc.integer({ min: 1, max: 5 }) }) },
  { weight: 4, arbitrary: fc.constantFrom('record is executed' as const, 'record comes back' as const) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'record fails' as const,
      'drop' as const,
      'renew' as const,
      'lease runs out' as const,
      'another leaves' as const,
    ),
  },
  { weight: 1, arbitrary: fc.record({ takeOver: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ notSent: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ resume: fc.integer({ min: 0, max: 4 }) }) },
);
type Step = typeof STEP extends fc.Arbitrary<infer Value> ? Value : never;

interface Row {
  sequence: number;
  object: string;
  /** Waiting and retry: set aside, until another is finished or until a time, which has always come here. */
  state: 'new' | 'waiting' | 'retry' | 'finished';
}

interface PutBack extends LaneResult {
  after: number;
}

const isOpen = ({ state }: Row) => state !== 'finished';
const isSetAside = ({ state }: Row) => state === 'waiting' || state === 'retry';

/** The rows of one webhook, with the rules of `claim_deliveries` and `record_results`. */
class QueueModel {
  readonly rows: Row[] = [];
  openFrom = 1;
  holder: 'us' | 'another' | 'nobody' = 'nobody';

  claim(from: number | undefined, except: readonly number[], room: number, looksBack: boolean) {
    const first = from ?? this.openFrom;
    const free = this.rows.filter(({ sequence }) => !except.includes(sequence));
    const isBehindNew = (row: Row) =>
      row.sequence >= first &&
      this.#about(row).some(
        ({ state, sequence }) => state === 'new' && sequence >= first && sequence < row.sequence,
      );
    const again = free.filter((row) => looksBack && row.state === 'retry' && !isBehindNew(row));
    const fresh = free.filter(({ state, sequence }) => state === 'new' && sequence >= first);
    return [...again.slice(0, room), ...fresh.slice(0, room)]
      .map((row): ClaimedDelivery => {
        const isNew = row.state === 'new';
        const isBehind =
          isNew && this.#about(row).some((one) => isSetAside(one) && one.sequence < row.sequence);
        return {
          sequence: row.sequence,
          objectHash: row.object,
          groupId: 'group',
          tries: 0,
          payload: '',
          acceptedMs: 0,
          isNew,
          isBehind,
        };
      })
      .sort((a, b) => a.sequence - b.sequence);
  }

  /** Returns whether we hold the lane; if not, nothing but successes is written. */
  record(results: readonly PutBack[], openFrom: number): boolean {
    const isHeld = this.holder === 'us';
    const toWake = new Set<string>();
    for (const { sequence, objectHash, state } of results) {
      const row = this.#row(sequence);
      if (state === 'waiting' || !(row.state === 'new' || row.state === 'retry')) continue;
      if (state !== 'delivered' && !isHeld) continue;
      row.state = state === 'due' ? 'retry' : 'finished';
      if (state !== 'due') toWake.add(objectHash);
    }
    const judged = results
      .filter(({ sequence, state }) => isHeld && state === 'waiting' && this.#row(sequence).state === 'new')
      .sort((a, b) => a.sequence - b.sequence)
      .map(({ sequence, after, objectHash }, index, all) => {
        const row = this.#row(sequence);
        const isFirst = all.findIndex((one) => one.objectHash === objectHash) === index;
        const isLed = this.rows.some(
          (one) => one.sequence === after && (one.state === 'new' || one.state === 'retry'),
        );
        const isBehind =
          !isFirst || this.#about(row).some((one) => isSetAside(one) && one.sequence < sequence);
        return { row, isLed, isBehind };
      });
    for (const { row, isLed, isBehind } of judged) {
      row.state = isLed || isBehind ? 'waiting' : 'retry';
      if (isBehind && !isLed) toWake.add(row.object);
    }
    for (const object of toWake) {
      const aside = this.rows.filter((row) => row.object === object && isSetAside(row));
      if (aside[0] && aside.every(({ state }) => state === 'waiting')) aside[0].state = 'retry';
    }
    if (isHeld) this.openFrom = Math.max(this.openFrom, openFrom);
    return isHeld;
  }

  /** Another worker has the lane and delivers the first of what is open, in order. */
  takeOver(count: number): void {
    this.holder = 'another';
    for (const row of this.rows.filter(isOpen).slice(0, count)) {
      row.state = 'finished';
      const aside = this.rows.filter((one) => one.object === row.object && isSetAside(one));
      if (aside[0] && aside.every(({ state }) => state === 'waiting')) aside[0].state = 'retry';
    }
  }

  /** Earlier ones about the same object that are not finished. */
  openBefore(delivery: ClaimedDelivery): Row[] {
    return this.rows.filter(
      (row) => row.object === delivery.objectHash && row.sequence < delivery.sequence && isOpen(row),
    );
  }

  #row(sequence: number): Row {
    return this.rows[sequence - 1] as Row;
  }

  #about({ object }: Row): Row[] {
    return this.rows.filter((row) => row.object === object);
  }
}

interface Claim {
  from: number | undefined;
  except: readonly number[];
  room: number;
  looksBack: boolean;
  isHeld: boolean;
  answer?: ClaimedDelivery[] | undefined;
  isExecuted: boolean;
}

interface Batch {
  results: PutBack[];
  openFrom: number;
  isHeld?: boolean;
}

export class LaneWorld {
  readonly #queue = new QueueModel();
  readonly #lane = newLane();
  readonly #inFlight: ClaimedDelivery[] = [];
  readonly #results: PutBack[] = [];
  /** What we believe. */
  #isHeld = false;
  #claim: Claim | undefined;
  #batch: Batch | undefined;

  do(step: Step): void {
    if (step === 'claim is executed') this.#executeClaim();
    else if (step === 'record is executed') this.#executeRecord();
    else if (step === 'record comes back') this.#endRecord();
    else if (step === 'record fails') this.#failRecord();
    else if (step === 'drop') this.#step({ type: 'dropped' });
    else if (step === 'renew') this.#renew();
    else if (step === 'lease runs out') this.#isHeld = false;
    else if (step === 'another leaves') this.#leave();
    else if ('publish' in step) this.#publish(step.publish);
    else if ('claim' in step) this.#beginClaim(step.claim, step.room);
    else if ('claimed' in step) this.#endClaim(step.places);
    else if ('answer' in step) this.#answer(step.answer, step.state, step.places);
    else if ('record' in step) this.#beginRecord(step.record);
    else if ('notSent' in step) this.#notSent(step.notSent);
    else if ('resume' in step) this.#step({ type: 'resumed', places: step.resume });
    else this.#queue.takeOver(step.takeOver);
    this.#nothingNewIsPassedOver();
  }

  /** From now on everybody is well. Whatever was published arrives. */
  finish(): void {
    this.#leave();
    for (let round = 0; this.#queue.rows.some(isOpen); round++) {
      if (round > 200) throw new Error(`never finished: ${JSON.stringify(this.#queue.rows.filter(isOpen))}`);
      this.#beginClaim(true, 6);
      this.#executeClaim();
      this.#endClaim(4);
      while (this.#inFlight.length > 0) this.#answer(0, 'delivered', 4);
      while (this.#results.length > 0 || this.#batch) {
        this.#beginRecord(5);
        this.#executeRecord();
        this.#endRecord();
      }
    }
  }

  #step(event: LaneEvent): void {
    const commands = stepLane(this.#lane, event);
    for (const [name, holds] of Object.entries(laneInvariants))
      expect(holds(this.#lane), `${name} after ${event.type}`).toBe(true);
    for (const command of commands) this.#obey(command);
  }

  #obey(command: LaneCommand): void {
    if (command.type === 'putBack') {
      const { sequence, objectHash } = command.delivery;
      this.#results.push({ sequence, objectHash, state: 'waiting', after: command.after });
    } else if (command.type === 'send') {
      // A worker that lost its lane without noticing may send what another one has under way.
      if (this.#queue.holder === 'us')
        expect(this.#queue.openBefore(command.delivery), 'sent before an earlier one').toEqual([]);
      for (const { objectHash } of this.#inFlight) expect(objectHash).not.toBe(command.delivery.objectHash);
      this.#inFlight.push(command.delivery);
    }
  }

  /** What is new and comes before what the lane will claim next, it has already. */
  #nothingNewIsPassedOver(): void {
    const { claimFrom, unrecorded } = this.#lane;
    if (claimFrom === undefined || this.#queue.holder !== 'us') return;
    for (const { sequence, state } of this.#queue.rows)
      if (state === 'new' && sequence < claimFrom) expect(unrecorded.has(sequence)).toBe(true);
  }

  #publish(object: number): void {
    const sequence = this.#queue.rows.length + 1;
    this.#queue.rows.push({ sequence, object: `object-${object}`, state: 'new' });
  }

  #beginClaim(looksBack: boolean, room: number): void {
    if (this.#claim) return;
    const commands = stepLane(this.#lane, { type: 'claiming', isHeld: this.#isHeld, looksBack });
    const [command] = commands;
    if (command?.type !== 'claim') throw new Error('no claim');
    const { from, except } = command;
    this.#claim = { from, except, room, looksBack, isHeld: this.#isHeld, isExecuted: false };
  }

  #executeClaim(): void {
    const claim = this.#claim;
    if (!claim || claim.isExecuted) return;
    claim.isExecuted = true;
    // Whoever believes to hold the lease is not asked for it.
    if (!claim.isHeld && this.#queue.holder === 'another') return;
    if (!claim.isHeld) this.#queue.holder = 'us';
    claim.answer = this.#queue.claim(claim.from, claim.except, claim.room, claim.looksBack);
  }

  #endClaim(places: number): void {
    if (!this.#claim?.isExecuted) return;
    const { answer, room } = this.#claim;
    this.#claim = undefined;
    if (!answer) return;
    if (!this.#lane.isLost) this.#isHeld = true;
    this.#step({ type: 'claimed', deliveries: answer, isAll: answer.length < room, places });
  }

  #answer(index: number, state: 'delivered' | 'failed' | 'due', places: number): void {
    const [delivery] = this.#inFlight.splice(index % Math.max(1, this.#inFlight.length), 1);
    if (!delivery) return;
    const { sequence, objectHash } = delivery;
    this.#results.push({ sequence, objectHash, state, after: 0 });
    this.#step({ type: 'answered', delivery, state, places });
  }

  /** Its lease ran out before the first byte went out. */
  #notSent(index: number): void {
    const [delivery] = this.#inFlight.splice(index % Math.max(1, this.#inFlight.length), 1);
    if (!delivery) return;
    this.#step({ type: 'notSent', delivery });
    this.#lose();
  }

  #beginRecord(count: number): void {
    if (this.#batch) return;
    const taken = this.#results.splice(0, count);
    for (const result of taken)
      if (isVoid(this.#lane, result)) this.#step({ type: 'unrecorded', result });
      else {
        this.#batch ??= { results: [], openFrom: 0 };
        this.#batch.results.push(result);
      }
    if (!this.#batch) return;
    const { results } = this.#batch;
    const openFrom = openFromAfter(this.#lane, results);
    this.#batch.openFrom = openFrom;
    const others = [...this.#lane.unrecorded.values()].filter(
      (one) => one.isNew && !results.some(({ sequence }) => sequence === one.sequence),
    );
    for (const { sequence } of others) expect(openFrom).toBeLessThanOrEqual(sequence);
    // While others are under way it may be told too low.
    if (results.length === this.#lane.unrecorded.size) expect(openFrom).toBe(this.#lane.claimFrom ?? 0);
  }

  #executeRecord(): void {
    if (!this.#batch || this.#batch.isHeld !== undefined) return;
    const { results, openFrom } = this.#batch;
    this.#batch.isHeld = this.#queue.record(results, openFrom);
    if (!this.#batch.isHeld) return;
    for (const { sequence, state } of this.#queue.rows)
      expect(state === 'new' && sequence < this.#queue.openFrom, 'new before open_from').toBe(false);
  }

  #endRecord(): void {
    if (this.#batch?.isHeld === undefined) return;
    const { results, isHeld } = this.#batch;
    this.#batch = undefined;
    for (const result of results) this.#step({ type: 'recorded', result });
    if (!isHeld) this.#lose();
  }

  /** The database refuses these results, whatever is tried. */
  #failRecord(): void {
    if (!this.#batch || this.#batch.isHeld !== undefined) return;
    const { results } = this.#batch;
    this.#batch = undefined;
    for (const result of results) this.#step({ type: 'unrecorded', result });
  }

  #renew(): void {
    if (this.#lane.unrecorded.size > 0 && this.#queue.holder !== 'us') this.#lose();
  }

  #leave(): void {
    if (this.#queue.holder === 'another') this.#queue.holder = 'nobody';
  }

  #lose(): void {
    this.#isHeld = false;
    this.#step({ type: 'lost' });
  }
}
