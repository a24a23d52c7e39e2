import { describe, expect, it } from 'vitest';
import { expectProblem } from '../support/answers.ts';
import { fanOutAll, HOOK, newPartner, publish, startPost } from '../support/post.ts';
import { type Loose, makeWorld, OPERATOR_TOKEN } from '../support/service.ts';
import { superuser } from '../support/superuser.ts';

/** Operators steer the webhooks of partners. */

const house = await startPost();
const partner = await newPartner(house);
const CONFIRMED = 'appointment.confirmed';
const SINCE = { since: '2026-01-01T00:00:00Z' };
const webhook = async (body: object = {}) =>
  (await partner.call('POST', '/v1/webhooks', { url: HOOK, ...body })).id as string;
const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  house.send(method, `/operator/v1${path}`, { token: OPERATOR_TOKEN, body, headers });

it('are shown with the names of their partners', async () => {
  const id = await webhook();
  expect(await house.operator('GET', `/webhooks/${id}`)).toMatchObject({ partner_name: 'Partner' });
  const { data } = await house.operator('GET', `/webhooks?partner_id=${partner.partnerId}`);
  expect(data).toContainEqual(expect.objectContaining({ id, partner_name: 'Partner' }));
});

describe('PATCH /operator/v1/webhooks/{id}', () => {
  it('200: pauses, which its partner sees with the reason, and activates', async () => {
    const id = await webhook();
    const paused = await send('PATCH', `/webhooks/${id}`, { status: 'paused' });
    expect(paused).toMatchObject({ status: 200, body: { status: 'paused', partner_id: partner.partnerId } });
    expect(await partner.call('GET', `/v1/webhooks/${id}`)).toMatchObject({
      status: 'paused',
      status_reason: 'The operator has paused it.',
    });
    expect(await house.operator('PATCH', `/webhooks/${id}`, { status: 'active' })).toMatchObject({
      status: 'active',
      status_reason: null,
    });
  });

  it('404, 412 and 400: for one that is not there, was changed, or is to be something else', async () => {
    const id = await webhook();
    expectProblem(await send('PATCH', '/webhooks/wh_none', { status: 'paused' }), 404, 'not_found');
    const outdated = await send('PATCH', `/webhooks/${id}`, { status: 'paused' }, { 'if-match': '"9"' });
    expectProblem(outdated, 412, 'precondition_failed');
    expect((await send('PATCH', `/webhooks/${id}`, { status: 'disabled' })).status).toBe(400);
    expect((await send('PATCH', `/webhooks/${id}`, { url: HOOK })).status).toBe(400);
  });
});

describe('POST /operator/v1/webhooks/{id}/replay', () => {
  it('202: of one for all practice groups, what is of every group that its partner may receive', async () => {
    const own = await newPartner(house);
    const second = (await makeWorld(house)).groupId;
    const third = (await makeWorld(house)).groupId;
    const network = { name: 'Shared', practice_group_ids: [own.groupId, second] };
    await house.operator('POST', '/networks', network);
    const [first] = await publish(house, own.groupId, CONFIRMED);
    const [other] = await publish(house, second, CONFIRMED);
    const [foreign] = await publish(house, third, CONFIRMED);
    await fanOutAll(house);
    const { id } = await own.call('POST', '/v1/webhooks', { url: HOOK, practice_groups: 'all' });
    expect((await send('POST', `/webhooks/${id}/replay`, { event_ids: [foreign] })).body.rule).toBe(
      'event_unknown',
    );
    const replayed = await send('POST', `/webhooks/${id}/replay`, SINCE);
    expect(replayed).toMatchObject({ status: 202, body: { count: 2 } });
    const { data } = await house.operator('GET', `/deliveries?webhook_id=${id}`);
    expect(data.map(({ event_id }: Loose) => event_id).toSorted()).toEqual([first, other].toSorted());
    expect((await send('POST', `/webhooks/${id}/replay`, { event_ids: [other] })).body).toEqual({ count: 1 });
  });

  it('409: when its partner may receive nothing', async () => {
    const own = await newPartner(house);
    const { id } = await own.call('POST', '/v1/webhooks', { url: HOOK });
    await house.operator('POST', `/keys/${own.keyId}/revoke`);
    expectProblem(await send('POST', `/webhooks/${id}/replay`, SINCE), 409, 'conflict');
  });
});

it('a delivery to a disabled webhook is not retried: 409 says to activate it first', async () => {
  const own = await newPartner(house);
  const { id } = await own.call('POST', '/v1/webhooks', { url: HOOK });
  const [event] = await publish(house, own.groupId, CONFIRMED);
  await fanOutAll(house);
  const [delivery] = (await house.operator('GET', `/deliveries?event_id=${event}`)).data;
  const db = await superuser(house.databaseUrl);
  await db.query(`UPDATE webhooks SET status = 'disabled' WHERE id = $1`, [id]);
  const refused = await send('POST', `/deliveries/${delivery.id}/retry`);
  expectProblem(refused, 409, 'conflict');
  expect(refused.body.message).toContain('activate it first');
  await house.operator('PATCH', `/webhooks/${id}`, { status: 'active' });
  expect((await send('POST', `/deliveries/${delivery.id}/retry`)).status).toBe(202);
});
