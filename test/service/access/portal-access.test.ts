import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { GUEST_RATE_LIMIT } from '../../../src/contract/access.ts';
import { type Endpoint, scopesFor } from '../../../src/contract/endpoint.ts';
import { partnerEndpoints } from '../../../src/contract/partner/index.ts';
import { namedKeyEndpoints, portalEndpoints } from '../../../src/contract/portal/index.ts';
import { guestOf } from '../../support/guest-session.ts';
import { startMailbox } from '../../support/mailbox.ts';
import { newPartner } from '../../support/post.ts';
import { startHarness } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

/** What people of a partner may do with its keys, and what they may not. */

const mailbox = await startMailbox();
const env = {
  PORTER_ROLE: 'api',
  PORTER_SMTP_URL: mailbox.url,
  PORTER_MAIL_FROM: 'Porter <p@porter.example>',
};
const house = await startHarness({ env });
const other = await startHarness({ env, databaseUrl: house.databaseUrl, clock: house.clock });
const db = await superuser(house.databaseUrl);
const URL = 'https://receiver.partner.example/porter';

async function world() {
  const partner = await newPartner(house);
  const guest = await guestOf(house, mailbox, { partner: partner.partnerId });
  const way = { key: partner.keyId, group: partner.groupId };
  return { partner, guest, way };
}
const hook = { url: URL, event_types: ['appointment.confirmed'] };

describe('somebody of a partner, with one of its keys', () => {
  it('does what the key may do, under their own name', async () => {
    const { partner, guest, way } = await world();
    const made = await guest.act('POST', '/v1/webhooks', way, { body: hook });
    expect([made.status, made.body]).toEqual([201, expect.objectContaining({ url: URL })]);
    expect((await partner.call('GET', `/v1/webhooks/${made.body.id}`)).url).toBe(URL);
    const { data } = await house.operator('GET', `/audit?subject_id=${made.body.id}`);
    expect(data[0]).toMatchObject({
      action: 'webhook.create',
      actor: {
        type: 'partner',
        id: partner.keyId,
        name: 'Ada Marsh',
        session_id: expect.stringMatching(/^ses_/),
      },
    });
    const paused = await guest.act('PATCH', `/v1/webhooks/${made.body.id}`, way, {
      body: { status: 'paused' },
    });
    expect(paused.body.status).toBe('paused');
  });

  it('is in the audit for a test event too, which a program is not', async () => {
    const { partner, guest, way } = await world();
    const body = { event: 'appointment.confirmed' };
    const { event_id: byProgram } = await partner.call('POST', '/v1/test-events', body);
    const { event_id } = (await guest.act('POST', '/v1/test-events', way, { body })).body;
    expect((await house.operator('GET', `/audit?subject_id=${byProgram}`)).data).toEqual([]);
    const { data } = await house.operator('GET', `/audit?subject_id=${event_id}`);
    expect(data).toMatchObject([
      { action: 'event.test', practice_group_id: partner.groupId, actor: { id: way.key, name: 'Ada Marsh' } },
    ]);
  });

  it('is not counted as the key: neither its allowance, nor its use, nor its refusals', async () => {
    const { partner, guest, way } = await world();
    const before = await house.operator('GET', `/keys/${partner.keyId}`);
    const refused = await guest.act('POST', '/v1/webhooks', way, { body: { url: 'ftp://x' } });
    expect(refused.status).toBe(400);
    const answer = await guest.act('GET', '/v1/webhooks', way);
    expect(answer.status).toBe(401);
    const seen = await guest.act('GET', '/portal/v1/events', way);
    expect(seen.headers['ratelimit-policy']).toBe(`"guest";q=${GUEST_RATE_LIMIT};w=60`);
    const after = await house.operator('GET', `/keys/${partner.keyId}`);
    expect([before.last_used_at, after.last_used_at]).toEqual([null, null]);
    expect((await house.operator('GET', `/requests?partner_id=${partner.partnerId}`)).data).toEqual([]);
    expect((await house.operator('GET', `/usage?partner_id=${partner.partnerId}`)).data).toEqual([]);
    const own = await partner.send('GET', '/v1/practice-groups');
    expect(own.headers.ratelimit).toContain('r=99999');
  });

  it('is told in the log by name, invitation and session', async () => {
    const { partner, guest, way } = await world();
    await guest.act('GET', '/v1/webhooks/wh_none', way);
    expect(
      house
        .logLines()
        .filter(({ operation }) => operation === 'getWebhook')
        .at(-1),
    ).toMatchObject({
      status: 404,
      person: 'Ada Marsh',
      invitation_id: guest.invitation.id,
      session_id: expect.stringMatching(/^ses_/),
      key_id: partner.keyId,
      partner_id: partner.partnerId,
    });
  });

  it('is told in the access log by name', async () => {
    const { partner, guest, way } = await world();
    const { id } = await partner.call('POST', '/v1/webhooks', hook);
    expect((await guest.act('GET', `/v1/webhooks/${id}`, way)).status).toBe(200);
    await house.service.app.accessLog.flush();
    const { data } = await house.operator('GET', `/access-log?practice_group_id=${partner.groupId}`);
    expect(data).toContainEqual(
      expect.objectContaining({ operation: 'getWebhook', key_id: partner.keyId, person: 'Ada Marsh' }),
    );
  });

  it('has a limit of their own', async () => {
    const { partner, guest } = await world();
    const calls = Array.from({ length: GUEST_RATE_LIMIT + 1 }, () => guest.send('GET', '/portal/v1/status'));
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect([
      statuses.filter((one) => one === 200).length,
      statuses.filter((one) => one === 429).length,
    ]).toEqual([GUEST_RATE_LIMIT, 1]);
    expect((await partner.send('GET', '/v1/practice-groups')).status).toBe(200);
  });

  it('has it also for what is not for them', async () => {
    const { guest } = await world();
    const calls = Array.from({ length: GUEST_RATE_LIMIT + 1 }, () =>
      guest.send('GET', '/practice/v1/partners'),
    );
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses.filter((one) => one !== 403)).toEqual([429]);
  });
});

