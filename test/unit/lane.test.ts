import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Lane } from '../../src/delivery/lane.ts';
import type { Letter } from '../../src/store/deliveries.ts';
import type { Result } from '../../src/store/deliveries-record.ts';

const letter = (sequence: number, objectHash: string, more: Partial<Letter> = {}): Letter => ({
  sequence,
  objectHash,
  tries: 0,
  payload: '{}',
  acceptedMs: 0,
  isNew: true,
  isBehind: false,
  ...more,
});

const result = (
  { sequence, objectHash, tries }: Letter,
  state: Result['state'],
  after = 0,
): Omit<Result, 'retryAt'> & { retryAt: undefined } => ({
  webhookNo: 7,
  sequence,
  objectHash,
  triesBefore: tries,
  state,
  retryAt: undefined,
  after,
  attempt: '',
  gone: undefined,
});

/** As when a claim is answered in full. */
function claim(lane: Lane, ...letters: Letter[]): Result[] {
  lane.beginClaim(64, true, false);
  return lane.take(letters, true);
}

const queued = (lane: Lane) => lane.queue.map(({ sequence }) => sequence);
const from = (lane: Lane, held = true) => lane.beginClaim(64, held, false).from;

describe('letters about one object', () => {
  it('wait for the one before them until its result is written', () => {
    const lane = new Lane(7);
    const [first, second, third] = [letter(1, 'a'), letter(2, 'a'), letter(3, 'a')];
    expect(claim(lane, first, second, letter(4, 'b'))).toEqual([result(second, 'waiting', 1)]);
    expect(queued(lane)).toEqual([1, 4]);
    lane.settle(result(second, 'waiting', 1), true);
    expect(claim(lane, letter(5, 'a'))).toMatchObject([{ sequence: 5, after: 1 }]);
    lane.settle(result(letter(5, 'a'), 'waiting', 1), true);
    lane.settle(result(first, 'delivered'), true);
    expect(claim(lane, third)).toEqual([]);
    expect(queued(lane)).toEqual([1, 4, 3]);
  });

  it('wait for one that was set aside, although a claim that began before does not know of it', () => {
    const lane = new Lane(7);
    const [first, second, third] = [letter(1, 'a'), letter(2, 'a'), letter(3, 'a')];
    claim(lane, first);
    lane.noteSetAside('a', 1);
    lane.beginClaim(64, true, false);
    lane.settle(result(first, 'due'), true);
    expect(lane.take([second], true)).toEqual([result(second, 'waiting')]);
    lane.settle(result(second, 'waiting'), true);
    // A claim that begins now sees it, and says so.
    expect(claim(lane, third)).toEqual([]);
    expect(claim(lane, letter(4, 'c', { isBehind: true }))).toMatchObject([{ sequence: 4, after: 0 }]);
  });

  it('are left for the next claim when an earlier one was given back during this one', () => {
    const lane = new Lane(7);
    claim(lane, letter(1, 'a'));
    lane.beginClaim(64, true, true);
    lane.drop();
    expect(lane.take([letter(2, 'a'), letter(3, 'a', { isNew: false })], true)).toEqual([]);
    expect(queued(lane)).toEqual([]);
    expect(from(lane)).toBe(1);
  });

  it('are not sent again while an earlier one is being put back', () => {
    const lane = new Lane(7);
    const [second, third] = [letter(2, 'a', { isBehind: true }), letter(3, 'a', { isNew: false })];
    claim(lane, second);
    expect(claim(lane, third)).toEqual([]);
    expect(queued(lane)).toEqual([]);
    lane.settle(result(second, 'waiting'), true);
    claim(lane, third);
    expect(queued(lane)).toEqual([3]);
  });

  it('are not sent again while any that is earlier is being put back', () => {
    const lane = new Lane(7);
    lane.noteSetAside('a', 5);
    lane.noteSetAside('a', 2);
    claim(lane, letter(3, 'a', { isNew: false, tries: 1 }));
    expect(queued(lane)).toEqual([]);
  });

  it('do not keep an earlier one from being sent again while they are put back behind it', () => {
    const lane = new Lane(7);
    claim(lane, letter(3, 'a', { isBehind: true }));
    claim(lane, letter(1, 'a', { isNew: false, tries: 1 }));
    expect(queued(lane)).toEqual([1]);
  });

  it('are sent again only while none of them is under way', () => {
    const lane = new Lane(7);
    const again = letter(1, 'a', { isNew: false, tries: 1 });
    claim(lane, letter(2, 'a'));
    expect(claim(lane, again)).toEqual([]);
    expect(queued(lane)).toEqual([2]);
    lane.settle(result(letter(2, 'a'), 'delivered'), true);
    claim(lane, again);
    expect(queued(lane)).toEqual([2, 1]);
  });
});

