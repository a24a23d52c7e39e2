import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeCursor } from '../../src/contract/page.ts';
import { ValidationProblem } from '../../src/contract/problems.ts';
import { feedCursor, forkOf, isGone, readFeedCursor } from '../../src/domain/events/feed-cursor.ts';

const HOUR_MS = 3_600_000;
const timeline = (cell: number, beganAt = 2 * HOUR_MS) => `${cell}-${beganAt.toString(16)}-9f86d081884c7d65`;
const here = { head: 100, cell: 0, known: true, until: null };

describe('a cursor of the feed', () => {
  it('is read as it was written, with and without a timeline', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.option(fc.constant(timeline(0))), (position, timeline) => {
        expect(readFeedCursor(feedCursor({ position, timeline }))).toEqual({ position, timeline });
      }),
    );
    expect(readFeedCursor(encodeCursor([7]))).toEqual({ position: 7, timeline: null });
    expect(readFeedCursor(undefined)).toBeUndefined();
  });

  it.each([[[]], [['x']], [[1, 2]], [[1, 'a', 'b']], [[1.5]]])('%j is none', (key) => {
    const cursor = Buffer.from(JSON.stringify(key)).toString('base64url');
    expect(() => readFeedCursor(cursor)).toThrow(ValidationProblem);
  });
});

describe('a place in the feed is gone', () => {
  it.each([
    ['not within the present timeline', { position: 100 }, {}, false],
    ['beyond the end', { position: 101 }, {}, true],
    ['not up to the end of an earlier timeline', { position: 60 }, { until: 60 }, false],
    [
      'beyond the end of an earlier timeline, though others have its position now',
      { position: 61 },
      { until: 60 },
      true,
    ],
    ['in a timeline that nobody knows', { position: 1 }, { known: false }, true],
    ['in something that is no timeline', { position: 1, timeline: 'x' }, { known: false }, true],
    ['not at the very beginning, whatever the timeline', { position: 0 }, { known: false }, false],
    [
      'not without a timeline, as cursors were before',
      { position: 100, timeline: null },
      { known: false },
      false,
    ],
    ['without a timeline beyond the end', { position: 101, timeline: null }, { known: false }, true],
    [
      'not in a timeline of the cell that the practice group came from',
      { position: 100, timeline: timeline(3) },
      { known: false },
      false,
    ],
    [
      'beyond the end, wherever it came from',
      { position: 101, timeline: timeline(3) },
      { known: false },
      true,
    ],
  ])('%s', (_when, place, known, gone) => {
    expect(isGone({ timeline: timeline(0), ...place }, { ...here, ...known })).toBe(gone);
  });
});

describe('a reader whose place is gone goes on', () => {
  it.each([
    ['at the end of its own timeline', timeline(0), { until: 60 }, { position: 60 }],
    ['at the end of the feed, if that went back within the timeline', timeline(0), {}, { position: 100 }],
    [
      'where a timeline began at most an hour before its own, which is not known',
      timeline(0),
      { known: false },
      { timelineSince: HOUR_MS },
    ],
    ['with the first timeline, if its own says nothing', 'x', { known: false }, { timelineSince: 0 }],
    ['with the first timeline, if it has none', null, { known: false }, { timelineSince: 0 }],
    ['at the beginning, if its place is of another cell', timeline(3), { known: false }, { position: 0 }],
  ])('%s', (_where, timeline, known, fork) => {
    expect(forkOf({ position: 1_000, timeline }, { ...here, ...known })).toEqual(fork);
  });
});
