import { describe, expect, it } from 'vitest';
import { eventNames } from '../../../src/contract/event-payloads.ts';
import { expectInvalid, expectProblem, insist, withoutRequestId } from '../../support/answers.ts';
import { fanOutAll, HOOK, newPartner, publish, startPost } from '../../support/post.ts';
import { type Loose, OPERATOR_TOKEN, startHarness } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

const house = await startPost();
const own = await newPartner(house);
const db = await superuser(house.databaseUrl);

const create = (body: object = {}, partner = own) =>
  partner.call('POST', '/v1/webhooks', { url: HOOK, ...body });
const trail = async (id: string): Promise<Loose[]> =>
  (await house.operator('GET', `/audit?subject_id=${id}`)).data.reverse();

describe('POST /v1/webhooks', () => {
  it('201: shows the webhook and, this once, its secret of 32 bytes', async () => {
    const created = await create();
    const now = new Date(house.clock.now()).toISOString();
    expect(created).toEqual({
      id: expect.stringMatching(/^wh_[0-9A-Za-z]{25}$/),
      url: HOOK,
      description: null,
      event_types: eventNames,
      status: 'active',
      status_reason: null,
      signature: 'hmac',
      header_names: [],
      practice_group_id: own.groupId,
      practice_groups: null,
      practice_group_ids: null,
      health: {
        failures: 0,
        failing_since: null,
        last_success_at: null,
        queued: 0,
        withheld_since: null,
        withheld_reason: null,
        withheld_practice_groups: [],
      },
      created_at: now,
      updated_at: now,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    });
    const { secret, ...shown } = created;
    const read = await own.send('GET', `/v1/webhooks/${created.id}`);
    expect(read.body).toEqual(shown);
    expect(read.headers.etag).toBe('"1"');
    const listed = await own.send('GET', '/v1/webhooks?page_size=100');
    expect(listed.body.data).toContainEqual(shown);
    expect(read.text + listed.text).not.toContain(secret);
  });

  it('201: takes some events, in any order, and a description', async () => {
    const created = await create({
      event_types: ['prescription.issued', 'appointment.confirmed'],
      description: 'Bookings 💊',
    });
    expect(created).toMatchObject({
      event_types: ['appointment.confirmed', 'prescription.issued'],
      description: 'Bookings 💊',
    });
  });

  it.each([
    [{ url: undefined }, ['url']],
    [{ url: 'partner.example/hook' }, ['url']],
    [{ url: `https://partner.example/${'x'.repeat(2_048)}` }, ['url']],
    [{ url: null }, ['url']],
    [{ event_types: [] }, ['event_types']],
    [{ event_types: ['appointment.lost'] }, ['event_types', 0]],
    [{ event_types: ['prescription.issued', 'prescription.issued'] }, ['event_types']],
    [{ event_types: null }, ['event_types']],
    [{ description: 'x'.repeat(256) }, ['description']],
    [{ secret: 'whsec_mine' }, ['secret']],
    [{ status: 'paused' }, ['status']],
  ])('400: %j', async (body, path) => {
    expectInvalid(await own.send('POST', '/v1/webhooks', { url: HOOK, ...body }), [{ path }]);
  });

  it.each([
    'http://partner.example/hook',
    'https://10.0.0.1/hook',
    'https://user:password@partner.example/',
    'https://metadata.internal/',
    'https://partner.example:22/',
  ])('422 webhook_target_refused, with the reason: %s', async (url) => {
    const answer = await own.send('POST', '/v1/webhooks', { url });
    expectProblem(answer, 422, 'business_rule_violation', { rule: 'webhook_target_refused', path: ['url'] });
    expect(answer.body.message).not.toBe('The request breaks a business rule.');
  });

  it('an address that was taken once stays, though a new one like it would be refused', async () => {
    const url = 'http://127.0.0.1:4000/hook';
    const { id } = await create({ url });
    const { databaseUrl, clock } = house;
    const env = { PORTER_ROLE: 'api', PORTER_WEBHOOK_TARGETS: 'public' };
    const strict = await startHarness({ databaseUrl, clock, env });
    const patch = (body: object) =>
      strict.send('PATCH', `/v1/webhooks/${id}`, { key: own.key, group: own.groupId, body });
    expect((await patch({ url, description: 'As before' })).body).toMatchObject({
      url,
      description: 'As before',
    });
    expect((await patch({ url: `${url}2` })).body.rule).toBe('webhook_target_refused');
  });

  it('takes the loopback by plain http where it is configured, and not elsewhere', async () => {
    const loopback = 'http://127.0.0.1:4000/hook';
    expect((await own.send('POST', '/v1/webhooks', { url: loopback })).status).toBe(201);
    const strict = await startPost({ PORTER_WEBHOOK_TARGETS: 'public' });
    const partner = await newPartner(strict);
    const answer = await partner.send('POST', '/v1/webhooks', { url: loopback });
    expectProblem(answer, 422, 'business_rule_violation', { rule: 'webhook_target_refused', path: ['url'] });
  });

  it('422 webhooks_max: 20 for each partner and practice group, also when many come at once', async () => {
    const partner = await newPartner(house);
    const answers = await Promise.all(
      Array.from({ length: 25 }, () => insist(() => partner.send('POST', '/v1/webhooks', { url: HOOK }))),
    );
    const refused = answers.filter(({ status }) => status === 422);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(20);
    expect(refused).toHaveLength(5);
    for (const answer of refused)
      expectProblem(answer, 422, 'business_rule_violation', { rule: 'webhooks_max', path: ['url'] });

    const other = await newPartner(house, partner.groupId);
    expect((await other.send('POST', '/v1/webhooks', { url: HOOK })).status).toBe(201);
    const [first] = answers.filter(({ status }) => status === 201);
    await partner.call('DELETE', `/v1/webhooks/${first?.body.id}`);
    expect((await partner.send('POST', '/v1/webhooks', { url: HOOK })).status).toBe(201);
  });
});

