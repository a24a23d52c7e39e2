import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../../src/contract/partner/webhook-deliveries.ts';
import { afterwards } from '../../support/afterwards.ts';
import { openDeliveryHarness } from '../../support/delivery-harness.ts';
import { newPartner, type Partner, partnerWith, publish } from '../../support/post.ts';
import { resumePartner, stopPartner } from '../../support/practice-guest.ts';
import { ok, startReceiver, status } from '../../support/receiver.ts';
import { type Harness, makeKey, makeWorld, startHarness } from '../../support/service.ts';

/**
 * Entitlement is asked again each time a delivery is claimed: what a partner may not have any more is withheld, keeps its place, and goes
 * on when the partner may have it again. Receivers, services and PostgreSQL are real; in the second half the engine is alone, with a
 * clock that the test moves.
 */

const DAY_MS = 24 * 3_600_000;
const RETRY = 'appointment.confirmed';

/** A practice whose partner's receiver answers 503, so that what is published stays queued. */
async function queued(house: Harness, partner: Partner) {
  const receiver = await startReceiver();
  await receiver.setBehaviour(status(503));
  const { id } = await partner.call('POST', '/v1/webhooks', { url: `${receiver.url}/hook` });
  await publish(house, partner.groupId, [RETRY, 'a'], [RETRY, 'a'], [RETRY, 'b']);
  await expect.poll(() => receiver.received.length).toBe(2);
  const deliveries = async () => (await house.operator('GET', `/deliveries?webhook_id=${id}`)).data;
  await expect
    .poll(async () => (await deliveries()).map(({ attempts }: { attempts: unknown[] }) => attempts.length))
    .toEqual([1, 0, 1]);
  await receiver.setBehaviour(ok);
  return {
    id,
    receiver,
    deliveries,
    health: async () => (await house.operator('GET', `/webhooks/${id}`)).health,
  };
}