describe('refused', () => {
  it('401: whatever is not marked for the portal', async () => {
    const { guest, way } = await world();
    const closed = Object.values<Endpoint>(partnerEndpoints).filter(({ portal }) => !portal);
    expect(closed.map(({ operationId }) => operationId)).toContain('updateSubmissionType');
    for (const { method, path } of closed) {
      const body = method === 'PATCH' ? { body: {} } : {};
      const answer = await guest.act(method, path.replaceAll(/\{\w+\}/g, 'x'), way, body);
      expect([method, path, answer.status]).toEqual([method, path, 401]);
    }
  });

  it('401: a call that another page could have made', async () => {
    const { guest, way } = await world();
    for (const headers of [{ 'x-porter-console': '' }, { 'sec-fetch-site': 'cross-site' }]) {
      expect((await guest.act('POST', '/v1/webhooks', way, { body: hook, headers })).status).toBe(401);
      expect((await guest.send('GET', '/portal/v1/home', { headers })).status).toBe(401);
    }
  });

  it('403: a key of another partner, answered like one that does not exist', async () => {
    const [mine, theirs] = [await world(), await world()];
    const texts = [theirs.way.key, 'key_none'].map(async (key) => {
      const { status, body } = await mine.guest.act('GET', '/portal/v1/events', { ...theirs.way, key });
      return [status, body.error, body.message];
    });
    const [one, two] = await Promise.all(texts);
    expect(one).toEqual([403, 'insufficient_permissions', expect.stringContaining('no such key')]);
    expect(one).toEqual(two);
  });

  it('403: another practice, a scope that the key has not, a key that does not work any more', async () => {
    const { partner, guest, way } = await world();
    const stranger = await newPartner(house);
    const foreign = await guest.act('GET', '/portal/v1/events', { ...way, group: stranger.groupId });
    expect([foreign.status, foreign.body.error]).toEqual([403, 'forbidden']);
    const issue = async (more: object) =>
      house.operator('POST', '/keys', {
        partner_id: partner.partnerId,
        practice_group_id: partner.groupId,
        scopes: ['webhooks:read'],
        ...more,
      });
    const reader = await issue({});
    const changed = await guest.act('POST', '/v1/webhooks', { ...way, key: reader.id }, { body: hook });
    expect([changed.status, changed.body.required_scopes]).toEqual([403, ['webhooks:write', 'events:read']]);
    const { id } = await issue({ expires_at: new Date(house.clock.now() + 5_000).toISOString() });
    house.clock.advance(5_000);
    const expired = await guest.act('GET', '/v1/webhooks/x', { ...way, key: id });
    expect([expired.status, expired.body.message]).toEqual([403, expect.stringContaining('expired')]);
  });

  it('403: a change with a key that asks for more than itself; what it reads, it reads', async () => {
    const { partner, guest, way } = await world();
    const { n, e } = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' });
    const jwks = { keys: [{ kty: 'RSA', kid: 'one', n, e }] };
    const { id: proving } = await house.operator('POST', '/keys', {
      partner_id: partner.partnerId,
      practice_group_id: partner.groupId,
      scopes: ['webhooks:read', 'webhooks:write', 'events:read'],
      proof: 'private_key_jwt',
      jwks,
    });
    const made = await guest.act('POST', '/v1/webhooks', { ...way, key: proving }, { body: hook });
    expect([made.status, made.body.message]).toEqual([403, expect.stringContaining('changes nothing')]);
    expect((await guest.act('GET', '/portal/v1/events', { ...way, key: proving })).status).toBe(200);
    await house.operator('PATCH', `/keys/${partner.keyId}`, { allowed_addresses: ['192.0.2.0/24'] });
    const elsewhere = await guest.act('POST', '/v1/webhooks', way, { body: hook });
    expect([elsewhere.status, elsewhere.body.message]).toEqual([403, expect.stringContaining('elsewhere')]);
    expect((await guest.act('GET', '/portal/v1/events', way)).status).toBe(200);
    await house.operator('PATCH', `/keys/${partner.keyId}`, { allowed_addresses: ['127.0.0.1'] });
    expect((await guest.act('POST', '/v1/webhooks', way, { body: hook })).status).toBe(201);
  });

  it('401: the key itself, for what is for people alone', async () => {
    const { partner, guest, way } = await world();
    expect((await partner.send('GET', '/portal/v1/events')).status).toBe(401);
    expect((await guest.send('GET', '/portal/v1/events')).body).toMatchObject({
      error: 'insufficient_permissions',
      message: expect.stringContaining('x-porter-key'),
    });
    expect((await guest.act('GET', '/portal/v1/events', way)).status).toBe(200);
  });

  it('403: people of a practice, and the other way round', async () => {
    const { partner, guest, way } = await world();
    const ofPractice = await guestOf(house, mailbox, { practice: partner.groupId });
    for (const { method, path } of Object.values<Endpoint>({
      ...portalEndpoints,
      ...namedKeyEndpoints,
    }).filter((one) => one.method === 'GET'))
      expect([path, (await ofPractice.send(method, path.replace('{id}', 'x'))).status]).toEqual([path, 403]);
    expect((await ofPractice.act('GET', '/portal/v1/events', way)).status).toBe(403);
    const { status, body } = await guest.send('GET', '/operator/v1/partners');
    expect([status, body.message]).toEqual([
      401,
      'This is for operators, and you were invited as one of a partner. Yours is what is below /portal/v1.',
    ]);
  });
});

