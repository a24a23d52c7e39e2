import type { IncomingHttpHeaders } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { topicNames, topicPayloads, topics } from '../../../src/contract/operator/events/subscriptions.ts';
import { SYSTEM } from '../../../src/domain/access/principal.ts';
import { secretBytes } from '../../../src/domain/events/signature.ts';
import { transact } from '../../../src/store/database.ts';
import { announce } from '../../../src/store/events/operator-events.ts';
import { afterwards } from '../../support/afterwards.ts';
import { expectProblem } from '../../support/answers.ts';
import { pem } from '../../support/egress.ts';
import { until } from '../../support/porter-process.ts';
import { newPartner } from '../../support/post.ts';
import { hang, ok, type Receiver, startReceiver, status } from '../../support/receiver.ts';
import {
  type Loose,
  makeWorld,
  OPERATOR_TOKEN,
  serviceForTests,
  startHarness,
} from '../../support/service.ts';

/** The operator's own webhooks, through the engine that serves partners'. */

const { house, world, db } = await serviceForTests();
const TYPE = '/v1/care-nav/submission-types/type-1';

async function receiver(): Promise<Receiver> {
  const made = await startReceiver();
  afterwards(() => made.close());
  return made;
}

const create = (url: string, topics = ['changes']): Promise<Loose> =>
  house.operator('POST', '/subscriptions', { url, topics });
const send = (method: string, path: string, body?: unknown) =>
  house.send(method, `/operator/v1/subscriptions${path}`, { token: OPERATOR_TOKEN, body });
const patch = (body: unknown, { key, groupId: group } = world) => {
  house.clock.advance(1_000);
  return house.send('PATCH', TYPE, { key, group, body });
};
const bodies = ({ received }: Receiver): Loose[] => received.map(({ body }) => JSON.parse(body));
/** At the time of the service, which the library does not ask for. */
function verified(secret: string, body: string, headers: IncomingHttpHeaders): unknown {
  vi.useFakeTimers({ now: house.clock.now(), toFake: ['Date'] });
  try {
    return new Webhook(secret).verify(body, headers as Record<string, string>);
  } finally {
    vi.useRealTimers();
  }
}
const remove = (id: string) => send('DELETE', `/${id}`);

