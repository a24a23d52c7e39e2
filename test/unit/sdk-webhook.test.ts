import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { Webhook as Svix } from 'svix';
import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  type EventPayload,
  eventNames,
  type UnknownEvent,
  verifyWebhook,
  WebhookVerificationError,
} from '../../packages/sdk/src/index.ts';

const SECRET = 'whsec_cG9ydGVyLWV4YW1wbGUtc2VjcmV0LTMyLWJ5dGVzISE=';
const OTHER = 'whsec_YW5vdGhlci1leGFtcGxlLW9mLTMyLWJ5dGVzLi4uLi4=';
const NOW = Date.parse('2026-11-16T10:00:00.500Z');
const ID = 'dlv_00VavrySW7QkzdE4DIp3JusJ3_1042';
const payload = {
  object: 'Appointment',
  id: 'äpt_1',
  practice_group_id: 'g',
  event: 'appointment.confirmed',
};
const BODY = JSON.stringify(payload);
const now = () => NOW;

function signed({
  body = BODY,
  secrets = [SECRET],
  id = ID,
  secondsAgo = 0,
  Signer = Webhook as typeof Webhook | typeof Svix,
} = {}) {
  const at = new Date(NOW - secondsAgo * 1000);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': secrets.map((secret) => new Signer(secret).sign(id, at, body)).join(' '),
    'webhook-sequence': '1042',
  };
}

const reasonOf = async (verdict: Promise<unknown>) => {
  const error = await verdict.then(() => undefined).catch((error: unknown) => error);
  if (error instanceof WebhookVerificationError) return error.reason;
  if (error) throw error;
  return undefined;
};

describe.each([
  ['standardwebhooks', Webhook],
  ['svix', Svix],
])('what %s signed', (_name, Signer) => {
  it('is genuine, as a Request and as headers with a body', async () => {
    const headers = signed({ Signer });
    const expected = {
      webhookId: ID,
      sequence: 1042,
      timestamp: new Date('2026-11-16T10:00:00Z'),
      data: payload,
    };
    const request = new Request('https://receiver.test', { method: 'POST', headers, body: BODY });
    expect(await verifyWebhook(request, SECRET, { now })).toEqual(expected);
    const bytes = Buffer.from(BODY);
    for (const body of [BODY, bytes, new Uint8Array(bytes), new Uint8Array(bytes).buffer])
      expect(await verifyWebhook({ headers, body }, SECRET, { now })).toEqual(expected);
    const shouted = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]),
    );
    expect(await verifyWebhook({ headers: shouted, body: BODY }, SECRET, { now })).toEqual(expected);
  });

  it('is genuine with one of several secrets or signatures', async () => {
    const both = { headers: signed({ Signer, secrets: [OTHER, SECRET] }), body: BODY };
    expect(await reasonOf(verifyWebhook(both, SECRET, { now }))).toBeUndefined();
    const one = { headers: signed({ Signer, secrets: [SECRET] }), body: BODY };
    expect(await reasonOf(verifyWebhook(one, [OTHER, SECRET], { now }))).toBeUndefined();
    expect(await reasonOf(verifyWebhook(one, [OTHER], { now }))).toBe('no_matching_signature');
  });

  it('is genuine whatever it says', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'binary' }),
        fc.stringMatching(/^[\w-]{1,80}$/),
        async (text, id) => {
          const body = JSON.stringify({ ...payload, id: text });
          const { data, webhookId } = await verifyWebhook(
            { headers: signed({ Signer, body, id }), body },
            SECRET,
            { now },
          );
          expect([data, webhookId]).toEqual([JSON.parse(body), id]);
        },
      ),
    );
  });

  it('is refused when any part of it was touched', async () => {
    const headers = signed({ Signer });
    const signedParts = ['webhook-id', 'webhook-timestamp', 'webhook-signature', 'body'] as const;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...signedParts),
        fc.nat(),
        fc.string({ minLength: 1, maxLength: 1 }),
        async (part, at, char) => {
          const whole = { ...headers, body: BODY };
          const text = whole[part];
          const place = at % text.length;
          const changed = text.slice(0, place) + char + text.slice(place + 1);
          fc.pre(changed !== text);
          const { body, ...touched } = { ...whole, [part]: changed };
          expect(await reasonOf(verifyWebhook({ headers: touched, body }, SECRET, { now }))).toBeDefined();
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('a delivery is refused', () => {
  const check = (headers: Record<string, string>, body = BODY) =>
    reasonOf(verifyWebhook({ headers, body }, SECRET, { now }));

  it.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])('without %s', async (name) => {
    expect(await check({ ...signed(), [name]: '' })).toBe('missing_header');
    expect(await check(Object.fromEntries(Object.entries(signed()).filter(([key]) => key !== name)))).toBe(
      'missing_header',
    );
  });

  it('more than five minutes before or after it was sent', async () => {
    expect(await check(signed({ secondsAgo: 300 }))).toBeUndefined();
    expect(await check(signed({ secondsAgo: 301 }))).toBe('timestamp_too_old');
    expect(await check(signed({ secondsAgo: -300 }))).toBeUndefined();
    expect(await check(signed({ secondsAgo: -302 }))).toBe('timestamp_too_new');
  });

  it('with a time that is none, or signatures of another kind', async () => {
    expect(await check({ ...signed(), 'webhook-timestamp': '1e9' })).toBe('invalid_header');
    const [, signature = ''] = signed()['webhook-signature'].split(',');
    for (const other of [
      `v2,${signature}`,
      signature,
      `v1,${signature.slice(0, -1)}`,
      `v1,${signature}=`,
      'v1,',
    ])
      expect(await check({ ...signed(), 'webhook-signature': other })).toBe('no_matching_signature');
  });

  it('when its signature is written in another way that means the same bytes', async () => {
    const { 'webhook-signature': signature } = signed();
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
    const last = alphabet.indexOf(signature.at(-2) ?? '');
    const same = `${signature.slice(0, -2)}${alphabet[last ^ 1]}=`;
    expect(Buffer.from(same.slice(3), 'base64')).toEqual(Buffer.from(signature.slice(3), 'base64'));
    expect(await check({ ...signed(), 'webhook-signature': same })).toBe('no_matching_signature');
  });

  it.each(['', 'not JSON', '[]', 'null', '{"event":7}'])(
    'when it is signed but no event: %s',
    async (body) => {
      expect(await check(signed({ body }), body)).toBe('invalid_body');
    },
  );
});

