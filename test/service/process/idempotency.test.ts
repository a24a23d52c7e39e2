import { describe, expect, it } from 'vitest';
import { type Endpoint, takesIdempotencyKey } from '../../../src/contract/endpoint.ts';
import { operatorEndpoints } from '../../../src/contract/operator/index.ts';
import { partnerEndpoints } from '../../../src/contract/partner/index.ts';
import { furnish, operationIds, validCall } from '../../support/operator-calls.ts';
import { newPartner } from '../../support/post.ts';
import { makeKey, OPERATOR_TOKEN, serviceForTests } from '../../support/service.ts';

/** Idempotency-Key on any POST; how publishing keeps its own answers is in publish-idempotency.test.ts. */

const { house, world, db } = await serviceForTests({ env: { PORTER_ROLE: 'api' } });
let keys = 0;
const newKey = () => `call-${++keys}`;
const operator = (path: string, body: unknown, key: string, token = OPERATOR_TOKEN) =>
  house.send('POST', `/operator/v1${path}`, { token, body, headers: { 'idempotency-key': key } });
const partner = await newPartner(house);
const asPartner = (path: string, body: unknown, key: string) =>
  partner.send('POST', path, body, { 'idempotency-key': key });
const HOOK = { url: 'https://partner.example/hook' };
const PARTNER = { name: 'Once', contact_email: 'dev@partner.example' };
const count = async (table: string) =>
  Number((await db.query(`SELECT count(*) FROM ${table}`)).rows[0].count);

