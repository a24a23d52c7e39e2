import { describe, expect, it } from 'vitest';
import {
  AimdWindow,
  BACKLOG_EACH_MS,
  BACKLOG_PART,
  CircuitBreaker,
  DIAL_EVERY_MS,
} from '../../src/domain/events/flow-control.ts';

describe('an AIMD window', () => {
  it('opens with every success up to its limit, and closes by half with every failure down to one', () => {
    const window = new AimdWindow(4, 6);
    const windowAfter = (succeeded: boolean) => {
      window.begin();
      window.end(succeeded);
      return window.size;
    };
    expect([windowAfter(true), windowAfter(true), windowAfter(true)]).toEqual([5, 6, 6]);
    expect([windowAfter(false), windowAfter(false), windowAfter(false), windowAfter(false)]).toEqual([
      3, 1, 1, 1,
    ]);
    expect(windowAfter(true)).toBe(2);
  });

  it('has room for as many as are in it', () => {
    const window = new AimdWindow(2, 2);
    window.begin();
    expect(window.hasRoom).toBe(true);
    window.begin();
    expect(window.hasRoom).toBe(false);
    window.end(true);
    expect(window.hasRoom).toBe(true);
  });
});

describe('a host that cannot be reached', () => {
  const failAt = (host: CircuitBreaker, now: number, times = 1) => {
    for (let n = 0; n < times; n++) {
      host.begin();
      host.end(false, now);
    }
  };

  it('is left alone after five failures in a row, longer each time, up to a minute', () => {
    const host = new CircuitBreaker(100);
    failAt(host, 0, 4);
    expect(host.room(0)).toBeGreaterThan(0);
    failAt(host, 0);
    expect(host.room(4_999)).toBe(0);
    expect(host.room(5_000)).toBeGreaterThan(0);
    const rests = [];
    for (let now = 5_000, round = 0; round < 6; round++) {
      failAt(host, now);
      rests.push(host.restsUntil - now);
      now = host.restsUntil;
    }
    expect(rests).toEqual([10_000, 20_000, 40_000, 60_000, 60_000, 60_000]);
  });

  it('gets a single delivery as a probe, whose success opens the way', () => {
    const host = new CircuitBreaker(100);
    failAt(host, 0, 5);
    host.begin();
    expect(host.room(5_000)).toBe(0);
    host.end(true, 5_000);
    expect(host.restsUntil).toBe(0);
    for (let n = 0; n < 99; n++) host.begin();
    expect(host.room(5_000)).toBeGreaterThan(0);
    // And the next rest is a short one again.
    failAt(host, 6_000, 5);
    expect(host.restsUntil).toBe(11_000);
  });

  it('is dialled every few seconds while it rests, and gets a delivery as soon as that works', () => {
    const host = new CircuitBreaker(100);
    expect(host.wantsDial(0)).toBe(false);
    failAt(host, 0, 5);
    for (let now = 5_000; now < 300_000; now = host.restsUntil) failAt(host, now);
    const from = host.restsUntil - 60_000;
    const dialled = Array.from({ length: 60 }, (_, second) => from + second * 1_000).filter((now) =>
      host.wantsDial(now),
    );
    expect(dialled.length).toBe(60_000 / DIAL_EVERY_MS - 1);
    host.dialled(false, from + 10_000);
    expect(host.room(from + 10_000)).toBe(0);
    host.dialled(true, from + 11_000);
    expect(host.room(from + 11_000)).toBe(1);
    expect(host.wantsDial(from + 59_000)).toBe(false);
  });

  it('is forgiven by one answer, whatever it says', () => {
    const host = new CircuitBreaker(100);
    failAt(host, 0, 4);
    host.begin();
    host.end(true, 0);
    failAt(host, 0, 4);
    expect(host.room(0)).toBeGreaterThan(0);
  });

  it('gets what waited for it at a pace once it is back, and what came later at once', () => {
    const host = new CircuitBreaker(10_000);
    expect(host.isBacklog(60_000, 0)).toBe(false);
    failAt(host, 0, 5);
    host.begin();
    host.end(true, 5_000);
    expect(host.isBacklog(5_001, 10_000)).toBe(true);
    expect(host.isBacklog(5_000, 10_000)).toBe(false);
  });

  it('hands out its backlog in parts, one after the other, however many ask', () => {
    const host = new CircuitBreaker(10_000);
    const turns = Array.from({ length: 500 }, () => host.reservePart(BACKLOG_PART, 5_000));
    expect(turns.slice(0, 5)).toEqual([5_000, 5_020, 5_040, 5_060, 5_080]);
    for (const [n, at] of turns.entries())
      expect(at).toBeGreaterThanOrEqual(5_000 + n * BACKLOG_PART * BACKLOG_EACH_MS);
    // Those that are far off come a few at a time.
    expect(turns.at(-1)).toBe(15_040);
    expect(new Set(turns).size).toBe(130);
    expect([host.reservePart(1, 15_000), host.reservePart(1, 15_000)]).toEqual([15_000, 15_002]);
    // Turns that nobody took are not made up for.
    expect([host.reservePart(BACKLOG_PART, 60_000), host.reservePart(BACKLOG_PART, 60_000)]).toEqual([
      60_000,
      60_000 + BACKLOG_PART * BACKLOG_EACH_MS,
    ]);
  });

  it('is known to pace a backlog while that goes out, and for a moment after', () => {
    const host = new CircuitBreaker(100);
    expect(host.isPacing(0)).toBe(false);
    host.reservePart(BACKLOG_PART, 5_000);
    const end = 5_000 + BACKLOG_PART * BACKLOG_EACH_MS + 500;
    expect([host.isPacing(5_000), host.isPacing(end - 1), host.isPacing(end)]).toEqual([true, true, false]);
  });
});
