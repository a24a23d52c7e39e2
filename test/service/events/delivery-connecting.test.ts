import { describe, expect, it } from 'vitest';
import type { PostOutcome } from '../../../src/platform/egress/egress.ts';
import { answered, type DeliveryHarness, openDeliveryHarness } from '../../support/delivery-harness.ts';
import { connecting, startFullReceiver } from '../../support/full-receiver.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { newPartner, type Partner, publish } from '../../support/post.ts';
import { stopPartner } from '../../support/practice-guest.ts';
import { type Harness, type Loose, makeWorld, startHarness } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

/** Deliveries whose connection is not established yet when their partner loses access, or their webhook changes. */

interface Given extends Partner {
  id: string;
  url: string;
}

interface Loss {
  lose: (house: Harness, given: Given) => Promise<unknown>;
  /** The entry of the delivery log afterwards. A deleted webhook has no log. */
  shown: Loose;
}

const losses: Record<string, Loss> = {
  'the key is revoked': {
    lose: (house, { keyId }) => house.operator('POST', `/keys/${keyId}/revoke`),
    shown: { status: 'withheld', withheld_reason: 'key_revoked' },
  },
  'the partner is suspended': {
    lose: (house, { partnerId }) => house.operator('POST', `/partners/${partnerId}/suspend`),
    shown: { status: 'withheld', withheld_reason: 'partner_not_verified' },
  },
  'the practice stops the partner': {
    lose: stopPartner,
    shown: { status: 'withheld', withheld_reason: 'stopped_by_practice' },
  },
  'the partner pauses the webhook': {
    lose: (_house, { call, id }) => call('PATCH', `/v1/webhooks/${id}`, { status: 'paused' }),
    shown: { status: 'pending' },
  },
  'the operator pauses the webhook': {
    lose: (house, { id }) => house.operator('PATCH', `/webhooks/${id}`, { status: 'paused' }),
    shown: { status: 'pending' },
  },
  'the partner deletes the webhook': {
    lose: (_house, { call, id }) => call('DELETE', `/v1/webhooks/${id}`),
    shown: undefined,
  },
  'the operator deletes the webhook': {
    lose: (house, { id }) => house.operator('DELETE', `/webhooks/${id}`),
    shown: undefined,
  },
  'the object is erased': {
    lose: (house, { groupId: practice_group_id }) =>
      house.operator('POST', '/erasures', { practice_group_id, object: 'Appointment', object_id: 'a-1' }),
    shown: { status: 'failed' },
  },
};

/** After these, the delivery is sent in its new form. */
const changes: Record<string, Loss> = {
  'the URL changes': {
    lose: (_house, { call, id, url }) => call('PATCH', `/v1/webhooks/${id}`, { url: `${url}/new` }),
    shown: { status: 'delivered' },
  },
  'the secret is rotated': {
    lose: (_house, { call, id }) => call('POST', `/v1/webhooks/${id}/rotate-secret`),
    shown: { status: 'delivered' },
  },
};

it('no byte leaves in the old form once the loss or the change has been answered, and no attempt is used up', async () => {
  const house = await startHarness();
  const receiver = await startFullReceiver();
  const all = await Promise.all(
    Object.entries({ ...losses, ...changes }).map(async ([name, loss]) => {
      const partner = await newPartner(house);
      const url = `${receiver.url}/${partner.partnerId}`;
      const { id } = await partner.call('POST', '/v1/webhooks', { url });
      return { name, ...loss, given: { ...partner, id, url } };
    }),
  );
  const named = (name: string) => all.find((one) => one.name === name)?.given as Given;
  const subscription = await house.operator('POST', '/subscriptions', {
    url: `${receiver.url}/subscription`,
    topics: ['changes'],
  });
  const { key, groupId: group } = await makeWorld(house);
  await house.send('PATCH', '/v1/care-nav/submission-types/type-1', { key, group, body: { title: 'New' } });
  for (const { given } of all) await publish(house, given.groupId, ['appointment.confirmed', 'a-1']);
  await expect.poll(connecting).toBe(all.length + 1);

  for (const { lose, given } of all) await lose(house, given);
  await house.operator('PATCH', `/subscriptions/${subscription.id}`, { status: 'paused' });
  receiver.accept();

  const logged = async ({ id }: Given) =>
    (await house.operator('GET', `/deliveries?webhook_id=${id}`)).data[0];
  for (const { name, given, shown } of all)
    await expect
      .poll(() => logged(given), { message: name })
      .toEqual(shown && expect.objectContaining({ sequence: 1, ...shown }));
  // A connection over which nothing is sent is closed after a few seconds.
  await expect.poll(() => [connecting(), receiver.openConnections]).toEqual([0, 0]);
  const received = () => receiver.received.map(({ path }) => path).toSorted();
  const rotated = new URL(named('the secret is rotated').url).pathname;
  const changed = `${new URL(named('the URL changes').url).pathname}/new`;
  expect(received()).toEqual([rotated, changed].toSorted());
  const signatures = receiver.received.find(({ path }) => path === rotated)?.headers['webhook-signature'];
  expect(String(signatures).split(' ')).toHaveLength(2);

  const paused = [named('the partner pauses the webhook'), named('the operator pauses the webhook')];
  for (const { call, id } of paused) await call('PATCH', `/v1/webhooks/${id}`, { status: 'active' });
  await house.operator('PATCH', `/subscriptions/${subscription.id}`, { status: 'active' });
  for (const given of paused)
    await expect
      .poll(() => logged(given))
      .toMatchObject({ sequence: 1, status: 'delivered', attempts: [{ status: 200 }] });
  await expect.poll(received).toContain('/subscription');
  expect(received()).toHaveLength(5);
});

