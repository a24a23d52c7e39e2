import { describe, expect, it } from 'vitest';
import { Outage } from '../../../src/platform/outage.ts';
import { closeDatabase, openDatabase } from '../../../src/store/database.ts';
import { announceLiveness, freeLanesOfTheDead } from '../../../src/store/events/presence.ts';
import { openDeliveryHarness } from '../../support/delivery-harness.ts';
import { ManualClock } from '../../support/manual-clock.ts';

describe("a worker's sign of life", () => {
  it('is an outage, and no bug, while the database is away', async () => {
    const nowhere = openDatabase({ url: 'postgres://nobody:x@127.0.0.1:1/none', connectionsMax: 1 });
    await expect(
      announceLiveness(nowhere, 1, [], () => {}, new ManualClock()).ensure(),
    ).rejects.toBeInstanceOf(Outage);
    await closeDatabase(nowhere);
  });

  it('is there when `ensure` returns, for everybody who asked, and goes with the worker', async () => {
    const office = await openDeliveryHarness();
    const no = await office.addWebhook();
    const presence = announceLiveness(office.db, 7, ['porter_events'], () => {}, office.clock);
    const hold = () => office.rows('UPDATE webhook_lanes SET holder = 7 WHERE webhook_no = $1', [no]);
    await hold();
    void presence.ensure();
    await presence.ensure();
    expect(await freeLanesOfTheDead(office.db, 8)).toBe(0);
    presence.leave();
    await expect.poll(() => freeLanesOfTheDead(office.db, 8)).toBe(1);
  });

  it('hears what others call out, and whom they say it of', async () => {
    const office = await openDeliveryHarness();
    const heard: string[][] = [];
    const presence = announceLiveness(
      office.db,
      7,
      ['porter_queue', 'porter_events'],
      (...what) => heard.push(what),
      office.clock,
    );
    await presence.ensure();
    await office.rows("NOTIFY porter_queue, '12'");
    await office.rows('NOTIFY porter_events');
    await expect
      .poll(() => heard)
      .toEqual([
        ['porter_queue', '12'],
        ['porter_events', ''],
      ]);
    presence.leave();
  });
});
