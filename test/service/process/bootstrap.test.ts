import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { banner } from '../../../src/service/banner.ts';
import { readConfig } from '../../../src/service/config.ts';
import { signIn, visitor } from '../../support/console-session.ts';
import { contents } from '../../support/for-test.ts';
import {
  createUpToDateDatabase,
  type Harness,
  type Loose,
  OPERATOR_TOKEN,
  startHarness,
} from '../../support/service.ts';

/** One deployment that is started again and again: its database and its data folder stay. */
async function deployment(base: Record<string, string> = {}) {
  const databaseUrl = await createUpToDateDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'porter-bootstrap-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const start = (env: Record<string, string> = {}) =>
    startHarness({ databaseUrl, env: { PORTER_ROLE: 'api', PORTER_DATA_DIR: folder, ...base, ...env } });
  return { databaseUrl, folder, start };
}

const statusWith = async ({ send }: Harness, token: string) =>
  (await send('GET', '/operator/v1/operators', { token })).status;

describe('PORTER_OPERATOR_TOKEN', () => {
  it('is the first admin’s token, at every start the one that was configured then', async () => {
    const { start, databaseUrl } = await deployment();
    const first = await start({ PORTER_OPERATOR_TOKEN: 'token-one' });
    expect(first.service.firstOperatorToken).toBeUndefined();
    const { body } = await first.send('GET', '/operator/v1/operators', { token: 'token-one' });
    expect(body.data).toMatchObject([{ id: 'opr_first', role: 'admin', status: 'active' }]);
    await first.stop();

    const second = await start({ PORTER_OPERATOR_TOKEN: 'token-two' });
    expect([await statusWith(second, 'token-one'), await statusWith(second, 'token-two')]).toEqual([
      401, 200,
    ]);
    await second.stop();
    expect((await contents(databaseUrl)).operators).toHaveLength(1);
  });

  it('is refused when it is the token of another operator, with what to do', async () => {
    const { start } = await deployment();
    const house = await start();
    const { token } = await house.operator('POST', '/operators', { name: 'Night shift', role: 'support' });
    await house.stop();
    await expect(start({ PORTER_OPERATOR_TOKEN: token })).rejects.toThrow(
      'PORTER_OPERATOR_TOKEN is the token of another operator. Unset it',
    );
  });

  it('leaves an entry when it changes, and none when it does not', async () => {
    const { start } = await deployment();
    const entries = async (house: Harness, token: string): Promise<Loose[]> =>
      (await house.send('GET', '/operator/v1/audit', { token })).body.data;
    await (await start({ PORTER_OPERATOR_TOKEN: 'token-one' })).stop();
    const same = await start({ PORTER_OPERATOR_TOKEN: 'token-one' });
    expect(await entries(same, 'token-one')).toMatchObject([
      { seq: 1, action: 'operator.create', actor: { type: 'system', id: 'porter' }, request_id: null },
    ]);
    await same.stop();
    const changed = await start({ PORTER_OPERATOR_TOKEN: 'token-two' });
    const [entry, ...older] = await entries(changed, 'token-two');
    expect(older).toHaveLength(1);
    expect(entry).toMatchObject({
      actor: { type: 'system' },
      subject: { type: 'operator', id: 'opr_first' },
    });
    expect(JSON.stringify(entry)).not.toContain('token-');
  });

  it('lets a revoked first operator in again, and says so in the audit trail', async () => {
    const { start } = await deployment();
    const house = await start({ PORTER_OPERATOR_TOKEN: 'token-one' });
    const call = (method: string, path: string, body?: unknown) =>
      house.send(method, `/operator/v1${path}`, { token: 'token-one', body });
    await call('POST', '/operators', { name: 'Second', role: 'admin' });
    expect((await call('POST', '/operators/opr_first/revoke')).status).toBe(200);
    expect(await statusWith(house, 'token-one')).toBe(401);
    await house.stop();

    const again = await start({ PORTER_OPERATOR_TOKEN: 'token-one' });
    expect(await statusWith(again, 'token-one')).toBe(200);
    const { body } = await again.send('GET', '/operator/v1/audit', { token: 'token-one' });
    const first = (await again.send('GET', '/operator/v1/operators/opr_first', { token: 'token-one' })).body;
    expect(body.data[0]).toMatchObject({ action: 'operator.restore', before: { status: 'revoked' } });
    expect(body.data[0].after).toEqual(first);
    expect(first).toMatchObject({ status: 'active', revoked_at: null });
  });

  it('ends the sessions of the one before, and of an operator who was revoked meanwhile', async () => {
    const { start } = await deployment();
    const meOf = async (house: Harness, cookie: string) =>
      (await visitor(house, cookie).send('GET', '/operator/v1/me')).status;
    const first = await start({ PORTER_OPERATOR_TOKEN: 'token-one' });
    const { cookie } = await signIn(first, 'token-one');
    expect(await meOf(first, cookie)).toBe(200);
    await first.stop();
    const same = await start({ PORTER_OPERATOR_TOKEN: 'token-one' });
    expect(await meOf(same, cookie)).toBe(200);
    await same.stop();

    const changed = await start({ PORTER_OPERATOR_TOKEN: 'token-two' });
    expect(await meOf(changed, cookie)).toBe(401);
    const { body } = await changed.send('GET', '/operator/v1/audit', { token: 'token-two' });
    expect(body.data.slice(0, 2)).toMatchObject([
      { action: 'session.end', actor: { type: 'system' }, before: { operator_id: 'opr_first' } },
      { action: 'operator.token' },
    ]);
    const later = await signIn(changed, 'token-two');
    const call = (path: string, given?: unknown) =>
      changed.send('POST', `/operator/v1${path}`, { token: 'token-two', body: given });
    await call('/operators', { name: 'Second', role: 'admin' });
    await call('/operators/opr_first/revoke');
    await changed.stop();
    const again = await start({ PORTER_OPERATOR_TOKEN: 'token-two' });
    expect(await statusWith(again, 'token-two')).toBe(200);
    expect(await meOf(again, later.cookie)).toBe(401);
  });
});