describe('a subscription to changes', () => {
  it('receives each change as the feed has it, signed as Standard Webhooks, in order for each submission type', async () => {
    const there = await receiver();
    const { id, secret } = await create(there.url);
    const here = await makeWorld(house);
    for (const n of [1, 2, 3, 4, 5]) expect((await patch({ title: `change ${n}` }, here)).status).toBe(200);
    await until('what was sent arrives', () => there.received.length >= 5);

    for (const { event: _event, ...payload } of bodies(there))
      expect(z.strictObject(topicPayloads.changes.shape).parse(payload)).toEqual(payload);
    const { data } = await house.operator('GET', `/changes?practice_group_id=${here.groupId}`);
    expect(bodies(there)).toEqual(
      data.map(({ reason: _reason, ended_at: _ended, ...change }: Loose) => ({
        event: 'submission-type.changed',
        ...change,
      })),
    );
    for (const { headers, body } of there.received) {
      expect(headers['content-type']).toBe('application/json');
      expect(verified(secret, body, headers)).toEqual(JSON.parse(body));
    }
    expect(there.received.map(({ headers }) => Number(headers['webhook-sequence']))).toEqual([1, 2, 3, 4, 5]);
    await remove(id);
  });

  it('goes through an outage of the receiver: retried, nothing lost, nothing out of order', async () => {
    const there = await receiver();
    await there.setBehaviour(status(500));
    const { id } = await create(there.url);
    const here = await makeWorld(house);
    await patch({ title: 'first' }, here);
    await until('what was sent arrives', () => there.received.length >= 1);
    await patch({ title: 'second' }, here);
    await there.setBehaviour(ok);
    const delivered = async () => {
      house.clock.advance(60_000);
      const { data } = await house.operator('GET', `/subscriptions/${id}/deliveries`);
      return data.length === 2 && data.every((one: Loose) => one.status === 'delivered');
    };
    await until('both are delivered', delivered);
    const titles = bodies(there).map(({ after }) => after.title);
    expect(titles.filter((title, n) => title !== titles[n - 1])).toEqual(['first', 'second']);
    const [newest] = (await house.operator('GET', `/subscriptions/${id}/deliveries`)).data;
    expect(newest).toMatchObject({ event: 'submission-type.changed', object_id: 'type-1', sequence: 2 });
    expect(await house.operator('GET', `/subscriptions/${id}/deliveries/${newest.id}`)).toEqual(newest);
    await remove(id);
  });

  it('is heard of by no partner: not by webhooks, feeds, streams or lists, nor among published events', async () => {
    const there = await receiver();
    const { id } = await create(there.url);
    const partner = await newPartner(house);
    const partners = await receiver();
    await partner.call('POST', '/v1/webhooks', { url: partners.url });
    house.clock.advance(1_000);
    await partner.call('PATCH', TYPE, { title: 'Mine' });
    await until('what was sent arrives', () => there.received.length >= 1);
    expect((await partner.call('GET', '/v1/events')).data).toEqual([]);
    expect((await partner.call('GET', '/v1/webhooks')).count).toBe(1);
    expect((await partner.send('GET', `/v1/webhooks/${id}`)).status).toBe(404);
    expect(JSON.stringify(await house.operator('GET', '/events?page_size=100'))).not.toContain(
      'submission-type.changed',
    );
    const { data } = await house.operator('GET', '/deliveries?page_size=100');
    expect(data.filter(({ webhook_id }: Loose) => webhook_id === id)).toEqual([]);
    expect(
      (await house.operator('GET', '/webhooks?page_size=100')).data.map((one: Loose) => one.id),
    ).not.toContain(id);
    expect(partners.received).toEqual([]);
    await remove(id);
  });

  it('a subscription that hangs does not hold up another', async () => {
    const [stuck, well] = [await receiver(), await receiver()];
    await stuck.setBehaviour(hang);
    const made = [await create(stuck.url), await create(well.url)];
    const here = await makeWorld(house);
    for (const n of [1, 2, 3]) await patch({ title: `n ${n}` }, here);
    await until('what was sent arrives', () => well.received.length >= 3);
    stuck.cutConnections();
    for (const { id } of made) await remove(id);
  });
});

describe('announcements on a topic', () => {
  const announcement = (id: string) => ({
    id: `evt_${id}`,
    event: 'alert.began' as const,
    object: 'Alert',
    objectId: id,
    payload: { id, kind: 'webhook_failing' },
    sourceId: 'porter',
    at: new Date(house.clock.now()).toISOString(),
  });

  it('reach those who have the topic, if and only if the transaction commits', async () => {
    const [alerts, changes] = [await receiver(), await receiver()];
    const made = [await create(alerts.url, ['alerts']), await create(changes.url)];
    const { db: own } = house.service.app;
    await transact(own, SYSTEM, async (tx) => {
      announce(tx, announcement('alert-undone'));
      throw new Error('undone');
    }).catch(() => {});
    await transact(own, SYSTEM, async (tx) => announce(tx, announcement('alert-1')));
    await until('what was sent arrives', () => alerts.received.length >= 1);
    expect(bodies(alerts)).toEqual([{ event: 'alert.began', id: 'alert-1', kind: 'webhook_failing' }]);
    expect(changes.received).toEqual([]);
    for (const { id } of made) await remove(id);
  });
});