describe('what is queued when access is lost', () => {
  /** Acts for `hub` through a network with its own group. */
  async function inNetwork(house: Harness) {
    const home = await makeWorld(house);
    const hub = await makeWorld(house);
    const network = await house.operator('POST', '/networks', {
      name: 'Shared',
      practice_group_ids: [home.groupId, hub.groupId],
    });
    const made = await makeKey(house, home.groupId, {
      expires_at: new Date(house.clock.now() + DAY_MS).toISOString(),
    });
    const partner = partnerWith(house, home.groupId, made);
    const call: Partner['call'] = async (method, path, body) => {
      const answer = await house.send(method, path, { key: partner.key, group: hub.groupId, body });
      expect(answer.status).toBeLessThan(300);
      return answer.body;
    };
    return {
      ...partner,
      call,
      groupId: hub.groupId,
      homeId: home.groupId,
      network: `/networks/${network.id}`,
    };
  }
  type Given = Awaited<ReturnType<typeof inNetwork>>;

  const newKey = (house: Harness, { partnerId, homeId }: Given) =>
    house.operator('POST', '/keys', {
      partner_id: partnerId,
      practice_group_id: homeId,
      scopes: ['events:read'],
    });

  const losses: Record<
    string,
    {
      lose: (house: Harness, given: Given) => Promise<unknown>;
      regain: (house: Harness, given: Given) => Promise<unknown>;
      reason: string;
    }
  > = {
    'its key revoked': {
      lose: (house, { keyId }) => house.operator('POST', `/keys/${keyId}/revoke`),
      regain: newKey,
      reason: 'key_revoked',
    },
    'its key expired': {
      lose: async (house) => house.clock.advance(DAY_MS),
      regain: newKey,
      reason: 'key_expired',
    },
    'the partner suspended': {
      lose: (house, { partnerId }) => house.operator('POST', `/partners/${partnerId}/suspend`),
      regain: (house, { partnerId }) => house.operator('POST', `/partners/${partnerId}/verify`),
      reason: 'partner_not_verified',
    },
    'the practice stopping the partner': {
      lose: stopPartner,
      regain: resumePartner,
      reason: 'stopped_by_practice',
    },
    'the practice taken out of the network': {
      lose: (house, { network, groupId }) => house.operator('DELETE', `${network}/members/${groupId}`),
      regain: (house, { network, groupId }) => house.operator('PUT', `${network}/members/${groupId}`),
      reason: 'out_of_reach',
    },
    'the network closed to the partner': {
      async lose(house, { network, homeId }) {
        const { partnerId } = await makeKey(house, homeId);
        await house.operator('PATCH', network, { partner_ids: [partnerId] });
      },
      regain: (house, { network }) => house.operator('PATCH', network, { partner_ids: null }),
      reason: 'out_of_reach',
    },
    'the network granting less': {
      lose: (house, { network }) => house.operator('PATCH', network, { scopes: ['submission-types:read'] }),
      regain: (house, { network }) =>
        house.operator('PATCH', network, { scopes: ['submission-types:read', 'events:read'] }),
      reason: 'scope_missing',
    },
  };

  it.each(Object.entries(losses))(
    '%s: is withheld with the reason, and goes on in order when access returns',
    async (_name, { lose, regain, reason }) => {
      const house = await startHarness();
      const given = await inNetwork(house);
      const { receiver, deliveries, health } = await queued(house, given);
      await lose(house, given);
      house.clock.advance(3_600_000);
      await expect.poll(async () => (await health()).withheld_reason).toBe(reason);
      expect(await health()).toMatchObject({ withheld_since: expect.any(String), queued: 3 });
      expect(await deliveries()).toMatchObject(
        [3, 2, 1].map((sequence) => ({
          sequence,
          status: 'withheld',
          withheld_reason: reason,
          next_attempt_at: null,
        })),
      );
      expect((await house.operator('GET', '/deliveries?status=withheld')).count).toBe(3);
      expect((await house.operator('GET', '/deliveries?status=pending')).count).toBe(0);
      expect((await house.operator('GET', '/deliveries?status=waiting')).count).toBe(0);
      await expect
        .poll(async () => {
          house.clock.advance(10_000);
          return (await house.send('GET', '/metrics')).text;
        })
        .toContain('porter_delivery_withheld_webhooks 1');

      expect(receiver.received).toHaveLength(2);

      await regain(house, given);
      await expect.poll(() => receiver.received.length).toBe(5);
      const sequences = receiver.received.map(({ headers }) => Number(headers['webhook-sequence']));
      expect(sequences.slice(2).toSorted()).toEqual([1, 2, 3]);
      expect(sequences.lastIndexOf(1)).toBeLessThan(sequences.indexOf(2));
      await expect
        .poll(async () => (await deliveries()).map(({ status: now }: { status: string }) => now))
        .toEqual(['delivered', 'delivered', 'delivered']);
      expect(await health()).toMatchObject({ withheld_since: null, withheld_reason: null, failures: 0 });
      await receiver.close();
    },
  );

  it('is told to the partner, too, whose key may read webhooks and not events', async () => {
    const house = await startHarness();
    const partner = await newPartner(house);
    const { id } = await queued(house, partner);
    const reader = await house.operator('POST', '/keys', {
      partner_id: partner.partnerId,
      practice_group_id: partner.groupId,
      scopes: ['webhooks:read'],
    });
    await house.operator('POST', `/keys/${partner.keyId}/revoke`);
    const read = async (path: string) =>
      (await house.send('GET', `/v1/webhooks/${id}${path}`, { key: reader.key, group: partner.groupId }))
        .body;
    await expect.poll(async () => (await read('')).health.withheld_reason).toBe('scope_missing');
    expect((await read('/deliveries?status=withheld')).data).toMatchObject(
      [3, 2, 1].map((sequence) => ({ sequence, status: 'withheld', withheld_reason: 'scope_missing' })),
    );
  });
});

const takings: [string, string, (node: Harness, partner: Partner) => Promise<unknown>][] = [
  ['a revocation', 'key_revoked', (node, { keyId }) => node.operator('POST', `/keys/${keyId}/revoke`)],
  ['a stop by the practice', 'stopped_by_practice', stopPartner],
];

it.each(takings)(
  'no attempt begins after %s has answered, on either of two nodes, with thousands queued',
  async (_name, reason, take) => {
    const first = await startHarness();
    const second = await startHarness({ databaseUrl: first.databaseUrl, clock: first.clock });
    const receiver = await startReceiver();
    await receiver.setBehaviour((response) => setTimeout(() => response.writeHead(200).end(), 20));
    const partners = [await newPartner(first), await newPartner(first)];
    for (const partner of partners) {
      await partner.call('POST', '/v1/webhooks', { url: `${receiver.url}/${partner.partnerId}` });
      for (let n = 0; n < 2; n++)
        await publish(first, partner.groupId, ...Array.from({ length: 1_000 }, () => RETRY as typeof RETRY));
    }
    await expect.poll(() => receiver.received.length).toBeGreaterThan(300);
    const answers: string[] = [];
    for (const [node, partner] of [
      [second, partners[0] as Partner],
      [first, partners[1] as Partner],
    ] as const) {
      await take(node, partner);
      answers.push(new Date(first.clock.now()).toISOString());
    }
    for (const [n, { partnerId }] of partners.entries()) {
      const webhook = async () => (await first.operator('GET', `/webhooks?partner_id=${partnerId}`)).data[0];
      await expect.poll(async () => (await webhook()).health.withheld_reason).toBe(reason);
      const log = await allDeliveries(first, (await webhook()).id);
      expect(log.map(({ sequence }) => sequence)).toEqual(log.map((_, index) => 2_000 - index));
      expect(log.filter(({ status: now }) => now === 'withheld').length).toBeGreaterThan(0);
      const begun = log.flatMap(({ attempts }) => attempts.map(({ at }) => at));
      expect(begun.length).toBeGreaterThan(0);
      // The clock stands still but for the second that whoever takes access away waits.
      expect(begun.filter((at) => at >= (answers[n] as string))).toEqual([]);
    }
    await receiver.close();
  },
);

