import { beforeAll, describe, expect, it } from 'vitest';
import { expectInvalid, expectProblem, withoutRequestId } from '../../support/answers.ts';
import { makeKey, makeWorld, startHarness } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

const PATH = '/v1/practice-groups';
const house = await startHarness();
let key: string;
let shared: { id: string };
/** oak – ash in one network, ash – elm in another, fir in none. */
beforeAll(async () => {
  const create = (body: unknown) => house.operator('POST', '/practice-groups', body);
  await create({ id: 'oak', name: 'Oak Surgery' });
  await create({
    id: 'ash',
    name: 'Ash Hub',
    ods_code: 'A81001',
    timezone: 'Europe/Dublin',
    address: { line_1: '1 High Street', town: 'Leeds', postcode: 'LS1 1AA' },
  });
  await create({ id: 'elm', name: 'Elm Practice' });
  await create({ id: 'fir', name: 'Fir Practice' });
  shared = await house.operator('POST', '/networks', { name: 'North', practice_group_ids: ['oak', 'ash'] });
  await house.operator('POST', '/networks', { name: 'South', practice_group_ids: ['ash', 'elm'] });
  for (const id of ['oak', 'ash', 'fir'])
    await house.operator('POST', `/practice-groups/${id}/submission-types`, {
      id: 'type-1',
      pathway_id: 'p',
      title: `Of ${id}`,
    });
  ({ key } = await makeKey(house, 'oak'));
});

const get = (group: string | undefined, query = '', apiKey = key) =>
  house.send('GET', PATH + query, { key: apiKey, group });

describe('GET /v1/practice-groups', () => {
  it('200: the group acted for, with exactly the decided fields', async () => {
    const answer = await get('oak');
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.body).toEqual({
      data: [
        {
          id: 'oak',
          name: 'Oak Surgery',
          ods_code: null,
          timezone: 'Europe/London',
          address: null,
          networks: [{ id: shared.id, name: 'North' }],
          ehr_status: 'unknown',
          created_at: '2026-11-16T10:00:00.000Z',
          updated_at: '2026-11-16T10:00:00.000Z',
        },
      ],
      count: 1,
    });
  });

  it('200: an address has its five lines, those not given null', async () => {
    const { data } = (await get('ash')).body;
    expect(data[0]).toMatchObject({ ods_code: 'A81001', timezone: 'Europe/Dublin' });
    expect(data[0].address).toEqual({
      line_1: '1 High Street',
      line_2: null,
      town: 'Leeds',
      county: null,
      postcode: 'LS1 1AA',
    });
  });

  it('200: a group in no network lists none', async () => {
    const fir = await makeKey(house, 'fir');
    expect((await get('fir', '', fir.key)).body.data[0].networks).toEqual([]);
  });

  it('400: a missing or empty x-practice-group-id, with the header as the path', async () => {
    for (const group of [undefined, '', '  '])
      expectInvalid(await get(group), [
        { code: 'invalid_type', expected: 'string', path: ['x-practice-group-id'] },
      ]);
  });
});

describe('?include=network', () => {
  it('200: the group acted for first, then every group in reach of the key, and the count of them all', async () => {
    const answer = await get('oak', '?include=network');
    expect(answer.body.data.map(({ id }: { id: string }) => id)).toEqual(['oak', 'ash']);
    expect(answer.body.count).toBe(2);
    expect(answer.body.data[0]).toEqual((await get('oak')).body.data[0]);
    expect(answer.body.data[1]).toEqual((await get('ash')).body.data[0]);
  });

  it('200: acting for another group, that one comes first and the reach is still that of the key', async () => {
    const { data, count } = (await get('ash', '?include=network')).body;
    expect(data.map(({ id }: { id: string }) => id)).toEqual(['ash', 'oak']);
    expect(count).toBe(2);
  });

  it('200: a group that is reached through two networks is listed once', async () => {
    const twice = await house.operator('POST', '/networks', {
      name: 'Twice',
      practice_group_ids: ['oak', 'ash'],
    });
    expect((await get('oak', '?include=network')).body.count).toBe(2);
    await house.operator('DELETE', `/networks/${twice.id}`);
  });

  it('200: a key whose group is in no network reaches only its own', async () => {
    const fir = await makeKey(house, 'fir');
    expect((await get('fir', '?include=network', fir.key)).body).toMatchObject({
      data: [{ id: 'fir' }],
      count: 1,
    });
  });

  describe('with many networks', () => {
    beforeAll(async () => {
      const db = await superuser(house.databaseUrl);
      await db.query(`
        INSERT INTO practice_groups (id, name, timezone, opening_hours, created_at, updated_at)
          SELECT 'leaf-' || n, 'Leaf', 'Europe/London', '{}', now(), now() FROM generate_series(1, 5100) AS n;
        INSERT INTO networks (id, name, created_at, updated_at)
          SELECT 'branch-' || n, 'Branch', now(), now() FROM generate_series(0, 5) AS n;
        INSERT INTO network_members SELECT 'branch-' || n, 'fir' FROM generate_series(0, 5) AS n;
        INSERT INTO network_members SELECT 'branch-' || n / 900, 'leaf-' || n FROM generate_series(1, 5100) AS n`);
      return () => db.query(`DELETE FROM networks WHERE id LIKE 'branch-%'`);
    });

    it('200: nothing that is in reach is left out', async () => {
      const fir = await makeKey(house, 'fir');
      const { data, count } = (await get('fir', '?include=network', fir.key)).body;
      expect(count).toBe(5_101);
      expect(new Set(data.map(({ id }: { id: string }) => id)).size).toBe(count);
    });
  });

  it('400: any other value, twice the same, an unknown parameter', async () => {
    for (const query of ['?include=', '?include=networks', '?include=network&include=network'])
      expectInvalid(await get('oak', query), [{ path: ['include'] }]);
    expectInvalid(await get('oak', '?inclued=network'), [{ code: 'unrecognized_keys', path: ['inclued'] }]);
    expectInvalid(await get('oak', '?__proto__=1'), [{ path: ['__proto__'] }]);
  });
});