describe('without PORTER_OPERATOR_TOKEN', () => {
  it('the first start makes a token, tells it until it was used, keeps it nowhere in plain; later starts say nothing', async () => {
    const { start, folder, databaseUrl } = await deployment({ PORTER_OPERATOR_TOKEN: '', PORTER_DEMO: 'on' });
    const first = await start();
    const token = first.service.firstOperatorToken ?? '';
    expect(token).toMatch(/^pto_[0-9A-Za-z]{40}$/);
    await first.stop();

    const unused = await start();
    expect(unused.service.firstOperatorToken).toBe(token);
    expect(JSON.stringify(await contents(databaseUrl))).not.toContain(token);
    expect(await statusWith(unused, token)).toBe(200);
    await unused.stop();

    const second = await start();
    expect(second.service.firstOperatorToken).toBeUndefined();
    expect(await statusWith(second, token)).toBe(200);
    await second.stop();

    for (const name of readdirSync(folder))
      expect(readFileSync(join(folder, name), 'utf8')).not.toContain(token);
    expect(JSON.stringify([first.logLines(), second.logLines()])).not.toContain(token);
    expect(JSON.stringify(await contents(databaseUrl))).not.toContain(token);
  });

  it('a start that fails, as on a port that is taken, loses no token', async () => {
    const { start } = await deployment({ PORTER_OPERATOR_TOKEN: '' });
    const other = await startHarness();
    await expect(start({ PORTER_PORT: new URL(other.url).port })).rejects.toThrow(/is taken/);
    const house = await start();
    expect(await statusWith(house, house.service.firstOperatorToken ?? '')).toBe(200);
  });

  it('a token that cannot be read under another master key is replaced, if nobody has used it', async () => {
    const { start } = await deployment({ PORTER_OPERATOR_TOKEN: '' });
    const first = await start();
    const lost = first.service.firstOperatorToken ?? '';
    await first.stop();
    const PORTER_MASTER_KEY = Buffer.alloc(32, 'other').toString('base64');
    const second = await start({ PORTER_MASTER_KEY });
    const token = second.service.firstOperatorToken ?? '';
    expect([await statusWith(second, lost), await statusWith(second, token)]).toEqual([401, 200]);
    await second.stop();
    expect((await start({ PORTER_MASTER_KEY })).service.firstOperatorToken).toBeUndefined();
  });

  it('none is made while there are operators, and a token configured later takes its place', async () => {
    const { start } = await deployment();
    await (await start({ PORTER_OPERATOR_TOKEN: 'token-one' })).stop();
    const without = await start({ PORTER_OPERATOR_TOKEN: '' });
    expect(without.service.firstOperatorToken).toBeUndefined();
    expect(await statusWith(without, 'token-one')).toBe(200);

    const other = await deployment({ PORTER_OPERATOR_TOKEN: '' });
    const made = await other.start();
    const token = made.service.firstOperatorToken ?? '';
    await made.stop();
    const configured = await other.start({ PORTER_OPERATOR_TOKEN: 'token-two' });
    expect([await statusWith(configured, token), await statusWith(configured, 'token-two')]).toEqual([
      401, 200,
    ]);
  });
});