async function allDeliveries(house: Harness, webhookId: string): Promise<Delivery[]> {
  const all: Delivery[] = [];
  for (let cursor = ''; ; ) {
    const path = `/deliveries?webhook_id=${webhookId}&page_size=100${cursor}`;
    const { data, next_cursor } = await house.operator('GET', path);
    all.push(...data);
    if (next_cursor === null) return all;
    cursor = `&cursor=${next_cursor}`;
  }
}

describe('what was fetched ahead', () => {
  const AHEAD = 400;
  const WARM_UP = 600;
  /** Deliveries that a webhook which is well has under way. */
  const WINDOW = 64;

  /** The engine has hundreds of deliveries in its memory, and as many under way as a webhook may have. */
  async function fetchedAhead() {
    const harness = await openDeliveryHarness();
    const no = await harness.addWebhook();
    const many = (from: number, count: number) =>
      Array.from({ length: count }, (_, n) => ({ id: `object-${from + n}` }));
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    afterwards(open);
    harness.answerWith(async ({ sequence }) => {
      if (sequence > WARM_UP) await gate;
      return 200;
    });
    await harness.publish(...many(0, WARM_UP + AHEAD));
    harness.engine.start();
    const begun = WARM_UP + WINDOW;
    await expect.poll(() => harness.sent.length).toBe(begun);
    return {
      harness,
      no,
      begun,
      /** What is under way is answered, and the engine does what follows. */
      async goOn(delivered = begun) {
        open();
        const count = "SELECT count(*)::integer AS n FROM deliveries WHERE state = 'delivered'";
        await expect.poll(() => harness.rows(count)).toEqual([{ n: delivered }]);
        await harness.engine.stop();
      },
      states: () =>
        harness.rows<{ state: string; count: number }>(
          'SELECT state, count(*)::integer FROM deliveries GROUP BY 1 ORDER BY 1',
        ),
    };
  }

  it('is not sent when the second of a revocation is over, and is sent once each when access returns', async () => {
    const { harness, no, begun, goOn, states } = await fetchedAhead();
    await harness.rows('UPDATE api_keys SET revoked_at = $1', [new Date(harness.clock.now()).toISOString()]);
    harness.clock.advance(1_010);
    await goOn();
    expect(harness.sent).toHaveLength(begun);
    await (await harness.workerThat(() => 200)).engine.drain();
    expect(await states()).toEqual([
      { state: 'delivered', count: begun },
      { state: 'due', count: WARM_UP + AHEAD - begun },
    ]);
    expect(await harness.rows('SELECT withheld_reason AS why FROM webhooks WHERE no = $1', [no])).toEqual([
      { why: 'key_revoked' },
    ]);

    await harness.rows('UPDATE api_keys SET revoked_at = NULL');
    await (await harness.workerThat(() => 200)).engine.drain();
    expect(harness.sent.map(({ sequence }) => sequence).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: WARM_UP + AHEAD }, (_, n) => n + 1),
    );
  });

  it('is not sent from the instant on at which the key expires', async () => {
    const harness = await openDeliveryHarness();
    await harness.rows('UPDATE api_keys SET expires_at = $1', [
      new Date(harness.clock.now() + 300).toISOString(),
    ]);
    await harness.addWebhook();
    harness.answerWith(({ sequence }) => {
      if (sequence === 20) harness.clock.advance(300);
      return 200;
    });
    await harness.publish(...Array.from({ length: 60 }, (_, n) => ({ id: `object-${n}` })));
    await harness.engine.drain();
    const expiry = harness.clock.now();
    expect(harness.sent.length).toBeLessThan(60);
    expect(harness.sent.every(({ at }) => at < expiry)).toBe(true);
    expect(await harness.rows('SELECT withheld_reason AS why FROM webhooks')).toEqual([
      { why: 'key_expired' },
    ]);
  });

  it('is sent once each when nobody could be asked for a while', async () => {
    const { harness, goOn, states } = await fetchedAhead();
    harness.clock.advance(5_000);
    await goOn(WARM_UP + AHEAD);
    expect(harness.sent).toHaveLength(WARM_UP + AHEAD);
    expect(await states()).toEqual([{ state: 'delivered', count: WARM_UP + AHEAD }]);
  });

  it('goes back when the engine looks at it, a second not being over', async () => {
    const { harness, no, begun, goOn } = await fetchedAhead();
    await harness.rows("UPDATE partners SET status = 'suspended'");
    // Another worker looks after what is open, too.
    const other = await harness.workerThat(() => 200);
    await other.engine.drain();
    expect(await harness.rows('SELECT withheld_reason AS why FROM webhooks WHERE no = $1', [no])).toEqual([
      { why: 'partner_not_verified' },
    ]);
    harness.clock.advance(901);
    await goOn();
    expect(harness.sent).toHaveLength(begun);
  });
});

