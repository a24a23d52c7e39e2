import type { OperatorPrincipal } from '../domain/access/principal.ts';
import type { RandomBytes } from '../domain/ids.ts';
import type { Clock } from '../platform/clock.ts';
import type { Sealed } from '../platform/sealing.ts';
import type { Semaphore } from '../platform/semaphore.ts';
import { type Database, type IfLocked, type Transaction, transact } from '../store/database.ts';
import { isOnlyLate } from '../store/database-errors.ts';
import { freeKeys, type KeptAnswer, putAnswers, takeKeys, type Wanted } from '../store/idempotency.ts';
import { waitForLocks } from '../store/lock-wait.ts';
import { Batcher } from './batcher.ts';
import { WaitingLines } from './waiting-lines.ts';

/**
 * Calls that change one small thing each, and come one by one because that is how it happens: a form is sent, a job is done. Those that are
 * made at the same time share a transaction, and nothing else:
 *
 *   1. Take their Idempotency-Keys. A call whose key was used before is told what was answered then.
 *   2. Lock what they are about, and read it. What somebody else has locked at that moment is passed over, and waited for in a transaction of its
 *      own, so that its neighbours need not, nor those who come next. A key that somebody else has is waited for in the same way. Few transactions
 *      wait at once: each has a connection.
 *   3. Decide each call on what the ones before it left behind, in the order of their arrival.
 *   4. Write all that they change, their events, their audit entries and their answers. The keys of those that were refused are free again.
 *
 * Two nodes never deadlock: keys are taken first and in their order, a row is waited for only by a transaction that needs no other, IDs are taken in
 * their order, and the head of the audit comes last. A transaction that fails is tried again with each call alone (runtime/batcher.ts).
 */

/** What a call is decided and written with. */
export interface Tools {
  clock: Clock;
  random: RandomBytes;
}

export interface GatheredCall {
  principal: OperatorPrincipal;
  requestId: string;
  traceparent?: string | undefined;
  /** Of a call with an Idempotency-Key. */
  keep?: ToKeep | undefined;
}

/** Its key, and how the answer is kept for it. */
export interface ToKeep extends Wanted {
  seal(body: unknown): Sealed;
}

/** Told of a call whose key was used before. */
export class AnsweredBefore extends Error {
  readonly kept: KeptAnswer;

  constructor(kept: KeptAnswer) {
    super('the call was answered before');
    this.kept = kept;
  }
}

/** Somebody else has locked what the call is about. */
export const BUSY = Symbol('busy');
/** To be made again: an earlier call of the batch has the same key, or what was kept for it was cleared away just now. */
const AGAIN = Symbol('again');

export type Decision<Body> = Body | Error | typeof BUSY;
type Outcome<Body> = Decision<Body> | typeof AGAIN;
/** What is still waited for is told as a promise. */
type Told<Body> = Outcome<Body> | Promise<Outcome<Body>>;

/** How the calls of an operation are carried out together. */
export interface Gathered<Call extends GatheredCall, Body extends object> {
  /** What the call is about. Calls about the same are never in two batches at once, except those that wait for somebody else's lock. */
  objectOf(call: Call): string;
  /** Decides every call, in their order, and writes what those change that are not refused. Of what it passes over, nothing is decided. */
  carryOut(
    tools: Tools,
    tx: Transaction,
    calls: readonly Call[],
    ifLocked: IfLocked,
  ): Promise<Decision<Body>[]>;
}

const BATCH_MAX = 256;
const BATCHES_AT_ONCE = 2;

/** Carries out a call with those that are made at the same time; settled when that is committed. */
export type Submit<Call, Body> = (call: Call) => Promise<Body>;

