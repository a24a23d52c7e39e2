import { describe, expect, it } from 'vitest';
import { hasFailed, isHopeless, type Place, pauseAfter, rolesOf } from '../../src/service/processes.ts';

describe('what the processes of one service do', () => {
  it.each([
    [2, ['all', 'api']],
    [3, ['worker', 'api', 'api']],
    [6, ['worker', 'worker', 'api', 'api', 'api', 'api']],
    [8, ['worker', 'worker', 'api', 'api', 'api', 'api', 'api', 'api']],
  ])('%i: %o', (processes, roles) => {
    expect(rolesOf({ role: 'all', processes })).toEqual(roles);
  });

  it('all do what a role says that was set', () => {
    expect(rolesOf({ role: 'worker', processes: 3 })).toEqual(['worker', 'worker', 'worker']);
  });
});

describe('one that ended', () => {
  it('when it was told to has not failed, by Ctrl-C before it had begun neither', () => {
    const by = (code: number | null, signal: NodeJS.Signals | null) => hasFailed({ code, signal });
    expect([by(0, null), by(null, 'SIGTERM'), by(null, 'SIGINT')]).toEqual([false, false, false]);
    expect([by(1, null), by(null, 'SIGKILL'), by(null, null)]).toEqual([true, true, true]);
  });

  it('is followed by another at once, and ever later if that ends too', () => {
    expect([0, 1, 2, 3, 4, 5, 7, 8, 50].map(pauseAfter)).toEqual([
      0, 0, 100, 200, 400, 800, 3_200, 5_000, 5_000,
    ]);
  });

  it('ends the service only if every other place fails in the same way', () => {
    const place = (earlyEnds: number, servingSince?: number): Place => ({
      role: 'api',
      earlyEnds,
      child: { servingSince },
    });
    const now = 100_000;
    expect([5, 6, 7].map((ends) => isHopeless([place(ends), place(6)], now))).toEqual([false, true, true]);
    // The others never failed, and have not served for a minute yet.
    expect(isHopeless([place(50), place(0, 99_000), place(0)], now)).toBe(false);
    expect(isHopeless([place(50), place(6, 40_001)], now)).toBe(true);
    // It failed, and serves well now.
    expect(isHopeless([place(50), place(6, 40_000)], now)).toBe(false);
  });
});
