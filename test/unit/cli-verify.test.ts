import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Captured } from '../../src/cli/verify/captured.ts';
import { diagnose } from '../../src/cli/verify/diagnose.ts';
import type { FindingKind } from '../../src/cli/verify/finding.ts';
import { spoken } from '../../src/cli/words.ts';
import { secretBytes, signedHeaders } from '../../src/domain/events/signature.ts';

const NOW = 1_789_000_000;

/** What the service sends, to be damaged by a test. */
interface Delivery {
  headers: Record<string, string>;
  body: Buffer;
  secret: string;
  payload: Record<string, string>;
}

const text = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
  .map((one) => one.replaceAll('\uFFFD', '?'));
const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 });
const secret = bytes.map((one) => `whsec_${Buffer.from(one).toString('base64')}`);

const delivery: fc.Arbitrary<Delivery> = fc
  .record({ id: text, reason: text, secret, age: fc.integer({ min: -300, max: 300 }) })
  .map(({ id, reason, secret, age }) => {
    const payload = {
      object: 'Appointment',
      id,
      practice_group_id: 'riverside-surgery',
      event: 'appointment.booking-failed',
      failure_reason: `ä ${reason}`,
    };
    const body = JSON.stringify(payload);
    const delivery = { id: 'dlv_1_1', timestampSeconds: NOW - age, sequence: 1, body };
    const headers = signedHeaders({ ...delivery, secrets: [secretBytes(secret)] });
    return { headers, body: Buffer.from(body), secret, payload };
  });

const verdict = ({ headers, body, secret }: Delivery) =>
  diagnose({ headers: new Map(Object.entries(headers)), body } satisfies Captured, secret, NOW);

type Damage = (whole: Delivery, pick: number) => Partial<Delivery>;

const renameHeader =
  (rename: (name: string) => string): Damage =>
  ({ headers }, pick) => {
    const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
    const chosen = names[pick % 3];
    return {
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name === chosen ? rename(name) : name, value]),
      ),
    };
  };
const changeSignature =
  (change: (base64: string) => string): Damage =>
  ({ headers }) => ({
    headers: {
      ...headers,
      'webhook-signature': change((headers['webhook-signature'] ?? '').slice('v1,'.length)),
    },
  });
const changeBody =
  (change: (body: string, payload: Record<string, string>) => string | Buffer): Damage =>
  ({ body, payload }) => ({ body: Buffer.from(change(body.toString(), payload)) });
const changeSecret =
  (change: (secret: string) => string): Damage =>
  ({ secret }) => ({ secret: change(secret) });
const changeTimestamp =
  (change: (seconds: number) => string): Damage =>
  ({ headers }) => ({
    headers: { ...headers, 'webhook-timestamp': change(Number(headers['webhook-timestamp'])) },
  });

