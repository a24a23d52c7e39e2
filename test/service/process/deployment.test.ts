import { describe, expect, it } from 'vitest';
import { NodeHeartbeats } from '../../../src/runtime/oversight/nodes.ts';
import { readConfig } from '../../../src/service/config.ts';
import { MASTER_KEY, OPERATOR_TOKEN, serviceForTests, startHarness } from '../../support/service.ts';

const SECRET = 'p4ss-w0rd';
const env = {
  PORTER_SMTP_URL: `smtp://mailer:${SECRET}@127.0.0.1:2525`,
  PORTER_MAIL_FROM: 'alerts@porter.example',
  PORTER_AUDIT_ANCHOR_URL: `https://user:${SECRET}@anchors.example/put?signature=${SECRET}`,
  PORTER_RETENTION_DAYS: '90',
};
const { house, db, world } = await serviceForTests({ env });
type Named = { name: string; value: string | null; source: string; secret: boolean; description: string };

describe('GET /operator/v1/settings', () => {
  it('200: every setting of the documentation, with what is in force and what it means', async () => {
    const { environment, version, data } = await house.operator('GET', '/settings');
    expect([environment, version]).toEqual(['staging', expect.stringMatching(/^\d+\.\d+\.\d+/)]);
    const named = new Map((data as Named[]).map((one) => [one.name, one]));
    expect([...named.keys()].sort()).toEqual(
      readConfig({}, '/')
        .settings.map(({ name }) => name)
        .sort(),
    );
    expect(named.size).toBeGreaterThan(35);
    expect(named.get('PORTER_RETENTION_DAYS')).toMatchObject({
      value: '90',
      source: 'environment',
      secret: false,
    });
    expect(named.get('PORTER_JOB_DAYS')).toMatchObject({ value: '400', source: 'default' });
    expect(named.get('PORTER_SMTP_URL')?.value).toBe('smtp://…@127.0.0.1:2525');
    expect(named.get('PORTER_AUDIT_ANCHOR_URL')?.value).toBe('https://…@anchors.example/put?…');
    for (const { description } of named.values()) {
      expect(description.length).toBeGreaterThan(5);
      expect(description).not.toMatch(/[`\]]\(/);
    }
  });

  it('tells of secrets whether they are set, and nothing else', async () => {
    const answer = await house.send('GET', '/operator/v1/settings', { token: OPERATOR_TOKEN });
    const url = new URL(house.databaseUrl);
    for (const secret of [SECRET, MASTER_KEY, OPERATOR_TOKEN, url.password].filter(Boolean))
      expect(answer.text).not.toContain(secret);
    const named = new Map((answer.body.data as Named[]).map((one) => [one.name, one]));
    for (const name of ['PORTER_MASTER_KEY', 'PORTER_OPERATOR_TOKEN', 'PORTER_MASTER_KEY_PREVIOUS'])
      expect(named.get(name)).toMatchObject({ value: null, secret: true });
    expect(named.get('PORTER_MASTER_KEY')?.source).toBe('environment');
    expect(named.get('DATABASE_URL')?.value).toContain('//…@');
  });

  it('403: a source', async () => {
    const { token } = await house.operator('POST', '/operators', { name: 'Source', role: 'source' });
    for (const path of ['settings', 'nodes', 'live'])
      expect((await house.send('GET', `/operator/v1/${path}`, { token })).status).toBe(403);
  });
});

describe('GET /operator/v1/nodes', () => {
  const list = () => house.operator('GET', '/nodes');

  it('200: who is there, what each did, and how its clock stands', async () => {
    await expect.poll(async () => (await list()).count).toBe(1);
    house.clock.advance(1_000);
    const second = await startHarness({
      databaseUrl: house.databaseUrl,
      clock: house.clock,
      env: { PORTER_ROLE: 'worker' },
    });
    await expect.poll(async () => (await list()).count).toBe(2);
    const { data } = await list();
    expect(
      data.map(({ role, answering }: { role: string; answering: boolean }) => [role, answering]),
    ).toEqual([
      ['all', true],
      ['worker', false],
    ]);
    expect(data[0]).toMatchObject({
      name: expect.stringContaining(`:${process.pid}`),
      version: expect.stringMatching(/^\d/),
      clock_skew_ms: 0,
      share_percent: null,
    });
    await second.stop();
    expect((await list()).count).toBe(1);
  });

  it('200: its share is what it did within the last minute', async () => {
    const { app } = house.service;
    const sign = (id: string, skew: number) =>
      new NodeHeartbeats(
        { ...app, skewMs: () => skew },
        { id, name: id, version: '1', role: 'api', started_at: new Date(house.clock.now()).toISOString() },
      );
    const [busy, idle] = [sign('busy', 5), sign('idle', -2_000)];
    for (let n = 0; n < 30; n++) app.figures.call(world.partnerId, 'ok');
    await busy.sign();
    await idle.sign();
    const shares = async () =>
      Object.fromEntries(
        (await list()).data
          .filter(({ id }: { id: string }) => ['busy', 'idle'].includes(id))
          .map((node: { id: string; calls_per_minute: number; clock_skew_ms: number }) => [
            node.id,
            [node.calls_per_minute, node.clock_skew_ms],
          ]),
      );
    expect(await shares()).toEqual({ busy: [30, 5], idle: [30, -2_000] });
    house.clock.advance(61_000);
    await busy.sign();
    // The other has given no sign for a minute: it is not there any more.
    expect(await shares()).toEqual({ busy: [expect.any(Number), 5] });
    house.clock.advance(61_000);
    await busy.sign();
    expect((await shares()).busy?.[0]).toBe(0);
    await db.query("DELETE FROM nodes WHERE id IN ('busy', 'idle')");
  });
});
