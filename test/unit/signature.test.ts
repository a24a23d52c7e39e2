import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { newSecret, secretBytes, signedHeaders } from '../../src/domain/events/signature.ts';

/** The libraries that receivers use say what a good signature is. They read the time from `Date`. */

type Headers = Record<string, string>;

/** Each throws at what it does not accept. */
const VERIFIERS: Record<string, (secret: string, body: string, headers: Headers) => unknown> = {
  standardwebhooks: (secret, body, headers) => new StandardWebhook(secret).verify(body, headers),
  svix: (secret, body, headers) => new SvixWebhook(secret).verify(body, headers),
};

const aSecret = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => `whsec_${Buffer.from(bytes).toString('base64')}`);
const aDelivery = fc.record({
  id: fc.stringMatching(/^dlv_[0-9A-Za-z]{25}_[1-9][0-9]{0,9}$/),
  timestampSeconds: fc.integer({ min: 1, max: 4_000_000_000 }),
  sequence: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  // What a receiver gets is text that went through UTF-8.
  body: fc.json({ stringUnit: 'binary' }).map((text) => text.toWellFormed()),
});
const someSecrets = fc.uniqueArray(aSecret, { minLength: 1, maxLength: 4 });

function sign(delivery: Omit<Parameters<typeof signedHeaders>[0], 'secrets'>, secrets: string[]): Headers {
  vi.setSystemTime(delivery.timestampSeconds * 1000);
  return signedHeaders({ ...delivery, secrets: secrets.map(secretBytes) });
}

/** Another character of the same kind at one place. */
function swapped(text: string, place: number): string {
  const at = place % text.length;
  return text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1);
}

vi.useFakeTimers({ toFake: ['Date'] });
afterEach(() => void vi.setSystemTime(0));
// The files after this one live today.
afterAll(() => void vi.useRealTimers());

describe.each(Object.entries(VERIFIERS))('%s', (_name, verify) => {
  it('accepts every delivery, with whichever of the live secrets', () => {
    fc.assert(
      fc.property(aDelivery, someSecrets, (delivery, secrets) => {
        const headers = sign(delivery, secrets);
        expect(headers['webhook-signature']?.split(' ')).toHaveLength(secrets.length);
        for (const secret of secrets) verify(secret, delivery.body, headers);
      }),
    );
  });

  it('rejects a delivery in which one character was changed', () => {
    const parts = fc.constantFrom('body', 'webhook-id', 'webhook-timestamp', 'webhook-signature');
    fc.assert(
      fc.property(aDelivery, someSecrets, parts, fc.nat(), (delivery, secrets, part, place) => {
        const headers = sign(delivery, secrets);
        let { body } = delivery;
        if (part === 'body') body = swapped(body, place);
        // The last character of base64 holds bits that mean nothing, but libraries compare the text.
        else if (part === 'webhook-signature')
          headers[part] = secrets
            .map((_, n) => `v1,${swapped(headers[part]?.split(' ')[n]?.slice(3) ?? '', place % 43)}`)
            .join(' ');
        else if (part === 'webhook-timestamp')
          headers[part] = String(delivery.timestampSeconds + 1 + (place % 250));
        else headers[part] = swapped(headers[part] ?? '', place);
        for (const secret of secrets) expect(() => verify(secret, body, headers)).toThrow();
      }),
    );
  });

  it('rejects another secret, a missing header and an old or early delivery', () => {
    fc.assert(
      fc.property(aDelivery, someSecrets, aSecret, (delivery, secrets, other) => {
        fc.pre(!secrets.includes(other));
        const headers = sign(delivery, secrets);
        expect(() => verify(other, delivery.body, headers)).toThrow();
        for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
          const { [name]: _, ...fewer } = headers;
          for (const secret of secrets) expect(() => verify(secret, delivery.body, fewer)).toThrow();
        }
        for (const seconds of [301, -301]) {
          vi.setSystemTime((delivery.timestampSeconds + seconds) * 1000);
          for (const secret of secrets)
            expect(() => verify(secret, delivery.body, headers)).toThrow(/timestamp/i);
        }
      }),
    );
  });
});

describe('what a delivery is sent with', () => {
  it('the headers of Standard Webhooks, a sequence, and who sends what', () => {
    const secret = secretBytes('whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=');
    const delivery = { id: 'dlv_1_7', timestampSeconds: 1_700_000_000, sequence: 7, body: '{}' };
    expect(signedHeaders({ ...delivery, secrets: [secret] })).toEqual({
      'content-type': 'application/json',
      'user-agent': 'Porter/1.0',
      'webhook-id': 'dlv_1_7',
      'webhook-timestamp': '1700000000',
      'webhook-signature': 'v1,iBP9jld9QRTEp7s2UByvmMitLpfQtlSI9f7wr/BEB+M=',
      'webhook-sequence': '7',
    });
  });

  it('the signatures of several secrets stand in their order', () => {
    const [older, newer] = [secretBytes(newSecret(randomBytes)), secretBytes(newSecret(randomBytes))];
    const delivery = { id: 'dlv_1_7', timestampSeconds: 1, sequence: 7, body: '{}' };
    const alone = (secret: Uint8Array) =>
      signedHeaders({ ...delivery, secrets: [secret] })['webhook-signature'];
    expect(signedHeaders({ ...delivery, secrets: [older, newer] })['webhook-signature']).toBe(
      `${alone(older)} ${alone(newer)}`,
    );
  });
});

describe('a secret', () => {
  it('is whsec_ and the base64 of 32 random bytes', () => {
    const secret = newSecret((count) => new Uint8Array(count).fill(255));
    expect(secret).toBe(`whsec_${'/'.repeat(42)}8=`);
    expect(secretBytes(secret)).toHaveLength(32);
  });

  it.each(['', 'whsec_', 'whsec_AAAA', 'ptr_live_x', `${'A'.repeat(43)}=`, `whsec_${'A'.repeat(50)}`])(
    'is not %j',
    (text) => {
      expect(() => secretBytes(text)).toThrow('Not the secret of a webhook.');
    },
  );
});
