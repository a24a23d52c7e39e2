import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { expectProblem } from '../../support/answers.ts';
import { makeWorld, OPERATOR_TOKEN, startHarness } from '../../support/service.ts';
import { head, openWire } from '../../support/wire.ts';

const house = await startHarness();

/** The bytes as they are sent, and redirects as such. */
async function get(path: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') {
  const response = await request(house.url + path, { method, headers });
  const bytes = Buffer.from(await response.body.arrayBuffer());
  return { status: response.statusCode, headers: response.headers, bytes, text: bytes.toString() };
}

const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const PAGES = [
  '/docs',
  '/docs/guides/receiving-webhooks',
  '/docs/events',
  '/docs/errors',
  '/docs/errors/conflict',
];

/** Of a page: the addresses of its styles and scripts. */
const assetsOf = (html: string) =>
  [...html.matchAll(/(?:src|href)="(\/docs\/assets\/[^"]+)"/g)].map(([, path]) => path ?? '');

describe('the headers of a page', () => {
  const ISOLATED = {
    'content-type': 'text/html; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': expect.stringMatching(/camera=\(\).*geolocation=\(\).*microphone=\(\).*usb=\(\)/),
    'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
  };

  it.each(['/console', '/console/sign-in', '/console/portal', '/console/my-practice'])('%s', async (path) => {
    expect((await get(path, BROWSER)).headers).toMatchObject(ISOLATED);
  });

  it('a page that is drawn for one request', async () => {
    const { partnerId } = await makeWorld(house);
    const month = new Date(house.clock.now()).toISOString().slice(0, 7);
    const path = `/operator/v1/partners/${partnerId}/sla?month=${month}`;
    const answer = await get(path, { ...BROWSER, authorization: `Bearer ${OPERATOR_TOKEN}` });
    expect(answer.headers).toMatchObject({ ...ISOLATED, 'cache-control': 'no-store' });
  });

  it('answers of the API, files and documents are for no other origin either', async () => {
    const paths = ['/v1/practice-groups', '/docs/openapi.json', '/.well-known/webhook-keys', '/healthz'];
    for (const path of [...paths, ...assetsOf((await get('/docs')).text)])
      expect((await get(path)).headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'same-origin',
      });
  });

  it.each([...PAGES, '/docs/api', '/docs/operator-api', '/docs/nothing'])('%s', async (path) => {
    const { headers, text } = await get(path, BROWSER);
    expect(headers).toMatchObject(ISOLATED);
    const policy = String(headers['content-security-policy']);
    for (const part of [
      "default-src 'none'",
      "script-src 'self'",
      "connect-src 'self'",
      "frame-ancestors 'none'",
    ])
      expect(policy.split('; ')).toContain(part);
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval/);
    expect(policy.includes('unsafe-inline')).toBe(/api$/.test(path));
    // What the policy would refuse is not in the page to begin with.
    expect(text).not.toMatch(/<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+=/);
    expect(text).not.toMatch(/(?:src|<link[^>]* href)="(?!\/docs\/)/);
  });
});

it('pages and documents name the addresses, the senders and the support of the deployment', async () => {
  const own = await startHarness({
    env: {
      PORTER_BASE_URL: 'https://api.operator.test',
      PORTER_STAGING_BASE_URL: 'https://try.operator.test',
      PORTER_WEBHOOKS_URL: 'https://hooks.operator.test',
      PORTER_SUPPORT_CONTACT: 'help@operator.test',
      PORTER_WEBHOOK_SENDERS: '203.0.113.7, 2001:db8::/64',
    },
  });
  const text = async (path: string) => (await own.send('GET', path)).text;
  const page = await text('/docs/guides/environments');
  for (const named of [
    'https://api.operator.test',
    'https://try.operator.test',
    'https://hooks.operator.test',
  ])
    expect(page).toContain(named);
  expect(page).toContain('<code>203.0.113.7</code>, <code>2001:db8::/64</code>');
  expect(page).toContain('help@operator.test');
  expect(page).not.toMatch(/none is promised|\/\/api\.porter\.example|support@porter/);
  expect(await text('/docs/guides/onboarding')).toContain('help@operator.test');
  expect(await text('/docs/errors/conflict')).toContain('mailto:help@operator.test');
  for (const path of ['/docs/openapi.json', '/docs/operator.openapi.json', '/docs/asyncapi.json'])
    expect(JSON.parse(await text(path)).info.contact).toMatchObject({ email: 'help@operator.test' });
  // The manual of the operator is about the settings themselves.
  expect(await text('/docs/operating/settings')).toContain('https://api.porter.example');
});

