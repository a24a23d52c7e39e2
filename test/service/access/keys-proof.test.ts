import { createHash, createSign, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Agent } from 'undici';
import { describe, expect, it } from 'vitest';
import { formatKey } from '../../../src/domain/access/api-key.ts';
import { expectInvalid, expectProblem, withoutRequestId } from '../../support/answers.ts';
import { openStream } from '../../support/event-stream.ts';
import { fanOutAll, publish } from '../../support/post.ts';
import {
  type Answer,
  type Harness,
  makeKey,
  makeWorld,
  OPERATOR_TOKEN,
  type Send,
  sender,
  startHarness,
} from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

/** Keys that need more than themselves. */

const PATH = '/v1/practice-groups';
const file = (name: string) => fileURLToPath(new URL(`../../support/tls/${name}`, import.meta.url));
const TLS = { PORTER_TLS_CERT: file('cert.pem'), PORTER_TLS_KEY: file('key.pem') };
const pem = (name: string) => readFileSync(file(name), 'utf8');
const fingerprint = (name: string) =>
  createHash('sha256')
    .update(new X509Certificate(pem(name)).raw)
    .digest('hex');

const ask = (house: Pick<Harness, 'send'>, options: Send): Promise<Answer> =>
  house.send('GET', PATH, options);
const reasonsOf = async (house: Harness, partnerId: string) =>
  (await house.operator('GET', `/requests?partner_id=${partnerId}`)).data.map(
    ({ reason }: { reason: string }) => reason,
  );

describe('mutual TLS, served natively', async () => {
  const house = await startHarness({ env: { ...TLS, PORTER_CLIENT_CERTIFICATES: 'tls' } });
  const { groupId: group } = await makeWorld(house);
  const mtls = await makeKey(house, group, {
    proof: 'mtls',
    // As `openssl x509 -fingerprint -sha256` prints it.
    certificate_fingerprints: [
      new X509Certificate(pem('good.pem')).fingerprint256,
      fingerprint('expired.pem'),
    ],
  });

  const withCertificate = (name: string) => {
    const connect = { cert: pem(name), key: pem('key.pem'), rejectUnauthorized: false };
    return { send: sender(house.url, new Agent({ connect })) };
  };

  it('200 with a registered certificate, also on a connection that is resumed', async () => {
    const registered = withCertificate('good.pem');
    for (let n = 0; n < 3; n++) expect((await ask(registered, { key: mtls.key, group })).status).toBe(200);
    expect(await house.operator('GET', `/keys/${mtls.keyId}`)).toMatchObject({
      proof: 'mtls',
      certificate_fingerprints: [fingerprint('good.pem'), fingerprint('expired.pem')],
    });
  });

  it('401 without one, with another one, with one that has expired, and with a header that says so', async () => {
    expectProblem(await ask(house, { key: mtls.key, group }), 401, 'invalid_credentials');
    const headers = { 'x-client-cert-sha256': fingerprint('good.pem') };
    expectProblem(await ask(house, { key: mtls.key, group, headers }), 401, 'invalid_credentials');
    for (const other of ['self-signed.pem', 'expired.pem'])
      expectProblem(await ask(withCertificate(other), { key: mtls.key, group }), 401, 'invalid_credentials');
    expect(await reasonsOf(house, mtls.partnerId)).toEqual([
      'proof_missing',
      'proof_invalid',
      'proof_missing',
      'proof_missing',
    ]);
  });

  it('the refusal is that of an unknown key, byte for byte', async () => {
    const unknown = await ask(house, { key: formatKey('staging', 'd'.repeat(32)), group });
    expect(withoutRequestId(await ask(house, { key: mtls.key, group }))).toEqual(withoutRequestId(unknown));
  });

  it('200 for a key that needs none, with or without a certificate', async () => {
    const { key } = await makeKey(house, group);
    expect((await ask(house, { key, group })).status).toBe(200);
    expect((await ask(withCertificate('self-signed.pem'), { key, group })).status).toBe(200);
  });

  it('a certificate that is taken off the list is refused with the next call', async () => {
    const one = await makeKey(house, group, {
      proof: 'mtls',
      certificate_fingerprints: [fingerprint('good.pem')],
    });
    const client = withCertificate('good.pem');
    expect((await ask(client, { key: one.key, group })).status).toBe(200);
    const change = { certificate_fingerprints: [fingerprint('self-signed.pem')] };
    await house.operator('PATCH', `/keys/${one.keyId}`, change);
    expectProblem(await ask(client, { key: one.key, group }), 401, 'invalid_credentials');
    expect((await ask(withCertificate('self-signed.pem'), { key: one.key, group })).status).toBe(200);
  });
});

