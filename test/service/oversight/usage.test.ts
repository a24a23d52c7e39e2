import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CALL_MS } from '../../../src/contract/sla.ts';
import { bucketOf } from '../../../src/domain/oversight/usage.ts';
import { createLogger } from '../../../src/platform/logger.ts';
import { Figures } from '../../../src/runtime/oversight/figures.ts';
import { Usage } from '../../../src/runtime/oversight/usage.ts';
import { closeDatabase, openDatabase } from '../../../src/store/database.ts';
import { expectInvalid } from '../../support/answers.ts';
import { startDatabaseProxy } from '../../support/database-proxy.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { startReceiver, status } from '../../support/receiver.ts';
import { makeKey, makeWorld, OPERATOR_TOKEN, serviceForTests, startHarness } from '../../support/service.ts';

/** What is counted, for whom, and what becomes of it. */

const { house, world, db } = await serviceForTests();
const TODAY = new Date(house.clock.now()).toISOString().slice(0, 10);

type Entry = {
  key_id: string | null;
  webhook_id: string | null;
  operation: string;
  outcome: string;
  count: number;
};

async function usageOf(key: string, query = ''): Promise<Entry[]> {
  const { status, body } = await house.send('GET', `/v1/usage${query}`, { key });
  expect(status).toBe(200);
  return body.data;
}
/** Without the calls that ask for it. */
const callsOf = async (key: string) =>
  (await usageOf(key))
    .filter(({ operation }) => operation !== 'listUsage')
    .map(({ operation, outcome, count }) => [operation, outcome, count]);

describe('calls', () => {
  it('are counted by key, operation and outcome', async () => {
    const { key, keyId, partnerId } = await makeKey(house, world.groupId, { rate_limit_per_minute: 7 });
    const call = (path: string, group = world.groupId) => house.send('GET', path, { key, group });
    await call('/v1/practice-groups');
    await call('/v1/practice-groups');
    await call('/v1/practice-groups', 'elsewhere');
    await call('/v1/nothing');
    expect(await callsOf(key)).toEqual([
      ['listPracticeGroups', 'ok', 2],
      ['listPracticeGroups', 'refused', 1],
      ['none', 'refused', 1],
    ]);
    await call('/v1/practice-groups');
    await call('/v1/practice-groups');
    expect((await call('/v1/practice-groups')).status).toBe(429);
    const listed = await house.operator('GET', `/usage?partner_id=${partnerId}`);
    expect(listed.data).toContainEqual({
      day: TODAY,
      kind: 'call',
      partner_id: partnerId,
      key_id: keyId,
      webhook_id: null,
      operation: 'listPracticeGroups',
      outcome: 'rate_limited',
      count: 1,
    });
  });

  it('are told of one key alone, page by page', async () => {
    const { key, keyId, partnerId } = await makeKey(house, world.groupId);
    const other = await house.operator('POST', '/keys', {
      partner_id: partnerId,
      practice_group_id: world.groupId,
      scopes: ['events:read'],
    });
    await house.send('GET', '/v1/me', { key });
    await house.send('GET', '/v1/nothing', { key });
    await house.send('GET', '/v1/me', { key: other.key });
    const first = await house.operator('GET', `/usage?key_id=${keyId}&page_size=1`);
    expect(first.data).toMatchObject([{ key_id: keyId, operation: 'getMe', count: 1 }]);
    const rest = await house.operator('GET', `/usage?key_id=${keyId}&cursor=${first.next_cursor}`);
    expect(rest).toMatchObject({ data: [{ key_id: keyId, operation: 'none', count: 1 }], next_cursor: null });
  });

  it('with a key that was revoked are its partner’s too; those of strangers are nobody’s', async () => {
    const { key, keyId, partnerId } = await makeKey(house, world.groupId);
    await house.operator('POST', `/keys/${keyId}/revoke`);
    await house.send('GET', '/v1/practice-groups', { key, group: world.groupId });
    await house.send('GET', '/v1/practice-groups', { key: 'nobody', group: world.groupId });
    const { data } = await house.operator('GET', `/usage?partner_id=${partnerId}`);
    expect(data).toMatchObject([{ key_id: keyId, outcome: 'refused', count: 1 }]);
  });

  it('of two nodes are added, and a node that stops writes what it has', async () => {
    const { key } = await makeKey(house, world.groupId);
    const other = await startHarness({ databaseUrl: house.databaseUrl, env: { PORTER_ROLE: 'api' } });
    for (const node of [house, other, other]) await node.send('GET', '/v1/me', { key });
    await other.stop();
    await expect.poll(() => callsOf(key)).toEqual([['getMe', 'ok', 3]]);
  });

  it('are told to their partner alone', async () => {
    const mine = await makeKey(house, world.groupId);
    const theirs = await makeKey(house, world.groupId);
    await house.send('GET', '/v1/me', { key: theirs.key });
    await house.send('GET', '/v1/me', { key: mine.key });
    const seen = await usageOf(mine.key);
    expect(new Set(seen.map(({ key_id }) => key_id))).toEqual(new Set([mine.keyId]));
  });
});

