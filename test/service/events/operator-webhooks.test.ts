import { describe, expect, it } from 'vitest';
import { expectInvalid, expectProblem } from '../../support/answers.ts';
import { fanOutAll, HOOK, newPartner, publish, startPost } from '../../support/post.ts';
import { type Loose, makeWorld, OPERATOR_TOKEN } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

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

  it('200: the reason that the operator gives is told to the partner, and kept in the audit', async () => {
    const id = await webhook();
    await house.operator('PATCH', `/webhooks/${id}`, { status: 'paused', reason: 'It answers 500.' });
    expect(await partner.call('GET', `/v1/webhooks/${id}`)).toMatchObject({
      status_reason: 'The operator has paused it: It answers 500.',
    });
    await house.operator('PATCH', `/webhooks/${id}`, { status: 'active', reason: 'It was mended.' });
    const { data } = await house.operator('GET', `/audit?subject_id=${id}`);
    expect(data.map(({ after }: Loose) => after?.status_reason)).toContain(
      'The operator has activated it: It was mended.',
    );
    expect((await send('PATCH', `/webhooks/${id}`, { status: 'paused', reason: '' })).status).toBe(400);
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

  it('202: from one moment to another', async () => {
    const own = await newPartner(house);
    const { id } = await own.call('POST', '/v1/webhooks', { url: HOOK });
    const moments = [];
    for (const _ of [1, 2, 3]) {
      moments.push(new Date(house.clock.now()).toISOString());
      await publish(house, own.groupId, CONFIRMED);
      house.clock.advance(60_000);
    }
    await fanOutAll(house);
    const replayed = (body: object) => send('POST', `/webhooks/${id}/replay`, body);
    const [first, second, third] = moments;
    expect((await replayed({ since: first, until: third })).body).toEqual({ count: 2 });
    expect((await replayed({ since: second, until: third })).body).toEqual({ count: 1 });
    expect((await replayed({ since: second })).body).toEqual({ count: 2 });
    for (const body of [{ until: third }, { until: third, event_ids: ['evt_1'] }])
      expect((await replayed(body)).status).toBe(400);
    for (const until of [first, second])
      expectInvalid(await replayed({ since: second, until }), [
        { path: ['since'], message: 'Must lie before until.' },
      ]);
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

it('shows those that fail, and those whose deliveries are withheld', async () => {
  const own = await newPartner(house);
  const make = async () => (await own.call('POST', '/v1/webhooks', { url: HOOK })).id as string;
  const ids = { failing: await make(), withheld: await make(), fine: await make() };
  const db = await superuser(house.databaseUrl);
  const no = '(SELECT no FROM webhooks WHERE id = $1)';
  await db.query(`UPDATE webhook_lanes SET failing_since = now(), failures = 3 WHERE webhook_no = ${no}`, [
    ids.failing,
  ]);
  await db.query(
    `UPDATE webhooks SET withheld_since = now(), withheld_reason = 'key_revoked' WHERE id = $1`,
    [ids.withheld],
  );
  const listed = async (query: string) =>
    (await house.operator('GET', `/webhooks?partner_id=${own.partnerId}${query}`)).data.map(
      ({ id }: Loose) => id,
    );
  expect(await listed('&health=failing')).toEqual([ids.failing]);
  expect(await listed('&health=withheld')).toEqual([ids.withheld]);
  expect(await listed('')).toContain(ids.fine);
});

describe('GET /operator/v1/webhooks/{id}/attempts', () => {
  const attempt = (minute: number, status: number) => ({
    at: `2026-11-14T09:${String(minute).padStart(2, '0')}:00.000Z`,
    outcome: status < 300 ? 'delivered' : 'failed',
    status,
    phase: null,
    code: null,
    diagnosis: `Answered ${status}`,
    duration_ms: 12,
    answer: 'first bytes',
  });

  it('200: those of all deliveries, newest first, with what comes next', async () => {
    const own = await newPartner(house);
    const { id } = await own.call('POST', '/v1/webhooks', { url: HOOK });
    await publish(house, own.groupId, CONFIRMED, CONFIRMED, CONFIRMED);
    await fanOutAll(house);
    const db = await superuser(house.databaseUrl);
    const tried = (nth: number, set: string, attempts: object[]) =>
      db.query(
        `UPDATE deliveries SET ${set}, attempts = $3
          WHERE webhook_no = (SELECT no FROM webhooks WHERE id = $1)
            AND sequence = (SELECT min(sequence) + $2 FROM deliveries
                             WHERE webhook_no = (SELECT no FROM webhooks WHERE id = $1))`,
        [id, nth, JSON.stringify(attempts)],
      );
    await tried(0, `state = 'delivered', finished_at = now()`, [attempt(1, 500), attempt(5, 200)]);
    await tried(1, `tries = 2, retry_at = '2026-11-14T10:00:00Z'`, [attempt(2, 503), attempt(6, 503)]);
    const { data, count } = await house.operator('GET', `/webhooks/${id}/attempts`);
    expect(count).toBe(4);
    expect(
      data.map(({ at, status, delivery_status, next_attempt_at }: Loose) => [
        at.slice(14, 16),
        status,
        delivery_status,
        next_attempt_at,
      ]),
    ).toEqual([
      ['06', 503, 'pending', '2026-11-14T10:00:00.000Z'],
      ['05', 200, 'delivered', null],
      ['02', 503, 'pending', null],
      ['01', 500, 'delivered', null],
    ]);
    expect(data[0]).toMatchObject({
      event: CONFIRMED,
      practice_group_id: own.groupId,
      answer: 'first bytes',
    });
    expect(await house.operator('GET', `/deliveries/${data[0].delivery_id}`)).toMatchObject({
      event_id: data[0].event_id,
    });
  });

  it('200: none before the first, and 404', async () => {
    const { data } = await house.operator('GET', `/webhooks/${await webhook()}/attempts`);
    expect(data).toEqual([]);
    expectProblem(await send('GET', '/webhooks/wh_none/attempts'), 404, 'not_found');
  });
});