describe('managing subscriptions', () => {
  it('201: shows the secret once, and it lies in the database only sealed', async () => {
    const answer = await send('POST', '', { url: 'https://ehr.example/hook', topics: ['alerts', 'changes'] });
    expect(answer.status).toBe(201);
    const { secret, ...shown } = answer.body;
    expect(secret).toMatch(/^whsec_/);
    expect(shown).toEqual({
      id: expect.stringMatching(/^wh_/),
      url: 'https://ehr.example/hook',
      description: null,
      topics: ['changes', 'alerts'],
      status: 'active',
      status_reason: null,
      health: { failures: 0, failing_since: null, last_success_at: null, queued: 0 },
      created_at: new Date(house.clock.now()).toISOString(),
      updated_at: new Date(house.clock.now()).toISOString(),
    });
    expect((await send('GET', `/${shown.id}`)).body).toEqual(shown);
    const { rows } = await db.query<{ sealed: Buffer }>('SELECT sealed FROM webhook_secrets');
    for (const { sealed } of rows) expect(sealed.includes(Buffer.from(secretBytes(secret)))).toBe(false);
    await remove(shown.id);
    expect((await send('GET', `/${shown.id}`)).status).toBe(404);
  });

  it('200: topics, address and status change; If-Match keeps two from overwriting each other', async () => {
    const { id } = await create('https://ehr.example/hook');
    const headers = { 'if-match': '"7"' };
    const stale = await house.send('PATCH', `/operator/v1/subscriptions/${id}`, {
      token: OPERATOR_TOKEN,
      body: { status: 'paused' },
      headers,
    });
    expect(stale.status).toBe(412);
    const changed = await send('PATCH', `/${id}`, { topics: ['alerts'], status: 'paused', description: 'x' });
    expect(changed.body).toMatchObject({ topics: ['alerts'], status: 'paused', description: 'x' });
    expect(changed.headers.etag).toBe('"2"');
    expect((await send('PATCH', `/${id}`, {})).headers.etag).toBe('"2"');
    await remove(id);
  });

  it('409: one that is paused takes no test; 202 else, and it arrives', async () => {
    const there = await receiver();
    const { id } = await create(there.url, ['alerts']);
    await send('PATCH', `/${id}`, { status: 'paused' });
    expectProblem(await send('POST', `/${id}/test`, { topic: 'changes' }), 409, 'conflict');
    await send('PATCH', `/${id}`, { status: 'active' });
    const { body } = await send('POST', `/${id}/test`, { topic: 'changes' });
    await until('what was sent arrives', () => there.received.length >= 1);
    expect(there.received[0]?.headers['webhook-id']).toBe(body.delivery_id);
    expect(bodies(there)[0]).toMatchObject({
      event: 'submission-type.changed',
      id: expect.stringMatching(/^test_/),
    });
    await remove(id);
  });

  it.each(topicNames)('202: a test of the topic %s has the form of the real thing', async (topic) => {
    const there = await receiver();
    const { id } = await create(there.url, [topic]);
    await send('POST', `/${id}/test`, { topic });
    await until('what was sent arrives', () => there.received.length >= 1);
    const [{ event, ...payload }] = bodies(there) as [Loose];
    expect(event).toBe(topics[topic][0]);
    expect(z.strictObject(topicPayloads[topic].shape).parse(payload)).toEqual(payload);
    expect(payload.id).toMatch(/^test_/);
    await remove(id);
  });

  it('200: after a rotation both secrets sign', async () => {
    const there = await receiver();
    const { id, secret } = await create(there.url);
    const rotated = (await send('POST', `/${id}/rotate-secret`)).body;
    await send('POST', `/${id}/test`, { topic: 'changes' });
    await until('what was sent arrives', () => there.received.length >= 1);
    const [{ headers, body } = { headers: {}, body: '' }] = there.received;
    for (const one of [secret, rotated.secret]) verified(one, body, headers);
    await remove(id);
  });

  it('202: a replay sends again under the same webhook-id, and to a new one for the first time', async () => {
    const [first, second] = [await receiver(), await receiver()];
    const { id } = await create(first.url);
    const here = await makeWorld(house);
    house.clock.advance(1_000);
    const since = new Date(house.clock.now()).toISOString();
    for (const n of [1, 2]) await patch({ title: `again ${n}` }, here);
    const statuses = async (): Promise<string[]> =>
      (await house.operator('GET', `/subscriptions/${id}/deliveries`)).data.map(
        ({ status }: Loose) => status,
      );
    // What is still on its way when it is replayed is not sent twice.
    await expect.poll(statuses).toEqual(['delivered', 'delivered']);
    const later = await create(second.url);
    expect((await send('POST', `/${id}/replay`, { since })).body).toEqual({ count: 2 });
    await until('what was sent arrives', () => first.received.length >= 4);
    const ids = first.received.map(({ headers }) => headers['webhook-id']);
    expect(ids.slice(2)).toEqual(ids.slice(0, 2));
    expect((await send('POST', `/${later.id}/replay`, { since })).body).toEqual({ count: 2 });
    await until('what was sent arrives', () => second.received.length >= 2);
    expect(bodies(second)).toEqual(bodies(first).slice(0, 2));
    const [{ event_id }] = (await house.operator('GET', `/subscriptions/${id}/deliveries`)).data;
    expect((await send('POST', `/${id}/replay`, { event_ids: [event_id] })).body).toEqual({ count: 1 });
    const unknown = await send('POST', `/${id}/replay`, { event_ids: ['evt_none'] });
    expect([unknown.status, unknown.body.rule]).toEqual([422, 'event_unknown']);
    for (const one of [id, later.id]) await remove(one);
  });

  it.each([
    ['http://ehr.example/hook', 'https://'],
    ['https://10.1.2.3/hook', '10.1.2.3'],
    ['https://ehr.internal/hook', 'private networks'],
    ['https://169.254.169.254/latest', '169.254.169.254'],
  ])('422: %s is no address to call', async (url, told) => {
    const answer = await send('POST', '', { url, topics: ['changes'] });
    expect([answer.status, answer.body.rule]).toEqual([422, 'webhook_target_refused']);
    expect(answer.body.message).toContain(told);
  });

  it('400: no topic, an unknown one, one twice, a field that there is not', async () => {
    const url = 'https://ehr.example/';
    for (const body of [
      { url },
      { url, topics: [] },
      { url, topics: ['events'] },
      { url, topics: ['changes', 'changes'] },
      { url, topics: ['changes'], partner_id: 'x' },
    ])
      expect((await send('POST', '', body)).status).toBe(400);
  });
});