describe('the same call with the same key', () => {
  it('is done once and answered alike, to the byte, with a secret that is shown once and its audit entry', async () => {
    const key = newKey();
    const audited = await count('audit_entries');
    const first = await asPartner('/v1/webhooks', HOOK, key);
    const again = await asPartner('/v1/webhooks', HOOK, key);
    expect(first.status).toBe(201);
    expect(again.status).toBe(201);
    expect(again.text).toBe(first.text);
    expect(again.body.secret).toMatch(/^whsec_/);
    expect(first.headers['idempotent-replayed']).toBeUndefined();
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect((await partner.call('GET', '/v1/webhooks')).count).toBe(1);
    expect(await count('audit_entries')).toBe(audited + 1);
  });

  it('shows the same API key again, of which nothing lies in the database in plain text', async () => {
    const body = { partner_id: world.partnerId, practice_group_id: world.groupId, scopes: ['events:read'] };
    const key = newKey();
    const first = await operator('/keys', body, key);
    expect((await operator('/keys', body, key)).text).toBe(first.text);
    const { rows } = await db.query('SELECT k::text AS text, sealed FROM idempotency_keys k WHERE key = $1', [
      key,
    ]);
    expect(rows[0].text).not.toContain(first.body.key);
    expect(rows[0].sealed.toString('latin1')).not.toContain(first.body.key);
  });

  it('twenty at once are one', async () => {
    const key = newKey();
    const before = await count('partners');
    const answers = await Promise.all(Array.from({ length: 20 }, () => operator('/partners', PARTNER, key)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(await count('partners')).toBe(before + 1);
  });

  it('of a revocation is answered when it holds, both times', async () => {
    const { keyId, key: apiKey } = await makeKey(house, world.groupId);
    const key = newKey();
    const answers = await Promise.all([1, 2].map(() => operator(`/keys/${keyId}/revoke`, undefined, key)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const called = await house.send('GET', '/v1/practice-groups', { key: apiKey, group: world.groupId });
    expect(called.status).toBe(401);
  });

  it('of a replay, which takes several transactions, is answered alike', async () => {
    const { id } = await partner.call('POST', '/v1/webhooks', HOOK);
    const key = newKey();
    const since = { since: '2026-01-01T00:00:00Z' };
    const first = await asPartner(`/v1/webhooks/${id}/replay`, since, key);
    const again = await asPartner(`/v1/webhooks/${id}/replay`, since, key);
    expect(first).toMatchObject({ status: 202 });
    expect(again.text).toBe(first.text);
    expect(again.headers['idempotent-replayed']).toBe('true');
  });
});

describe('409 for a key that was used', () => {
  it.each<[string, string, unknown]>([
    ['with another body', '/partners', { ...PARTNER, name: 'Other' }],
    ['for another operation', '/networks', { name: 'N', practice_group_ids: [] }],
    [
      'for an event',
      '/events',
      { object: 'Patient', id: 'p', practice_group_id: world.groupId, event: 'patient.added-to-sequence' },
    ],
  ])('%s', async (_, path, body) => {
    const key = newKey();
    await operator('/partners', PARTNER, key);
    const answer = await operator(path, body, key);
    expect(answer).toMatchObject({ status: 409, body: { error: 'conflict' } });
  });

  it('for another record', async () => {
    const key = newKey();
    const [one, two] = [await makeKey(house, world.groupId), await makeKey(house, world.groupId)];
    expect((await operator(`/keys/${one.keyId}/rotate`, {}, key)).status).toBe(201);
    expect((await operator(`/keys/${two.keyId}/rotate`, {}, key)).status).toBe(409);
  });

  it('for an event, by another call', async () => {
    const key = newKey();
    const event = {
      object: 'Patient',
      id: 'p',
      practice_group_id: world.groupId,
      event: 'patient.added-to-sequence',
    };
    expect((await operator('/events', event, key)).status).toBe(202);
    expect((await operator('/partners', PARTNER, key)).status).toBe(409);
  });
});

it('keys of two callers never meet', async () => {
  const key = newKey();
  const { token } = await house.operator('POST', '/operators', { name: 'Second', role: 'admin' });
  const answers = [
    await operator('/partners', PARTNER, key),
    await operator('/partners', PARTNER, key, token),
  ];
  expect(answers[0]?.body.id).not.toBe(answers[1]?.body.id);
  const neighbour = await newPartner(house, partner.groupId);
  const mine = await asPartner('/v1/webhooks', HOOK, key);
  const theirs = await neighbour.send('POST', '/v1/webhooks', HOOK, { 'idempotency-key': key });
  expect(theirs.body.id).not.toBe(mine.body.id);
});

describe('a call that is refused', () => {
  it('keeps nothing: made again when nothing is in its way, it is done', async () => {
    const key = newKey();
    const id = `practice-${key}`;
    const body = { id, name: 'Practice' };
    await house.operator('POST', '/practice-groups', body);
    // A violation that shows when its statements are written, and is told as without a key.
    expect((await operator('/practice-groups', body, key)).body.error).toBe('conflict');
    expect((await db.query('SELECT FROM idempotency_keys WHERE key = $1', [key])).rows).toEqual([]);
    await db.query('DELETE FROM practice_groups WHERE id = $1', [id]);
    expect((await operator('/practice-groups', body, key)).status).toBe(201);
  });

  it('says the same with a key as without one', async () => {
    const taken = { submission_type_id: 'type-1', id: 'form-taken' };
    const path = `/practice-groups/${world.groupId}/form-submissions`;
    await house.operator('POST', path, taken);
    const without = await house.send('POST', `/operator/v1${path}`, { token: OPERATOR_TOKEN, body: taken });
    const keyed = await operator(path, taken, newKey());
    expect(keyed.status).toBe(without.status);
    expect(keyed.body.message).toBe(without.body.message);
  });
});

it('a transaction that fails at its end leaves neither the change nor the answer', async () => {
  const key = newKey();
  const before = await count('partners');
  await db.query(
    `ALTER TABLE idempotency_keys ADD CONSTRAINT unkept CHECK (sealed IS NULL OR key <> '${key}')`,
  );
  expect((await operator('/partners', PARTNER, key)).status).toBe(500);
  await db.query('ALTER TABLE idempotency_keys DROP CONSTRAINT unkept');
  expect(await count('partners')).toBe(before);
  expect((await db.query('SELECT FROM idempotency_keys WHERE key = $1', [key])).rows).toEqual([]);
  expect((await operator('/partners', PARTNER, key)).status).toBe(201);
});

describe('an answer that cannot be kept', async () => {
  const given = await furnish(house);
  const kept = operationIds.filter((id) => {
    const endpoint: Endpoint = operatorEndpoints[id];
    return takesIdempotencyKey(endpoint) && endpoint.idempotency === undefined;
  });

  it.each(kept)('500: %s has changed nothing, so that the call can be made again', async (id) => {
    const key = newKey();
    const { path, body } = await validCall(id, given);
    const audited = await count('audit_entries');
    await db.query(
      `ALTER TABLE idempotency_keys ADD CONSTRAINT unkept CHECK (sealed IS NULL OR key <> '${key}')`,
    );
    const failed = await operator(path.replace('/operator/v1', ''), body, key);
    await db.query('ALTER TABLE idempotency_keys DROP CONSTRAINT unkept');
    expect([failed.status, await count('audit_entries')]).toEqual([500, audited]);
  });
});

it('is kept for a day, and cleared away then', async () => {
  const key = newKey();
  const first = await operator('/partners', PARTNER, key);
  house.clock.advance(24 * 3_600_000 - 1_000);
  expect((await operator('/partners', PARTNER, key)).body.id).toBe(first.body.id);
  house.clock.advance(1_001);
  expect((await operator('/partners', { ...PARTNER, name: 'Next day' }, key)).status).toBe(201);
});

it('every POST takes a key, and 400 says what is wrong with one', async () => {
  const all: Endpoint[] = [...Object.values(partnerEndpoints), ...Object.values(operatorEndpoints)];
  const posts = all.filter(takesIdempotencyKey);
  expect(posts.length).toBeGreaterThan(20);
  for (const { path } of posts) {
    const { status, body } = await house.send('POST', path.replaceAll(/\{\w+\}/g, 'x'), {
      key: partner.key,
      group: partner.groupId,
      token: OPERATOR_TOKEN,
      body: {},
      headers: { 'idempotency-key': 'a b' },
    });
    expect(status, path).toBe(400);
    expect(body.message, path).toContainEqual(expect.objectContaining({ path: ['idempotency-key'] }));
  }
});

it('an import line by line takes none: sent again, it changes nothing anyway', async () => {
  const line = JSON.stringify({
    kind: 'form',
    id: 'form-1',
    practice_group_id: world.groupId,
    title: 'Form',
  });
  const send = () =>
    house.send('POST', '/operator/v1/import', {
      token: OPERATOR_TOKEN,
      raw: `${line}\n`,
      headers: { 'content-type': 'application/x-ndjson', 'idempotency-key': 'lines' },
    });
  for (const answer of [await send(), await send()]) expect(answer.status).toBe(200);
});
