import { once } from 'node:events';
import { copyFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, getCiphers, type PeerCertificate } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { Agent } from 'undici';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/afterwards.ts';
import { expectProblem } from '../../support/answers.ts';
import { HastyClock } from '../../support/manual-clock.ts';
import {
  type Answer,
  type Harness,
  makeWorld,
  OPERATOR_TOKEN,
  type Send,
  sender,
  startHarness,
} from '../../support/service.ts';
import { openWire } from '../../support/wire.ts';

const PATH = '/v1/practice-groups';
const PRODUCTION = { PORTER_ENVIRONMENT: 'production' };
/** Made for tests and used by nothing else; valid for a hundred years. */
const TLS = {
  PORTER_TLS_CERT: fileURLToPath(new URL('../../support/tls/cert.pem', import.meta.url)),
  PORTER_TLS_KEY: fileURLToPath(new URL('../../support/tls/key.pem', import.meta.url)),
};

const tlsFile = (name: string) => fileURLToPath(new URL(`../../support/tls/${name}.pem`, import.meta.url));
/** Without a worker: nothing here is about the post. */
const startDoor = ({ env, ...options }: Parameters<typeof startHarness>[0] = {}) =>
  startHarness({ ...options, env: { PORTER_ROLE: 'api', ...env } });

const portOf = (house: Harness) => Number(new URL(house.url).port);

