import { describe, expect, it } from 'vitest';
import { porter } from '../../support/cli.ts';
import { makeKey, OPERATOR_TOKEN, serviceForTests } from '../../support/service.ts';

const { house, world } = await serviceForTests({ env: { PORTER_ROLE: 'api' } });

describe('porter agreements', () => {
  const env = { PORTER_URL: house.url, PORTER_OPERATOR_TOKEN: OPERATOR_TOKEN };

  it('adds one, with an SLA in words or as targets, and lists them', async () => {
    const { partnerId } = await makeKey(house, world.groupId);
    const line = `agreements add ${partnerId} --document-version 2026-3 --signatory 'Ada Marsh' --signed 2026-11-02`;
    const added = await porter(`${line} --rate-limit 600 --sla gold --ends 2027-11-02 --json`, { env });
    expect(added.json).toMatchObject({
      version: '2026-3',
      signatory: 'Ada Marsh',
      signed_at: '2026-11-02T00:00:00.000Z',
      ends_at: '2027-11-02T00:00:00.000Z',
      rate_limit_per_minute: 600,
      sla: 'gold',
    });
    const targets = '--availability 99.9 --latency-p95 250 --delivery-success 99 --delivery-p95 30';
    expect((await porter(`${line} ${targets} --json`, { env })).json.sla_targets).toEqual({
      availability_percent: 99.9,
      latency_ms: { p95: 250 },
      delivery_success_percent: 99,
      delivery_seconds: { p95: 30 },
    });
    const { code, stdout } = await porter(`agreements list ${partnerId}`, { env });
    expect(code).toBe(0);
    expect(stdout).toMatch(/in_force +2026-3 +2026-11-02T00:00:00.000Z +2027-11-02T00:00:00.000Z +600 +gold/);
  });

  it('says so when another one was signed later: that one is in force', async () => {
    const { partnerId } = await makeKey(house, world.groupId);
    const line = `agreements add ${partnerId} --document-version 2026-4 --signatory Ada`;
    expect((await porter(`${line} --signed 2026-11-02`, { env })).stderr).toMatch(
      /Another agreement was signed later, at 2026-11-16T10:\S+: new keys are issued under that one\./,
    );
    house.clock.advance(1_000);
    const signed = new Date(house.clock.now()).toISOString();
    expect((await porter(`${line} --signed ${signed}`, { env })).stderr).not.toContain('Another');
  });

  it('2: for words and targets together, and for a day that is none', async () => {
    const line = `agreements add prt_x --document-version 1 --signatory Ada`;
    const both = await porter(`${line} --signed 2026-11-02 --sla gold --availability 99`, { env });
    expect(both.code).toBe(2);
    expect((await porter(`${line} --signed yesterday`, { env })).code).toBe(2);
  });
});

describe('porter usage', () => {
  it('shows that of all partners to an operator, and its own to a key', async () => {
    const { key, partnerId, keyId } = await makeKey(house, world.groupId);
    await house.send('GET', '/v1/me', { key });
    const env = { PORTER_URL: house.url };
    const own = await porter('usage', { env: { ...env, PORTER_KEY: key } });
    expect(own.stdout).toMatch(new RegExp(`\\d{4}-\\d\\d-\\d\\d  call  ${keyId} +getMe +ok +1`));
    const operator = { env: { ...env, PORTER_OPERATOR_TOKEN: OPERATOR_TOKEN } };
    const listed = await porter(`usage --partner ${partnerId} --json`, operator);
    expect(listed.json.data[0]).toMatchObject({ partner_id: partnerId, key_id: keyId });
    expect((await porter('usage --partner x', { env: { ...env, PORTER_KEY: key } })).code).toBe(2);
  });
});

describe('porter sla', () => {
  const env = { PORTER_URL: house.url, PORTER_OPERATOR_TOKEN: OPERATOR_TOKEN };

  it('tells the figures of a month, and which targets were met', async () => {
    const { partnerId, key } = await makeKey(house, world.groupId);
    await house.operator('PATCH', `/partners/${partnerId}`, { sla: { latency_ms: { p95: 60_000 } } });
    await house.send('GET', '/v1/me', { key });
    const { code, stdout } = await porter(`sla ${partnerId}`, { env });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Partner, 2026-11, so far\nMEASURE/);
    expect(stdout).toMatch(/calls +1\n/);
    expect(stdout).toMatch(/latency_ms\.p95: met \(target 60000, actual \d+\)/);
    const { partnerId: other } = await makeKey(house, world.groupId);
    expect((await porter(`sla ${other}`, { env })).stdout).toContain(
      `\nNo targets are agreed in the agreement that was signed last: porter agreements list ${other}\n`,
    );
    const { json } = await porter(`sla ${partnerId} 2026-10 --json`, { env });
    expect(json).toMatchObject({ month: '2026-10', complete: true, calls: { total: 0 } });
  });
});
