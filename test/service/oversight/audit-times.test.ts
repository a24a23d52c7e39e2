import { beforeAll, expect, it } from 'vitest';
import { type Loose, serviceForTests } from '../../support/service.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;
const { house, world, db } = await serviceForTests({ env: { PORTER_ROLE: 'api' } });
let start: number;

/** For 80 minutes something changes every minute; in the middle of it the clock is a day ahead. */
beforeAll(async () => {
  const { key, groupId: group } = world;
  start = house.clock.now();
  for (let minute = 1; minute <= 80; minute++) {
    const ahead = minute > 40 && minute <= 52 ? DAY : 0;
    house.clock.set(new Date(start + minute * MINUTE + ahead).toISOString());
    // By an operator, and by a partner alone: the two ways into the chain.
    if (minute % 2 === 0)
      await house.operator('PUT', `/practice-groups/${group}/forms/f`, { title: `Form ${minute}` });
    else {
      const body = { title: `Type ${minute}` };
      await house.send('PATCH', '/v1/care-nav/submission-types/type-1', { key, group, body });
    }
  }
});

async function list(query = ''): Promise<Loose[]> {
  const page = await house.operator('GET', `/audit?page_size=100${query}`);
  expect(page.next_cursor).toBeNull();
  return page.data;
}

it.each([5, 45, 60, 79, 1_440 + 45, 1_440 + 60])(
  'a list by time holds all entries of that time, also when a clock was wrong for a while: minute %i',
  async (minute) => {
    const moment = start + minute * MINUTE;
    const at = new Date(moment).toISOString();
    const all = await list();
    expect(all.length).toBeGreaterThan(80);
    // The service writes entries of its own meanwhile.
    const known = async (query: string) => (await list(query)).filter(({ seq }) => seq <= all[0].seq);
    expect(await known(`&until=${at}`)).toEqual(all.filter((entry) => Date.parse(entry.at) < moment));
    expect(await known(`&since=${at}`)).toEqual(all.filter((entry) => Date.parse(entry.at) >= moment));
  },
);

it('the head of the chain knows how far its times are out of order', async () => {
  const { rows } = await db.query('SELECT latest, disorder::text FROM audit_head');
  expect(rows).toEqual([{ latest: new Date(start + 52 * MINUTE + DAY), disorder: '23:59:00' }]);
});
