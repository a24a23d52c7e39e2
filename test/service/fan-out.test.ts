import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type FannedOut, fanOut } from '../../src/store/deliveries.ts';
import { openPostOffice, type PostOffice } from '../support/post-office.ts';

/** As many as an operator may publish in one call are listed in rows of no more than this. */
const ROW = 100;

const of = (practice_group_id: string, count: number) =>
  Array.from({ length: count }, (_, n) => ({ practice_group_id, id: `a-${n}` }));

const practices = (count: number) =>
  Array.from({ length: count }, (_, n) => `g-${String(n).padStart(3, '0')}`);

const step = (office: PostOffice, eventsMax: number): Promise<FannedOut> =>
  fanOut(office.db, new Date(office.clock.now()).toISOString(), 1, eventsMax);

/** The events of each practice that have a place in the feed, in that order. */
async function fed(office: PostOffice): Promise<Map<string, number[]>> {
  const rows = await office.rows<{ id: string; nos: number[] }>(
    'SELECT practice_group_id AS id, array_agg(event_no::integer ORDER BY position) AS nos FROM feed GROUP BY 1',
  );
  return new Map(rows.map(({ id, nos }) => [id, nos]));
}

it('a burst of one practice holds up no event of another', async () => {
  const office = await openPostOffice();
  await office.addWebhook();
  const other = await office.addWebhook({ group: 'other-group' });
  for (let call = 0; call < 5; call++) await office.publish(...of('group', 1_000));
  await office.publish(...of('other-group', 1));

  const { taken, more } = await step(office, ROW);
  expect(taken).toBeLessThanOrEqual(ROW);
  expect(more).toBe(true);
  expect(
    await office.rows('SELECT sequence::integer FROM deliveries WHERE webhook_no = $1', [other]),
  ).toEqual([{ sequence: 1 }]);
  await office.engine.drain();
  expect(office.letters).toHaveLength(5_001);
  await office.close();
});

it('more practices than fit have their turns, whoever goes on publishing', async () => {
  const office = await openPostOffice();
  const ids = practices(250);
  await office.publish(...ids.map((practice_group_id) => ({ practice_group_id })));
  for (let call = 1; call <= 3; call++) {
    await step(office, 100);
    for (const id of ids.slice(0, 100)) await office.publish(...of(id, 1));
  }
  expect([...(await fed(office)).keys()].sort()).toEqual(ids);
  // After the last one it begins anew, even if nothing is left behind it.
  let steps = 0;
  while ((await step(office, 100)).more) expect(++steps).toBeLessThan(10);
  expect(await office.rows('SELECT FROM new_events')).toEqual([]);
  await office.close();
});

/** How many rows list events of each practice that are still to be fanned out. */
async function listed(office: PostOffice): Promise<Map<string, number>> {
  const rows = await office.rows<{ id: string; rows: number }>(
    'SELECT practice_group_id AS id, count(*)::integer AS rows FROM new_events GROUP BY 1',
  );
  return new Map(rows.map(({ id, rows }) => [id, rows]));
}

it('every event has its place once, each practice in the order of acceptance, and none is served twice before another once', async () => {
  const office = await openPostOffice();
  const ids = practices(6);
  const part = fc.record({ group: fc.constantFrom(...ids), count: fc.integer({ min: 1, max: 130 }) });
  const publication = fc.array(part, { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(publication, { minLength: 1, maxLength: 12 }),
      // More than there are practices, so that all are looked at.
      fc.integer({ min: ids.length + 1, max: 400 }),
      async (publications, eventsMax) => {
        await office.rows('TRUNCATE events, feed, new_events RESTART IDENTITY');
        for (const parts of publications)
          await office.publish(...parts.flatMap(({ group, count }) => of(group, count)));
        for (let before = await listed(office); before.size > 0; ) {
          const { taken, more } = await step(office, eventsMax);
          expect(taken).toBeLessThanOrEqual(Math.max(eventsMax, ROW));
          const after = await listed(office);
          const served = [...before].map(([id, rows]) => rows - (after.get(id) ?? 0));
          expect(Math.max(...served)).toBeGreaterThan(0);
          if (served.includes(0)) expect(Math.max(...served)).toBe(1);
          if (after.size > 0) expect(more).toBe(true);
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