describe('taken away', () => {
  it.each([
    ['the key is revoked', 403, ({ keyId }: { keyId: string }) => ['POST', `/keys/${keyId}/revoke`]],
    [
      'the partner is suspended',
      401,
      ({ partnerId }: { partnerId: string }) => ['POST', `/partners/${partnerId}/suspend`],
    ],
  ])('%s: the next call is refused, on every node', async (_name, status, path) => {
    const { partner, guest, way } = await world();
    expect((await guest.act('GET', '/portal/v1/events', way)).status).toBe(200);
    const [method = '', address = ''] = path(partner);
    await house.operator(method, address);
    expect((await guest.act('GET', '/portal/v1/events', way)).status).toBe(status);
    const headers = { cookie: guest.cookie, 'x-porter-console': '1', 'x-porter-key': way.key };
    const elsewhere = await other.send('GET', '/portal/v1/events', { group: way.group, headers });
    expect(elsewhere.status).toBe(status);
  });

  it('the invitation is withdrawn: the next call is refused', async () => {
    const { guest, way } = await world();
    await house.operator('POST', `/invitations/${guest.invitation.id}/withdraw`);
    expect((await guest.act('GET', '/portal/v1/events', way)).status).toBe(401);
    expect((await guest.send('GET', '/portal/v1/home')).status).toBe(401);
  });
});