describe('mutual TLS, ended by a proxy', () => {
  const sha = fingerprint('good.pem');
  const cert = encodeURIComponent(pem('good.pem'));
  const shaOfOther = fingerprint('self-signed.pem');
  const certOfOther = encodeURIComponent(pem('self-signed.pem'));
  /** A caller that knows the certificate of another puts its own in front of what the proxy writes. */
  const cases = [
    ['x-client-cert-sha256', sha.toUpperCase(), [shaOfOther, `${sha}, ${shaOfOther}`]],
    [
      'x-forwarded-client-cert',
      `Hash=${'0'.repeat(64)};Subject="a, b",By=x;Hash=${sha};Cert="${cert}";URI=spiffe://mesh/a;DNS=a;DNS=b`,
      [
        `Hash=${sha},By=x`,
        `Hash=${sha}, Hash=${shaOfOther}`,
        `By=x;Hash=${shaOfOther};URI=a,Hash=${sha}`,
        `Hash=${shaOfOther};dns=a,By=x,Hash=${sha};URI=b`,
        `Hash=${shaOfOther};DNS=a;Hash=${sha}`,
        `Hash=${sha};Subject=", Hash=${shaOfOther};Subject="CN=a"`,
        `Hash=${sha};Subject="\\, Hash=${shaOfOther};Subject="CN=a\\"b"`,
      ],
    ],
    [
      'x-client-cert',
      cert,
      [
        certOfOther,
        `${cert}, ${certOfOther}`,
        `${cert}${certOfOther}`,
        `${cert}%0Amore`,
        `more%0A${cert}`,
        `${cert}, `,
      ],
    ],
  ] as const;

  it.each(cases)(
    '200 for what a trusted proxy tells in %s, 401 for anything else',
    async (name, good, bad) => {
      const env = { PORTER_CLIENT_CERTIFICATES: name, PORTER_TRUST_PROXY: '127.0.0.1' };
      const house = await startHarness({ env });
      const { groupId: group } = await makeWorld(house);
      const { key } = await makeKey(house, group, { proof: 'mtls', certificate_fingerprints: [sha] });
      const through = (value: string | undefined) =>
        ask(house, {
          key,
          group,
          headers: { 'x-forwarded-proto': 'https', ...(value !== undefined && { [name]: value }) },
        });
      expect((await through(good)).status).toBe(200);
      for (const value of [undefined, '', ...bad, 'nonsense', '%'])
        expectProblem(await through(value), 401, 'invalid_credentials');

      // Another node, for which this machine is no proxy: whoever calls it writes the header itself.
      const elsewhere = await startHarness({
        databaseUrl: house.databaseUrl,
        clock: house.clock,
        env: { ...env, PORTER_TRUST_PROXY: '192.0.2.1' },
      });
      const forged = await ask(elsewhere, { key, group, headers: { [name]: good } });
      // A header of a proxy makes the request one from elsewhere, which needs HTTPS before its key is looked at.
      if (name === 'x-forwarded-client-cert') expectProblem(forged, 403, 'https_required');
      else expectProblem(forged, 401, 'invalid_credentials');
    },
  );

  it('422: a deployment that asks for no certificates issues no key that needs one', async () => {
    const house = await startHarness();
    const { groupId, partnerId } = await makeWorld(house);
    const body = {
      partner_id: partnerId,
      practice_group_id: groupId,
      scopes: ['events:read'],
      proof: 'mtls',
      certificate_fingerprints: [sha],
    };
    const answer = await house.send('POST', '/operator/v1/keys', { token: OPERATOR_TOKEN, body });
    expectProblem(answer, 422, 'business_rule_violation', { rule: 'proof_incomplete', path: ['proof'] });
    expect(answer.body.message).toContain('PORTER_CLIENT_CERTIFICATES');
  });
});

