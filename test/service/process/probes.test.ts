import { describe, expect, it } from 'vitest';
import { asAdmin } from '../../support/logins.ts';
import { type Harness, makeWorld, OPERATOR_TOKEN, startHarness } from '../../support/service.ts';

const house = await startHarness();

const probes = ['/healthz', '/readyz', '/metrics'];

interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** Reads the Prometheus text format, and fails on anything that is not it. */
function parseMetrics(text: string): { samples: Sample[]; types: Record<string, string> } {
  const samples: Sample[] = [];
  const types: Record<string, string> = {};
  const helped = new Set<string>();
  expect(text.endsWith('\n')).toBe(true);
  for (const line of text.split('\n').filter(Boolean)) {
    const [, keyword, subject = '', rest = ''] = /^# (HELP|TYPE) ([a-z_]+) (.+)$/.exec(line) ?? [];
    if (keyword === 'HELP') helped.add(subject);
    else if (keyword === 'TYPE') types[subject] = rest;
    else {
      const [, name = '', labels = '', value = ''] =
        /^([a-z_]+)(?:\{((?:[a-z_]+="[^"\\]*",?)*)\})? (-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/.exec(line) ?? [];
      expect(name, `the line "${line}"`).not.toBe('');
      const pairs = [...labels.matchAll(/([a-z_]+)="([^"]*)"/g)].map(([, label, text]) => [label, text]);
      samples.push({ name, labels: Object.fromEntries(pairs), value: Number(value) });
    }
  }
  for (const { name } of samples) {
    const family = name.replace(/_(bucket|sum|count)$/, '');
    expect([types[name], types[family]].some(Boolean), `${name} has a type`).toBe(true);
    expect(helped.has(name) || helped.has(family), `${name} has a help text`).toBe(true);
  }
  return { samples, types };
}

async function metric(from: Harness, name: string, labels: Record<string, string>): Promise<number> {
  const { text } = await from.send('GET', '/metrics');
  return parseMetrics(text)
    .samples.filter((sample) => sample.name === name)
    .filter((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
    .reduce((sum, { value }) => sum + value, 0);
}

describe('probes', () => {
  it('answer on the loopback without any token', async () => {
    const alive = await house.send('GET', '/healthz');
    expect([alive.status, alive.body]).toEqual([200, { status: 'ok' }]);
    const ready = await house.send('GET', '/readyz');
    expect([ready.status, ready.body]).toEqual([200, { status: 'ready' }]);
    expect((await house.send('GET', '/metrics')).status).toBe(200);
    for (const path of probes) {
      expect((await house.send('HEAD', path)).status).toBe(200);
      expect((await house.send('GET', `${path}?x=1`)).status).toBe(200);
    }
  });

  it('it is not ready while nothing can be written, and is again without a restart', async () => {
    const own = await startHarness();
    const name = new URL(own.databaseUrl).pathname.slice(1);
    const readOnly = (setting: string) =>
      asAdmin(`ALTER DATABASE ${name} SET default_transaction_read_only = ${setting}`);
    const write = { token: OPERATOR_TOKEN, body: { name: 'G' } };
    const statuses = async () => [
      (await own.send('GET', '/readyz')).status,
      (await own.send('POST', '/operator/v1/practice-groups', write)).status,
    ];
    await readOnly('on');
    await asAdmin(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
    await expect.poll(statuses).toEqual([503, 503]);
    // Connections of that time would go on refusing.
    await Promise.all(Array.from({ length: 5 }, statuses));
    await readOnly('off');
    await expect.poll(statuses).toEqual([200, 201]);
  });

  it('it is not ready while the disk takes nothing more; a write is tried every five seconds at most, whoever asks', async () => {
    const own = await startHarness();
    const name = new URL(own.databaseUrl).pathname.slice(1);
    // The server refuses what a full disk would refuse: test/faults/full-disk.test.ts fills one.
    const fill = async (limit: string) => {
      await asAdmin(
        `ALTER DATABASE ${name} SET temp_file_limit = ${limit}`,
        `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${name}'`,
      );
      // Until connections of before are gone, it is not even reached.
      const call = { token: OPERATOR_TOKEN };
      await expect.poll(async () => (await own.send('GET', '/operator/v1/partners', call)).status).toBe(200);
    };
    const statuses = () =>
      Promise.all(Array.from({ length: 5 }, async () => (await own.send('GET', '/readyz')).status));
    const all = (status: number) => Array.from({ length: 5 }, () => status);
    expect(await statuses()).toEqual(all(200));
    await fill('0');
    await expect.poll(statuses).toEqual(all(200));
    own.clock.advance(5_000);
    await expect.poll(statuses).toEqual(all(503));
    await fill('-1');
    expect(await statuses()).toEqual(all(503));
    own.clock.advance(5_000);
    await expect.poll(statuses).toEqual(all(200));
  });

  it.each(probes)('%s does not exist for whoever comes from elsewhere', async (path) => {
    const production = await startHarness({ env: { PORTER_ENVIRONMENT: 'production' } });
    const trusting = await startHarness({ env: { PORTER_TRUST_PROXY: '127.0.0.1' } });
    for (const [name, value] of [
      ['x-forwarded-for', '203.0.113.9'],
      ['x-forwarded-for', '127.0.0.1'],
      ['x-forwarded-proto', 'https'],
      ['x-forwarded-host', 'api.operator.test'],
      ['x-forwarded-port', '443'],
      ['x-forwarded', 'for=203.0.113.9'],
      ['forwarded', 'for=127.0.0.1'],
      ['forwarded', ''],
      ['x-original-forwarded-for', '127.0.0.1'],
      ['x-real-ip', '127.0.0.1'],
      ['via', '1.1 proxy'],
      ['cf-connecting-ip', '203.0.113.9'],
      ['true-client-ip', '203.0.113.9'],
      ['x-client-ip', '203.0.113.9'],
      ['x-cluster-client-ip', '203.0.113.9'],
      ['fastly-client-ip', '203.0.113.9'],
      ['cdn-loop', 'cloudflare'],
      // Nothing but the name by which the proxy, or a page elsewhere, was called.
      ['host', 'api.operator.test'],
      ['host', '127.0.0.1.operator.test'],
      ['host', 'localhost.operator.test:80'],
      ['host', '192.0.2.1'],
      ['host', '[2001:db8::1]:80'],
    ] as const)
      for (const node of [house, production, trusting]) {
        const answer = await node.send('GET', path, { headers: { [name]: value } });
        expect([name, value, answer.status]).toEqual([name, value, 404]);
        expect(answer.body).toMatchObject({ error: 'not_found' });
        expect(answer.text).not.toContain('porter_');
      }
  });

  it.each(probes)('%s answers on this machine by each of its names', async (path) => {
    for (const host of [
      'localhost',
      'porter.localhost:8080',
      '127.0.0.1:1',
      '127.1.2.3',
      '[::1]:8080',
      'porter',
    ])
      expect([host, (await house.send('GET', path, { headers: { host } })).status]).toEqual([host, 200]);
  });

  it.each(probes)('%s is served through a trusted proxy only when PORTER_PROBES says so', async (path) => {
    const headers = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'https' };
    const closed = await startHarness({ env: { PORTER_TRUST_PROXY: '127.0.0.1' } });
    expect((await closed.send('GET', path, { headers })).status).toBe(404);
    const open = await startHarness({ env: { PORTER_PROBES: 'anywhere' } });
    expect((await open.send('GET', path, { headers })).status).toBe(200);
    expect((await open.send('GET', path)).status).toBe(200);
  });

  it('answer on the loopback of a production deployment over plain HTTP, where nothing else does', async () => {
    const production = await startHarness({ env: { PORTER_ENVIRONMENT: 'production' } });
    for (const path of probes) expect((await production.send('GET', path)).status).toBe(200);
    const answer = await production.send('GET', '/operator/v1/partners', { token: OPERATOR_TOKEN });
    expect(answer.body).toMatchObject({ statusCode: 403, error: 'https_required' });
    for (const path of ['/healthz/', '/healthzz', '//healthz', '/metrics/x'])
      expect((await production.send('GET', path)).status).toBe(403);
  });
});

describe('without its database', () => {
  it('the service is alive but not ready, and ready again when the database is back', async () => {
    const alone = await startHarness();
    const name = new URL(alone.databaseUrl).pathname.slice(1);
    expect((await alone.send('GET', '/readyz')).status).toBe(200);
    await asAdmin(
      `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`,
      `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${name}'`,
    );
    const ready = await alone.send('GET', '/readyz');
    expect(ready.status).toBe(503);
    expect(ready.body).toMatchObject({ error: 'service_unavailable', statusCode: 503 });
    expect(ready.headers['retry-after']).toBe('1');
    expect((await alone.send('GET', '/healthz')).status).toBe(200);
    expect((await alone.send('GET', '/metrics')).status).toBe(200);
    const call = await alone.send('GET', '/operator/v1/partners', { token: OPERATOR_TOKEN });
    expect(call.status).toBe(503);
    expect(call.headers['retry-after']).toBe('1');

    await asAdmin(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
    expect((await alone.send('GET', '/readyz')).status).toBe(200);
    await alone.operator('POST', '/practice-groups', { name: 'Back' });
  });
});

describe('metrics', () => {
  it('are in the Prometheus text format', async () => {
    const { headers, text } = await house.send('GET', '/metrics');
    expect(headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
    const { types } = parseMetrics(text);
    expect(types).toMatchObject({
      porter_http_request_seconds: 'histogram',
      porter_http_refusals_total: 'counter',
      porter_database_connections: 'gauge',
      porter_process_resident_bytes: 'gauge',
    });
  });

  it('count every answer by operation and status, and every refusal by its code', async () => {
    const { groupId: group, key } = await makeWorld(house);
    const answers = (operation: string, status: number) =>
      metric(house, 'porter_http_request_seconds_count', { operation, status: String(status) });
    const refusals = (operation: string, error: string) =>
      metric(house, 'porter_http_refusals_total', { operation, error });
    const before = {
      ok: await answers('listPracticeGroups', 200),
      unknown: await answers('listPracticeGroups', 401),
      refused: await refusals('listPracticeGroups', 'invalid_credentials'),
      invalid: await refusals('updateSubmissionType', 'validation_error'),
    };
    for (let i = 0; i < 3; i++) await house.send('GET', '/v1/practice-groups', { key, group });
    for (let i = 0; i < 2; i++) await house.send('GET', '/v1/practice-groups', { key: 'nonsense', group });
    await house.send('PATCH', '/v1/care-nav/submission-types/type-1', { key, group, body: { titel: '' } });
    expect({
      ok: await answers('listPracticeGroups', 200),
      unknown: await answers('listPracticeGroups', 401),
      refused: await refusals('listPracticeGroups', 'invalid_credentials'),
      invalid: await refusals('updateSubmissionType', 'validation_error'),
    }).toEqual({
      ok: before.ok + 3,
      unknown: before.unknown + 2,
      refused: before.refused + 2,
      invalid: before.invalid + 1,
    });
    const buckets = await metric(house, 'porter_http_request_seconds_bucket', {
      operation: 'listPracticeGroups',
      status: '200',
      le: '+Inf',
    });
    expect(buckets).toBe(before.ok + 3);
  });

  it('do not grow with the addresses that callers make up', async () => {
    const lines = async () => (await house.send('GET', '/metrics')).text.split('\n').length;
    await house.send('GET', '/v1/made-up-0');
    await house.send('GET', '/made-up-0');
    const before = await lines();
    for (let i = 1; i < 20; i++) {
      await house.send('GET', `/v1/made-up-${i}`);
      await house.send('GET', `/made-up-${i}`);
    }
    expect(await lines()).toBe(before);
  });

  it('tell about the connections to the database', async () => {
    await house.operator('GET', '/partners');
    const open = await metric(house, 'porter_database_connections', { state: 'open' });
    const idle = await metric(house, 'porter_database_connections', { state: 'idle' });
    expect(open).toBeGreaterThanOrEqual(1);
    expect(idle).toBeLessThanOrEqual(open);
    expect(await metric(house, 'porter_process_resident_bytes', {})).toBeGreaterThan(1_000_000);
  });

  it('hold no key, no token and no record of a practice', async () => {
    const { groupId: group, key, keyId } = await makeWorld(house);
    await house.send('GET', `/v1/care-nav/submission-types/${key}`, { key, group });
    const { text } = await house.send('GET', '/metrics');
    for (const secret of [key, keyId, group, OPERATOR_TOKEN]) expect(text).not.toContain(secret);
  });
});

it('a worker has its probes, and nothing else to call', async () => {
  const node = await startHarness();
  const { key, groupId: group } = await makeWorld(node);
  const { databaseUrl, clock } = node;
  const worker = await startHarness({ databaseUrl, clock, env: { PORTER_ROLE: 'worker' } });
  expect((await worker.send('GET', '/readyz')).status).toBe(200);
  expect((await node.send('GET', '/v1/practice-groups', { key, group })).status).toBe(200);
  for (const path of ['/v1/practice-groups', '/operator/v1/partners']) {
    const answer = await worker.send('GET', path, { key, group, token: OPERATOR_TOKEN });
    expect([answer.status, answer.body.error]).toEqual([404, 'not_found']);
  }
});