export function gather<Call extends GatheredCall, Body extends object>(
  db: Database,
  tools: Tools,
  { objectOf, carryOut }: Gathered<Call, Body>,
  waiting: Semaphore,
): Submit<Call, Body> {
  const together = (calls: readonly Call[], ifLocked: IfLocked): Promise<Outcome<Body>[]> =>
    transact(
      db,
      calls.map(({ principal }) => principal),
      async (tx) => {
        if (ifLocked === 'pass over') waitForLocks(tx, 'briefly');
        const outcomes = await answeredBefore(tx, calls);
        const open = calls.filter((call) => !outcomes.has(call));
        const decisions = open.length > 0 ? await carryOut(tools, tx, open, ifLocked) : [];
        open.forEach((call, place) => {
          outcomes.set(call, decisions[place] as Decision<Body>);
        });
        keepAnswers(tx, open, outcomes);
        // The head of the audit comes next: everybody waits for that.
        if (ifLocked === 'pass over') waitForLocks(tx, 'as usual');
        return calls.map((call) => outcomes.get(call) as Outcome<Body>);
      },
    );
  const lines = new WaitingLines<Call, Outcome<Body>>(BATCH_MAX, waiting, (calls) => together(calls, 'wait'));

  /** Undefined: nothing was done, for something is locked that could not be passed over. */
  const inPassing = async (calls: readonly Call[]): Promise<Told<Body>[] | undefined> => {
    try {
      const outcomes = await together(calls, 'pass over');
      return calls.map((call, place): Told<Body> => {
        const outcome = outcomes[place] as Outcome<Body>;
        return outcome === BUSY ? lines.submit(objectOf(call), call) : outcome;
      });
    } catch (error) {
      if (isOnlyLate(error)) return undefined;
      throw error;
    }
  };

  const write = async (calls: readonly Call[]): Promise<Told<Body>[]> => {
    const outcomes = await inPassing(calls);
    if (outcomes) return outcomes;
    // Most likely another transaction holds one of their keys; calls without a key need not wait for it.
    const keyless = calls.filter(({ keep }) => !keep);
    const isMixed = keyless.length > 0 && keyless.length < calls.length;
    const others = (isMixed && (await inPassing(keyless))) || [];
    const ofKeyless = new Map<Call, Told<Body> | undefined>(
      keyless.map((call, place) => [call, others[place]]),
    );
    return calls.map(
      (call): Told<Body> =>
        ofKeyless.get(call) ?? lines.submit(call.keep ? keyOf(call.keep) : objectOf(call), call),
    );
  };

  const batcher = new Batcher(BATCH_MAX, write, { atOnce: BATCHES_AT_ONCE, keyOf: objectOf });
  return async (call) => {
    for (;;) {
      const outcome = await batcher.submit(call);
      if (outcome === AGAIN) continue;
      if (outcome === BUSY) throw new Error('a call was not waited for');
      if (outcome instanceof Error) throw outcome;
      return outcome;
    }
  };
}

const keyOf = ({ callerId, key }: Wanted) => `${callerId} ${key}`;

/** Takes the keys of the calls; those that are not to be carried out have an outcome already. */
async function answeredBefore<Call extends GatheredCall, Body>(
  tx: Transaction,
  calls: readonly Call[],
): Promise<Map<Call, Outcome<Body>>> {
  const outcomes = new Map<Call, Outcome<Body>>();
  const firsts = new Map<string, Call>();
  for (const call of calls) {
    if (!call.keep) continue;
    const key = keyOf(call.keep);
    if (firsts.has(key)) outcomes.set(call, AGAIN);
    else firsts.set(key, call);
  }
  if (firsts.size === 0) return outcomes;
  const keyed = [...firsts.values()];
  const taken = await takeKeys(
    tx,
    keyed.flatMap(({ keep }) => keep ?? []),
  );
  keyed.forEach((call, place) => {
    const found = taken[place];
    if (found === 'taken') return;
    outcomes.set(call, found === 'gone' || !found ? AGAIN : new AnsweredBefore(found));
  });
  return outcomes;
}

/** With what was done; and whoever was refused, or has to wait, did not use its key. */
function keepAnswers<Call extends GatheredCall, Body>(
  tx: Transaction,
  calls: readonly Call[],
  outcomes: ReadonlyMap<Call, Outcome<Body>>,
): void {
  const answers: (Wanted & { sealed: Sealed })[] = [];
  const unused: Wanted[] = [];
  for (const call of calls) {
    const outcome = outcomes.get(call);
    if (!call.keep) continue;
    if (outcome === BUSY || outcome instanceof Error) unused.push(call.keep);
    else answers.push({ ...call.keep, sealed: call.keep.seal(outcome) });
  }
  if (answers.length > 0) putAnswers(tx, answers);
  if (unused.length > 0) freeKeys(tx, unused);
}
