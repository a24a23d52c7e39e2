import pg from 'pg';
import { beforeEach, describe, expect, it } from 'vitest';
import { STOPPED_BY_PRACTICE } from '../../../src/contract/problems.ts';
import { expectInvalid, expectProblem } from '../../support/answers.ts';
import { signIn, type Visitor, visitor } from '../../support/console-session.ts';
import { openStream } from '../../support/event-stream.ts';
import {
  fanOutAll,
  HOOK,
  newPartner,
  type Partner,
  partnerWith,
  publish,
  startPost,
} from '../../support/post.ts';
import { enterPartner, enterPractice } from '../../support/practice-guest.ts';
import { type Answer, type Loose, OPERATOR_TOKEN } from '../../support/service.ts';

/**
 * A practice stops a partner. That it holds on every node at once is in revocation.test.ts, that deliveries are withheld and go on in entitlement.test.ts,
 * that the door and the post agree in access-agreement.test.ts. Here: what exactly is refused, to whom it is told, and who may do it.
 */

const house = await startPost();
let own: Partner;
let neighbour: Partner;
let manager: Visitor;
/** Of the first partner, for the neighbouring practice, through the network that both are in. */
let across: Partner;
beforeEach(async () => {
  own = await newPartner(house);
  neighbour = await newPartner(house);
  await house.operator('POST', '/networks', {
    name: 'Valley',
    practice_group_ids: [own.groupId, neighbour.groupId],
  });
  across = partnerWith(house, neighbour.groupId, own);
  manager = await enterPractice(house, own.groupId);
});

const pathOf = ({ partnerId }: Partner) => `/practice/v1/partners/${partnerId}/stop`;
const stop = (partner = own, by = manager, reason = 'They read more than we agreed on'): Promise<Answer> =>
  by.send('PUT', pathOf(partner), { body: { reason } });
const resume = (partner = own, by = manager): Promise<Answer> => by.send('DELETE', pathOf(partner));
const inForce = (query = ''): Promise<Loose> => house.operator('GET', `/stops?in_force=true${query}`);

