import { describe, expect, it } from 'vitest';
import { porter } from '../../support/cli.ts';
import { newPartner, publish } from '../../support/post.ts';
import { RealClock } from '../../support/real-clock.ts';
import { startReceiver } from '../../support/receiver.ts';
import { type Harness, makeKey, startHarness } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

/** Nodes on one database, each with a clock of its own. The database's is right. */

const TEN_MINUTES = 600_000;
const EVENTS = Array.from({ length: 151 }, () => 'appointment.confirmed' as const);

async function receivingPartner(house: Harness) {
  const receiver = await startReceiver();
  const partner = await newPartner(house);
  await partner.call('POST', '/v1/webhooks', { url: receiver.url });
  const sequences = () =>
    new Set(receiver.received.map(({ headers }) => Number(headers['webhook-sequence'])));
  return { receiver, partner, sequences };
}

const skewOf = async (house: Harness) =>
  Number(/^porter_clock_skew_seconds (\S+)$/m.exec((await house.send('GET', '/metrics')).text)?.[1]);

/** Leases and retries that are further away than any of them may be. */
const putOff = async (house: Harness) =>
  (await superuser(house.databaseUrl)).query(
    `SELECT FROM webhook_lanes WHERE held_until > now() + interval '30 seconds'
     UNION ALL SELECT FROM deliveries WHERE retry_at BETWEEN now() + interval '30 seconds' AND now() + interval '1 day'`,
  );

describe('a node whose clock is ten minutes ahead', () => {
  it('takes no lane: all events arrive at once from the others', async () => {
    const house = await startHarness({ clock: new RealClock() });
    const ahead = await startHarness({
      databaseUrl: house.databaseUrl,
      clock: new RealClock(TEN_MINUTES),
    });
    const { partner, receiver, sequences } = await receivingPartner(house);
    // Both take events, and both may fan them out.
    await publish(ahead, partner.groupId, ...EVENTS.slice(0, 75));
    await publish(house, partner.groupId, ...EVENTS.slice(75));
    await expect.poll(() => sequences().size).toBe(151);
    expect(receiver.received).toHaveLength(151);
    expect((await putOff(house)).rowCount).toBe(0);
    for (const { headers } of receiver.received)
      expect(Number(headers['webhook-timestamp'])).toBeLessThanOrEqual(Date.now() / 1000);
    const accepted = await (await superuser(house.databaseUrl)).query(
      'SELECT FROM events WHERE accepted_at > clock_timestamp()',
    );
    expect(accepted.rowCount).toBe(0);
  });

  it('is not ready, and says so in its log and its metrics, until its clock is set', async () => {
    const clock = new RealClock(TEN_MINUTES);
    const house = await startHarness({ clock });
    const { partner, sequences } = await receivingPartner(house);
    const ready = await house.send('GET', '/readyz');
    expect([ready.status, ready.body.message]).toEqual([
      503,
      expect.stringMatching(/^The clock of this node is 600\.\d s ahead of the database's/),
    ]);
    expect(await skewOf(house)).toBeCloseTo(600, 0);
    await expect
      .poll(() => house.logLines())
      .toContainEqual(expect.objectContaining({ msg: ready.body.message }));
    const asked = { env: { PORTER_URL: house.url } };
    const told = await porter('status', asked);
    expect(told.code).toBe(1);
    expect(told.stdout).toMatch(/not ready\. The clock of this node is 600\.\d s ahead/);
    const { json } = await porter('status --json', asked);
    expect(json).toMatchObject({ ready: false, clock_skew_seconds: expect.closeTo(600, 0) });

    await publish(house, partner.groupId, ...EVENTS.slice(0, 5));
    const fannedOut = async () => (await partner.call('GET', '/v1/events')).count === 5;
    await expect.poll(fannedOut).toBe(true);
    expect(sequences().size).toBe(0);

    clock.aheadMs = 0;
    await expect.poll(() => sequences().size).toBe(5);
    expect((await house.send('GET', '/readyz')).status).toBe(200);
    expect(Math.abs(await skewOf(house))).toBeLessThan(1);
  });

  it('does not take a key for expired that is good by the clock of the database, nor the other way round', async () => {
    const house = await startHarness({ clock: new RealClock() });
    const { databaseUrl } = house;
    const ahead = await startHarness({ databaseUrl, clock: new RealClock(TEN_MINUTES) });
    const behind = await startHarness({ databaseUrl, clock: new RealClock(-TEN_MINUTES) });
    const { partner } = await receivingPartner(house);
    const { key, keyId } = await makeKey(house, partner.groupId, {
      expires_at: new Date(Date.now() + TEN_MINUTES / 2).toISOString(),
    });
    const statuses = () =>
      Promise.all(
        [house, ahead, behind].map(
          async (node) =>
            (await node.send('GET', '/v1/practice-groups', { key, group: partner.groupId })).status,
        ),
      );
    expect(await statuses()).toEqual([200, 200, 200]);
    // As when those minutes have passed.
    const db = await superuser(databaseUrl);
    await db.query('UPDATE api_keys SET expires_at = now() WHERE id = $1', [keyId]);
    await expect.poll(statuses).toEqual([401, 401, 401]);
  });
});

it('a clock that jumps while its node delivers ends that, and another node goes on', async () => {
  const clock = new RealClock();
  const house = await startHarness({ clock });
  const { partner, receiver, sequences } = await receivingPartner(house);
  await receiver.setBehaviour((response) => setTimeout(() => response.writeHead(204).end(), 100));
  await publish(house, partner.groupId, ...EVENTS);
  await expect.poll(() => sequences().size).toBeGreaterThan(10);
  clock.aheadMs = TEN_MINUTES;
  const lanes = await superuser(house.databaseUrl);
  await expect
    .poll(async () => (await lanes.query('SELECT FROM webhook_lanes WHERE holder IS NOT NULL')).rowCount)
    .toBe(0);
  expect(sequences().size).toBeLessThan(151);
  await startHarness({ databaseUrl: house.databaseUrl, clock: new RealClock() });
  await expect.poll(() => sequences().size).toBe(151);
  expect((await putOff(house)).rowCount).toBe(0);
});

it('signatures carry the time of the database, also from a node whose clock is a little ahead', async () => {
  const house = await startHarness({ clock: new RealClock(2_500) });
  const { partner, receiver } = await receivingPartner(house);
  expect((await house.send('GET', '/readyz')).status).toBe(200);
  await publish(house, partner.groupId, ...EVENTS.slice(0, 3));
  await expect.poll(() => receiver.received.length).toBe(3);
  for (const { headers } of receiver.received)
    expect(Number(headers['webhook-timestamp'])).toBeLessThanOrEqual(Date.now() / 1000);
});