describe('private_key_jwt', async () => {
  const first = await startHarness({ env: { PORTER_STAGING_BASE_URL: 'https://staging.porter.test' } });
  const second = await startHarness({
    databaseUrl: first.databaseUrl,
    clock: first.clock,
    env: { PORTER_STAGING_BASE_URL: 'https://staging.porter.test' },
  });
  const { groupId: group } = await makeWorld(first);
  const db = await superuser(first.databaseUrl);

  const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const another = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const jwkOf = ({ publicKey }: typeof pair, kid: string) => {
    const { n, e } = publicKey.export({ format: 'jwk' });
    return { kty: 'RSA', kid, n, e, alg: 'RS512', use: 'sig' };
  };
  const jwks = { keys: [jwkOf(pair, 'one')] };
  const newKey = (options: object = {}) =>
    makeKey(first, group, { proof: 'private_key_jwt', jwks, ...options });
  const own = await newKey();

  let count = 0;
  const seconds = () => first.clock.now() / 1000;
  /** By hand, so that the library is not judged by itself. */
  function signed(claims: object = {}, header: object = {}, { privateKey } = pair): string {
    const whole = {
      iss: own.keyId,
      sub: own.keyId,
      aud: 'https://staging.porter.test',
      jti: `jti-${++count}`,
      exp: Math.floor(seconds()) + 60,
      ...claims,
    };
    const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
    const text = `${encode({ alg: 'RS512', typ: 'JWT', kid: 'one', ...header })}.${encode(whole)}`;
    return `${text}.${createSign('sha512').update(text).sign(privateKey).toString('base64url')}`;
  }
  const call = (assertion: string | undefined, node: Harness = first, key = own.key): Promise<Answer> =>
    ask(node, { key, group, headers: assertion === undefined ? {} : { 'x-client-assertion': assertion } });

  it('200 with a signed assertion, a new one for each call, on every node', async () => {
    for (const node of [first, second, first]) expect((await call(signed(), node)).status).toBe(200);
    for (const aud of [
      'https://staging.porter.test/',
      ['https://elsewhere.test', 'https://staging.porter.test'],
    ])
      expect((await call(signed({ aud }))).status).toBe(200);
    expect((await call(signed({ exp: seconds() + 300 }))).status).toBe(200);
  });

  it('401 without one', async () => {
    const unknown = await call(undefined, first, formatKey('staging', 'e'.repeat(32)));
    expect(withoutRequestId(await call(undefined))).toEqual(withoutRequestId(unknown));
  });

  const wrong: Record<string, () => string> = {
    'signed by another key': () => signed({}, {}, another),
    'another issuer': () => signed({ iss: 'key_of_somebody_else' }),
    'another subject': () => signed({ sub: 'key_of_somebody_else' }),
    'another audience': () => signed({ aud: 'https://elsewhere.test' }),
    'no audience': () => signed({ aud: undefined }),
    'no expiry': () => signed({ exp: undefined }),
    'expired this second': () => signed({ exp: seconds() }),
    'good for longer than five minutes': () => signed({ exp: seconds() + 301 }),
    'not good yet': () => signed({ nbf: seconds() + 60 }),
    'no jti': () => signed({ jti: undefined }),
    'an empty jti': () => signed({ jti: '' }),
    'a jti that is no text': () => signed({ jti: 7 }),
    'a jti that is too long': () => signed({ jti: 'x'.repeat(129) }),
    'a jti that no table holds': () => signed({ jti: 'a\0b' }),
    'a key that is not registered': () => signed({}, { kid: 'two' }),
    'another algorithm in its header': () => signed({}, { alg: 'RS256' }),
    'no signature': () => `${signed({}, { alg: 'none' }).split('.').slice(0, 2).join('.')}.`,
    'signed with the public key as a secret': () => signed({}, { alg: 'HS512' }),
    'a claim changed afterwards': () => {
      const [header, payload = '', signature] = signed().split('.');
      const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
      const changed = Buffer.from(JSON.stringify({ ...claims, jti: 'changed' })).toString('base64url');
      return [header, changed, signature].join('.');
    },
    'no JWT': () => 'nonsense',
    'of another key of the partner': () => signed({ iss: 'x', sub: own.keyId }),
    'two of them': () => `${signed()}, ${signed()}`,
    'very long': () => signed({ filler: 'x'.repeat(9_000) }),
  };

  it.each(Object.entries(wrong))('401: %s', async (_name, make) => {
    expectProblem(await call(make()), 401, 'invalid_credentials');
    expect((await reasonsOf(first, own.partnerId))[0]).toBe('proof_invalid');
  });

  it('401: used before, on this node or on another, at once or one after the other', async () => {
    const assertion = signed();
    expect((await call(assertion, first)).status).toBe(200);
    for (const node of [second, first])
      expectProblem(await call(assertion, node), 401, 'invalid_credentials');
    // The other node writes down what it refused when it gets to it.
    await expect
      .poll(async () => (await reasonsOf(first, own.partnerId)).slice(0, 2))
      .toEqual(['proof_replayed', 'proof_replayed']);

    const raced = signed();
    const nodes = Array.from({ length: 20 }, (_, n) => (n % 2 ? first : second));
    const answers = await Promise.all(nodes.map((node) => call(raced, node)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(19);
  });

  it('the same jti of two keys are two', async () => {
    const other = await newKey();
    const jti = 'shared';
    expect((await call(signed({ jti }))).status).toBe(200);
    const theirs = signed({ jti, iss: other.keyId, sub: other.keyId });
    expect((await call(theirs, first, other.key)).status).toBe(200);
  });

  it('what was used is forgotten once nobody could use it again', async () => {
    await call(signed());
    const kept = async () => Number((await db.query('SELECT count(*) AS n FROM used_assertions')).rows[0].n);
    expect(await kept()).toBeGreaterThan(3);
    first.clock.advance(16 * 60_000);
    await call(signed());
    await expect.poll(kept).toBe(1);
  });

  it('429: whoever hammers on leaves no more behind than twice its rate', async () => {
    const limited = await newKey({ rate_limit_per_minute: 3 });
    const mine = () => signed({ iss: limited.keyId, sub: limited.keyId });
    const answers: Answer[] = [];
    for (let n = 0; n < 20; n++) answers.push(await call(mine(), first, limited.key));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, ...Array(17).fill(429)]);
    expect(answers.at(-1)?.headers['retry-after']).toBe('60');
    const { rows } = await db.query('SELECT FROM used_assertions WHERE key_id = $1', [limited.keyId]);
    expect(rows).toHaveLength(6);
    expectProblem(await call('nonsense', first, limited.key), 401, 'invalid_credentials');
    first.clock.advance(60_000);
    expect((await call(mine(), first, limited.key)).status).toBe(200);
  });

  it('429: nor does whoever sends all of them at once', async () => {
    const limited = await newKey({ rate_limit_per_minute: 3 });
    const mine = () => signed({ iss: limited.keyId, sub: limited.keyId });
    const answers = await Promise.all(
      Array.from({ length: 20 }, mine).map((assertion) => call(assertion, first, limited.key)),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, ...Array(17).fill(429)]);
    const { rows } = await db.query('SELECT FROM used_assertions WHERE key_id = $1', [limited.keyId]);
    expect(rows).toHaveLength(6);
  });

  it('200: what others replay is not charged to the key, and the database is asked about it once', async () => {
    const limited = await newKey({ rate_limit_per_minute: 3 });
    const mine = () => signed({ iss: limited.keyId, sub: limited.keyId });
    const used = mine();
    expect((await call(used, first, limited.key)).status).toBe(200);
    expectProblem(await call(used, first, limited.key), 401, 'invalid_credentials');
    // Were it asked again, it would take the assertion for a new one.
    await db.query('DELETE FROM used_assertions WHERE key_id = $1', [limited.keyId]);
    const together = await Promise.all(Array.from({ length: 20 }, () => call(used, first, limited.key)));
    expect(together.map(({ status }) => status)).toEqual(Array(20).fill(401));
    for (let n = 0; n < 10; n++)
      expectProblem(await call(used, first, limited.key), 401, 'invalid_credentials');
    const honest = [await call(mine(), first, limited.key), await call(mine(), first, limited.key)];
    expect(honest.map(({ status }) => status)).toEqual([200, 200]);
    expect(honest.map(({ headers }) => headers.ratelimit)).toEqual([
      '"default";r=1;t=60',
      '"default";r=0;t=60',
    ]);
  });

  it('signing keys are changed without a gap: both hold for as long as both are registered', async () => {
    const one = await newKey();
    const by = (kid: string, keys: typeof pair) => signed({ iss: one.keyId, sub: one.keyId }, { kid }, keys);
    const works = async (kid: string, keys: typeof pair) =>
      (await call(by(kid, keys), second, one.key)).status === 200;
    const set = (...keys: object[]) => first.operator('PATCH', `/keys/${one.keyId}`, { jwks: { keys } });
    expect([await works('one', pair), await works('two', another)]).toEqual([true, false]);
    await set(jwkOf(pair, 'one'), jwkOf(another, 'two'));
    expect([await works('one', pair), await works('two', another)]).toEqual([true, true]);
    await set(jwkOf(another, 'two'));
    expect([await works('one', pair), await works('two', another)]).toEqual([false, true]);
  });

  it('400: a private key, a short one, two of one name, none', async () => {
    const short = generateKeyPairSync('rsa', { modulusLength: 1024 });
    const change = (keys: unknown[]) =>
      first.send('PATCH', `/operator/v1/keys/${own.keyId}`, {
        token: OPERATOR_TOKEN,
        body: { jwks: { keys } },
      });
    const { d } = pair.privateKey.export({ format: 'jwk' });
    expectInvalid(await change([{ ...jwkOf(pair, 'one'), d }]), [{ path: ['jwks', 'keys', 0, 'd'] }]);
    expectInvalid(await change([jwkOf(short, 'one')]), [{ path: ['jwks', 'keys', 0, 'n'] }]);
    expectInvalid(await change([jwkOf(pair, 'one'), jwkOf(another, 'one')]), [{ path: ['jwks', 'keys'] }]);
    expectInvalid(await change([]), [{ path: ['jwks', 'keys'] }]);
    for (const e of ['AA', 'AQ', 'Ag', 'AQAC'])
      expectInvalid(await change([{ ...jwkOf(pair, 'one'), e }]), [{ path: ['jwks', 'keys', 0, 'e'] }]);
    const even = Buffer.alloc(256, 0xf0).toString('base64url');
    expectInvalid(await change([{ ...jwkOf(pair, 'one'), n: even }]), [{ path: ['jwks', 'keys', 0, 'n'] }]);
  });

  it('401, not 500: a public key that is none verifies nothing', async () => {
    const odd = Buffer.alloc(256, 0xff).toString('base64url');
    const one = await newKey({ jwks: { keys: [{ kty: 'RSA', kid: 'one', n: odd, e: 'Aw' }] } });
    const assertion = signed({ iss: one.keyId, sub: one.keyId });
    expectProblem(await call(assertion, first, one.key), 401, 'invalid_credentials');
  });

  it('a stream that is open goes on with what was shown, and ends when something else is asked for', async () => {
    const one = await newKey();
    const headers = { 'x-client-assertion': signed({ iss: one.keyId, sub: one.keyId }) };
    const stream = await openStream(first, { ...one, groupId: group }, { headers });
    expect(stream.status).toBe(200);
    await stream.next();
    first.clock.advance(2_000);
    await publish(first, group, 'prescription.issued');
    await fanOutAll(first);
    expect(await stream.event()).toMatchObject({ name: 'prescription.issued' });
    await first.operator('PATCH', `/keys/${one.keyId}`, { jwks: { keys: [jwkOf(another, 'two')] } });
    // What it would send next is not sent.
    await publish(first, group, 'prescription.issued');
    await fanOutAll(first);
    await stream.ended;
    expect(await stream.next()).toBeUndefined();
  });
});
