import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type ClaimedDelivery,
  isVoid,
  type LaneCommand,
  type LaneEvent,
  type LaneResult,
  type LaneState,
  laneInvariants,
  newLane,
  openFromAfter,
  roomIn,
  SENT_UNRECORDED_MAX,
  stepLane,
} from '../../src/domain/events/lane.ts';
import { LaneWorld, STEP } from '../support/lane-model.ts';

const delivery = (
  sequence: number,
  objectHash: string,
  more: Partial<ClaimedDelivery> = {},
): ClaimedDelivery => ({
  sequence,
  objectHash,
  groupId: 'group',
  tries: 0,
  payload: '{}',
  acceptedMs: 0,
  isNew: true,
  isBehind: false,
  ...more,
});

/** Every lane here may send so many at once as its window holds. */
const PLACES = 1_000;

/** A lane in which everything stays queued behind one delivery that hangs. */
function busyLane(): LaneState {
  const lane = newLane(1);
  step(lane, { type: 'claiming', isHeld: true, looksBack: false });
  step(lane, { type: 'claimed', deliveries: [delivery(1, 'hangs')], isAll: true, places: PLACES });
  return lane;
}

function step(lane: LaneState, event: LaneEvent): LaneCommand[] {
  const commands = stepLane(lane, event);
  for (const [name, holds] of Object.entries(laneInvariants)) expect(holds(lane), name).toBe(true);
  return commands;
}

function begin(lane: LaneState, { isHeld = true, looksBack = false } = {}) {
  const [command] = step(lane, { type: 'claiming', isHeld, looksBack });
  if (command?.type !== 'claim') throw new Error('no claim');
  return command;
}

const claimed = (lane: LaneState, deliveries: ClaimedDelivery[], isAll = true) =>
  step(lane, { type: 'claimed', deliveries, isAll, places: PLACES });

/** As when a claim is answered in full. */
function claim(lane: LaneState, ...deliveries: ClaimedDelivery[]): LaneCommand[] {
  begin(lane);
  return claimed(lane, deliveries);
}

const answer = (lane: LaneState, one: ClaimedDelivery, state: 'delivered' | 'due' = 'delivered') =>
  step(lane, { type: 'answered', delivery: one, state, places: PLACES });

const recorded = (lane: LaneState, result: LaneResult) => step(lane, { type: 'recorded', result });

const result = (
  { sequence, objectHash }: ClaimedDelivery,
  state: LaneResult['state'] = 'delivered',
): LaneResult => ({ sequence, objectHash, state });

const putBack = (one: ClaimedDelivery, after: number): LaneCommand => ({
  type: 'putBack',
  delivery: one,
  after,
});
const send = (one: ClaimedDelivery): LaneCommand => ({ type: 'send', delivery: one });
const queued = (lane: LaneState) => lane.queue.map(({ sequence }) => sequence);

describe('deliveries about one object', () => {
  it('wait for the one before them until its result is recorded', () => {
    const lane = newLane();
    const [first, second, third] = [delivery(1, 'a'), delivery(2, 'a'), delivery(3, 'a')];
    const other = delivery(4, 'b');
    expect(claim(lane, first, second, other)).toEqual([putBack(second, 1), send(first), send(other)]);
    recorded(lane, result(second, 'waiting'));
    const fifth = delivery(5, 'a');
    expect(claim(lane, fifth)).toEqual([putBack(fifth, 1)]);
    recorded(lane, result(fifth, 'waiting'));
    answer(lane, first);
    recorded(lane, result(first));
    expect(claim(lane, third)).toEqual([send(third)]);
  });

  it('wait for one that was set aside, although a claim that began before does not know of it', () => {
    const lane = newLane();
    const [first, second, third] = [delivery(1, 'a'), delivery(2, 'a'), delivery(3, 'a')];
    claim(lane, first);
    answer(lane, first, 'due');
    begin(lane);
    recorded(lane, result(first, 'due'));
    expect(claimed(lane, [second])).toEqual([putBack(second, 0)]);
    recorded(lane, result(second, 'waiting'));
    // A claim that begins now sees it, and says so.
    expect(claim(lane, third)).toEqual([send(third)]);
    const fourth = delivery(4, 'c', { isBehind: true });
    expect(claim(lane, fourth)).toEqual([putBack(fourth, 0)]);
  });

  it('are left for the next claim when an earlier one was given back during this one', () => {
    const lane = busyLane();
    claim(lane, delivery(2, 'a'));
    begin(lane, { looksBack: true });
    step(lane, { type: 'dropped' });
    expect(claimed(lane, [delivery(3, 'a'), delivery(4, 'a', { isNew: false })])).toEqual([]);
    expect(queued(lane)).toEqual([]);
    expect(begin(lane).from).toBe(2);
  });

  it('are not sent again while an earlier one is being put back', () => {
    const lane = newLane();
    const [second, third] = [delivery(2, 'a', { isBehind: true }), delivery(3, 'a', { isNew: false })];
    claim(lane, second);
    expect(claim(lane, third)).toEqual([]);
    recorded(lane, result(second, 'waiting'));
    expect(claim(lane, third)).toEqual([send(third)]);
  });

  it('are not sent again while any that is earlier is being put back', () => {
    const lane = newLane();
    claim(lane, delivery(5, 'a', { isBehind: true }));
    claim(lane, delivery(2, 'a', { isBehind: true }));
    expect(claim(lane, delivery(3, 'a', { isNew: false, tries: 1 }))).toEqual([]);
  });

  it('do not keep an earlier one from being sent again while they are put back behind it', () => {
    const lane = newLane();
    claim(lane, delivery(3, 'a', { isBehind: true }));
    const again = delivery(1, 'a', { isNew: false, tries: 1 });
    expect(claim(lane, again)).toEqual([send(again)]);
  });

  it('are sent again only while none of them is under way', () => {
    const lane = newLane();
    const again = delivery(1, 'a', { isNew: false, tries: 1 });
    const second = delivery(2, 'a');
    claim(lane, second);
    expect(claim(lane, again)).toEqual([]);
    answer(lane, second);
    recorded(lane, result(second));
    expect(claim(lane, again)).toEqual([send(again)]);
  });
});