describe('keeping a page', () => {
  it.each([...PAGES, '/docs/openapi.json', '/docs/search.json'])(
    '%s is asked for again, and answers 304',
    async (path) => {
      const first = await get(path);
      expect([first.status, first.headers['cache-control']]).toEqual([200, 'no-cache']);
      const etag = String(first.headers.etag);
      for (const tags of [etag, `"other", ${etag}`, etag.replace('W/', ''), '*']) {
        const again = await get(path, { 'if-none-match': tags });
        expect([again.status, again.bytes.length, again.headers.etag]).toEqual([304, 0, etag]);
      }
      expect((await get(path, { 'if-none-match': '"other"' })).status).toBe(200);
    },
  );

  it('styles and scripts are kept for ever, under an address that their content decides', async () => {
    const paths = assetsOf((await get('/docs/errors')).text);
    expect(paths.length).toBeGreaterThan(5);
    for (const path of paths) {
      const { status, headers } = await get(path);
      expect([path, status]).toEqual([path, 200]);
      expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
      expect(headers['content-type']).toMatch(/^(text\/(css|javascript); charset=utf-8|image\/svg\+xml)$/);
      const older = await get(path.replace(/[0-9a-f]{16}/, '0123456789abcdef'));
      expect([older.status, older.headers['cache-control']]).toEqual([200, 'no-cache']);
    }
  });

  it('a script imports only what is served beside it', async () => {
    const [any = ''] = assetsOf((await get('/docs/errors')).text);
    const folder = any.replace(/[^/]+$/, '');
    for (const name of ['site.js', 'reference.js', 'search.js', 'header.js', 'reader.js', 'code.js'])
      for (const [, imported] of (await get(folder + name)).text.matchAll(
        /(?:from|import\() ?'(\.\/[^']+)'/g,
      ))
        expect((await get(folder + imported?.slice(2))).status, `${name}: ${imported}`).toBe(200);
  });
});

describe('compression', () => {
  it.each(PAGES)('%s is the same in every form', async (path) => {
    const plain = await get(path);
    const brotli = await get(path, { 'accept-encoding': 'gzip, deflate, br' });
    const gzip = await get(path, { 'accept-encoding': 'gzip' });
    expect([brotli.headers['content-encoding'], gzip.headers['content-encoding']]).toEqual(['br', 'gzip']);
    expect(brotliDecompressSync(brotli.bytes).equals(plain.bytes)).toBe(true);
    expect(gunzipSync(gzip.bytes).equals(plain.bytes)).toBe(true);
    expect(brotli.bytes.length).toBeLessThan(plain.bytes.length / 2);
    for (const answer of [plain, brotli, gzip]) {
      expect(answer.headers.vary).toContain('accept-encoding');
      expect(Number(answer.headers['content-length'])).toBe(answer.bytes.length);
    }
    expect(plain.headers).not.toHaveProperty('content-encoding');
    const refused = await get(path, { 'accept-encoding': 'br;q=0, gzip;q=0.0' });
    expect(refused.headers).not.toHaveProperty('content-encoding');
  });

  it('the script of the reference is sent small, once it is asked for', async () => {
    const script = assetsOf((await get('/docs/api')).text).find((path) => path.endsWith('/scalar.js')) ?? '';
    const brotli = await get(script, { 'accept-encoding': 'br' });
    expect([brotli.status, brotli.headers['content-encoding']]).toEqual([200, 'br']);
    expect(brotli.headers['cache-control']).toContain('immutable');
    expect(brotli.bytes.length).toBeLessThan(1_300_000);
    const older = await get(script.replace(/[0-9a-f]{16}/, '0123456789abcdef'), {}, 'HEAD');
    expect([older.status, older.headers['cache-control']]).toEqual([200, 'no-cache']);
  });
});