describe('cross-organisational calls', () => {
  it("200: returns the target's data when a network holds both, and acts on the target's records", async () => {
    expect((await get('ash')).body.data[0].id).toBe('ash');
    const path = '/v1/care-nav/submission-types/type-1';
    expect((await house.send('GET', path, { key, group: 'ash' })).body.title).toBe('Of ash');
    const updated = await house.send('PATCH', path, { key, group: 'ash', body: { title: 'By oak' } });
    expect(updated.body.title).toBe('By oak');
    expect((await house.send('GET', path, { key, group: 'oak' })).body.title).toBe('Of oak');
    const [entry] = (await house.operator('GET', '/audit?action=submission_type.update')).data;
    expect(entry).toMatchObject({ practice_group_id: 'ash', after: { title: 'By oak' } });
  });

  it('403 forbidden: a group outside every shared network', async () => {
    expectProblem(await get('fir'), 403, 'forbidden');
    const path = '/v1/care-nav/submission-types/type-1';
    expectProblem(await house.send('GET', path, { key, group: 'fir' }), 403, 'forbidden');
    expectProblem(
      await house.send('PATCH', path, { key, group: 'fir', body: { title: 'x' } }),
      403,
      'forbidden',
    );
    const fir = await makeKey(house, 'fir');
    expect((await house.send('GET', path, { key: fir.key, group: 'fir' })).body.title).toBe('Of fir');
  });

  it('403 forbidden: networks do not chain, although oak – ash – elm', async () => {
    expectProblem(await get('elm'), 403, 'forbidden');
  });

  it('403 forbidden: a group that does not exist, byte for byte the same', async () => {
    const outside = withoutRequestId(await get('fir'));
    for (const group of [
      'no-such-group',
      'OAK',
      'oak,ash',
      'oak ash',
      '*',
      '%',
      "oak'--",
      'ä',
      'x'.repeat(5_000),
    ])
      expect(withoutRequestId(await get(group)), group.slice(0, 20)).toEqual(outside);
  });

  it('200: reach goes both ways', async () => {
    const ash = await makeKey(house, 'ash');
    expect((await get('oak', '', ash.key)).status).toBe(200);
    expect((await get('elm', '', ash.key)).status).toBe(200);
    expectProblem(await get('fir', '', ash.key), 403, 'forbidden');
  });

  it('200: a grant works with the next call, on a node that has just refused', async () => {
    const world = await makeWorld(house);
    expectProblem(await get(world.groupId), 403, 'forbidden');
    await house.operator('PUT', `/networks/${shared.id}/members/${world.groupId}`);
    expect((await get(world.groupId)).status).toBe(200);
    expect((await get('oak', '?include=network')).body.count).toBe(3);
    await house.operator('DELETE', `/networks/${shared.id}/members/${world.groupId}`);
    expectProblem(await get(world.groupId), 403, 'forbidden');
  });

  it('200: a change of the group itself shows in the next answer', async () => {
    await get('oak');
    house.clock.advance(5_000);
    await house.operator('PATCH', '/practice-groups/oak', { name: 'Oak & Sons' });
    expect((await get('oak')).body.data[0]).toMatchObject({
      name: 'Oak & Sons',
      updated_at: new Date(house.clock.now()).toISOString(),
    });
  });
});