describe('what is new', () => {
  it('is claimed from where the last claim ended', () => {
    const lane = newLane();
    expect(begin(lane).from).toBeUndefined();
    claim(lane, delivery(5, 'a'), delivery(6, 'b'));
    expect(begin(lane).from).toBe(7);
    claim(lane, delivery(7, 'c'));
    expect(begin(lane).from).toBe(8);
  });

  it('is claimed again from the first that was given back, without those under way', () => {
    const lane = newLane(1);
    claim(lane, delivery(5, 'a'), delivery(6, 'b'), delivery(7, 'c'));
    step(lane, { type: 'dropped' });
    expect(begin(lane)).toMatchObject({ from: 6, except: [5] });
    // A full claim may have left some: the next one goes on where it ended.
    claimed(lane, [delivery(6, 'b')], false);
    expect(begin(lane).from).toBe(7);
    claimed(lane, [delivery(7, 'c')]);
    expect(begin(lane).from).toBe(8);
  });

  it('and given back while a claim is under way is not passed over', () => {
    const lane = busyLane();
    claim(lane, delivery(5, 'a'), delivery(6, 'b'));
    begin(lane);
    step(lane, { type: 'dropped' });
    claimed(lane, [delivery(7, 'c')]);
    expect(begin(lane).from).toBe(5);
  });

  it('whose result could not be recorded is claimed again', () => {
    const lane = newLane();
    const [fifth, sixth] = [delivery(5, 'a'), delivery(6, 'b')];
    claim(lane, fifth, sixth);
    answer(lane, fifth);
    step(lane, { type: 'unrecorded', result: result(fifth) });
    expect(begin(lane).from).toBe(5);
    expect(claimed(lane, [fifth])).toEqual([send(fifth)]);
    // And what it has besides is not read once more.
    expect(begin(lane).from).toBe(7);
  });

  it('is named to a claim that looks back while it is under way, so that it takes no room of others', () => {
    const lane = newLane();
    claim(lane, delivery(5, 'a'));
    expect(begin(lane).except).toEqual([]);
    expect(begin(lane, { looksBack: true }).except).toEqual([5]);
  });

  it('is for the database to say once the lane was not held', () => {
    const lane = newLane();
    claim(lane, delivery(5, 'a'));
    expect(begin(lane, { isHeld: false }).from).toBeUndefined();
    expect(begin(lane).except).toEqual([5]);
  });
});

describe('where new deliveries begin once results are recorded', () => {
  it('is told as with the results before, until none but those is under way', () => {
    const lane = newLane();
    const [first, second, third] = [delivery(5, 'a'), delivery(6, 'b'), delivery(7, 'c')];
    claim(lane, first, second, third);
    const openFrom = (...deliveries: ClaimedDelivery[]) =>
      openFromAfter(
        lane,
        deliveries.map((one) => result(one)),
      );
    expect(openFrom(second)).toBe(5);
    expect(openFrom(first, third)).toBe(5);
    for (const one of [first, third]) {
      answer(lane, one);
      recorded(lane, result(one));
    }
    expect(openFrom(second, second)).toBe(8);
  });
});