describe('PATCH /v1/webhooks/{id}', () => {
  const patch = (id: string, body: object, headers?: Record<string, string>) =>
    own.send('PATCH', `/v1/webhooks/${id}`, body, headers);

  it('200: changes what is named and leaves the rest', async () => {
    const { id, secret: _, ...before } = await create({ description: 'Old' });
    house.clock.advance(1_000);
    const answer = await patch(id, { event_types: ['prescription.issued'], description: null });
    expect(answer.body).toEqual({
      id,
      ...before,
      event_types: ['prescription.issued'],
      description: null,
      updated_at: new Date(house.clock.now()).toISOString(),
    });
    expect(answer.headers.etag).toBe('"2"');
    expect((await own.call('GET', `/v1/webhooks/${id}`)).event_types).toEqual(['prescription.issued']);
  });

  it('200: a patch that changes no value changes nothing, the version included', async () => {
    const { id, secret: _, ...before } = await create({ event_types: ['patient.added-to-sequence'] });
    house.clock.advance(1_000);
    for (const body of [
      {},
      { url: HOOK },
      { status: 'active' },
      { event_types: ['patient.added-to-sequence'] },
    ]) {
      const answer = await patch(id, body);
      expect(answer.body).toEqual({ id, ...before });
      expect(answer.headers.etag).toBe('"1"');
    }
    expect(await trail(id)).toHaveLength(1);
  });

  it('412: If-Match that is not the present ETag, also when it is to be deleted', async () => {
    const { id } = await create();
    const remove = (etag: string) =>
      own.send('DELETE', `/v1/webhooks/${id}`, undefined, { 'if-match': etag });
    expectProblem(await remove('"7"'), 412, 'precondition_failed');
    expectProblem(await patch(id, { description: 'x' }, { 'if-match': '"7"' }), 412, 'precondition_failed');
    expect((await patch(id, { description: 'x' }, { 'if-match': '"1"' })).status).toBe(200);
    expectProblem(await patch(id, { description: 'y' }, { 'if-match': '"1"' }), 412, 'precondition_failed');
    expectProblem(await remove('"1"'), 412, 'precondition_failed');
    expect((await remove('"2"')).status).toBe(204);
  });

  it.each([
    [{ url: null }, ['url']],
    [{ status: 'disabled' }, ['status']],
    [{ status: null }, ['status']],
    [{ event_types: [] }, ['event_types']],
    [{ status_reason: null }, ['status_reason']],
  ])('400: %j', async (body, path) => {
    expectInvalid(await patch('wh_any', body), [{ path }]);
  });

  it('422: a refused address, and the webhook stays as it is', async () => {
    const partner = await newPartner(house);
    const { id } = await create({}, partner);
    const answer = await partner.send('PATCH', `/v1/webhooks/${id}`, { url: 'https://192.168.0.1/' });
    expectProblem(answer, 422, 'business_rule_violation', { rule: 'webhook_target_refused', path: ['url'] });
    expect((await partner.call('GET', `/v1/webhooks/${id}`)).url).toBe(HOOK);
  });

  it.each(['paused', 'disabled'])(
    'activating a %s webhook forgets its reason and its failures',
    async (status) => {
      const partner = await newPartner(house);
      const { id } = await create({}, partner);
      await publish(house, partner.groupId, 'prescription.issued');
      await fanOutAll(house);
      await db.query(`UPDATE webhooks SET status = $2, status_reason = 'It is gone.' WHERE id = $1`, [
        id,
        status,
      ]);
      await db.query(
        `UPDATE webhook_lanes SET failures = 9, failing_since = now(), last_success_at = '2026-01-01T00:00:00Z'
        WHERE webhook_no = (SELECT no FROM webhooks WHERE id = $1)`,
        [id],
      );
      expect(await partner.call('GET', `/v1/webhooks/${id}`)).toMatchObject({
        status,
        status_reason: 'It is gone.',
        health: { failures: 9, failing_since: expect.any(String), queued: 1 },
      });
      const health = {
        failures: 0,
        failing_since: null,
        last_success_at: '2026-01-01T00:00:00.000Z',
        queued: 1,
      };
      const answer = await partner.call('PATCH', `/v1/webhooks/${id}`, { status: 'active' });
      expect(answer).toMatchObject({ status: 'active', status_reason: null, health });
      expect(await partner.call('GET', `/v1/webhooks/${id}`)).toEqual(answer);
    },
  );

  it('tells the workers when a webhook is active again, and when its address changes', async () => {
    const partner = await newPartner(house);
    const { id } = await create({}, partner);
    const heard: string[] = [];
    db.on('notification', ({ channel }) => heard.push(channel));
    await db.query('LISTEN porter_deliveries');
    await partner.call('PATCH', `/v1/webhooks/${id}`, { status: 'paused' });
    await db.query('SELECT 1');
    expect(heard).toEqual([]);
    await partner.call('PATCH', `/v1/webhooks/${id}`, { status: 'active' });
    await db.query('SELECT 1');
    expect(heard).toEqual(['porter_deliveries']);
    await db.query('UNLISTEN porter_deliveries');
  });
});