/** Every kind of damage, with words that the diagnosis must hold. */
type Damaged = [FindingKind, string, Damage, RegExp];
const damages: Damaged[] = [
  [
    'body_reencoded',
    'read as Latin-1',
    changeBody((body) => Buffer.from(body).toString('latin1')),
    /UTF-8 was read as Latin-1/,
  ],
  [
    'body_reencoded',
    'characters replaced',
    changeBody((body) => body.replace('ä', '\uFFFD')),
    /cannot be told/,
  ],
  [
    'missing_header',
    'a header lost',
    renameHeader(() => 'other'),
    /The header webhook-(id|timestamp|signature) is missing/,
  ],
  ['renamed_header', 'underscores', renameHeader((name) => name.replace('-', '_')), /arrived as webhook_/],
  [
    'renamed_header',
    'CGI',
    renameHeader((name) => `HTTP_${name.toUpperCase().replace('-', '_')}`),
    /HTTP_WEBHOOK_/,
  ],
  ['renamed_header', 'x-', renameHeader((name) => `X-${name}`), /arrived as X-webhook-/],
  ['signature_version', 'v2', changeSignature((mac) => `v2,${mac}`), /marked v2/],
  ['signature_version', 'no version', changeSignature((mac) => mac), /not written so/],
  [
    'signature_version',
    'hex',
    changeSignature((mac) => `sha256=${Buffer.from(mac, 'base64').toString('hex')}`),
    /marked sha256/,
  ],
  ['signature_version', 'another scheme', changeSignature(() => 'v1a,AAAA'), /no signature of version v1/],
  ['body_reencoded', 'a line break', changeBody((body) => `${body}\n`), /a line break was added/],
  ['body_reencoded', 'CRLF', changeBody((body) => `${body}\r\n`), /a line break was added/],
  ['body_reencoded', 'white space', changeBody((body) => `  ${body} `), /white space was added/],
  ['body_reencoded', 'BOM', changeBody((body) => `\uFEFF${body}`), /byte order mark/],
  [
    'body_reencoded',
    'pretty',
    changeBody((_, payload) => JSON.stringify(payload, null, 2)),
    /parsed and written again, on several lines/,
  ],
  [
    'body_reencoded',
    'pretty with CRLF',
    changeBody((_, payload) => JSON.stringify(payload, null, 2).replaceAll('\n', '\r\n')),
    /on several lines/,
  ],
  ['body_reencoded', 'Python', changeBody((_, payload) => likePython(payload)), /parsed and written again/],
  [
    'body_reencoded',
    'sorted',
    changeBody((_, payload) => JSON.stringify(payload, Object.keys(payload).sort())),
    /in another order/,
  ],
  [
    'body_reencoded',
    'base64',
    changeBody((body) => Buffer.from(body).toString('base64')),
    /encoded as base64/,
  ],
  ['body_reencoded', 'a JSON string', changeBody((body) => JSON.stringify(body)), /put into a JSON string/],
  [
    'body_truncated',
    'cut off',
    ({ body }, pick) => ({ body: body.subarray(0, pick % body.length) }),
    /not whole/,
  ],
  [
    'secret_mangled',
    'no prefix',
    changeSecret((secret) => secret.slice('whsec_'.length)),
    /lacks its prefix/,
  ],
  ['secret_mangled', 'white space', changeSecret((secret) => ` ${secret}\n`), /white space or quotes/],
  ['secret_mangled', 'quotes', changeSecret((secret) => `"${secret}"`), /white space or quotes/],
  [
    'secret_mangled',
    'base64 twice',
    changeSecret((secret) => Buffer.from(secret).toString('base64')),
    /once more, prefix and all/,
  ],
  [
    'secret_mangled',
    'decoded with its prefix',
    changeSecret((secret) => Buffer.from(secret, 'base64').toString('base64')),
    /prefix and all/,
  ],
  [
    'secret_mangled',
    'hex',
    changeSecret((secret) => Buffer.from(secretBytes(secret)).toString('hex')),
    /in hex/,
  ],
  ['secret_mangled', 'no secret', changeSecret(() => 'hunter2'), /is not one/],
  [
    'secret_is_api_key',
    'API key',
    changeSecret(() => 'ptr_test_WMFIsWjSdRpAdLFFcRZAPy2pY1DDrZUx1dEA1l'),
    /is an API key/,
  ],
  [
    'wrong_secret',
    'another secret',
    changeSecret(() => `whsec_${Buffer.alloc(32, 'x').toString('base64')}`),
    /another webhook/,
  ],
  [
    'wrong_secret',
    'altered content',
    changeBody((body) => body.replace('riverside-surgery', 'hillview-hub')),
    /content was changed/,
  ],
  [
    'timestamp_rewritten',
    'milliseconds',
    changeTimestamp((seconds) => `${seconds}123`),
    /instead of whole seconds/,
  ],
  [
    'timestamp_rewritten',
    'a date',
    changeTimestamp((seconds) => new Date(seconds * 1000).toISOString()),
    /instead of whole seconds/,
  ],
  ...['.0', '.75', '123.5'].map(
    (rest): Damaged => [
      'timestamp_rewritten',
      `a fraction ${rest}`,
      changeTimestamp((seconds) => `${seconds}${rest}`),
      /instead of whole seconds/,
    ],
  ),
  ['timestamp_rewritten', 'nonsense', changeTimestamp(() => 'soon'), /is no time/],
];

