import { beforeEach, describe, expect, it } from 'vitest';
import { eventNames } from '../../../src/contract/event-payloads.ts';
import { expectInvalid, expectProblem } from '../../support/answers.ts';
import { openStream } from '../../support/event-stream.ts';
import { fanOutAll, HOOK, newPartner, type Partner, startPost } from '../../support/post.ts';
import { type Harness, type Loose, makeKey, makeWorld, OPERATOR_TOKEN } from '../../support/service.ts';

const house = await startPost();
let own: Partner;
let other: Partner;
beforeEach(async () => {
  own = await newPartner(house);
  other = await newPartner(house, own.groupId);
});

const trigger = (event: string) => own.call('POST', '/v1/test-events', { event });

async function deliveriesOf(partner: Partner, id: string): Promise<string[]> {
  const { data } = await partner.call('GET', `/v1/webhooks/${id}/deliveries`);
  return data.map(({ event_id }: Loose) => event_id);
}

describe('POST /v1/test-events', () => {
  it.each(eventNames)('202: %s goes into the feed with example values', async (event) => {
    const { event_id } = await trigger(event);
    await fanOutAll(house);
    const { data } = await own.call('GET', '/v1/events');
    expect(data).toEqual([
      {
        id: event_id,
        created_at: expect.any(String),
        data: expect.objectContaining({
          id: expect.stringMatching(/^test_/),
          event,
          practice_group_id: own.groupId,
        }),
      },
    ]);
  });

  it('reaches the webhooks of the partner that want it, and its streams', async () => {
    const all = await own.call('POST', '/v1/webhooks', { url: HOOK });
    const some = await own.call('POST', '/v1/webhooks', { url: HOOK, event_types: ['prescription.issued'] });
    const stream = await openStream(house, own);
    await stream.next();
    const { event_id } = await trigger('appointment.confirmed');
    await fanOutAll(house);
    expect(await deliveriesOf(own, all.id)).toEqual([event_id]);
    expect(await deliveriesOf(own, some.id)).toEqual([]);
    expect((await stream.event()).data.id).toBe(event_id);
  });

  it('no other partner of the practice group hears of it, in any way', async () => {
    const hook = await other.call('POST', '/v1/webhooks', { url: HOOK });
    const stream = await openStream(house, other);
    const { event_id } = await trigger('appointment.confirmed');
    await fanOutAll(house);
    expect(await deliveriesOf(other, hook.id)).toEqual([]);
    // Nor is it in a queue where only the workers would see it.
    expect((await house.operator('GET', `/events/${event_id}`)).deliveries).toEqual([]);
    expect((await other.call('GET', '/v1/events')).data).toEqual([]);
    const replay = (body: unknown) => other.send('POST', `/v1/webhooks/${hook.id}/replay`, body);
    expect(await replay({ event_ids: [event_id] })).toMatchObject({
      status: 422,
      body: { rule: 'event_unknown' },
    });
    const since = new Date(house.clock.now() - 1_000).toISOString();
    expect((await replay({ since })).body).toEqual({ count: 0 });
    const mine = await other.call('POST', '/v1/test-events', { event: 'prescription.issued' });
    await fanOutAll(house);
    expect((await stream.event()).data.id).toBe(mine.event_id);
  });

  it('is told apart from what happened when an operator looks', async () => {
    const { event_id } = await trigger('appointment.confirmed');
    expect(await house.operator('GET', `/events/${event_id}`)).toMatchObject({
      test: true,
      source_id: own.keyId,
    });
  });

  it('can be replayed by the partner who caused it', async () => {
    const hook = await own.call('POST', '/v1/webhooks', { url: HOOK });
    const { event_id } = await trigger('appointment.confirmed');
    await fanOutAll(house);
    const replayed = await own.call('POST', `/v1/webhooks/${hook.id}/replay`, { event_ids: [event_id] });
    expect(replayed).toEqual({ count: 1 });
  });

  it('with an Idempotency-Key it is caused once, and the answer to the second call says so', async () => {
    const send = (event: string, key = 'once', partner = own) =>
      partner.send('POST', '/v1/test-events', { event }, { 'idempotency-key': key });
    const first = await send('appointment.confirmed');
    const again = await send('appointment.confirmed');
    expect([first.status, again.status]).toEqual([202, 202]);
    expect(again.body).toEqual(first.body);
    expect(first.headers['idempotent-replayed']).toBeUndefined();
    expect(again.headers['idempotent-replayed']).toBe('true');
    expectProblem(await send('prescription.issued'), 409, 'conflict');
    // Keys of two partners never meet, nor do those of a partner and an operator.
    const others = await send('appointment.confirmed', 'once', other);
    expect(others.body.event_id).not.toBe(first.body.event_id);
    await fanOutAll(house);
    expect((await own.call('GET', '/v1/events')).count).toBe(1);
  });

  it('409: the same Idempotency-Key for another practice group of the network', async () => {
    const { groupId: hub } = await makeWorld(house);
    await house.operator('POST', '/networks', { name: 'N', practice_group_ids: [own.groupId, hub] });
    const sendFor = (group: string) =>
      house.send('POST', '/v1/test-events', {
        key: own.key,
        group,
        body: { event: 'appointment.confirmed' },
        headers: { 'idempotency-key': 'for-one-group' },
      });
    expect((await sendFor(own.groupId)).status).toBe(202);
    expectProblem(await sendFor(hub), 409, 'conflict');
  });

  it('400: an event that is none', async () => {
    expectInvalid(await own.send('POST', '/v1/test-events', { event: 'nonsense' }), [{ path: ['event'] }]);
  });

  it('422: in production', async () => {
    const production = await startPost({ PORTER_ENVIRONMENT: 'production', PORTER_TRUST_PROXY: '127.0.0.1' });
    const send: Harness['send'] = (method, path, options) =>
      production.send(method, path, { ...options, headers: { 'x-forwarded-proto': 'https' } });
    const operator: Harness['operator'] = async (method, path, body) =>
      (await send(method, `/operator/v1${path}`, { token: OPERATOR_TOKEN, body })).body;
    const { groupId } = await makeWorld({ operator });
    const { key } = await makeKey({ operator }, groupId);
    const body = { event: 'appointment.confirmed' };
    const answer = await send('POST', '/v1/test-events', { key, group: groupId, body });
    expectProblem(answer, 422, 'business_rule_violation', { rule: 'staging_only', path: ['event'] });
    expect((await send('GET', '/v1/events', { key, group: groupId })).body.data).toEqual([]);
  });
});