/** What both sides agree on, or that they do not. */
function handshake(
  house: Harness,
  { version, ciphers }: { version: 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3'; ciphers?: string },
): Promise<string> {
  return new Promise((resolve) => {
    const range = { minVersion: version, maxVersion: version, ...(ciphers !== undefined && { ciphers }) };
    try {
      const socket = connect({ port: portOf(house), rejectUnauthorized: false, ...range });
      socket.once('secureConnect', () => {
        resolve(`${socket.getProtocol()} ${socket.getCipher().name}`);
        socket.destroy();
      });
      socket.once('error', () => resolve('refused'));
    } catch {
      // This side does not even know how to offer it.
      resolve('refused');
    }
  });
}

async function certificateOf(house: Harness): Promise<PeerCertificate> {
  const socket = connect({ port: portOf(house), rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const certificate = socket.getPeerCertificate();
  socket.destroy();
  return certificate;
}

const get = (house: Harness, options: Send = {}, path = PATH): Promise<Answer> =>
  house.send('GET', path, options);

/** A world made over a connection that the deployment takes. */
async function worldOver(house: Harness, headers: Record<string, string>) {
  return makeWorld({
    async operator(method, path, body) {
      const answer = await house.send(method, `/operator/v1${path}`, {
        token: OPERATOR_TOKEN,
        body,
        headers,
      });
      if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
      return answer.body;
    },
  });
}

describe('production over plain HTTP', () => {
  it('403 https_required on every address, whatever the key', async () => {
    const house = await startDoor({ env: { ...PRODUCTION, PORTER_TRUST_PROXY: '127.0.0.1' } });
    const over = { 'x-forwarded-proto': 'https' };
    const { key, groupId } = await worldOver(house, over);
    for (const options of [{}, { key: 'nonsense' }, { key, group: groupId }, { token: OPERATOR_TOKEN }])
      for (const path of [PATH, '/v1/nothing', '/operator/v1/keys', '/', '/docs/errors'])
        expectProblem(await get(house, options, path), 403, 'https_required');
    const refused = await get(house, { key, group: groupId });
    expect(refused.headers).not.toHaveProperty('ratelimit');
    expect(refused.body.doc_url).toMatch(/^https?:\/\//);
    // None of the calls above was charged to the key, nor to the address.
    const answered = await get(house, { key, group: groupId, headers: over });
    expect(answered.headers.ratelimit).toBe('"default";r=299;t=60');
    expect((await get(house, { headers: over })).headers.ratelimit).toBe('"address";r=299;t=60');
  });

  it('no key check: a good key is not even looked up', async () => {
    const house = await startDoor({ env: PRODUCTION });
    const lookups: string[] = [];
    const { access } = house.service.app;
    const holderOf = access.holderOf;
    access.holderOf = (key) => {
      lookups.push(key);
      return holderOf.call(access, key);
    };
    expectProblem(await get(house, { key: 'ptr_live_x' }), 403, 'https_required');
    expect(lookups).toEqual([]);
  });
});

describe('native TLS', () => {
  it('200 in production, with a certificate and a key', async () => {
    const house = await startDoor({ env: { ...PRODUCTION, ...TLS } });
    expect(house.url).toMatch(/^https:/);
    const { key, groupId } = await makeWorld(house);
    expect((await get(house, { key, group: groupId })).status).toBe(200);
    const refused = await get(house);
    expectProblem(refused, 401, 'invalid_credentials');
    expect(refused.body.doc_url).toBe(`${house.url}/docs/errors/invalid_credentials`);
    // What somebody claims to have forwarded does not make an encrypted call a plain one.
    const claimed = { key, group: groupId, headers: { 'x-forwarded-proto': 'http' } };
    expect((await get(house, claimed)).status).toBe(200);
  });

  it('no TLS below 1.2, and of 1.2 only what has forward secrecy and authenticated encryption', async () => {
    const house = await startDoor({ env: TLS });
    expect(await handshake(house, { version: 'TLSv1.3' })).toMatch(/^TLSv1\.3 /);
    expect(await handshake(house, { version: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' })).toBe('refused');
    const offered = getCiphers()
      .map((name) => name.toUpperCase())
      .filter((name) => !name.startsWith('TLS_'));
    const taken: string[] = [];
    for (const ciphers of offered) {
      const agreed = await handshake(house, { version: 'TLSv1.2', ciphers: `${ciphers}:@SECLEVEL=0` });
      if (agreed !== 'refused') taken.push(agreed.replace('TLSv1.2 ', ''));
    }
    // The test's own certificate is one for ECDSA.
    expect(taken.toSorted()).toEqual([
      'ECDHE-ECDSA-AES128-GCM-SHA256',
      'ECDHE-ECDSA-AES256-GCM-SHA384',
      'ECDHE-ECDSA-CHACHA20-POLY1305',
    ]);
  });

  it('nobody negotiates twice on one connection', async () => {
    const house = await startDoor({ env: TLS });
    const socket = connect({ port: portOf(house), rejectUnauthorized: false, maxVersion: 'TLSv1.2' });
    await once(socket, 'secureConnect');
    const outcome = new Promise((resolve) => {
      socket.on('error', resolve).on('close', () => resolve(new Error('closed')));
      socket.renegotiate({}, (error) => resolve(error ?? 'renegotiated'));
    });
    expect(await outcome).toBeInstanceOf(Error);
    socket.destroy();
  });

  it('a renewed certificate is taken into use without a restart, and a broken one is not', async () => {
    const folder = temporaryFolder();
    const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
    const install = (name: string) => copyFileSync(tlsFile(name), cert);
    copyFileSync(TLS.PORTER_TLS_CERT, cert);
    copyFileSync(TLS.PORTER_TLS_KEY, key);
    const house = await startDoor({
      clock: new HastyClock(),
      env: { PORTER_TLS_CERT: cert, PORTER_TLS_KEY: key },
    });
    const shown = async () => (await certificateOf(house)).subject.CN;
    const told = (msg: string) => house.logLines().filter((line) => line.msg === msg);
    expect(await shown()).toBe('localhost');
    // One that is open goes on.
    const open = connect({ port: portOf(house), rejectUnauthorized: false });
    const ask = async () => {
      open.write('GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n');
      return String((await once(open, 'data'))[0]);
    };
    expect(await ask()).toMatch(/^HTTP\/1\.1 200 /);

    writeFileSync(cert, 'nonsense');
    await expect.poll(() => told('the new certificate cannot be used')).toHaveLength(1);
    expect(told('the new certificate cannot be used')).toMatchObject([
      { level: 'error', reason: expect.stringContaining('PORTER_TLS_CERT and PORTER_TLS_KEY') },
    ]);
    expect(await shown()).toBe('localhost');

    install('good');
    await expect.poll(shown).toBe('good');
    expect(told('certificate renewed')).toMatchObject([{ valid_to: expect.stringContaining('2046') }]);
    // As tools do it that put a link in place of another.
    symlinkSync(tlsFile('wrong-host'), `${cert}.new`);
    renameSync(`${cert}.new`, cert);
    await expect.poll(shown).toBe('wrong-host');
    expect(await handshake(house, { version: 'TLSv1.2', ciphers: 'AES128-SHA:@SECLEVEL=0' })).toBe('refused');
    expect(await ask()).toMatch(/^HTTP\/1\.1 200 /);
    open.destroy();
  });

  it('403 https_required: a trusted proxy says that its caller came over plain HTTP', async () => {
    const house = await startDoor({ env: { ...PRODUCTION, ...TLS, PORTER_TRUST_PROXY: '127.0.0.1' } });
    expectProblem(await get(house, { headers: { 'x-forwarded-proto': 'http' } }), 403, 'https_required');
    expectProblem(await get(house, {}), 401, 'invalid_credentials');
  });

  it('nothing is answered to plain HTTP on the same port', async () => {
    const house = await startDoor({ env: { ...PRODUCTION, ...TLS } });
    const send = sender(house.url.replace('https:', 'http:'), new Agent());
    await expect(send('GET', PATH)).rejects.toThrow();
    // And the service goes on.
    expectProblem(await get(house), 401, 'invalid_credentials');
  });
});

describe('headers that keep browsers in line', () => {
  const NOSNIFF = { 'x-content-type-options': 'nosniff' };
  const HSTS = { 'strict-transport-security': 'max-age=31536000' };

  it('are on every answer over HTTPS', async () => {
    const house = await startDoor({ env: TLS });
    const { key, groupId } = await makeWorld(house);
    const paths = [
      '/',
      '/docs',
      '/docs/nothing',
      '/healthz',
      '/metrics',
      '/v1/nothing',
      PATH,
      '/%ff',
      '/nowhere',
    ];
    for (const path of paths)
      expect((await get(house, { key, group: groupId }, path)).headers, path).toMatchObject({
        ...NOSNIFF,
        ...HSTS,
      });
    expect((await house.send('PATCH', PATH, { raw: 'x'.repeat(70_000) })).headers).toMatchObject(HSTS);
    const socket = connect({ port: portOf(house), rejectUnauthorized: false });
    socket.write('NOISE\r\n\r\n');
    const [broken] = await once(socket, 'data');
    expect(String(broken)).toContain('\r\nx-content-type-options: nosniff\r\n');
    expect(String(broken)).toContain('\r\nstrict-transport-security: max-age=31536000\r\n');
  });

  it('say nothing of HTTPS over plain HTTP, and believe a trusted proxy', async () => {
    const house = await startDoor({ env: { PORTER_TRUST_PROXY: '127.0.0.1' } });
    const over = (proto: string, path: string) =>
      get(house, { headers: { 'x-forwarded-proto': proto } }, path);
    for (const path of ['/', '/docs', '/v1/nothing', PATH]) {
      const plain = await over('http', path);
      expect(plain.headers).toMatchObject(NOSNIFF);
      expect(plain.headers).not.toHaveProperty('strict-transport-security');
      expect((await over('https', path)).headers).toMatchObject({ ...NOSNIFF, ...HSTS });
    }
    const line = await openWire(house.url);
    line.write('NOISE\r\n\r\n');
    const { headers } = await line.answer();
    expect(headers).toMatchObject(NOSNIFF);
    expect(headers).not.toHaveProperty('strict-transport-security');
  });
});

describe('behind a proxy', () => {
  it('200: x-forwarded-proto of a proxy that the configuration names', async () => {
    const house = await startDoor({
      env: { ...PRODUCTION, PORTER_TRUST_PROXY: '10.0.0.0/8 127.0.0.0/8' },
    });
    const { key, groupId } = await worldOver(house, { 'x-forwarded-proto': 'https' });
    const over = (proto: string) =>
      get(house, {
        key,
        group: groupId,
        headers: { 'x-forwarded-proto': proto, 'x-forwarded-for': '192.0.2.1' },
      });
    for (const proto of ['https', 'HTTPS', 'http, https', 'http,https'])
      expect((await over(proto)).status, proto).toBe(200);
    // The proxy nearest to us wrote the last entry; what stands before it came from outside.
    for (const proto of ['http', 'https, http', 'https,http', '', 'wss', 'https://', 'httpsx'])
      expectProblem(await over(proto), 403, 'https_required');
  });

  it('403 https_required: a trusted proxy that does not say', async () => {
    const house = await startDoor({ env: { ...PRODUCTION, PORTER_TRUST_PROXY: '127.0.0.1' } });
    expectProblem(await get(house), 403, 'https_required');
    const named = { headers: { 'x-forwarded-for': '192.0.2.1' } };
    expectProblem(await get(house, named), 403, 'https_required');
  });

  it('403 https_required: the header from anybody else is not believed', async () => {
    for (const trusted of [{}, { PORTER_TRUST_PROXY: '10.0.0.1,192.0.2.0/24' }]) {
      const house = await startDoor({ env: { ...PRODUCTION, ...trusted } });
      for (const headers of [
        { 'x-forwarded-proto': 'https' },
        { 'x-forwarded-proto': 'https', 'x-forwarded-for': '10.0.0.1' },
        { forwarded: 'proto=https' },
        { 'x-forwarded-ssl': 'on' },
        { 'front-end-https': 'on' },
      ] as Record<string, string>[])
        expectProblem(await get(house, { headers }), 403, 'https_required');
    }
  });
});

describe('staging', () => {
  it('401, not 403: plain HTTP from this machine is taken', async () => {
    expectProblem(await get(await startDoor()), 401, 'invalid_credentials');
  });

  it('403 https_required: a call that somebody forwarded is not from this machine', async () => {
    const house = await startDoor();
    for (const headers of [{ 'x-forwarded-for': '127.0.0.1' }, { 'x-forwarded-proto': 'https' }] as Record<
      string,
      string
    >[])
      expectProblem(await get(house, { headers }), 403, 'https_required');
  });

  it('403 or 401 as a trusted proxy says', async () => {
    const house = await startDoor({ env: { PORTER_TRUST_PROXY: '127.0.0.1' } });
    expectProblem(await get(house, { headers: { 'x-forwarded-proto': 'http' } }), 403, 'https_required');
    expectProblem(
      await get(house, { headers: { 'x-forwarded-proto': 'https' } }),
      401,
      'invalid_credentials',
    );
  });
});

describe('probes', () => {
  it('200 on this machine in either environment, 404 to whoever comes through a proxy', async () => {
    for (const environment of ['staging', 'production']) {
      const house = await startDoor({
        env: { PORTER_ENVIRONMENT: environment, PORTER_TRUST_PROXY: '127.0.0.1' },
      });
      const through = { headers: { 'x-forwarded-proto': 'https', 'x-forwarded-for': '192.0.2.1' } };
      for (const path of ['/healthz', '/readyz', '/metrics']) {
        expect((await get(house, {}, path)).status, path).toBe(200);
        expect((await get(house, through, path)).status, path).toBe(404);
      }
    }
  });
});