describe('the demo world', () => {
  const GROUP = 'riverside-surgery';
  const works = async ({ send }: Harness, key: string | undefined) =>
    (await send('GET', '/v1/practice-groups', { key, group: GROUP })).status === 200;

  it('has a key that works, kept in a file that only its owner reads, and the same after a restart', async () => {
    const { start, folder, databaseUrl } = await deployment({ PORTER_DEMO: 'on' });
    const first = await start();
    const file = join(folder, 'demo-key');
    expect(await works(first, first.service.demoKey)).toBe(true);
    expect(readFileSync(file, 'utf8')).toBe(first.service.demoKey);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['demo-key', 'url']);
    await first.stop();

    const aside = { accessLog: true, timelineNames: true } as const;
    const before = await contents(databaseUrl, aside);
    const second = await start();
    expect(second.service.demoKey).toBe(first.service.demoKey);
    expect(await works(second, second.service.demoKey)).toBe(true);
    expect(await contents(databaseUrl, aside)).toEqual(before);
  });

  it('lets its key read and change everything that the demo offers, also at the hub', async () => {
    const { start } = await deployment({ PORTER_DEMO: 'on' });
    const { send, service, operator } = await start();
    for (const group of [GROUP, 'hillview-hub']) {
      const path = '/v1/care-nav/submission-types';
      const { body } = await send('GET', path, { key: service.demoKey, group });
      expect(body.data.map(({ id }: Loose) => id)).toEqual(['prescriptions', 'symptoms']);
      for (const { id } of body.data) {
        const patched = await send('PATCH', `${path}/${id}`, {
          key: service.demoKey,
          group,
          body: { title: 'Changed' },
        });
        expect(patched.status).toBe(200);
      }
    }
    expect(await operator('GET', '/audit/verify')).toMatchObject({ ok: true });
  });

  it.each([
    ['lost', (file: string) => rmSync(file)],
    ['empty', (file: string) => writeFileSync(file, '')],
    ['overwritten with nonsense', (file: string) => writeFileSync(file, 'nonsense')],
    ['overwritten with another key', (file: string) => writeFileSync(file, `ptr_test_${'0'.repeat(38)}`)],
  ])('gets a new key when the file is %s', async (_how, spoil) => {
    const { start, folder } = await deployment({ PORTER_DEMO: 'on' });
    const first = await start();
    await first.stop();
    const file = join(folder, 'demo-key');
    spoil(file);
    const second = await start();
    expect(second.service.demoKey).not.toBe(first.service.demoKey);
    expect(await works(second, second.service.demoKey)).toBe(true);
    expect(readFileSync(file, 'utf8')).toBe(second.service.demoKey);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('keeps its file to its owner even if somebody opened it up', async () => {
    const { start, folder } = await deployment({ PORTER_DEMO: 'on' });
    await (await start()).stop();
    const file = join(folder, 'demo-key');
    writeFileSync(file, 'nonsense');
    chmodSync(file, 0o666);
    await start();
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('whose partner was suspended starts all the same, without a key', async () => {
    const { start } = await deployment({ PORTER_DEMO: 'on' });
    const first = await start();
    const { data } = await first.operator('GET', '/partners');
    await first.operator('POST', `/partners/${data[0].id}/suspend`);
    await first.stop();
    const second = await start();
    expect(second.service.demoKey).toBeUndefined();
    expect(await works(second, first.service.demoKey)).toBe(false);
    await second.operator('POST', `/partners/${data[0].id}/verify`);
    await second.stop();
    // The key that was there before works again, so it is the one that is shown.
    expect((await start()).service.demoKey).toBe(first.service.demoKey);
  });

  it('has no key again once somebody revoked it, with and without its file', async () => {
    const { start, folder } = await deployment({ PORTER_DEMO: 'on' });
    const first = await start();
    const { data } = await first.operator('GET', '/keys');
    await first.operator('POST', `/keys/${data[0].id}/revoke`);
    await first.stop();
    const second = await start();
    expect(second.service.demoKey).toBeUndefined();
    await second.stop();
    rmSync(join(folder, 'demo-key'));
    const third = await start();
    expect(third.service.demoKey).toBeUndefined();
    expect((await third.operator('GET', '/keys')).count).toBe(1);
  });

  it('gets no key from a node that only delivers', async () => {
    const { start, folder } = await deployment({ PORTER_DEMO: 'on' });
    const before = await start({ PORTER_ROLE: 'worker' });
    expect(before.service.demoKey).toBeUndefined();
    await before.stop();
    const first = await start();
    expect(await works(first, first.service.demoKey)).toBe(true);
    await first.stop();
    rmSync(join(folder, 'demo-key'));
    const worker = await start({ PORTER_ROLE: 'worker' });
    expect(worker.service.demoKey).toBeUndefined();
    expect(existsSync(join(folder, 'demo-key'))).toBe(false);
  });

  it('is not made where there is something already, and gives no key to what is not its own', async () => {
    const { start, databaseUrl, folder } = await deployment();
    const first = await start({ PORTER_DEMO: 'off' });
    await first.operator('POST', '/practice-groups', { id: 'real', name: 'Real' });
    await first.stop();
    const second = await start({ PORTER_DEMO: 'on' });
    expect(second.service.demoKey).toBeUndefined();
    expect((await contents(databaseUrl)).practice_groups).toHaveLength(1);
    expect(existsSync(join(folder, 'demo-key'))).toBe(false);
  });

  it.each([
    ['PORTER_DEMO is off', { PORTER_DEMO: 'off' }],
    ['it is production', { PORTER_ENVIRONMENT: 'production', PORTER_DEMO: '' }],
  ])('is not made when %s', async (_why, env) => {
    const { start, databaseUrl, folder } = await deployment(env);
    const { service } = await start();
    expect(service.demoKey).toBeUndefined();
    const db = await contents(databaseUrl);
    expect([db.practice_groups, db.partners, db.api_keys]).toEqual([[], [], []]);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('the banner', () => {
  it('shows the token until it was used, and a first call that works as it stands', async () => {
    const { start, folder } = await deployment({ PORTER_DEMO: 'on', PORTER_OPERATOR_TOKEN: '' });
    const config = readConfig({}, '/');
    const first = await start();
    const told = banner(config, first.service, true);
    expect(told).toContain(first.service.firstOperatorToken);
    expect(told).toContain(`Porter (staging) listens on ${first.url}`);
    const [, url = ''] = /curl (\S+)/.exec(told) ?? [];
    const headers = Object.fromEntries(
      [...told.matchAll(/-H '([\w-]+): ([^']+)'/g)].map(([, k, v]) => [k, v]),
    );
    const answer = await first.send('GET', url.replace(first.url, ''), { headers });
    expect(answer.body).toMatchObject({ count: 1, data: [{ id: 'riverside-surgery' }] });
    expect(readFileSync(join(folder, 'url'), 'utf8')).toBe(first.url);
    expect(told).toContain(`${first.url}/docs#key=${headers['x-api-key']}&group=riverside-surgery`);
    expect(await statusWith(first, first.service.firstOperatorToken ?? '')).toBe(200);
    await first.stop();

    const again = banner(config, (await start()).service, true);
    expect(again).not.toContain('pto_');
    expect(again).toContain('curl');
  });

  it('in production shows the token on a terminal, and to nothing that is collected', async () => {
    const env = { PORTER_ENVIRONMENT: 'production', PORTER_DEMO: '', PORTER_OPERATOR_TOKEN: '' };
    const { start } = await deployment(env);
    const { service } = await start();
    const config = { ...readConfig({}, '/'), environment: 'production' as const };
    expect(banner(config, service, true)).toContain(service.firstOperatorToken);
    const logged = banner(config, service, false);
    expect(logged).not.toContain('pto_');
    expect(logged).toContain('shown on a terminal only');
  });

  it('without a demo shows only where the service is', async () => {
    const { start } = await deployment({ PORTER_DEMO: 'off' });
    const { service, url } = await start();
    const told = banner(readConfig({}, '/'), service, true);
    expect(told.trim()).toBe(
      `Porter (staging) listens on ${url}\nThe console for operators is at ${url}/console`,
    );
    expect(told).not.toContain(OPERATOR_TOKEN);
  });
});
