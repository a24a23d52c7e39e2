import { describe, expect, it } from 'vitest';
import { CALL_MS, LONGER_MS } from '../../../src/contract/sla.ts';
import { databaseTime } from '../../../src/platform/clock.ts';
import { markUptime } from '../../../src/store/oversight/usage.ts';
import { expectInvalid, expectProblem } from '../../support/answers.ts';
import { makeKey, OPERATOR_TOKEN, serviceForTests } from '../../support/service.ts';

/** How a partner was served in a month, from the figures that are kept. */

const { house, world, db } = await serviceForTests({ env: { PORTER_ROLE: 'api' } });
const DAY = 24 * 3600 * 1000;

const sla = (partnerId: string, month?: string) =>
  house.operator('GET', `/partners/${partnerId}/sla${month ? `?month=${month}` : ''}`);

/** As if nodes had counted it. */
async function counted(partnerId: string, day: string, outcomes: Record<string, number>, times: object = {}) {
  for (const [outcome, count] of Object.entries(outcomes)) {
    const kind = ['delivered', 'retried', 'given_up'].includes(outcome) ? 'delivery' : 'call';
    await db.query('INSERT INTO usage VALUES ($1, $2, $3, $4, $5, $6, $7)', [
      partnerId,
      day,
      kind,
      'subject',
      kind === 'call' ? 'listEvents' : '',
      outcome,
      count,
    ]);
  }
  for (const [kind, bounds] of Object.entries(times))
    for (const [bound, count] of Object.entries(bounds as object))
      await db.query('INSERT INTO usage_times VALUES ($1, $2, $3, $4, $5)', [
        partnerId,
        day,
        kind,
        bound,
        count,
      ]);
}

