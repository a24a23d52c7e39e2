import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type FannedOut, fanOut } from '../../../src/store/events/deliveries.ts';
import { type DeliveryHarness, openDeliveryHarness } from '../../support/delivery-harness.ts';
import { fanOutStep, on } from '../../support/steps.ts';

/** As many as an operator may publish in one call are listed in rows of no more than this. */
const ROW = 100;

const of = (practice_group_id: string, count: number) =>
  Array.from({ length: count }, (_, n) => ({ practice_group_id, id: `a-${n}` }));

const practices = (count: number) =>
  Array.from({ length: count }, (_, n) => `g-${String(n).padStart(3, '0')}`);

const step = (office: DeliveryHarness, eventsMax: number): Promise<FannedOut> =>
  fanOut(office.db, new Date(office.clock.now()).toISOString(), 1, eventsMax);

/** The events of each practice that have a place in the feed, in that order. */
async function fed(office: DeliveryHarness): Promise<Map<string, number[]>> {
  const rows = await office.rows<{ id: string; nos: number[] }>(
    'SELECT practice_group_id AS id, array_agg(event_no::integer ORDER BY position) AS nos FROM feed GROUP BY 1',
  );
  return new Map(rows.map(({ id, nos }) => [id, nos]));
}

it('a burst of one practice holds up no event of another', async () => {
  const office = await openDeliveryHarness();
  await office.addWebhook();
  const other = await office.addWebhook({ group: 'other-group' });
  for (let call = 0; call < 3; call++) await office.publish(...of('group', 1_000));
  await office.publish(...of('other-group', 1));

  for (let call = 0; call < 2; call++) await step(office, ROW);
  expect(
    await office.rows('SELECT sequence::integer FROM deliveries WHERE webhook_no = $1', [other]),
  ).toEqual([{ sequence: 1 }]);
  await office.engine.drain();
  expect(office.sent).toHaveLength(3_001);
  await office.close();
});

it('neither do bursts of many practices', async () => {
  const office = await openDeliveryHarness();
  for (let call = 0; call < 3; call++) for (const id of practices(20)) await office.publish(...of(id, 1_000));
  await office.publish(...of('newcomer', 1));
  let before = 0;
  while (!(await fed(office)).has('newcomer')) before += (await step(office, 1_000)).taken;
  // One row of each, and what else fits into the last step.
  expect(before).toBeLessThanOrEqual(20 * ROW + 1_000);
  await office.close();
});

it('more practices than fit have their turns, whoever goes on publishing', async () => {
  const office = await openDeliveryHarness();
  const ids = practices(250);
  await office.publish(...ids.map((practice_group_id) => ({ practice_group_id })));
  for (let call = 1; call <= 3; call++) {
    expect(await step(office, 100)).toEqual({ taken: 100, made: 0, more: true });
    for (const id of ids.slice(0, 100)) await office.publish(...of(id, 1));
  }
  expect([...(await fed(office)).keys()].sort()).toEqual(ids);
  await office.close();
});

it.each([0, 3, 98, 99, 100])(
  'a step is full, with %i other practices that have one event each',
  async (others) => {
    const office = await openDeliveryHarness();
    for (let n = 0; n < 400; n++) await office.publish(...of('group', 1));
    for (let call = 0; call < 3; call++) {
      for (const id of practices(others)) await office.publish(...of(id, 1));
      expect(await step(office, 100)).toEqual({ taken: 100, made: 0, more: true });
    }
    await office.close();
  },
);

it.each(['none', 'fresh'])(
  'a step reads no more of the list than it takes; statistics: %s',
  async (statistics) => {
    const office = await openDeliveryHarness();
    await office.publish(...of('group', 1));
    await step(office, 100);
    await office.rows(`
    INSERT INTO new_events SELECT 'g-' || n % 5000, n, ARRAY[n], now() FROM generate_series(1000, 40000) AS n`);
    if (statistics === 'fresh') await office.rows('ANALYZE');
    await office.rows('BEGIN');
    await office.rows('SET LOCAL ROLE porter_app');
    await fanOutStep()(on(office.admin));
    const [read] = await office.rows<{ rows: number }>(
      "SELECT (seq_tup_read + idx_tup_fetch)::integer AS rows FROM pg_stat_xact_user_tables WHERE relname = 'new_events'",
    );
    await office.rows('ROLLBACK');
    expect(read?.rows).toBeLessThan(2_500);
    await office.close();
  },
);

it('a few events that come together are done in one step', async () => {
  const office = await openDeliveryHarness();
  for (const id of practices(99)) await office.publish(...of(id, 1));
  expect(await step(office, 100)).toEqual({ taken: 99, made: 0, more: false });
  await office.close();
});

interface Listed {
  rows: number;
  events: number;
}

/** How many rows list events of each practice that are still to be fanned out, and how many events. */
async function listed(office: DeliveryHarness): Promise<Map<string, Listed>> {
  const rows = await office.rows<Listed & { id: string }>(
    'SELECT practice_group_id AS id, count(*)::integer AS rows, sum(cardinality(event_nos))::integer AS events FROM new_events GROUP BY 1',
  );
  return new Map(rows.map(({ id, ...listed }) => [id, listed]));
}

/** How many rows were served; a part of one counts as one. */
const servedOf = (before: Listed, after: Listed = { rows: 0, events: 0 }) =>
  Math.max(before.rows - after.rows, Number(after.events < before.events));

it('every event has its place once, each practice in the order of acceptance, and none is served twice before another once', async () => {
  const office = await openDeliveryHarness();
  const ids = practices(6);
  const part = fc.record({ group: fc.constantFrom(...ids), count: fc.integer({ min: 1, max: 130 }) });
  const publication = fc.array(part, { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(publication, { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 1, max: 400 }),
      async (publications, eventsMax) => {
        await office.rows('TRUNCATE events, feed, new_events RESTART IDENTITY');
        for (const parts of publications)
          await office.publish(...parts.flatMap(({ group, count }) => of(group, count)));
        /** What each practice has had since another one had anything. */
        const meanwhile = new Map(ids.map((id) => [id, new Map<string, number>()]));
        for (let before = await listed(office); before.size > 0; ) {
          const { taken, more } = await step(office, eventsMax);
          expect(taken).toBeGreaterThan(0);
          expect(taken).toBeLessThanOrEqual(eventsMax);
          const after = await listed(office);
          const served = [...before].map(([id, had]) => [id, servedOf(had, after.get(id))] as const);
          for (const [id, rows] of served) {
            const others = meanwhile.get(id);
            if (rows > 0) others?.clear();
            else for (const [other, had] of served) others?.set(other, (others.get(other) ?? 0) + had);
            expect(Math.max(0, ...(others?.values() ?? []))).toBeLessThanOrEqual(1);
          }
          expect(more).toBe(after.size > 0);
          before = after;
        }
        const all = await office.rows<{ id: string; nos: number[] }>(
          'SELECT practice_group_id AS id, array_agg(no::integer ORDER BY no) AS nos FROM events GROUP BY 1',
        );
        expect(await fed(office)).toEqual(new Map(all.map(({ id, nos }) => [id, nos])));
      },
    ),
    { numRuns: 40 },
  );
  await office.close();
});