it('the reason is that of today: of a webhook, and of a practice group that is set aside', async () => {
  const harness = await openDeliveryHarness();
  const no = await harness.addWebhook();
  await harness.addWebhook({ group: null });
  harness.answerWith(() => 503);
  await harness.publish({ id: 'a' });
  await harness.engine.drain();
  const told = async () => {
    // Long enough for what failed to be due again.
    harness.clock.advance(3_600_000);
    await harness.engine.drain();
    const reasons = await harness.rows<{ reason: string; since: Date }>(
      `SELECT withheld_reason AS reason, withheld_since AS since FROM webhooks WHERE no = $1
        UNION ALL SELECT reason, since FROM withheld_groups`,
      [no],
    );
    return { since: reasons[0]?.since, reasons: reasons.map(({ reason }) => reason) };
  };
  await harness.rows("UPDATE partners SET status = 'suspended'");
  const first = await told();
  expect(first.reasons).toEqual(['partner_not_verified']);
  const revoke = "UPDATE api_keys SET revoked_at = now() WHERE practice_group_id = 'group'";
  await harness.rows(`UPDATE partners SET status = 'verified'; ${revoke}`);
  const second = await told();
  expect(second).toEqual({
    since: first.since,
    reasons: ['key_revoked', 'key_revoked'],
  });
  await harness.rows("DELETE FROM api_keys WHERE practice_group_id = 'group'");
  expect(await told()).toEqual({
    since: first.since,
    reasons: ['out_of_reach', 'out_of_reach'],
  });
});

it('what is withheld goes with the retention time, and the webhook is not disabled for the time in which nothing was sent', async () => {
  const harness = await openDeliveryHarness();
  await harness.addWebhook();
  harness.answerWith(() => 500);
  await harness.publish({ id: 'old' });
  await harness.engine.drain();
  await harness.rows("UPDATE partners SET status = 'suspended'");
  await harness.engine.drain();
  harness.clock.advance(29 * DAY_MS);
  await harness.rows("UPDATE partners SET status = 'verified'");
  await harness.engine.drain();
  // What failed before is not forgotten: nothing has succeeded since.
  expect(
    await harness.rows('SELECT w.status, l.failures, l.failing_since FROM webhooks w, webhook_lanes l'),
  ).toEqual([{ status: 'active', failures: 2, failing_since: new Date(harness.clock.now()) }]);

  await harness.rows("UPDATE partners SET status = 'suspended'");
  await harness.engine.drain();
  harness.clock.advance(DAY_MS + 1);
  expect(await harness.engine.clear()).toBe(2);
  expect(await harness.rows('SELECT FROM deliveries')).toEqual([]);
});

it('a webhook is looked at by its turn, however many have something queued', async () => {
  const harness = await openDeliveryHarness();
  await harness.rows(`
    INSERT INTO webhooks (id, partner_id, practice_group_id, url, event_types, status, created_at, updated_at)
      SELECT 'wh_' || n, 'partner', 'group', 'https://receiver.example/', '{appointment.confirmed}', 'paused', now(), now()
        FROM generate_series(1, 1100) AS n;
    INSERT INTO webhook_lanes (webhook_no) SELECT no FROM webhooks;`);
  await harness.publish({ id: 'a' });
  await harness.engine.drain();
  await harness.rows("UPDATE partners SET status = 'suspended'");
  await harness.engine.drain();
  const noted = () => harness.rows('SELECT FROM webhooks WHERE withheld_since IS NOT NULL');
  expect(await noted()).toHaveLength(1_100);
  await harness.rows("UPDATE partners SET status = 'verified'");
  await harness.engine.drain();
  expect(await noted()).toHaveLength(0);
});