describe('where a subscription may be', () => {
  it("in networks of the operator's own, if they are set; partners' webhooks still may not", async () => {
    const env = { PORTER_WEBHOOK_TARGETS: 'public', PORTER_OPERATOR_TARGETS: '127.0.0.0/8' };
    const inside = await startHarness({ env });
    const there = await startReceiver({ tls: { cert: pem('self-signed'), key: pem('key') } });
    afterwards(() => there.close());
    const url = there.url.replace('localhost', '127.0.0.1');
    const { key, groupId: group } = await makeWorld(inside);
    const refused = await inside.send('POST', '/v1/webhooks', { key, group, body: { url } });
    expect(refused.body.rule).toBe('webhook_target_refused');
    const { id } = await inside.operator('POST', '/subscriptions', { url, topics: ['alerts'] });
    await inside.operator('POST', `/subscriptions/${id}/test`, { topic: 'alerts' });
    // It was called: the certificate is not one to trust.
    const attempts = async () =>
      (await inside.operator('GET', `/subscriptions/${id}/deliveries`)).data[0].attempts[0]?.code;
    await expect.poll(attempts).toBe('tls_self_signed');
  });
});

it('metrics tell how many changes wait for an answer, and for how long', async () => {
  const alone = await startHarness();
  const { key, groupId: group } = await makeWorld(alone);
  const metric = async (name: string) => {
    alone.clock.advance(11_000);
    const text = (await alone.send('GET', '/metrics')).text;
    return Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1]);
  };
  expect(await metric('porter_changes_pending_oldest_seconds')).toBe(0);
  await alone.send('PATCH', TYPE, { key, group, body: { title: 'Waits' } });
  await expect.poll(() => metric('porter_changes_pending')).toBe(1);
  alone.clock.advance(3_600_000);
  expect(await metric('porter_changes_pending_oldest_seconds')).toBeGreaterThan(3_600);
  const [{ id }] = (await alone.operator('GET', '/changes')).data;
  await alone.operator('POST', `/changes/${id}/applied`);
  expect(await metric('porter_changes_pending')).toBe(0);
  expect(await metric('porter_changes_pending_oldest_seconds')).toBe(0);
});