it.each([
  [''],
  ['whsec_'],
  ['ptr_test_1'],
  ['whsec_???'],
  [SECRET.slice(0, -1)],
  [SECRET.slice(0, -5)],
  ['whsec_A'],
  [`${SECRET.slice(0, -1)}A`],
  [`${SECRET}\n`],
  [[SECRET, 'whsec_cG9ydGVy']],
  [[]],
])('%j is no secret, and says so', async (secret) => {
  const verdict = verifyWebhook({ headers: signed(), body: BODY }, secret, { now });
  await expect(verdict).rejects.toThrow(TypeError);
});

it.each([
  ['parsed JSON', payload],
  ['a list of bytes', [...Buffer.from(BODY)]],
  ['nothing', undefined],
])('a body that is %s says what to do instead', async (_name, body) => {
  const verdict = verifyWebhook({ headers: signed(), body: body as unknown as string }, SECRET, { now });
  await expect(verdict).rejects.toThrow(TypeError);
  await expect(verdict).rejects.toThrow('express.raw()');
});

it('a body may be any view of its bytes, and come from another realm', async () => {
  const bytes = Buffer.from(`x${BODY}x`);
  const view = new DataView(bytes.buffer, bytes.byteOffset + 1, bytes.length - 2);
  const elsewhere: ArrayBuffer = runInNewContext('Uint8Array.from(bytes).buffer', {
    bytes: Buffer.from(BODY),
  });
  expect(elsewhere).not.toBeInstanceOf(ArrayBuffer);
  for (const body of [view, elsewhere])
    expect((await verifyWebhook({ headers: signed(), body }, SECRET, { now })).data).toEqual(payload);
});

it('signatures may come in several headers, as a list or joined', async () => {
  const { 'webhook-signature': good, ...rest } = signed();
  const { 'webhook-signature': bad } = signed({ secrets: [OTHER] });
  for (const both of [[bad, good], [good, bad], `${bad}, ${good}`, `${good}, ${bad}`, `${bad}  ${good}`]) {
    const headers = { ...rest, 'webhook-signature': both };
    expect(await reasonOf(verifyWebhook({ headers, body: BODY }, SECRET, { now }))).toBeUndefined();
  }
});

it('the sequence is the one that is signed with the ID, and a header that says another is found out', async () => {
  const id = 'dlv_0VkQ3yXbTm1c8Zr4Hn6Lp2WsE_42_0VkQ3zAcD';
  const headers = { ...signed({ id }), 'webhook-sequence': '42' };
  const { 'webhook-sequence': _, ...without } = headers;
  for (const sent of [headers, without])
    expect((await verifyWebhook({ headers: sent, body: BODY }, SECRET, { now })).sequence).toBe(42);
  const changed = verifyWebhook({ headers: { ...headers, 'webhook-sequence': '43' }, body: BODY }, SECRET, {
    now,
  });
  await expect(changed).rejects.toMatchObject({ reason: 'invalid_header' });
});

it('a sequence that is missing or no number is left out', async () => {
  for (const sequence of ['', 'x', '0', '1.5']) {
    const headers = { ...signed(), 'webhook-sequence': sequence };
    expect((await verifyWebhook({ headers, body: BODY }, SECRET, { now })).sequence).toBeUndefined();
  }
});

describe('the event', () => {
  const read = async (event: string): Promise<EventPayload> => {
    const body = JSON.stringify({ ...payload, event });
    return (await verifyWebhook({ headers: signed({ body }), body }, SECRET, { now })).data;
  };

  it.each(eventNames)('is a %s', async (name) => {
    expect((await read(name)).event).toBe(name);
  });

  it('of a kind that is not known here is kept whole', async () => {
    const body = { ...payload, event: 'letter.sent' };
    expect(await read('letter.sent')).toEqual({ event: 'unknown', name: 'letter.sent', payload: body });
    expect(await read('unknown')).toMatchObject({ event: 'unknown', name: 'unknown' });
  });

  it('can be switched on, and the compiler knows when one is forgotten', async () => {
    const data = await read('write-to-record.failed');
    if (data.event === 'write-to-record.failed') expectTypeOf(data.resource_id).toEqualTypeOf<string>();
    if (data.event === 'unknown') expectTypeOf(data).toEqualTypeOf<UnknownEvent>();
    if (data.event === 'appointment.cancelled') {
      // @ts-expect-error: only write-to-record has it.
      expect(data.resource_id).toBeUndefined();
    }
    expectTypeOf<EventPayload['event']>().toEqualTypeOf<(typeof eventNames)[number] | 'unknown'>();
    expect(eventNames).toHaveLength(13);
  });
});