describe('HEAD', () => {
  it.each([...PAGES, '/docs/api', '/docs/openapi.json'])('%s: as GET, without the body', async (path) => {
    const got = await get(path);
    const { status, headers, bytes } = await get(path, {}, 'HEAD');
    expect([status, bytes.length]).toEqual([200, 0]);
    for (const name of ['content-length', 'content-type', 'etag', 'content-security-policy'])
      expect(headers[name]).toBe(got.headers[name]);
  });
});

describe('the way in', () => {
  it('/ and addresses with a slash too many lead to the page', async () => {
    for (const [path, location] of [
      ['/', '/docs'],
      ['/docs/', '/docs'],
      ['/docs/errors/', '/docs/errors'],
      ['/docs/guides/receiving-webhooks/', '/docs/guides/receiving-webhooks'],
    ]) {
      const answer = await get(path ?? '');
      expect([answer.status, answer.headers.location, answer.bytes.length]).toEqual([302, location, 0]);
    }
  });

  it('a query changes nothing', async () => {
    expect((await get('/docs?utm=x')).bytes.equals((await get('/docs')).bytes)).toBe(true);
  });
});

describe('what is not there', () => {
  it('a browser gets a page in the same look, anybody else the problem', async () => {
    const page = await get('/docs/guides/nothing', BROWSER);
    expect(page.status).toBe(404);
    expect(page.text).toContain('<nav id="contents"');
    expectProblem(await house.send('GET', '/docs/guides/nothing'), 404, 'not_found');
  });

  it('addresses of the API answer as ever, whoever asks', async () => {
    for (const path of ['/v1/nothing', '/operator/v1/nothing'])
      expectProblem(await house.send('GET', path, { headers: BROWSER }), 401, 'invalid_credentials');
    expectProblem(await house.send('GET', '/nothing', { headers: BROWSER }), 404, 'not_found');
    expectProblem(await house.send('POST', '/docs', { headers: BROWSER, body: {} }), 404, 'not_found');
  });

  const hostile = [
    '/docs/../package.json',
    '/docs/..%2f..%2fpackage.json',
    '/docs/%2e%2e/%2e%2e/package.json',
    '/docs/guides/..%2foperating%2fsettings',
    '/docs/guides/receiving-webhooks.md',
    '/docs/guides/%00',
    '/docs/assets/../../site.ts',
    '/docs/assets/0123456789abcdef/..%2fsite.ts',
    '/docs/assets/0123456789abcdef/tsconfig.json',
    '/docs/assets/0123456789abcdef/__proto__',
    '/docs/assets/__proto__/site.js',
    '/docs/__proto__',
    '/docs/constructor',
    '/docs/errors/toString',
    '/docs/errors/%3Cscript%3Ealert(1)%3C%2Fscript%3E',
    '/docs/decisions/0001-row-level-security',
    '/docs/measurements/the-queue',
    '//docs',
    '/docs//errors',
    '/docs\\errors',
  ];

  it.each(hostile)('404, and nothing of what was asked in the answer: %s', async (path) => {
    // Byte for byte: a client library would tidy the address up.
    const wire = await openWire(house.url);
    wire.write(head('GET', path, BROWSER));
    const { status, text } = await wire.answer();
    wire.close();
    expect(status).toBe(404);
    expect(text).not.toMatch(/alert\(|__proto__|package\.json/);
  });
});