function likePython(payload: Record<string, string>): string {
  const pairs = Object.entries(payload).map(([name, value]) => `"${name}": ${JSON.stringify(value)}`);
  return `{${pairs.join(', ')}}`.replaceAll(
    /[\u007f-\uffff]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

describe('the diagnosis of a request', () => {
  it('takes what the service signed', () => {
    fc.assert(
      fc.property(delivery, (whole) => {
        expect(verdict(whole)).toMatchObject({ genuine: true, findings: [] });
      }),
    );
  });

  it('takes a request that several secrets signed', () => {
    fc.assert(
      fc.property(delivery, secret, (whole, other) => {
        const theirs = signedHeaders({
          id: 'dlv_1_1',
          timestampSeconds: NOW,
          sequence: 1,
          body: '{}',
          secrets: [secretBytes(other)],
        });
        const both = `${theirs['webhook-signature']} ${whole.headers['webhook-signature']}`;
        expect(verdict({ ...whole, headers: { ...whole.headers, 'webhook-signature': both } }).genuine).toBe(
          true,
        );
      }),
    );
  });

  it.each(damages)('names %s: %s', (kind, _what, damage, says) => {
    fc.assert(
      fc.property(delivery, fc.nat(), (whole, pick) => {
        const { genuine, findings } = verdict({ ...whole, ...damage(whole, pick) });
        expect(genuine).toBe(false);
        expect(findings.map((one) => one.kind)).toEqual([kind]);
        expect(findings[0]?.message).toMatch(says);
        expect(findings[0]?.remedy).toMatch(/\.$/);
      }),
    );
  });

  it('has an example of damage for every kind', () => {
    const kinds = new Set<FindingKind>([...damages.map(([kind]) => kind), 'clock', 'duplicated_header']);
    const all: Record<FindingKind, true> = {
      missing_header: true,
      renamed_header: true,
      duplicated_header: true,
      timestamp_rewritten: true,
      clock: true,
      signature_version: true,
      body_reencoded: true,
      body_truncated: true,
      secret_mangled: true,
      secret_is_api_key: true,
      wrong_secret: true,
    };
    expect([...kinds].sort()).toEqual(Object.keys(all).sort());
  });

  it('says how far off the clock is, in words', () => {
    fc.assert(
      fc.property(delivery, fc.integer({ min: 601, max: 10_000_000 }), fc.boolean(), (whole, by, future) => {
        const { findings, age_seconds } = diagnose(
          { headers: new Map(Object.entries(whole.headers)), body: whole.body },
          whole.secret,
          NOW + (future ? -by : by),
        );
        expect(findings.map(({ kind }) => kind)).toEqual(['clock']);
        expect(findings[0]?.message).toContain(
          `${spoken(age_seconds ?? 0)} ${future ? 'in the future' : 'ago'}`,
        );
      }),
    );
    expect([1, 59, 61, 7_200, 11_520, 90_061].map(spoken)).toEqual([
      '1 second',
      '59 seconds',
      '1 minute 1 second',
      '2 hours',
      '3 hours 12 minutes',
      '1 day 1 hour',
    ]);
  });

  it('names a body that was stored as Latin-1', () => {
    const body = '{"id":"ä"}';
    const delivery = { id: 'dlv_1_1', timestampSeconds: NOW, sequence: 1, body };
    const headers = signedHeaders({ ...delivery, secrets: [Buffer.alloc(32)] });
    const secret = `whsec_${Buffer.alloc(32).toString('base64')}`;
    const { findings } = verdict({ headers, body: Buffer.from(body, 'latin1'), secret, payload: {} });
    expect(findings.map(({ kind, message }) => [kind, message])).toEqual([
      ['body_reencoded', expect.stringContaining('stored as Latin-1')],
    ]);
  });

  it('does not take bytes for the text that they resemble', () => {
    const sent = '{"id":"\uFFFD"}';
    const delivery = { id: 'dlv_1_1', timestampSeconds: NOW, sequence: 1, body: sent };
    const headers = signedHeaders({ ...delivery, secrets: [Buffer.alloc(32)] });
    const secret = `whsec_${Buffer.alloc(32).toString('base64')}`;
    const body = Buffer.concat([Buffer.from('{"id":"'), Buffer.of(0xff), Buffer.from('"}')]);
    const { genuine, findings } = verdict({ headers, body, secret, payload: {} });
    expect([genuine, findings.map(({ kind }) => kind)]).toEqual([false, ['body_reencoded']]);
    expect(verdict({ headers, body: Buffer.from(sent), secret, payload: {} }).genuine).toBe(true);
  });

  it('names a header that came twice, whichever of them is right', () => {
    fc.assert(
      fc.property(
        delivery,
        fc.constantFrom('webhook-signature', 'Webhook-Signature'),
        fc.boolean(),
        (whole, name, first) => {
          const forged: [string, string] = [name, `v1,${Buffer.alloc(32).toString('base64')}`];
          const genuine = Object.entries(whole.headers);
          const headers = first ? [forged, ...genuine] : [...genuine, forged];
          const { findings } = diagnose({ headers, body: whole.body }, whole.secret, NOW);
          expect(findings.map(({ kind }) => kind)).toEqual(['duplicated_header']);
        },
      ),
    );
  });

  it('names several damages at once', () => {
    fc.assert(
      fc.property(delivery, (whole) => {
        const damaged = {
          ...whole,
          secret: `${whole.secret} `,
          body: Buffer.concat([whole.body, Buffer.from('\n')]),
        };
        expect(verdict(damaged).findings.map(({ kind }) => kind)).toEqual([
          'body_reencoded',
          'secret_mangled',
        ]);
      }),
    );
  });
});