describe('isolation', () => {
  /** A partner with one of everything, all of it named after the partner. */
  async function furnished(mark: string) {
    const { partner, guest, way } = await world();
    await house.operator('PATCH', `/partners/${partner.partnerId}`, {
      name: mark,
      contact_email: `${mark}@partner.example`,
    });
    await house.operator('PATCH', `/practice-groups/${partner.groupId}`, { name: `Practice ${mark}` });
    await house.operator('PATCH', `/keys/${partner.keyId}`, { label: `Key ${mark}` });
    await house.operator('POST', `/partners/${partner.partnerId}/agreements`, {
      version: `Agreement ${mark}`,
      signatory: `Signatory ${mark}`,
      signed_at: new Date(house.clock.now() - 1_000).toISOString(),
    });
    const webhook = await partner.call('POST', '/v1/webhooks', { ...hook, description: `Hook ${mark}` });
    await partner.call('POST', '/v1/test-events', { event: 'appointment.confirmed' });
    await partner.send('PATCH', `/v1/care-nav/submission-types/${mark}`, {});
    await db.query(
      `INSERT INTO alerts (id, kind, subject_type, subject_id, partner_id, details, began_at)
       VALUES ('alr_' || $1, 'refusals_rising', 'partner', $2, $2, '{"name":"Refusals","since":null,"until":null,"count":9,"usual":1,"reason":null}', now())`,
      [mark, partner.partnerId],
    );
    return { partner, guest, way, webhook };
  }

  it('nobody sees a byte of another partner, whatever is asked', async () => {
    const [mine, theirs] = [await furnished('mine'), await furnished('theirs')];
    const secrets = [
      'theirs',
      theirs.partner.partnerId,
      theirs.partner.keyId,
      theirs.webhook.id,
      theirs.partner.groupId,
    ];
    const ids: Record<string, string> = {
      key: theirs.partner.keyId,
      webhook: theirs.webhook.id,
      contact: 'psn_none',
    };
    const open = [
      ...Object.values<Endpoint>({ ...portalEndpoints, ...namedKeyEndpoints }),
      ...Object.values<Endpoint>(partnerEndpoints).filter(({ portal }) => portal),
    ];
    for (const endpoint of open.filter(({ response }) => !response.stream)) {
      const noun = /\/(\w+?)s\/\{id\}/.exec(endpoint.path)?.[1] ?? '';
      const path = endpoint.path.replace('{id}', ids[noun] ?? 'x').replaceAll(/\{\w+\}/g, 'x');
      const bodies: Record<string, unknown> = {
        createWebhook: hook,
        testWebhook: { event: 'appointment.confirmed' },
        triggerTestEvent: { event: 'appointment.confirmed' },
        replayWebhook: { since: new Date(house.clock.now() - 60_000).toISOString() },
        updatePortalContact: { alert_kinds: null },
        checkPortalAddress: { url: 'https://127.0.0.1/' },
        updateWebhook: { status: 'paused' },
      };
      const body = bodies[endpoint.operationId];
      const send = (way: { key: string; group: string }) =>
        mine.guest.act(endpoint.method, path, way, body === undefined ? {} : { body });
      const tries = [
        await send(mine.way),
        ...('scope' in endpoint.access
          ? [
              await send({ ...mine.way, group: theirs.way.group }),
              await send({ ...mine.way, key: theirs.way.key }),
            ]
          : []),
      ];
      for (const answer of tries) {
        for (const secret of secrets)
          expect([endpoint.operationId, secret, answer.text.includes(secret)]).toEqual([
            endpoint.operationId,
            secret,
            false,
          ]);
        expect([endpoint.operationId, answer.status]).not.toEqual([endpoint.operationId, 500]);
        if (path.includes(theirs.webhook.id) || path.includes(theirs.partner.keyId))
          expect([403, 404]).toContain(answer.status);
      }
      expect(endpoint.path.startsWith('/v1/') ? scopesFor(endpoint).length : 1).toBeGreaterThan(0);
    }
    const after = await theirs.partner.call('GET', `/v1/webhooks/${theirs.webhook.id}`);
    expect(after.status).toBe('active');
  });
});