describe('DELETE /v1/webhooks/{id}', () => {
  it('204, and from then on it does not exist for anybody', async () => {
    const partner = await newPartner(house);
    const { id } = await create({}, partner);
    await publish(house, partner.groupId, 'prescription.issued');
    await fanOutAll(house);
    const [delivery] = (await partner.call('GET', `/v1/webhooks/${id}/deliveries`)).data;

    const answer = await partner.send('DELETE', `/v1/webhooks/${id}`);
    expect([answer.status, answer.text]).toEqual([204, '']);
    for (const [method, path, body] of [
      ['GET', ''],
      ['PATCH', '', {}],
      ['DELETE', ''],
      ['POST', '/rotate-secret'],
      ['POST', '/test', { event: 'prescription.issued' }],
      ['GET', '/deliveries'],
      ['GET', `/deliveries/${delivery.id}`],
      ['POST', '/replay', { since: '2026-01-01T00:00:00Z' }],
    ] as const)
      expectProblem(await partner.send(method, `/v1/webhooks/${id}${path}`, body), 404, 'not_found');
    expect((await partner.call('GET', '/v1/webhooks')).data).toEqual([]);
    const operator = (path: string) => house.send('GET', `/operator/v1${path}`, { token: OPERATOR_TOKEN });
    expectProblem(await operator(`/webhooks/${id}`), 404, 'not_found');
    expectProblem(await operator(`/deliveries/${delivery.id}`), 404, 'not_found');
    expect((await operator(`/deliveries?webhook_id=${id}`)).body.data).toEqual([]);
    const { rows } = await db.query(
      'SELECT FROM webhook_secrets WHERE webhook_no = (SELECT no FROM webhooks WHERE id = $1)',
      [id],
    );
    expect(rows).toEqual([]);

    await publish(house, partner.groupId, 'prescription.issued');
    await fanOutAll(house);
  });
});