describe('the SLA of a month', () => {
  it('has the figures of its days and no others, against the targets of the agreement then in force', async () => {
    const { partnerId } = await makeKey(house, world.groupId);
    const targets = {
      availability_percent: 99.9,
      latency_ms: { p95: 250, p99: 500 },
      delivery_success_percent: 99,
      delivery_seconds: { p50: 1, p95: 30 },
    };
    const agreed = (more: object) =>
      house.operator('POST', `/partners/${partnerId}/agreements`, {
        version: '1',
        signatory: 'Ada',
        ...more,
      });
    const then = await agreed({
      signed_at: '2026-05-01T00:00:00Z',
      ends_at: '2026-07-01T00:00:00Z',
      sla: targets,
    });
    await agreed({ signed_at: '2026-07-01T00:00:00Z', sla: 'gold' });
    await counted(partnerId, '2026-05-31', { failed: 1_000 });
    await counted(
      partnerId,
      '2026-06-01',
      { ok: 900, refused: 50, rate_limited: 49, failed: 1, delivered: 98, retried: 7, given_up: 2 },
      { call: { 5: 900, 250: 60, 10000: 30, [LONGER_MS]: 10 }, delivery: { 1000: 60, 5000: 38 } },
    );
    await counted(partnerId, '2026-06-30', { ok: 1_000 }, { call: { 1: 1_000 } });
    await counted(partnerId, '2026-07-01', { failed: 1_000 });
    expect(await sla(partnerId, '2026-06')).toEqual({
      partner: { id: partnerId, name: 'Partner' },
      month: '2026-06',
      complete: true,
      agreement: expect.objectContaining({ id: then.id, sla_targets: targets }),
      calls: { total: 2_000, refused: 50, rate_limited: 49, failed: 1, answered_percent: 99.95 },
      uptime: { minutes: 0, minutes_down: 0, percent: null },
      availability_percent: 99.95,
      latency_ms: { p50: 1, p95: 5, p99: 10_000 },
      deliveries: { delivered: 98, retried: 7, given_up: 2, success_percent: 98 },
      delivery_seconds: { p50: 1, p95: 5, p99: 5 },
      targets: [
        { measure: 'availability_percent', target: 99.9, actual: 99.95, met: true },
        { measure: 'delivery_success_percent', target: 99, actual: 98, met: false },
        { measure: 'latency_ms.p95', target: 250, actual: 5, met: true },
        { measure: 'latency_ms.p99', target: 500, actual: 10_000, met: false },
        { measure: 'delivery_seconds.p50', target: 1, actual: 1, met: true },
        { measure: 'delivery_seconds.p95', target: 30, actual: 5, met: true },
      ],
    });
    const july = await sla(partnerId, '2026-07');
    expect(july).toMatchObject({ agreement: { sla: 'gold' }, targets: [], calls: { answered_percent: 0 } });
    expect(await sla(partnerId, '2026-04')).toMatchObject({ agreement: null, latency_ms: null });
  });

  it('counts calls as they are made, and how long they took', async () => {
    const { partnerId, key } = await makeKey(house, world.groupId);
    for (let i = 0; i < 3; i++) await house.send('GET', '/v1/me', { key });
    await house.send('GET', '/v1/practice-groups', { key, group: 'elsewhere' });
    const told = await sla(partnerId);
    expect(told).toMatchObject({
      month: '2026-11',
      complete: false,
      calls: { total: 4, refused: 1, failed: 0, answered_percent: 100 },
    });
    expect(CALL_MS).toContain(told.latency_ms.p99);
  });

  it('knows the minutes in which no node ran, since the first that did', async () => {
    const { partnerId } = await makeKey(house, world.groupId);
    const { app } = house.service;
    const beat = () => markUptime(app.db, databaseTime(house.clock));
    await expect.poll(async () => (await db.query('SELECT FROM uptime')).rowCount).toBe(1);
    const before = (await sla(partnerId)).uptime;
    await beat();
    for (let i = 0; i < 5; i++) {
      house.clock.advance(60_000);
      await beat();
      await beat();
    }
    house.clock.advance(10 * 60_000);
    const { uptime } = await sla(partnerId);
    expect(uptime.minutes - before.minutes).toBe(15);
    expect(uptime.minutes_down - before.minutes_down).toBe(9);
    await counted(partnerId, '2026-11-16', { ok: 10 });
    expect((await sla(partnerId)).availability_percent).toBe(uptime.percent);
  });

  it('200 for the first month that there is', async () => {
    expect(await sla(world.partnerId, '1000-01')).toMatchObject({ month: '1000-01', calls: { total: 0 } });
  });

  it('400 for a month that has not begun', async () => {
    const { partnerId } = await makeKey(house, world.groupId);
    const { month } = await sla(partnerId);
    for (const ahead of ['2026-12', '2027-01', '9999-12'])
      expectInvalid(
        await house.send('GET', `/operator/v1/partners/${partnerId}/sla?month=${ahead}`, {
          token: OPERATOR_TOKEN,
        }),
        [{ path: ['month'], message: `Must be ${month}, the current month, or one before it.` }],
      );
  });

  it('400 for a month that is none; 404 for a partner who is none', async () => {
    const call = (path: string) =>
      house.send('GET', `/operator/v1/partners/${path}`, { token: OPERATOR_TOKEN });
    for (const month of ['2026-13', '2026', '0000-01', '2026-11-01'])
      expectInvalid(await call(`${world.partnerId}/sla?month=${month}`), [{ path: ['month'] }]);
    expectProblem(await call('none/sla'), 404, 'not_found');
    house.clock.advance(DAY);
  });
});

describe('the page', () => {
  it('is the same report for people, with all that others wrote made harmless', async () => {
    const { partnerId } = await makeKey(house, world.groupId);
    const name = `<script>alert(1)</script> & "Sons"`;
    await house.operator('PATCH', `/partners/${partnerId}`, { name, sla: `<img src=x onerror='1'>` });
    const { status, headers, text } = await house.send('GET', `/operator/v1/partners/${partnerId}/sla`, {
      token: OPERATOR_TOKEN,
      headers: { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' },
    });
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(headers.vary).toBe('accept');
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; /);
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;Sons&quot;');
    expect(text).not.toMatch(/<script|<img/);
    const json = await house.send('GET', `/operator/v1/partners/${partnerId}/sla`, { token: OPERATOR_TOKEN });
    expect(json.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(json.body.partner.name).toBe(name);
  });

  it('is refused as everything else is: in JSON', async () => {
    const page = { headers: { accept: 'text/html' } };
    expectProblem(
      await house.send('GET', `/operator/v1/partners/${world.partnerId}/sla`, page),
      401,
      'invalid_credentials',
    );
  });
});