describe('a partner that a practice has stopped', () => {
  it('403 with the reason, for that practice alone: its own key goes on for others', async () => {
    expect((await stop()).status).toBe(200);
    const refused = await own.send('GET', '/v1/practice-groups');
    expectProblem(refused, 403, 'forbidden');
    expect(refused.body.message).toBe(STOPPED_BY_PRACTICE);
    for (const [method, path, body] of [
      ['GET', '/v1/events'],
      ['GET', '/v1/webhooks'],
      ['GET', '/v1/requests/none'],
      ['PATCH', '/v1/care-nav/submission-types/type-1', { title: 'New' }],
      ['POST', '/v1/webhooks', { url: HOOK }],
    ] as const)
      expect((await own.send(method, path, body)).body.message).toBe(STOPPED_BY_PRACTICE);
    expect((await across.send('GET', '/v1/practice-groups')).status).toBe(200);
    // Another partner of the same practice.
    const other = await newPartner(house, own.groupId);
    expect((await other.send('GET', '/v1/practice-groups')).status).toBe(200);
  });

  it('403 through a network too, and its own practice is reached as before', async () => {
    await stop(own, await enterPractice(house, neighbour.groupId));
    expect((await across.send('GET', '/v1/events')).body.message).toBe(STOPPED_BY_PRACTICE);
    expect((await own.send('GET', '/v1/events')).status).toBe(200);
    // What the network does not grant either is not what is in the way.
    const narrow = await house.operator('GET', '/networks?page_size=100');
    const { id } = narrow.data.find((one: Loose) => one.practice_group_ids.includes(own.groupId));
    await house.operator('PATCH', `/networks/${id}`, { scopes: ['practice-groups:read'] });
    expect((await across.send('GET', '/v1/events')).body.message).toBe(STOPPED_BY_PRACTICE);
    // Out of reach, it learns as little as anybody.
    await house.operator('DELETE', `/networks/${id}`);
    const far = await across.send('GET', '/v1/events');
    const nowhere = await house.send('GET', '/v1/events', { key: own.key, group: 'no-such-group' });
    expect(far.body.message).toBe(nowhere.body.message);
    expect(far.body.message).not.toBe(STOPPED_BY_PRACTICE);
  });

  it('200: what is about itself, which no longer names the practice', async () => {
    const groupsOf = async () =>
      (await own.call('GET', '/v1/me')).practice_groups.map(({ id }: Loose) => id).sort();
    const reached = async () =>
      (await across.call('GET', '/v1/practice-groups?include=network')).data.map(({ id }: Loose) => id);
    expect(await groupsOf()).toEqual([own.groupId, neighbour.groupId].sort());
    await stop();
    expect(await groupsOf()).toEqual([neighbour.groupId]);
    expect(await reached()).toEqual([neighbour.groupId]);
    expect((await own.send('GET', '/v1/usage')).status).toBe(200);
    expect((await own.send('GET', '/v1/agreements')).status).toBe(200);
    await resume();
    expect(await groupsOf()).toEqual([own.groupId, neighbour.groupId].sort());
  });

  it('is told why, and the operator sees which check it was', async () => {
    await stop();
    const { headers } = await own.send('GET', '/v1/events');
    const id = encodeURIComponent(String(headers['x-request-id']));
    await house.service.app.refusals.flush();
    expect(await across.call('GET', `/v1/requests/${id}`)).toMatchObject({
      status: 403,
      error: 'forbidden',
      reason: 'stopped_by_practice',
      explanation: expect.stringContaining('The practice has stopped the partner.'),
    });
    const { checks } = await house.operator('GET', `/requests/${id}/explanation`);
    const network = () => checks.find(({ check }: Loose) => check === 'network');
    expect(network()).toMatchObject({
      outcome: 'refused',
      found: expect.stringMatching(/^The practice has stopped the partner: Ada Marsh did so at 20/),
      needed: expect.stringContaining('lifts the stop'),
    });
    expect(checks.slice(0, 5).every(({ outcome }: Loose) => outcome === 'passed')).toBe(true);
    await resume();
    expect((await house.operator('GET', `/requests/${id}/explanation`)).checks[5].found).toContain(
      'lifted since',
    );
  });

  it('has its stream ended, and is sent nothing that happens meanwhile', async () => {
    const webhook = await own.call('POST', '/v1/webhooks', { url: HOOK });
    const stream = await openStream(house, own);
    await stream.next();
    await stop();
    const [event] = await publish(house, own.groupId, 'appointment.confirmed');
    await fanOutAll(house);
    await stream.ended;
    await resume();
    expect((await house.operator('GET', `/deliveries?webhook_id=${webhook.id}`)).count).toBe(0);
    const { targets } = await house.operator('GET', `/events/${event}/life`);
    expect(targets.find((one: Loose) => one.webhook_id === webhook.id)).toMatchObject({
      outcome: 'not_sent',
      not_sent_reason: 'not_entitled_then',
    });
    // What it missed, it may ask for.
    expect((await own.call('POST', `/v1/webhooks/${webhook.id}/replay`, { event_ids: [event] })).count).toBe(
      1,
    );
  });

  it('is sent nothing again either: 409 for whoever retries', async () => {
    const webhook = await own.call('POST', '/v1/webhooks', { url: HOOK });
    await publish(house, own.groupId, 'appointment.confirmed');
    await fanOutAll(house);
    await stop();
    const send = (path: string, body?: object) =>
      house.send('POST', `/operator/v1${path}`, { token: OPERATOR_TOKEN, body });
    const { data } = await house.operator('GET', `/deliveries?webhook_id=${webhook.id}`);
    expectProblem(await send(`/deliveries/${data[0].id}/retry`), 409, 'conflict');
    expectProblem(await send(`/webhooks/${webhook.id}/retry-failed`), 409, 'conflict');
    const since = new Date(house.clock.now() - 3_600_000).toISOString();
    expectProblem(await send(`/webhooks/${webhook.id}/replay`, { since }), 409, 'conflict');
  });
});

