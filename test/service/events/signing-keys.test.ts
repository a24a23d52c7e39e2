import { createPublicKey, verify } from 'node:crypto';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { verifyWebhook } from '../../../packages/sdk/src/webhook.ts';
import { porter } from '../../support/cli.ts';
import { newPartner } from '../../support/post.ts';
import { type ReceivedRequest, startReceiver } from '../../support/receiver.ts';
import { MASTER_KEY, startHarness } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

/** Deliveries that anybody can verify who has the public key of the deployment. */

const house = await startHarness();
const partner = await newPartner(house);
const DAY_MS = 24 * 3_600_000;

/** One delivery to a webhook that is signed like this. */
async function delivered(signature: string) {
  const receiver = await startReceiver();
  const webhook = await partner.call('POST', '/v1/webhooks', { url: receiver.url, signature });
  expect(webhook.signature).toBe(signature);
  const send = async () => {
    const before = receiver.received.length;
    await partner.call('POST', `/v1/webhooks/${webhook.id}/test`, { event: 'appointment.confirmed' });
    await expect.poll(() => receiver.received.length).toBe(before + 1);
    return receiver.received[before] as ReceivedRequest;
  };
  return { webhook, send, first: await send(), close: () => receiver.close() };
}

const publicKeys = async (): Promise<string[]> => {
  house.clock.advance(1_001);
  const { body } = await house.send('GET', '/.well-known/webhook-keys');
  return body.keys.map(({ public_key }: { public_key: string }) => public_key);
};
const versions = ({ headers }: ReceivedRequest) =>
  String(headers['webhook-signature'])
    .split(' ')
    .map((one) => one.split(',')[0]);
const signedText = ({ headers, body }: ReceivedRequest) =>
  Buffer.from(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`);
const now = () => house.clock.now();

it('ed25519: node:crypto verifies it with the JWK, the client library and porter verify with whpk_', async () => {
  const { first, close } = await delivered('ed25519');
  expect(versions(first)).toEqual(['v1a']);
  const [, base64 = ''] = String(first.headers['webhook-signature']).split(',');
  const { keys } = (await house.send('GET', '/.well-known/jwks.json')).body;
  const key = createPublicKey({ key: keys[0], format: 'jwk' });
  expect(verify(null, signedText(first), key, Buffer.from(base64, 'base64'))).toBe(true);
  const [publicKey = ''] = await publicKeys();
  const request = { headers: first.headers, body: first.body };
  expect((await verifyWebhook(request, publicKey, { now })).sequence).toBe(1);
  const forged = { ...request, body: first.body.replace('confirmed', 'cancelled') };
  await expect(verifyWebhook(forged, publicKey, { now })).rejects.toMatchObject({
    reason: 'no_matching_signature',
  });

  const raw = (body: string) =>
    `POST /hook HTTP/1.1\r\n${Object.entries(first.headers)
      .map(([name, value]) => `${name}: ${value}`)
      .join('\r\n')}\r\n\r\n${body}`;
  const check = (stdin: string, secret = publicKey) =>
    porter(['verify', '--at', new Date(now()).toISOString()], { stdin, env: { WEBHOOK_SECRET: secret } });
  expect((await check(raw(first.body))).code).toBe(0);
  expect((await check(raw(forged.body))).code).toBe(1);
  expect((await check(raw(first.body), `whpk_${Buffer.alloc(32, 7).toString('base64')}`)).code).toBe(1);
  await close();
});

it('both: libraries that know v1 alone take it, and so does the public key; hmac: as before', async () => {
  const both = await delivered('both');
  expect(versions(both.first)).toEqual(['v1', 'v1a']);
  const [publicKey = ''] = await publicKeys();
  const request = { headers: both.first.headers, body: both.first.body };
  await verifyWebhook(request, publicKey, { now });
  await verifyWebhook(request, both.webhook.secret, { now });
  const standard = new StandardWebhook(both.webhook.secret);
  const at = new Date(Number(both.first.headers['webhook-timestamp']) * 1000);
  const expected = standard.sign(String(both.first.headers['webhook-id']), at, both.first.body);
  expect(String(both.first.headers['webhook-signature']).split(' ')).toContain(expected);
  const { first, close } = await delivered('hmac');
  expect(versions(first)).toEqual(['v1']);
  await both.close();
  await close();
});

describe('rotation', () => {
  it('signs with both keys until the overlap ends, and lists both; then with the new one alone', async () => {
    const { send, close } = await delivered('ed25519');
    const [old = ''] = await publicKeys();
    const made = await house.operator('POST', '/signing-keys/rotate', { overlap_seconds: 3_600 });
    expect(await publicKeys()).toEqual([made.public_key, old]);
    const during = await send();
    expect(versions(during)).toEqual(['v1a', 'v1a']);
    for (const key of [old, made.public_key])
      await verifyWebhook({ headers: during.headers, body: during.body }, key, { now });
    house.clock.advance(3_600_000);
    expect(await publicKeys()).toEqual([made.public_key]);
    const after = await send();
    expect(versions(after)).toEqual(['v1a']);
    await verifyWebhook({ headers: after.headers, body: after.body }, made.public_key, { now });
    expect((await house.operator('GET', '/signing-keys')).data).toMatchObject([
      { id: made.id, expires_at: null },
    ]);
    await close();
  });

  it('409: when four sign already', async () => {
    house.clock.advance(DAY_MS);
    for (let n = 0; n < 3; n++) await house.operator('POST', '/signing-keys/rotate', {});
    await expect(house.operator('POST', '/signing-keys/rotate', {})).rejects.toThrow('409');
  });
});

it('the private key lies sealed, and a new master key seals it anew: the public keys stay', async () => {
  const db = await superuser(house.databaseUrl);
  const before = await publicKeys();
  const keyIds = async () => (await db.query('SELECT DISTINCT sealed_key_id FROM signing_keys')).rows;
  const sealedUnder = await keyIds();
  const next = await startHarness({
    databaseUrl: house.databaseUrl,
    clock: house.clock,
    env: {
      PORTER_ROLE: 'api',
      PORTER_MASTER_KEY: Buffer.alloc(32, 'n').toString('base64'),
      PORTER_MASTER_KEY_PREVIOUS: MASTER_KEY,
    },
  });
  expect(await keyIds()).not.toEqual(sealedUnder);
  const { body } = await next.send('GET', '/.well-known/webhook-keys');
  expect(body.keys.map(({ public_key }: { public_key: string }) => public_key)).toEqual(before);
  expect(JSON.stringify(body)).not.toMatch(/sealed|private/);
});

it('without the master key that sealed it, the service does not start while webhooks are signed with it', async () => {
  const own = await startHarness();
  const one = await newPartner(own);
  const { id } = await one.call('POST', '/v1/webhooks', {
    url: 'https://partner.example/hook',
    signature: 'ed25519',
  });
  const db = await superuser(own.databaseUrl);
  await db.query('DELETE FROM webhook_secrets');
  await own.stop();
  const env = { PORTER_ROLE: 'api', PORTER_MASTER_KEY: Buffer.alloc(32, 'o').toString('base64') };
  const start = () => startHarness({ databaseUrl: own.databaseUrl, clock: own.clock, env });
  await expect(start()).rejects.toThrow('PORTER_MASTER_KEY_PREVIOUS');
  await db.query('UPDATE webhooks SET deleted_at = now() WHERE id = $1', [id]);
  const { body } = await (await start()).send('GET', '/.well-known/webhook-keys');
  expect(body.keys).toHaveLength(1);
});
