import { describe, expect, it } from 'vitest';
import { AimdWindow, CircuitBreaker, DIAL_EVERY_MS } from '../../src/domain/flow-control.ts';

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
      host.begin(0, now);
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
    host.begin(0, 5_000);
    expect(host.room(5_000)).toBe(0);
    host.end(true, 5_000);
    expect(host.restsUntil).toBe(0);
    for (let n = 0; n < 99; n++) host.begin(0, 5_000);
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
    host.begin(0, 0);
    host.end(true, 0);
    failAt(host, 0, 4);
    expect(host.room(0)).toBeGreaterThan(0);
  });

  it('gets what waited for it at a pace once it is back, and what came later at once', () => {
    const host = new CircuitBreaker(10_000);
    expect(host.backlogRoom(60_000, 0)).toBe(Number.POSITIVE_INFINITY);
    failAt(host, 0, 5);
    host.begin(5_000, 5_000);
    host.end(true, 5_000);
    // Ten seconds long, whoever asks for more than it may have: every millisecond, what waited since before goes as far as it may.
    let sent = 0;
    for (let now = 5_000; now < 15_000; now++) {
      const waitedMs = now;
      for (let room = host.backlogRoom(waitedMs, now); room > 0; room--, sent++) host.begin(waitedMs, now);
      expect(host.backlogRoom(now - 5_001, now)).toBe(Number.POSITIVE_INFINITY);
    }
    expect(sent).toBeGreaterThanOrEqual(9_950);
    expect(sent).toBeLessThanOrEqual(10_010);
  });

  it('is known to pace a backlog while that goes out, and for a moment after', () => {
    const host = new CircuitBreaker(100);
    host.begin(60_000, 0);
    expect(host.isPacing(0)).toBe(false);
    host.cancel();
    failAt(host, 0, 5);
    host.begin(5_000, 5_000);
    host.end(true, 5_000);
    expect(host.isPacing(5_000)).toBe(false);
    host.begin(5_020, 5_020);
    expect([host.isPacing(5_020), host.isPacing(5_519), host.isPacing(5_520)]).toEqual([true, true, false]);
  });
});