describe('PUT /practice/v1/partners/{id}/stop', () => {
  it('200: who, when and why; again, the stop in force; both in the audit under the name of the person', async () => {
    const first = await stop(own, manager, 'Because <b>I</b> say so');
    expect(first.body).toEqual({
      id: expect.stringMatching(/^stp_[0-9A-Za-z]{25}$/),
      reason: 'Because <b>I</b> say so',
      stopped_at: expect.any(String),
      stopped_by: 'Ada Marsh',
      lifted_at: null,
      lifted_by: null,
      lifted_reason: null,
    });
    const colleague = await enterPractice(house, own.groupId, 'Ben Baker');
    expect((await stop(own, colleague, 'Another reason')).body).toEqual(first.body);
    expect((await resume(own, colleague)).status).toBe(204);
    expect((await resume()).status).toBe(204);
    const { data } = await house.operator('GET', `/audit?subject_id=${own.partnerId}&page_size=2`);
    expect(data).toMatchObject([
      {
        action: 'partner.resume',
        actor: { type: 'guest', id: expect.stringMatching(/^inv_/), name: 'Ben Baker' },
        practice_group_id: own.groupId,
      },
      {
        action: 'partner.stop',
        actor: { type: 'guest', name: 'Ada Marsh' },
        subject: { type: 'partner', id: own.partnerId },
        practice_group_id: own.groupId,
        before: null,
        after: { stop_id: first.body.id, reason: 'Because <b>I</b> say so' },
      },
    ]);
    expect((await stop()).body.id).not.toBe(first.body.id);
  });

  it('200 once for two who press at the same time', async () => {
    const colleague = await enterPractice(house, own.groupId, 'Ben Baker');
    const [one, other] = await Promise.all([stop(), stop(own, colleague)]);
    expect(one.body.id).toBe(other.body.id);
    expect((await inForce(`&practice_group_id=${own.groupId}`)).count).toBe(1);
  });

  it('400 without a reason, 404 for a partner that it has nothing to do with', async () => {
    const far = await newPartner(house);
    expectInvalid(await manager.send('PUT', pathOf(own), { body: {} }), [{ path: ['reason'] }]);
    expectInvalid(await stop(own, manager, ''), [{ path: ['reason'] }]);
    expectProblem(await stop(far), 404, 'not_found');
    expectProblem(
      await manager.send('PUT', '/practice/v1/partners/none/stop', { body: { reason: 'x' } }),
      404,
      'not_found',
    );
    expectProblem(await resume(far), 404, 'not_found');
  });

  it('401 and 403 for everybody else, by a token, a key, a page elsewhere, or another session', async () => {
    const path = pathOf(own);
    const body = { reason: 'x' };
    expectProblem(await house.send('PUT', path, { body }), 401, 'invalid_credentials');
    expectProblem(await house.send('PUT', path, { body, token: OPERATOR_TOKEN }), 401, 'invalid_credentials');
    expectProblem(await own.send('PUT', path, body), 401, 'invalid_credentials');
    // Without the header that a page elsewhere cannot send, and with what a browser says of one.
    const bare = { cookie: manager.cookie };
    expectProblem(await house.send('PUT', path, { body, headers: bare }), 401, 'invalid_credentials');
    const foreign = { ...bare, 'x-porter-console': '1', 'sec-fetch-site': 'cross-site' };
    expectProblem(await house.send('PUT', path, { body, headers: foreign }), 401, 'invalid_credentials');
    for (const other of [await signIn(house), await enterPartner(house, own.partnerId)])
      expectProblem(await other.send('PUT', path, { body }), 403, 'insufficient_permissions');
    expect((await inForce(`&practice_group_id=${own.groupId}`)).count).toBe(0);
    const ended = visitor(house, manager.cookie);
    await manager.send('POST', '/console/sign-out');
    expectProblem(await ended.send('PUT', path, { body }), 401, 'invalid_credentials');
  });

  it('409 while a node works that would let the partner in', async () => {
    const older = new pg.Client({ connectionString: house.databaseUrl, application_name: 'porter' });
    await older.connect();
    const refused = await stop();
    await older.end();
    expectProblem(refused, 409, 'conflict');
    expect(refused.body.message).toContain('could not be kept out everywhere');
    expect((await own.send('GET', '/v1/events')).status).toBe(200);
    await expect.poll(async () => (await stop()).status).toBe(200);
  });
});