describe('what is new', () => {
  it('is claimed from where the last claim ended', () => {
    const lane = new Lane(7);
    expect(from(lane)).toBeUndefined();
    claim(lane, letter(5, 'a'), letter(6, 'b'));
    expect(from(lane)).toBe(7);
    claim(lane, letter(7, 'c'));
    expect(from(lane)).toBe(8);
  });

  it('is claimed again from the first that was given back, without those under way', () => {
    const lane = new Lane(7);
    claim(lane, letter(5, 'a'), letter(6, 'b'), letter(7, 'c'));
    lane.queue.shift();
    expect(lane.drop()).toBe(2);
    const known = lane.beginClaim(64, true, false);
    expect([known.from, [...known.underWay]]).toEqual([6, [5]]);
    // A full claim may have left some: the next one goes on where it ended.
    lane.take([letter(6, 'b')], false);
    expect(from(lane)).toBe(7);
    lane.take([letter(7, 'c')], true);
    expect(from(lane)).toBe(8);
  });

  it('and given back while a claim is under way is not passed over', () => {
    const lane = new Lane(7);
    claim(lane, letter(5, 'a'), letter(6, 'b'));
    lane.beginClaim(64, true, false);
    lane.drop();
    lane.take([letter(7, 'c')], true);
    expect(from(lane)).toBe(5);
  });

  it('whose result could not be written is claimed again', () => {
    const lane = new Lane(7);
    claim(lane, letter(5, 'a'), letter(6, 'b'));
    lane.settle(result(letter(5, 'a'), 'delivered'), false);
    expect(from(lane)).toBe(5);
    lane.take([letter(5, 'a')], true);
    expect(queued(lane)).toEqual([5, 6, 5]);
    // And what it has besides is not read once more.
    expect(from(lane)).toBe(7);
  });

  it('is named to a claim that looks back while it is under way, so that it takes no room of others', () => {
    const lane = new Lane(7);
    claim(lane, letter(5, 'a'));
    expect([...lane.beginClaim(64, true, false).underWay]).toEqual([]);
    expect([...lane.beginClaim(64, true, true).underWay]).toEqual([5]);
  });

  it('is for the database to say once the lane was not held', () => {
    const lane = new Lane(7);
    claim(lane, letter(5, 'a'));
    expect(from(lane, false)).toBeUndefined();
    expect([...lane.beginClaim(64, true, false).underWay]).toEqual([5]);
  });
});

describe('where new letters begin once results are written', () => {
  it('is told as with the results before, until none but those is under way', () => {
    const lane = new Lane(7);
    const [first, second, third] = [letter(5, 'a'), letter(6, 'b'), letter(7, 'c')];
    claim(lane, first, second, third);
    const lowAfter = (...letters: Letter[]) => lane.lowAfter(letters.map((one) => result(one, 'delivered')));
    expect(lowAfter(second)).toEqual({ no: 7, low: 5 });
    expect(lowAfter(first, third)).toEqual({ no: 7, low: 5 });
    for (const one of [first, third]) lane.settle(result(one, 'delivered'), true);
    expect(lowAfter(second, second)).toEqual({ no: 7, low: 8 });
  });

  it('is never after one that is under way, whatever was given back, and exact in the end', () => {
    const step = fc.record({
      what: fc.constantFrom('claim' as const, 'written' as const, 'unwritten' as const, 'drop' as const),
      count: fc.integer({ min: 1, max: 4 }),
      which: fc.integer({ min: 0, max: 99 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const lane = new Lane(7);
        const open = new Set([...Array(40).keys()].map((n) => n + 1));
        const underWay = new Map<number, Letter>();
        for (const { what, count, which } of steps) {
          const chosen = [...underWay.values()].filter((_, n) => (which >> (n % 6)) % 2 === 1);
          if (what === 'claim') {
            const first = from(lane) ?? 1;
            const next = [...open].filter((n) => n >= first && !underWay.has(n)).slice(0, count);
            const letters = next.map((n) => letter(n, `object-${n}`));
            lane.take(letters, false);
            for (const one of letters) underWay.set(one.sequence, one);
          } else if (what === 'drop') {
            for (const { sequence } of lane.queue) underWay.delete(sequence);
            lane.drop();
          } else {
            const results = chosen.map((one) => result(one, 'delivered'));
            const { low } = lane.lowAfter(results);
            const rest = [...underWay.keys()].filter((n) => !chosen.some(({ sequence }) => sequence === n));
            expect(low).toBeLessThanOrEqual(Math.min(from(lane) ?? 0, ...rest));
            if (rest.length === 0) expect(low).toBe(from(lane) ?? 0);
            for (const one of results) {
              lane.settle(one, what === 'written');
              underWay.delete(one.sequence);
              if (what === 'written') open.delete(one.sequence);
              const at = lane.queue.findIndex(({ sequence }) => sequence === one.sequence);
              if (at >= 0) lane.queue.splice(at, 1);
            }
          }
        }
      }),
    );
  });
});

it('a lane has room for what its window holds, without those that wait here or are under way', () => {
  const lane = new Lane(7);
  claim(lane, letter(1, 'a'), letter(2, 'b'));
  expect(lane.room).toBe(2);
  lane.queue.shift();
  lane.flow.begin();
  expect(lane.room).toBe(2);
  // It asks for more only if the last claim left any.
  expect(lane.isHungry).toBe(false);
  lane.more = true;
  expect(lane.isHungry).toBe(true);
});

describe('a lane that was lost', () => {
  it('knows nothing of the queue until it is claimed anew', () => {
    const lane = new Lane(7);
    lane.heldUntil = 20_000;
    claim(lane, letter(1, 'a'), letter(2, 'a'), letter(3, 'b'));
    lane.settle(result(letter(2, 'a'), 'waiting', 1), true);
    expect(lane.lose()).toBe(2);
    expect(lane).toMatchObject({ isLost: true, heldUntil: 0 });
    expect(lane.lowAfter([])).toEqual({ no: 7, low: 0 });
    expect(from(lane)).toBeUndefined();
    expect(lane.isLost).toBe(false);
  });
});
