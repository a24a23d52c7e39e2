import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createEngine } from '../../../src/delivery/engine.ts';
import { Bell } from '../../../src/platform/bell.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { createLogger } from '../../../src/platform/logger.ts';
import {
  answered,
  type DeliveryHarness,
  openDeliveryHarness,
  RETENTION,
} from '../../support/delivery-harness.ts';
import { until } from '../../support/porter-process.ts';

/** Clocks of machines are set, forward and back, and those of two machines differ. */

const DAY = 24 * 3_600_000;

afterEach(() => {
  vi.restoreAllMocks();
});

describe('a clock that is set back by a day', () => {
  it('does not make the rest of a host longer', async () => {
    const office = await openDeliveryHarness();
    await office.addWebhook();
    const failure = { phase: 'connect', code: 'connect_refused', detail: 'refused' } as const;
    office.answerWith(() => ({ ...answered(0), status: undefined, failure }));
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      await office.publish({ id });
      await office.engine.drain();
    }
    expect(office.sent).toHaveLength(5);
    office.answerWith(() => 200);
    office.clock.set(new Date(office.clock.now() - DAY).toISOString());
    await office.publish({ id: 'f' });
    await office.engine.drain();
    expect(office.sent).toHaveLength(5);

    office.clock.advance(60_000);
    await office.engine.drain();
    expect(office.sent.map(({ payload }) => payload.id)).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  });

  it('does not keep a worker from leasing its lanes anew', async () => {
    const office = await openDeliveryHarness();
    await office.addWebhook();
    let answer = (_status: number) => {};
    office.answerWith(
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
    await office.publish({ id: 'a' });
    office.engine.start();
    await until('it was sent', () => office.sent.length === 1);
    office.clock.set(new Date(office.clock.now() - DAY).toISOString());
    office.clock.advance(10_000);
    // Else nobody could take the lane over for a day, should the worker get stuck.
    await until('it is leased anew', async () => {
      const [lane] = await office.rows<{ held_until: Date }>('SELECT held_until FROM webhook_lanes');
      return lane?.held_until.getTime() === office.clock.now() + 20_000;
    });
    answer(200);
  });
});

describe('a node whose clock is a year ahead of the database', () => {
  /** A worker on the same queues. */
  const workerAhead = (office: DeliveryHarness, status: number) => {
    const ahead = Date.now() + 365 * DAY;
    vi.spyOn(systemClock, 'now').mockReturnValue(ahead);
    const engine = createEngine({
      db: office.db,
      clock: systemClock,
      random: randomBytes,
      log: createLogger(() => {}),
      post: async () => answered(status),
      dial: async () => false,
      operatorEgress: { post: async () => answered(status), dial: async () => false },
      newChanges: new Bell(systemClock),
      // What is wrong with its clock it does not know.
      isOnTime: () => true,
      open: ({ sealed }) => sealed,
      retention: RETENTION,
      usage: { deliver: () => {} },
    });
    onTestFinished(() => engine.stop());
    return engine;
  };

  it('removes nothing that is not old by both', async () => {
    const office = await openDeliveryHarness();
    await office.addWebhook();
    const publishedAt = async (moment: number) => {
      office.clock.set(new Date(moment).toISOString());
      await office.publish({ id: 'a' });
      await office.engine.drain();
    };
    await publishedAt(Date.now() - 31 * DAY);
    await publishedAt(Date.now() - 29 * DAY);
    expect(await workerAhead(office, 200).clear()).toBe(2);
    expect(await office.rows('SELECT count(*)::integer AS kept FROM events')).toEqual([{ kept: 1 }]);
  });

  it.each([
    ['does not disable a webhook that began to fail four days ago', 4, 'active'],
    ['disables one that has failed for more than five days', 6, 'disabled'],
  ])('%s', async (_what, days, status) => {
    const office = await openDeliveryHarness();
    await office.addWebhook();
    office.clock.set(new Date(Date.now() - days * DAY).toISOString());
    office.answerWith(() => 500);
    await office.publish({ id: 'a' });
    await office.engine.drain();
    await workerAhead(office, 500).drain();
    expect(await office.rows('SELECT status FROM webhooks')).toEqual([{ status }]);
    expect(await office.rows('SELECT failures FROM webhook_lanes')).toEqual([{ failures: 2 }]);
  });
});