it('a rotation with an Idempotency-Key waits for the other nodes once it is committed', async () => {
  class WatchedClock extends ManualClock {
    wait = async (_milliseconds: number) => {};

    override async sleep(milliseconds: number) {
      await this.wait(milliseconds);
      await super.sleep(milliseconds);
    }
  }
  const clock = new WatchedClock();
  const house = await startHarness({ clock, env: { PORTER_ROLE: 'api' } });
  const db = await superuser(house.databaseUrl);
  const { call, send } = await newPartner(house);
  const { id } = await call('POST', '/v1/webhooks', { url: 'https://partner.example/hook' });
  const secrets: (number | null)[] = [];
  clock.wait = async (milliseconds) => {
    if (milliseconds === 1_010) secrets.push((await db.query('SELECT FROM webhook_secrets')).rowCount);
  };
  const rotate = () =>
    send('POST', `/v1/webhooks/${id}/rotate-secret`, undefined, { 'idempotency-key': `rotate-${id}` });
  const { body } = await rotate();
  expect(await rotate()).toMatchObject({ status: 200, body });
  clock.wait = async () => {};
  expect(secrets).toEqual([2, 2]);
});

describe('before its first byte, a delivery is checked against what the worker has learnt since', () => {
  type Sent = DeliveryHarness['sent'][number];
  const stale: PostOutcome = answered(0, {
    status: undefined,
    failure: { phase: 'send', code: 'stale', detail: '' },
  });

  /** Deliveries about objects whose ID begins with `held` are connecting until `connect` is called. The others are sent at once. */
  async function connectingTo(webhook: Parameters<DeliveryHarness['addWebhook']>[0]) {
    const harness = await openDeliveryHarness();
    const no = await harness.addWebhook(webhook);
    const gate = Promise.withResolvers<void>();
    harness.answerWith(async ({ payload, isStale }: Sent) => {
      if (payload.id.startsWith('held')) await gate.promise;
      return isStale?.() ? stale : 200;
    });
    harness.engine.start();
    await harness.publish({ id: 'held' });
    await expect.poll(() => harness.sent.length).toBe(1);
    const sentOf = (id: string) => harness.sent.filter(({ payload }) => payload.id === id);
    const states = () =>
      harness.rows(
        'SELECT state, retry_at::text, tries FROM deliveries WHERE webhook_no = $1 ORDER BY sequence',
        [no],
      );
    return { harness, no, connect: gate.resolve, sentOf, states };
  }

  it('the version, also if a claim for another delivery has renewed the entitlement', async () => {
    const { harness, no, connect, sentOf, states } = await connectingTo({ url: 'https://old.example/' });
    await harness.rows(
      "UPDATE webhooks SET url = 'https://new.example/', version = version + 1 WHERE no = $1",
      [no],
    );
    await harness.publish({ id: 'next' });
    await expect.poll(() => sentOf('next').map(({ url }) => url)).toEqual(['https://new.example/']);
    connect();
    await expect.poll(states).toEqual(Array(2).fill({ state: 'delivered', retry_at: null, tries: 1 }));
    expect(sentOf('held').map(({ url }) => url)).toEqual(['https://old.example/', 'https://new.example/']);
  });

  it('the practice group, also if a claim for another group has renewed the entitlement', async () => {
    const { harness, connect, sentOf, states } = await connectingTo({ group: null });
    await harness.rows("UPDATE api_keys SET revoked_at = now() WHERE practice_group_id = 'group'");
    harness.clock.advance(1_010);
    await harness.publish({ id: 'next', practice_group_id: 'other-group' });
    await expect.poll(() => sentOf('next').length).toBe(1);
    connect();
    await expect.poll(states).toEqual([
      { state: 'due', retry_at: 'infinity', tries: 0 },
      { state: 'delivered', retry_at: null, tries: 1 },
    ]);
    expect(sentOf('held')).toHaveLength(1);
  });

  it('the pause that a look at the queue has found', async () => {
    const { harness, no, connect, sentOf } = await connectingTo({});
    const other = await harness.addWebhook({ eventTypes: ['prescription.issued'] });
    const many = (name: string, count: number) =>
      Array.from({ length: count }, (_, n) => ({ id: `${name}-${n}` }));
    // A webhook that is well has more claimed than is sent at once.
    await harness.publish(...many('warm-up', 100));
    await expect.poll(() => harness.sent.length).toBe(101);
    await harness.publish(...many('held', 200));
    await expect.poll(() => sentOf('held-40').length).toBe(1);
    const begun = harness.sent.length;
    await harness.rows("UPDATE webhooks SET status = 'paused', version = version + 1 WHERE no = $1", [no]);
    harness.clock.advance(500);
    await harness.publish({ event: 'prescription.issued', id: 'other' });
    const ofWebhook = 'SELECT FROM deliveries WHERE webhook_no = $1';
    const delivered = async () =>
      (await harness.rows(`${ofWebhook} AND state = 'delivered'`, [other])).length;
    await expect.poll(delivered).toBe(1);
    harness.clock.advance(510);
    connect();
    await harness.engine.stop();
    expect(harness.sent.length).toBe(begun + 1);
    expect(await harness.rows(`${ofWebhook} AND tries > 0`, [no])).toHaveLength(100);
  });
});