describe('the operator', () => {
  it('lists stops, newest first, by practice and by partner', async () => {
    const second = await newPartner(house, own.groupId);
    await stop();
    await stop(second);
    await stop(own, await enterPractice(house, neighbour.groupId));
    const { data } = await inForce(`&practice_group_id=${own.groupId}`);
    expect(data).toMatchObject([
      { partner: { id: second.partnerId, name: 'Partner' } },
      {
        partner: { id: own.partnerId },
        practice_group: { id: own.groupId, name: `Practice ${own.groupId}` },
        stopped_by: 'Ada Marsh',
      },
    ]);
    expect((await inForce(`&partner_id=${own.partnerId}`)).count).toBe(2);
    const first = await inForce(`&partner_id=${own.partnerId}&page_size=1`);
    const next = await inForce(`&partner_id=${own.partnerId}&page_size=1&cursor=${first.next_cursor}`);
    expect([first, next].map(({ data: [one] }) => one.practice_group.id)).toEqual([
      neighbour.groupId,
      own.groupId,
    ]);
  });

  it('lifts one with a reason, once, in the audit; the practice sees who did', async () => {
    const { id } = (await stop()).body;
    const lift = (reason: string) => house.operator('POST', `/stops/${id}/lift`, { reason });
    const lifted = await lift('The practice asked by telephone');
    expect(lifted).toMatchObject({
      id,
      lifted_by: 'First operator',
      lifted_reason: 'The practice asked by telephone',
    });
    expect((await own.send('GET', '/v1/events')).status).toBe(200);
    expect(await lift('Again')).toEqual(lifted);
    const { data } = await house.operator('GET', `/audit?subject_id=${own.partnerId}&action=partner.resume`);
    expect(data).toMatchObject([
      {
        actor: { type: 'operator', name: 'First operator' },
        before: { stop_id: id },
        after: { reason: 'The practice asked by telephone' },
      },
    ]);
    const { body } = await manager.send('GET', `/practice/v1/partners/${own.partnerId}`);
    expect(body).toMatchObject({ stop: null, stops: [{ id, lifted_by: 'First operator' }] });
    expect((await house.operator('GET', '/stops?in_force=false')).data.map((one: Loose) => one.id)).toContain(
      id,
    );
  });

  it('404 and 400 for none, and for no reason', async () => {
    const { id } = (await stop()).body;
    const lift = (which: string, body: object) =>
      house.send('POST', `/operator/v1/stops/${which}/lift`, { token: OPERATOR_TOKEN, body });
    expectProblem(await lift('none', { reason: 'x' }), 404, 'not_found');
    expectInvalid(await lift(id, {}), [{ path: ['reason'] }]);
  });
});

it('a webhook for all practices goes on for the others', async () => {
  const wide = await own.call('POST', '/v1/webhooks', { url: HOOK, practice_groups: 'all' });
  await stop();
  await publish(house, own.groupId, 'appointment.confirmed');
  await publish(house, neighbour.groupId, 'appointment.confirmed');
  await fanOutAll(house);
  const { data } = await house.operator('GET', `/deliveries?webhook_id=${wide.id}`);
  expect(data.map((one: Loose) => one.practice_group_id)).toEqual([neighbour.groupId]);
});
