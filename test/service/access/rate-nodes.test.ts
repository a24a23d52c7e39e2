import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/platform/clock.ts';
import { SharedRateLimits } from '../../../src/runtime/access/rate-limits.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { until } from '../../support/porter-process.ts';
import { type Harness, makeKey, makeWorld, startHarness } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

const SPAN = 60_000;
const env = { PORTER_RATE_WINDOWS: 'shared' };
const first = await startHarness({ env });
const second = await startHarness({ env, clock: first.clock, databaseUrl: first.databaseUrl });
const nodes = [first, second] as const;
const db = await superuser(first.databaseUrl);

/** Nobody waits for a sweep: one that is still under way would go by the clock of this test in the next. */
afterEach(async () => {
  const sweeping = `SELECT FROM pg_stat_activity WHERE state <> 'idle' AND query LIKE '%forget\\_rates%' AND pid <> pg_backend_pid()`;
  await until('no sweep is under way', async () => {
    const waiting = nodes.some(({ service }) => service.app.db.pool.waitingCount > 0);
    return !waiting && (await db.query(sweeping)).rowCount === 0;
  });
});

describe('a key at two nodes', () => {
  it('exactly 300 of 400 calls at once are answered, whichever node they come to', async () => {
    const { key, groupId } = await makeWorld(nodes[0]);
    const answers = await Promise.all(
      Array.from({ length: 400 }, (_, n) =>
        nodes[n % 2 ? 1 : 0].send('GET', '/v1/practice-groups', { key, group: groupId }),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(300);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(100);
  });

  it('one node tells what is left after calls at the other', async () => {
    const { groupId } = await makeWorld(nodes[0]);
    const { key } = await makeKey(nodes[0], groupId, { rate_limit_per_minute: 3 });
    const call = (node: Harness) => node.send('GET', '/v1/practice-groups', { key, group: groupId });
    expect((await call(nodes[0])).headers.ratelimit).toBe('"default";r=2;t=60');
    nodes[0].clock.advance(5_000);
    expect((await call(nodes[1])).headers.ratelimit).toBe('"default";r=1;t=55');
    expect((await call(nodes[0])).headers.ratelimit).toBe('"default";r=0;t=55');
    expect((await call(nodes[1])).headers['retry-after']).toBe('55');
    nodes[0].clock.advance(55_000);
    expect((await call(nodes[1])).status).toBe(200);
  });

  it('survives the restart of a node', async () => {
    const { groupId } = await makeWorld(nodes[0]);
    const { key } = await makeKey(nodes[0], groupId, { rate_limit_per_minute: 1 });
    const env = { PORTER_RATE_WINDOWS: 'shared' };
    const { clock, databaseUrl } = nodes[0];
    const call = (node: Harness) => node.send('GET', '/v1/practice-groups', { key, group: groupId });
    const brief = await startHarness({ env, clock, databaseUrl });
    expect((await call(brief)).status).toBe(200);
    await brief.stop();
    const next = await startHarness({ env, clock, databaseUrl });
    expect((await call(next)).status).toBe(429);
  });
});

/** The definition: how many of these moments lie in the 60 seconds before. */
const countedIn = (times: readonly number[], now: number) => times.filter((time) => time > now - SPAN);

it('lets through exactly while fewer than the limit lie in the 60 seconds before, at random moments and nodes', async () => {
  let keys = 0;
  // Goes on from one run to the next, because sweeps of the one before may still be under way.
  const clock = new ManualClock();
  const step = fc.record({
    gap: fc.oneof(fc.constant(0), fc.nat(300), fc.nat(20_000), fc.constantFrom(SPAN, SPAN - 1, SPAN + 1)),
    asks: fc.integer({ min: 1, max: 5 }),
    node: fc.constantFrom(0, 1),
    limit: fc.option(fc.integer({ min: 1, max: 6 }), { freq: 10, nil: undefined }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
      const limits = nodes.map(({ service }) => new SharedRateLimits(service.app.db, clock));
      const key = `key-${++keys}`;
      const answered: number[] = [];
      let most = 4;
      for (const { gap, asks, node, limit } of steps) {
        clock.advance(gap);
        most = limit ?? most;
        const now = clock.now();
        const decisions = await Promise.all(
          Array.from({ length: asks }, () => limits[node]?.take(key, most)),
        );
        for (const decision of decisions) {
          const counted = countedIn(answered, now);
          const allowed = counted.length < most;
          const leaves = allowed ? (counted[0] ?? now) : (answered.at(-most) ?? now);
          expect(decision).toEqual({
            allowed,
            remaining: Math.max(0, most - counted.length - 1),
            roomInMs: leaves + SPAN - now,
          });
          if (allowed) answered.push(now);
        }
      }
    }),
    { numRuns: 150 },
  );
});

it('a clock that was set back lets nothing more through; set back by more than a minute, it begins anew', async () => {
  // Only the time of day is set, so no sweep begins, which could clear away later what was written an hour earlier by then. And to one that began in
  // the tests before, all this lies in the future.
  const clock = Object.assign(new ManualClock('2030-01-01T00:00:00.000Z'), { monotonic: () => 0 });
  const limits = new SharedRateLimits(nodes[0].service.app.db, clock);
  expect(await limits.take('set-back', 1)).toMatchObject({ allowed: true });
  clock.advance(-5_000);
  expect(await limits.take('set-back', 1)).toEqual({ allowed: false, remaining: 0, roomInMs: SPAN + 5_000 });
  clock.advance(SPAN + 5_000);
  expect(await limits.take('set-back', 1)).toMatchObject({ allowed: true });
  clock.advance(-3_600_000);
  expect(await limits.take('set-back', 1)).toMatchObject({ allowed: true });
  expect(await limits.take('set-back', 1)).toMatchObject({ allowed: false, roomInMs: SPAN });
});

it('nodes go by the clock of PostgreSQL: whatever their own say, they count together', async () => {
  const { groupId } = await makeWorld(nodes[0]);
  const { keyId } = await makeKey(nodes[0], groupId);
  const [one, other] = nodes.map(({ service }) => new SharedRateLimits(service.app.db, systemClock)) as [
    SharedRateLimits,
    SharedRateLimits,
  ];
  expect(await one.take(keyId, 2)).toMatchObject({ allowed: true, remaining: 1 });
  const second = await other.take(keyId, 2);
  expect(second).toMatchObject({ allowed: true, remaining: 0 });
  // The first call was a moment ago, by the server's clock.
  expect(second.roomInMs).toBeGreaterThan(SPAN - 30_000);
  expect(second.roomInMs).toBeLessThan(SPAN);
  expect(await one.take(keyId, 2)).toMatchObject({ allowed: false });
});

it('calls with several limits ask together, and those of one key one after the other', async () => {
  const limits = new SharedRateLimits(nodes[0].service.app.db, new ManualClock());
  const decisions = await Promise.all([
    limits.take('changed', 1),
    limits.take('changed', 3),
    limits.take('changed', 3),
    limits.take('changed', 3),
    limits.take('untouched', 5),
  ]);
  expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, true, false, true]);
});

it('no call waits for the windows that are being forgotten', async () => {
  const clock = new ManualClock();
  const limits = new SharedRateLimits(nodes[0].service.app.db, clock);
  await limits.take('held', 5);
  await db.query('BEGIN');
  await db.query('SELECT FROM rate_moments FOR UPDATE');
  clock.advance(3 * SPAN);
  expect(await limits.take('somebody', 5)).toMatchObject({ allowed: true });
  await db.query('ROLLBACK');
});

it('forgets the windows of keys that nobody uses any more', async () => {
  const clock = new ManualClock();
  clock.set('2031-01-01T00:00:00.000Z');
  const limits = new SharedRateLimits(nodes[0].service.app.db, clock);
  await limits.take('forgotten', 5);
  clock.advance(3 * SPAN);
  await limits.take('other', 5);
  for (const table of ['rate_windows', 'rate_moments'])
    await expect
      .poll(async () => (await db.query(`SELECT key_id FROM ${table}`)).rows)
      .toEqual([{ key_id: 'other' }]);
});