describe('deliveries', () => {
  it('are counted by webhook and outcome once they are recorded', async () => {
    const { key, groupId } = await makeWorld(house);
    const receiver = await startReceiver({ behaviour: status(500) });
    onTestFinished(() => receiver.close());
    const { body: webhook } = await house.send('POST', '/v1/webhooks', {
      key,
      group: groupId,
      body: { url: receiver.url },
    });
    const publish = (id: string) =>
      house.operator('POST', '/events', {
        object: 'Patient',
        id,
        practice_group_id: groupId,
        event: 'patient.added-to-sequence',
      });
    const deliveries = async () =>
      (await usageOf(key))
        .filter(({ webhook_id }) => webhook_id === webhook.id)
        .map(({ outcome, count }) => [outcome, count]);
    await publish('p1');
    await expect.poll(deliveries).toEqual([['retried', 1]]);
    await receiver.setBehaviour(status(204));
    await publish('p2');
    await expect.poll(deliveries).toEqual([
      ['delivered', 1],
      ['retried', 1],
    ]);
    const times =
      'SELECT count FROM usage_times WHERE kind = $1 AND partner_id = (SELECT partner_id FROM webhooks WHERE id = $2)';
    expect((await db.query(times, ['delivery', webhook.id])).rows).toEqual([{ count: '1' }]);
  });
});

describe('the days', () => {
  it('are those of UTC; a list is of those that are asked for', async () => {
    const clock = new ManualClock('2026-03-31T23:59:00.000Z');
    const node = await startHarness({ clock, env: { PORTER_ROLE: 'api' } });
    const { key } = await makeWorld(node);
    const days = async (query = '') =>
      (await node.send('GET', `/v1/usage${query}`, { key })).body.data.map(({ day }: { day: string }) => day);
    expect(await days()).toEqual([]);
    await node.service.app.usage.flush();
    clock.advance(120_000);
    await node.send('GET', '/v1/me', { key });
    expect(new Set(await days())).toEqual(new Set(['2026-03-31', '2026-04-01']));
    expect(await days('?to=2026-03-31')).toEqual(['2026-03-31']);
    expect(new Set(await days('?from=2026-04-01'))).toEqual(new Set(['2026-04-01']));
    clock.advance(40 * 24 * 3600 * 1000);
    expect(await days('?from=2026-05-01&to=2026-05-09')).toEqual([]);
  });

  it('200 for the first day that there is, and for the last', async () => {
    for (const day of ['0001-01-01', '9999-12-31'])
      expect(await usageOf(world.key, `?to=${day}`)).toEqual([]);
  });

  it.each([
    ['?from=2026-11-31', 'from'],
    ['?to=tomorrow', 'to'],
    ['?from=0000-01-01', 'from'],
    ['?from=2026-11-02&to=2026-11-01', 'from'],
    ['?from=2025-01-01&to=2026-11-01', 'from'],
    ['?from=1900-01-01', 'from'],
    [`?from=1900-01-01&to=${TODAY}`, 'from'],
    ['?from=2099-01-01', 'from'],
  ])('400 for %s', async (query, field) => {
    const answer = await house.send('GET', `/v1/usage${query}`, { key: world.key });
    expectInvalid(answer, [{ path: [field] }]);
    const all = await house.send('GET', `/operator/v1/usage${query}`, { token: OPERATOR_TOKEN });
    expectInvalid(all, [{ path: [field] }]);
  });
});

describe('what was counted', () => {
  it('waits while the database is away, on the day that it was counted, and is written once it is back', async () => {
    const clock = new ManualClock();
    const { partnerId, keyId } = await makeKey(house, world.groupId);
    const proxy = await startDatabaseProxy(house.databaseUrl);
    const through = openDatabase({ url: proxy.url, connectionsMax: 1 });
    onTestFinished(() => closeDatabase(through));
    const log = createLogger(() => {});
    const usage = new Usage(through, clock, log, new Figures(through, clock, log));
    const rows = async () =>
      (
        await db.query(
          'SELECT day::text, operation, outcome, count::integer FROM usage WHERE subject_id = $1 ORDER BY day, operation, outcome',
          [keyId],
        )
      ).rows;
    proxy.cut('broken');
    usage.call(partnerId, keyId, 'x1', 200, 3);
    usage.call(partnerId, keyId, 'x1', 503, 3);
    await usage.flush();
    clock.advance(24 * 3600 * 1000);
    usage.call(partnerId, keyId, 'x1', 200, 3);
    await usage.flush();
    usage.call(partnerId, keyId, 'x1', 200, 3);
    expect(await rows()).toEqual([]);
    proxy.mend();
    await usage.close();
    expect(await rows()).toEqual([
      { day: '2026-11-16', operation: 'x1', outcome: 'failed', count: 1 },
      { day: '2026-11-16', operation: 'x1', outcome: 'ok', count: 1 },
      { day: '2026-11-17', operation: 'x1', outcome: 'ok', count: 2 },
    ]);
    expect(usage.dropped).toBe(0);
  });

  it('is bounded: what is too much is not counted, and that is', async () => {
    const { db: own, figures } = house.service.app;
    const log = createLogger(() => {});
    const usage = new Usage(own, house.clock, log, figures);
    for (let i = 0; i < 100_010; i++) usage.call('prt_none', `key_${i}`, 'x', 200, 1);
    expect(usage.dropped).toBe(10);
    await usage.close();
    await db.query("DELETE FROM usage WHERE partner_id = 'prt_none'");
  });

  it('falls below the first bound that it does not exceed', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 20_000, noNaN: true }), (ms) => {
        const at = bucketOf(CALL_MS, ms);
        if (at > 0) expect(ms).toBeGreaterThan(CALL_MS[at - 1] as number);
        if (at < CALL_MS.length) expect(ms).toBeLessThanOrEqual(CALL_MS[at] as number);
      }),
    );
  });
});