describe('a webhook of another group or another partner', () => {
  it('404, byte for byte as for one that does not exist, whatever is asked', async () => {
    const neighbour = await newPartner(house, own.groupId);
    const { groupId } = await newPartner(house);
    await house.operator('POST', '/networks', { name: 'N', practice_group_ids: [own.groupId, groupId] });
    const theirs = await create({}, neighbour);
    const mineElsewhere = await house.send('POST', '/v1/webhooks', {
      key: own.key,
      group: groupId,
      body: { url: HOOK },
    });
    expect(mineElsewhere.status).toBe(201);
    for (const id of [theirs.id, mineElsewhere.body.id]) {
      for (const [method, path, body] of [
        ['GET', ''],
        ['PATCH', '', { description: 'mine' }],
        ['DELETE', ''],
        ['POST', '/rotate-secret'],
        ['POST', '/test', { event: 'prescription.issued' }],
        ['GET', '/deliveries'],
        ['GET', `/deliveries/dlv_${id.slice(3)}_1`],
        ['POST', '/replay', { since: '2026-01-01T00:00:00Z' }],
        ['POST', '/replay', { event_ids: ['evt_none'] }],
      ] as const) {
        const answer = await own.send(method, `/v1/webhooks/${id}${path}`, body);
        const nothing = await own.send(method, `/v1/webhooks/wh_none${path}`, body);
        expectProblem(answer, 404, 'not_found');
        expect(withoutRequestId(answer)).toEqual(withoutRequestId(nothing));
      }
    }
    const { data } = await own.call('GET', '/v1/webhooks?page_size=100');
    const ids = data.map(({ id }: Loose) => id);
    expect(ids).not.toContain(theirs.id);
    expect(ids).not.toContain(mineElsewhere.body.id);
  });
});

describe('the audit trail of a webhook', () => {
  it('tells of every change who made it and what, without the query of an address', async () => {
    const partner = await newPartner(house);
    const url = 'https://partner.example/hook?token=hunter2';
    const { id } = await create({ url }, partner);
    await partner.call('PATCH', `/v1/webhooks/${id}`, { url: `${url}3`, status: 'paused' });
    await partner.call('PATCH', `/v1/webhooks/${id}`, { status: 'active' });
    await partner.call('POST', `/v1/webhooks/${id}/rotate-secret`);
    const { event_id } = await partner.call('POST', `/v1/webhooks/${id}/test`, {
      event: 'prescription.issued',
    });
    await partner.call('POST', `/v1/webhooks/${id}/replay`, { event_ids: [event_id] });
    await partner.call('DELETE', `/v1/webhooks/${id}`);

    const entries = await trail(id);
    for (const entry of entries)
      expect(entry).toMatchObject({
        actor: { type: 'partner', id: partner.keyId },
        subject: { type: 'webhook', id },
        practice_group_id: partner.groupId,
        request_id: expect.stringMatching(/^req_/),
      });
    expect(new Set(entries.map(({ request_id }) => request_id)).size).toBe(entries.length);
    const redacted = 'https://partner.example/hook?[redacted]';
    const all = {
      url: redacted,
      description: null,
      event_types: eventNames,
      practice_groups: null,
      practice_group_ids: null,
      signature: 'hmac',
      header_names: [],
      status: 'active',
      status_reason: null,
    };
    expect(entries.map(({ action, before, after }) => [action, before, after])).toEqual([
      ['webhook.create', null, all],
      ['webhook.update', { url: redacted, status: 'active' }, { url: redacted, status: 'paused' }],
      ['webhook.update', { status: 'paused' }, { status: 'active' }],
      ['webhook.rotate-secret', null, { previous_expires_at: expect.any(String) }],
      ['webhook.test', null, { event: 'prescription.issued', event_id }],
      ['webhook.replay', null, { event_ids: [event_id], events: 1 }],
      ['webhook.delete', all, null],
    ]);
  });

  it('and no log line hold a secret, sealed or not, nor the query of an address', async () => {
    const partner = await newPartner(house);
    const { id, secret } = await create({ url: 'https://partner.example/hook?token=swordfish' }, partner);
    const rotated = await partner.call('POST', `/v1/webhooks/${id}/rotate-secret`);
    await partner.send('POST', '/v1/webhooks', { url: 'http://partner.example/hook?token=swordfish' });
    const { rows } = await db.query<{ body: string }>('SELECT body FROM audit_entries');
    const sealed = await db.query<{ sealed: Buffer }>('SELECT sealed FROM webhook_secrets');
    const everything = rows.map(({ body }) => body).join('\n') + JSON.stringify(house.logLines());
    for (const text of [secret, rotated.secret]) {
      expect(everything).not.toContain(text);
      expect(everything).not.toContain(text.slice('whsec_'.length));
    }
    for (const row of sealed.rows)
      for (const encoding of ['hex', 'base64'] as const)
        expect(everything).not.toContain(row.sealed.toString(encoding));
    expect(everything).not.toContain('swordfish');
  });
});