describe('room', () => {
  it('is what the window holds, without those that are queued or in flight', () => {
    const lane = newLane(2);
    claim(lane, delivery(1, 'a'));
    expect(roomIn(lane)).toBe(1);
    claim(lane, delivery(2, 'b'), delivery(3, 'c'));
    expect(queued(lane)).toEqual([3]);
    expect(roomIn(lane)).toBe(0);
  });

  it('of others is kept: no more is sent than there are places', () => {
    const lane = newLane();
    const [first, second] = [delivery(1, 'a'), delivery(2, 'b')];
    begin(lane);
    expect(step(lane, { type: 'claimed', deliveries: [first, second], isAll: true, places: 1 })).toEqual([
      send(first),
    ]);
    expect(step(lane, { type: 'answered', delivery: first, state: 'delivered', places: 1 })).toEqual([
      send(second),
    ]);
  });

  it('that comes free is told if the last claim left any', () => {
    const lane = newLane();
    const [first, second] = [delivery(1, 'a'), delivery(2, 'b')];
    claim(lane, first);
    expect(answer(lane, first)).toEqual([]);
    begin(lane);
    claimed(lane, [second], false);
    expect(answer(lane, second)).toEqual([{ type: 'claimMore' }]);
  });

  it('that nobody has leaves nothing queued: without any in flight, nobody would come back for it', () => {
    const lane = newLane();
    begin(lane);
    step(lane, { type: 'claimed', deliveries: [delivery(1, 'a')], isAll: true, places: 0 });
    expect(queued(lane)).toEqual([]);
    expect(begin(lane).from).toBe(1);
  });
});

describe('a lane that was lost', () => {
  it('knows nothing of the queue until it is claimed anew', () => {
    const lane = busyLane();
    const second = delivery(2, 'hangs');
    claim(lane, second, delivery(3, 'b'));
    begin(lane);
    step(lane, { type: 'lost' });
    expect(queued(lane)).toEqual([]);
    expect(lane.isLost).toBe(true);
    expect(openFromAfter(lane, [])).toBe(0);
    // What it was being handed may be somebody else's, and what it was putting back may not be written.
    expect(claimed(lane, [delivery(1, 'c', { isNew: false, tries: 1 })])).toEqual([]);
    expect(queued(lane)).toEqual([]);
    expect(isVoid(lane, result(second, 'waiting'))).toBe(true);
    expect(begin(lane).from).toBeUndefined();
    expect(lane.isLost).toBe(false);
  });
});

it('what is put back behind one that may not be recorded any more may not be recorded either', () => {
  const lane = newLane();
  const [second, third] = [delivery(2, 'a', { isBehind: true }), delivery(3, 'a')];
  claim(lane, second);
  step(lane, { type: 'lost' });
  begin(lane, { isHeld: false });
  expect(claimed(lane, [third])).toEqual([putBack(third, 0)]);
  step(lane, { type: 'unrecorded', result: result(second, 'waiting') });
  expect(isVoid(lane, result(third, 'waiting'))).toBe(true);
  step(lane, { type: 'unrecorded', result: result(third, 'waiting') });
  expect(begin(lane).from).toBe(2);
});

it('no more is sent than may be unrecorded, and it goes on when results are recorded', () => {
  const lane = newLane(64);
  const all = Array.from({ length: 300 }, (_, n) => delivery(n + 1, `object-${n}`));
  const sent: ClaimedDelivery[] = [];
  const note = (commands: LaneCommand[]) => {
    for (const command of commands) if (command.type === 'send') sent.push(command.delivery);
  };
  note(claim(lane, ...all));
  for (const one of sent) note(answer(lane, one));
  expect(sent).toHaveLength(SENT_UNRECORDED_MAX);
  expect(lane.queue).toHaveLength(300 - SENT_UNRECORDED_MAX);
  for (const one of sent.slice(0, 10)) recorded(lane, result(one));
  note(step(lane, { type: 'resumed', places: PLACES }));
  expect(sent).toHaveLength(SENT_UNRECORDED_MAX + 10);
});

it('what was not sent after all is claimed again, and no failure of the receiver', () => {
  const lane = newLane(4);
  const [first, second] = [delivery(1, 'a'), delivery(2, 'a')];
  claim(lane, first, second);
  step(lane, { type: 'notSent', delivery: first });
  step(lane, { type: 'lost' });
  expect([lane.window.size, lane.window.inFlight]).toEqual([4, 0]);
  // The one behind it must not be put back: nothing would wake it.
  expect(isVoid(lane, result(second, 'waiting'))).toBe(true);
  step(lane, { type: 'unrecorded', result: result(second, 'waiting') });
  expect(begin(lane, { isHeld: false })).toMatchObject({ from: undefined, except: [] });
  expect(claimed(lane, [first])).toEqual([send(first)]);
});

describe('whatever happens, and in whatever order', () => {
  it('the invariants hold, nothing is sent out of order, and everything arrives in the end', () => {
    fc.assert(
      fc.property(fc.array(STEP, { minLength: 20, maxLength: 200, size: 'max' }), (steps) => {
        const world = new LaneWorld();
        for (const one of steps) world.do(one);
        world.finish();
      }),
      { numRuns: 500 },
    );
  });
});
