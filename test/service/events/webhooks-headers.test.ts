import { describe, expect, it } from 'vitest';
import { newPartner } from '../../support/post.ts';
import { startReceiver } from '../../support/receiver.ts';
import { MASTER_KEY, startHarness } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

/** Headers of its own that a webhook is sent. */

const house = await startHarness();
const db = await superuser(house.databaseUrl);
const partner = await newPartner(house);
const URL_TAKEN = 'https://partner.example/hook';
const create = (headers: unknown) => partner.send('POST', '/v1/webhooks', { url: URL_TAKEN, headers });

it('each delivery is sent with them, and with what replaced them', async () => {
  const receiver = await startReceiver();
  const made = await partner.call('POST', '/v1/webhooks', {
    url: receiver.url,
    headers: { Authorization: 'Bearer one', 'x-tenant': 'riverside & sons' },
  });
  const test = () => partner.call('POST', `/v1/webhooks/${made.id}/test`, { event: 'appointment.confirmed' });
  expect(made).toMatchObject({ header_names: ['authorization', 'x-tenant'] });
  await test();
  await expect.poll(() => receiver.received.length).toBe(1);
  expect(receiver.received[0]?.headers).toMatchObject({
    authorization: 'Bearer one',
    'x-tenant': 'riverside & sons',
    'content-type': 'application/json',
    'webhook-sequence': '1',
  });
  const changed = await partner.call('PATCH', `/v1/webhooks/${made.id}`, {
    headers: { authorization: 'Bearer two' },
  });
  expect(changed.header_names).toEqual(['authorization']);
  await test();
  await expect.poll(() => receiver.received.length).toBe(2);
  expect(receiver.received[1]?.headers.authorization).toBe('Bearer two');
  expect(receiver.received[1]?.headers).not.toHaveProperty('x-tenant');
  await partner.call('PATCH', `/v1/webhooks/${made.id}`, { headers: null });
  await test();
  await expect.poll(() => receiver.received.length).toBe(3);
  expect(receiver.received[2]?.headers).not.toHaveProperty('authorization');
  await receiver.close();
});

it('another host is not sent what was for the one before, whose values nobody is shown', async () => {
  const made = (await create({ authorization: 'Bearer for-partner' })).body;
  const patch = (body: unknown) => partner.call('PATCH', `/v1/webhooks/${made.id}`, body);
  expect((await patch({ url: 'https://partner.example/other' })).header_names).toEqual(['authorization']);
  const both = { url: 'https://new.partner.example/hook', headers: { 'x-token': 'new' } };
  expect((await patch(both)).header_names).toEqual(['x-token']);
  expect((await patch({ url: 'https://elsewhere.example/hook' })).header_names).toEqual([]);
  const { rows } = await db.query('SELECT headers_sealed FROM webhooks WHERE id = $1', [made.id]);
  expect(rows).toEqual([{ headers_sealed: null }]);
});

it('their values are shown nowhere and lie nowhere in plain text; that they were changed is audited', async () => {
  const made = (await create({ authorization: 'Bearer very-secret-value' })).body;
  const read = await partner.send('GET', `/v1/webhooks/${made.id}`);
  await partner.call('PATCH', `/v1/webhooks/${made.id}`, {
    headers: { authorization: 'Bearer very-secret-other' },
  });
  expect(JSON.stringify(made) + read.text).not.toContain('very-secret');
  for (const table of ['webhooks', 'audit_entries', 'idempotency_keys']) {
    const { rows } = await db.query(`SELECT t::text AS row FROM ${table} t`);
    expect(JSON.stringify(rows)).not.toContain('very-secret');
  }
  const { rows } = await db.query(`SELECT headers_sealed FROM webhooks WHERE id = $1`, [made.id]);
  expect(rows[0].headers_sealed.toString('latin1')).not.toContain('very-secret');
  expect(JSON.stringify(house.logLines())).not.toContain('very-secret');
  const audit = await db.query(
    `SELECT body::json -> 'after' ->> 'header_names' AS names FROM audit_entries WHERE subject_id = $1 AND action = 'webhook.update'`,
    [made.id],
  );
  expect(audit.rows).toEqual([{ names: '["authorization"]' }]);
});

it('they open for their webhook alone: moved to another row, nothing is sent with them', async () => {
  const receiver = await startReceiver();
  const one = (await create({ authorization: 'Bearer mine' })).body;
  const other = await partner.call('POST', '/v1/webhooks', { url: receiver.url });
  await db.query(
    `UPDATE webhooks w SET header_names = o.header_names, headers_sealed = o.headers_sealed, headers_key_id = o.headers_key_id, version = w.version + 1
       FROM webhooks o WHERE w.id = $1 AND o.id = $2`,
    [other.id, one.id],
  );
  await partner.call('POST', `/v1/webhooks/${other.id}/test`, { event: 'appointment.confirmed' });
  await expect
    .poll(() => JSON.stringify(house.logLines()))
    .toContain('the secret of a webhook cannot be opened');
  expect(receiver.received).toEqual([]);
  await db.query('UPDATE webhooks SET headers_sealed = NULL, headers_key_id = NULL WHERE id = $1', [
    other.id,
  ]);
  await receiver.close();
});

describe('400', () => {
  it.each([
    'host',
    'Content-Type',
    'content-length',
    'connection',
    'Transfer-Encoding',
    'webhook-id',
    'Webhook-Signature',
    'cookie',
    'te',
    'trailer',
    'upgrade',
    'expect',
    'user-agent',
    'proxy-authorization',
    'x-forwarded-for',
    'a b',
    'ä',
    '',
    'x'.repeat(65),
  ])('for the name %j', async (name) => {
    const { status, body } = await create({ [name]: 'x' });
    expect(status).toBe(400);
    expect(body.message).toMatchObject([{ path: ['headers', name] }]);
  });

  it.each(['', ' x', 'x ', 'a\r\nb: c', 'a\nb', 'ä', '\u0000', 'x'.repeat(1_025)])(
    'for the value %j',
    async (value) => {
      expect((await create({ 'x-own': value })).body.message).toMatchObject([{ path: ['headers', 'x-own'] }]);
    },
  );

  it('for more than ten, or one name in two spellings, or what is no text', async () => {
    const many = Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`x-${n}`, 'x']));
    expect((await create(many)).body.message).toMatchObject([{ path: ['headers'], code: 'too_big' }]);
    expect((await create({ 'x-a': '1', 'X-A': '2' })).status).toBe(400);
    expect((await create({ 'x-a': 1 })).status).toBe(400);
  });
});

it('a new master key seals them anew', async () => {
  const made = (await create({ authorization: 'Bearer kept' })).body;
  const before = await db.query('SELECT headers_key_id FROM webhooks WHERE id = $1', [made.id]);
  const next = await startHarness({
    databaseUrl: house.databaseUrl,
    clock: house.clock,
    env: {
      PORTER_ROLE: 'api',
      PORTER_MASTER_KEY: Buffer.alloc(32, 'n').toString('base64'),
      PORTER_MASTER_KEY_PREVIOUS: MASTER_KEY,
    },
  });
  const after = await db.query('SELECT headers_key_id FROM webhooks WHERE id = $1', [made.id]);
  expect(after.rows[0].headers_key_id).not.toBe(before.rows[0].headers_key_id);
  await next.stop();
});
