import { describe, expect, it } from 'vitest';
import { expectInvalid, expectProblem } from '../../support/answers.ts';
import { lastEntry } from '../../support/audit.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import {
  type Answer,
  type Harness,
  type Loose,
  makeKey,
  makeWorld,
  OPERATOR_TOKEN,
  startHarness,
} from '../../support/service.ts';

/** What was agreed can change: with the answer it holds on every node. */

const first = await startHarness();
const second = await startHarness({ databaseUrl: first.databaseUrl, clock: first.clock });
const home = await makeWorld(first);

const change = (
  noun: 'keys' | 'partners',
  id: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> =>
  first.send('PATCH', `/operator/v1/${noun}/${id}`, { token: OPERATOR_TOKEN, body, headers });
const call = (node: Harness, key: string, headers = {}): Promise<Answer> =>
  node.send('GET', '/v1/practice-groups', { key, group: home.groupId, headers });
const newKey = (options: Record<string, unknown> = {}) => makeKey(first, home.groupId, options);
const inSeconds = (seconds: number) => new Date(first.clock.now() + seconds * 1000).toISOString();
const limitOf = (answer: Answer) => /q=(\d+)/.exec(String(answer.headers['ratelimit-policy']))?.[1];

interface Change {
  body: Loose;
  refused: [status: number, code: string, more?: Record<string, unknown>];
}

const taken: Record<string, Change> = {
  'a scope': {
    body: { scopes: ['events:read'] },
    refused: [403, 'insufficient_permissions', { required_scopes: ['practice-groups:read'] }],
  },
  'an address': { body: { allowed_addresses: ['203.0.113.9'] }, refused: [401, 'invalid_credentials'] },
};

describe.each(Object.entries(taken))('PATCH /operator/v1/keys/{id}: %s', (_name, { body, refused }) => {
  const everything = { scopes: ['practice-groups:read'], allowed_addresses: null };

  it('taken away is refused by both nodes as soon as the operator has the answer, and given back is let in', async () => {
    const { key, keyId } = await newKey();
    for (const node of [first, second]) expect((await call(node, key)).status).toBe(200);
    const before = first.clock.now();
    expect((await change('keys', keyId, body)).status).toBe(200);
    expect(first.clock.now() - before).toBeGreaterThanOrEqual(1_000);
    for (const node of [second, first]) expectProblem(await call(node, key), ...refused);
    expect((await change('keys', keyId, everything)).status).toBe(200);
    for (const node of [second, first]) expect((await call(node, key)).status).toBe(200);
  });

  it('is refused by a node that hears of nothing, a second after it asked last', async () => {
    const { key, keyId } = await newKey();
    const clock = new ManualClock(new Date(first.clock.now()).toISOString());
    const deaf = await startHarness({ databaseUrl: first.databaseUrl, clock });
    expect((await call(deaf, key)).status).toBe(200);
    await change('keys', keyId, body);
    clock.advance(1_000);
    expectProblem(await call(deaf, key), ...refused);
    await deaf.stop();
  });
});

describe('PATCH /operator/v1/keys/{id}', () => {
  it('a limit holds on the other node with the next call, lower and higher and none', async () => {
    const { key, keyId } = await newKey();
    for (const [limit, told] of [
      [7, '7'],
      [9_000, '9000'],
      [null, '300'],
    ] as const) {
      expect((await change('keys', keyId, { rate_limit_per_minute: limit })).body.rate_limit_per_minute).toBe(
        limit,
      );
      expect(limitOf(await call(second, key))).toBe(told);
    }
  });

  it('an expiry is brought forward, put off and lifted', async () => {
    const { key, keyId } = await newKey();
    expect((await call(second, key)).status).toBe(200);
    const { body } = await change('keys', keyId, { expires_at: inSeconds(60) });
    first.clock.set(body.expires_at);
    first.clock.advance(-1);
    expect((await call(second, key)).status).toBe(200);
    await change('keys', keyId, { expires_at: null });
    first.clock.advance(86_400_000);
    expect((await call(second, key)).status).toBe(200);
  });

  it('a label needs no second, and the rest is as it was', async () => {
    const { keyId } = await newKey({ rate_limit_per_minute: 9, expires_at: inSeconds(9_000) });
    const before = await first.operator('GET', `/keys/${keyId}`);
    const at = first.clock.now();
    const { body } = await change('keys', keyId, { label: 'Booking service' });
    expect(first.clock.now()).toBe(at);
    expect(body).toEqual({ ...before, label: 'Booking service' });
    expect(await first.operator('GET', `/keys/${keyId}`)).toEqual(body);
  });

  it('what changes nothing is a 200 without an entry, and without a second if it names the label alone', async () => {
    const { keyId } = await newKey({ label: 'A', allowed_addresses: ['127.0.0.1'] });
    const last = await lastEntry(first);
    const [at, etag] = [first.clock.now(), (await change('keys', keyId, {})).headers.etag];
    expect((await change('keys', keyId, { label: 'A' })).headers.etag).toBe(etag);
    expect(first.clock.now()).toBe(at);
    const same = await change('keys', keyId, { label: 'A', allowed_addresses: ['127.0.0.1'] });
    expect(same.headers.etag).toBe(etag);
    expect(first.clock.now()).toBeGreaterThanOrEqual(at + 1_000);
    expect(await lastEntry(first)).toBe(last);
  });

  it('412: with If-Match, of two changes the second is told to look again', async () => {
    const { keyId } = await newKey();
    const read = await first.send('GET', `/operator/v1/keys/${keyId}`, { token: OPERATOR_TOKEN });
    const ifMatch = { 'if-match': String(read.headers.etag) };
    const changed = await change('keys', keyId, { label: 'One' }, ifMatch);
    expect(changed.status).toBe(200);
    expectProblem(await change('keys', keyId, { label: 'Two' }, ifMatch), 412, 'precondition_failed');
    const now = { 'if-match': String(changed.headers.etag) };
    expect((await change('keys', keyId, { label: 'Two' }, now)).body.label).toBe('Two');
  });

  it('409: a key that no longer works is not brought back', async () => {
    const [revoked, expired] = [await newKey(), await newKey({ expires_at: inSeconds(5) })];
    await first.operator('POST', `/keys/${revoked.keyId}/revoke`);
    first.clock.advance(5_000);
    for (const { keyId } of [revoked, expired])
      expectProblem(await change('keys', keyId, { expires_at: null }), 409, 'conflict');
  });

  it('400 and 422: what cannot be', async () => {
    const { keyId } = await newKey();
    expectProblem(
      await change('keys', keyId, { expires_at: inSeconds(-1) }),
      422,
      'business_rule_violation',
      {
        rule: 'expiry_in_the_past',
        path: ['expires_at'],
      },
    );
    for (const proof of ['mtls', 'private_key_jwt'])
      expectProblem(await change('keys', keyId, { proof }), 422, 'business_rule_violation', {
        rule: 'proof_incomplete',
        path: ['proof'],
      });
    expectInvalid(await change('keys', keyId, { scopes: [] }), [{ path: ['scopes'] }]);
    expectInvalid(await change('keys', keyId, { status: 'active' }), [
      { path: ['status'], code: 'read_only' },
    ]);
    const wrong = [
      '10.0.0.0/33',
      '10.0.0/8',
      '::/129',
      'localhost',
      '10.0.0.1/',
      '::ffff:10.0.0.1',
      'fe80::1%eth0',
    ];
    for (const one of wrong)
      expectInvalid(await change('keys', keyId, { allowed_addresses: ['10.0.0.0/8', one] }), [
        {
          path: ['allowed_addresses', 1],
        },
      ]);
    expectInvalid(await change('keys', keyId, { allowed_addresses: [] }), [{ path: ['allowed_addresses'] }]);
  });

  it('a rotation carries the settings over', async () => {
    const settings = {
      label: 'Booking service',
      allowed_addresses: ['127.0.0.0/8', '2001:db8::/32'],
      rate_limit_per_minute: 77,
    };
    const { keyId } = await newKey(settings);
    expect(await first.operator('POST', `/keys/${keyId}/rotate`)).toMatchObject(settings);
  });
});

describe('PATCH /operator/v1/partners/{id}', () => {
  it('its limit holds on both nodes with the next call, for keys without one of their own', async () => {
    const { key, keyId, partnerId } = await newKey();
    expect(limitOf(await call(second, key))).toBe('300');
    const { body } = await change('partners', partnerId, { rate_limit_per_minute: 20, sla: 'gold' });
    expect(body).toMatchObject({ status: 'verified', rate_limit_per_minute: 20, sla: 'gold' });
    for (const node of [second, first]) expect(limitOf(await call(node, key))).toBe('20');
    await change('keys', keyId, { rate_limit_per_minute: 30 });
    expect(limitOf(await call(second, key))).toBe('30');
  });

  it('name and contact change at once; the steps go on from where they were', async () => {
    const made = await first.operator('POST', '/partners', { name: 'P', contact_email: 'p@p.example' });
    await first.operator('POST', `/partners/${made.id}/sign-agreement`, { sla: 'gold' });
    const at = first.clock.now();
    const renamed = await change('partners', made.id, { name: 'Q', contact_email: 'q@q.example', sla: null });
    expect(first.clock.now()).toBe(at);
    expect(renamed.body).toEqual({
      ...made,
      name: 'Q',
      contact_email: 'q@q.example',
      status: 'agreement_signed',
      updated_at: new Date(at).toISOString(),
    });
    await first.operator('POST', `/partners/${made.id}/suspend`);
    expect(await first.operator('POST', `/partners/${made.id}/verify`)).toMatchObject({
      status: 'verified',
      name: 'Q',
    });
  });

  it('412: with If-Match, also after a step', async () => {
    const { partnerId } = await newKey();
    const read = await first.send('GET', `/operator/v1/partners/${partnerId}`, { token: OPERATOR_TOKEN });
    const ifMatch = { 'if-match': String(read.headers.etag) };
    await first.operator('POST', `/partners/${partnerId}/suspend`);
    expectProblem(await change('partners', partnerId, { name: 'Q' }, ifMatch), 412, 'precondition_failed');
  });

  it('what changes nothing leaves no entry', async () => {
    const { partnerId } = await newKey();
    const last = await lastEntry(first);
    expect((await change('partners', partnerId, { name: 'Partner' })).status).toBe(200);
    expect(await lastEntry(first)).toBe(last);
  });
});
