import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { lastEntry } from '../../support/audit.ts';
import { fresh } from '../../support/operator-calls.ts';
import { makeWorld, OPERATOR_TOKEN, startHarness } from '../../support/service.ts';

const house = await startHarness();

const send = (method: string, path: string, body?: unknown) =>
  house.send(method, `/operator/v1${path}`, { token: OPERATOR_TOKEN, body });
const now = () => new Date(house.clock.now()).toISOString();

const weekdays = Object.fromEntries(
  ['mon', 'tue', 'wed', 'thu', 'fri'].map((d) => [d, [['08:00', '18:30']]]),
);

describe('practice groups', () => {
  it('201: the fewest fields, with the defaults of the decisions', async () => {
    const { status, body } = await send('POST', '/practice-groups', { name: 'Riverside' });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^grp_/),
      name: 'Riverside',
      ods_code: null,
      timezone: 'Europe/London',
      address: null,
      networks: [],
      ehr_status: 'unknown',
      opening_hours: weekdays,
      created_at: now(),
      updated_at: now(),
    });
    expect(await house.operator('GET', `/practice-groups/${body.id}`)).toEqual(body);
  });

  it('201: every field; address lines that are left out are null', async () => {
    const id = fresh('practice');
    const fields = {
      id,
      name: 'Ærø Lægehus 💊',
      ods_code: 'Y12345',
      timezone: 'Pacific/Auckland',
      opening_hours: {
        sat: [
          ['00:00', '12:00'],
          ['13:00', '24:00'],
        ],
        sun: [],
      },
    };
    const body = await house.operator('POST', '/practice-groups', {
      ...fields,
      address: { line_1: '1 High Street', postcode: 'AB1 2CD', county: null },
    });
    expect(body).toMatchObject(fields);
    expect(body.address).toEqual({
      line_1: '1 High Street',
      line_2: null,
      town: null,
      county: null,
      postcode: 'AB1 2CD',
    });
    expect(await house.operator('GET', `/practice-groups/${id}`)).toEqual(body);
  });

  it.each([
    'europe/london',
    'EUROPE/LONDON',
    'Europe/london',
    'utc',
    'asia/Kathmandu',
    '+01:00',
    'Mars/Base',
  ])('400: %s is not how the time zone is written', async (timezone) => {
    const answer = await send('POST', '/practice-groups', { name: 'Elsewhere', timezone });
    expect(answer.status).toBe(400);
    expect(answer.body.message).toMatchObject([{ code: 'invalid_value', path: ['timezone'] }]);
  });

  it.each(['UTC', 'GB', 'Asia/Kathmandu', 'America/Port-au-Prince', 'Africa/Dar_es_Salaam', 'Etc/GMT+1'])(
    '201: %s is one',
    async (timezone) => {
      const made = await house.operator('POST', '/practice-groups', { name: 'Somewhere', timezone });
      expect(made.timezone).toBe(timezone);
    },
  );

  it('409: an ID that is taken, and the first one stays as it was', async () => {
    const id = fresh('practice');
    const first = await house.operator('POST', '/practice-groups', { id, name: 'First' });
    const before = await lastEntry(house);
    const second = await send('POST', '/practice-groups', { id, name: 'Second' });
    expect(second.status).toBe(409);
    expect(second.body).toMatchObject({ error: 'conflict', statusCode: 409 });
    expect(await house.operator('GET', `/practice-groups/${id}`)).toEqual(first);
    expect(await lastEntry(house)).toBe(before);
  });

  it('PATCH changes what it names and leaves the rest', async () => {
    const created = await house.operator('POST', '/practice-groups', {
      name: 'Before',
      ods_code: 'Y1',
      address: { line_1: '1 High Street', town: 'Leeds' },
    });
    house.clock.advance(1_000);
    const change = { name: 'After', ods_code: null, timezone: 'America/St_Johns', opening_hours: {} };
    const after = await house.operator('PATCH', `/practice-groups/${created.id}`, change);
    expect(after).toEqual({ ...created, ...change, updated_at: now() });
    expect(await house.operator('GET', `/practice-groups/${created.id}`)).toEqual(after);
  });

  it('412: If-Match keeps two who change it from overwriting each other; what else happens to it does not', async () => {
    const { id } = await house.operator('POST', '/practice-groups', { name: 'Held' });
    const path = `/operator/v1/practice-groups/${id}`;
    const call = (method: string, ifMatch: string, body?: unknown) =>
      house.send(method, path, { token: OPERATOR_TOKEN, body, headers: { 'if-match': ifMatch } });
    const read = async () => String((await send('GET', `/practice-groups/${id}`)).headers.etag);
    const first = await read();
    await house.operator('PUT', `/practice-groups/${id}/ehr-health`, { status: 'unhealthy' });
    await house.operator('POST', '/networks', { name: 'N', practice_group_ids: [id] });
    expect(await read()).toBe(first);
    const changed = await call('PATCH', first, { name: 'Changed' });
    expect([changed.status, changed.headers.etag]).toEqual([200, await read()]);
    const stale = await call('PATCH', first, { name: 'Lost' });
    expect([stale.status, stale.body.error]).toEqual([412, 'precondition_failed']);
    expect((await call('DELETE', first)).status).toBe(412);
    const item = { kind: 'practice_group', id, name: 'Imported' };
    await house.operator('POST', '/import', { items: [item] });
    expect((await call('PATCH', String(changed.headers.etag), { name: 'Lost' })).status).toBe(412);
    expect((await call('PATCH', '*', { name: 'Any' })).body.name).toBe('Any');
    expect((await call('PATCH', `"other", ${await read()}`, { name: 'Last' })).body.name).toBe('Last');
  });

  it('the ETag is the digest that reconciliation compares', async () => {
    const { id } = await house.operator('POST', '/practice-groups', {
      name: 'Compared',
      address: { town: 'Leeds' },
    });
    const { headers } = await send('GET', `/practice-groups/${id}`);
    const digest = String(headers.etag).slice(1, -1);
    const compared = await house.send('POST', `/operator/v1/reconcile?practice_group_id=${id}`, {
      token: OPERATOR_TOKEN,
      raw: `${JSON.stringify({ kind: 'practice_group', id, digest })}\n`,
      headers: { 'content-type': 'application/x-ndjson' },
    });
    expect([compared.status, compared.text]).toEqual([200, expect.not.stringContaining('differs')]);
  });

  it('PATCH is a merge patch for the address too: lines that are left out stay, null clears', async () => {
    const { id, address } = await house.operator('POST', '/practice-groups', {
      name: 'G',
      address: { line_1: '1 High Street', line_2: 'Rear', town: 'Leeds' },
    });
    const change = (next: unknown) => house.operator('PATCH', `/practice-groups/${id}`, { address: next });
    expect((await change({ postcode: 'LS1 1AA', line_2: null })).address).toEqual({
      ...address,
      postcode: 'LS1 1AA',
      line_2: null,
    });
    expect((await change(null)).address).toBeNull();
    expect((await change({ town: 'York' })).address).toEqual({
      line_1: null,
      line_2: null,
      town: 'York',
      county: null,
      postcode: null,
    });
  });

  it.each([
    {},
    { name: 'Same' },
    { ods_code: null, timezone: 'Europe/London' },
    { opening_hours: Object.fromEntries(Object.entries(weekdays).reverse()) },
    { address: { town: 'Leeds' } },
  ])('PATCH %j that changes no value changes nothing, updated_at included', async (patch) => {
    const created = await house.operator('POST', '/practice-groups', {
      name: 'Same',
      address: { town: 'Leeds' },
    });
    const before = await lastEntry(house);
    house.clock.advance(1_000);
    expect(await house.operator('PATCH', `/practice-groups/${created.id}`, patch)).toEqual(created);
    expect(await house.operator('GET', `/practice-groups/${created.id}`)).toEqual(created);
    expect(await lastEntry(house)).toBe(before);
  });

  it('400: PATCH cannot set what is not its own', async () => {
    const { id } = await house.operator('POST', '/practice-groups', { name: 'G' });
    for (const field of ['id', 'networks', 'ehr_status', 'created_at', 'updated_at'])
      expect((await send('PATCH', `/practice-groups/${id}`, { [field]: 'x' })).status, field).toBe(400);
    for (const field of ['name', 'timezone', 'opening_hours'])
      expect((await send('PATCH', `/practice-groups/${id}`, { [field]: null })).status, field).toBe(400);
  });

  it('a change is seen by a partner in the very next call', async () => {
    const { groupId: group, key } = await makeWorld(house);
    const name = async () =>
      (await house.send('GET', '/v1/practice-groups', { key, group })).body.data[0].name;
    await name();
    await house.operator('PATCH', `/practice-groups/${group}`, { name: 'Renamed' });
    expect(await name()).toBe('Renamed');
  });
});

describe('networks', () => {
  const newGroup = async () => {
    const id = fresh('member');
    await house.operator('POST', '/practice-groups', { id, name: id });
    return id;
  };

  it('201: holds each group once, in a stable order', async () => {
    const [a, b] = [await newGroup(), await newGroup()];
    const { status, body } = await send('POST', '/networks', {
      name: 'North',
      practice_group_ids: [b, a, b],
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^net_/),
      name: 'North',
      practice_group_ids: [a, b].sort(),
      scopes: null,
      partner_ids: null,
      created_at: now(),
      updated_at: now(),
    });
    expect(await house.operator('GET', `/networks/${body.id}`)).toEqual(body);
    const group = await house.operator('GET', `/practice-groups/${a}`);
    expect(group.networks).toEqual([{ id: body.id, name: 'North' }]);
  });

  it('422: with a group that does not exist, and no network is left behind', async () => {
    const name = fresh('broken network');
    const before = await lastEntry(house);
    const answer = await send('POST', '/networks', {
      name,
      practice_group_ids: [await newGroup(), 'nowhere'],
    });
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ error: 'business_rule_violation', path: ['practice_group_ids'] });
    const { data } = await house.operator('GET', '/networks?page_size=100');
    expect(data.map((network: { name: string }) => network.name)).not.toContain(name);
    expect(await lastEntry(house)).toBe(before + 1); // the group that was made for this test
  });

  it('204: members come and go; joining twice changes nothing, leaving twice is 404', async () => {
    const group = await newGroup();
    const network = await house.operator('POST', '/networks', { name: 'N', practice_group_ids: [] });
    const path = `/networks/${network.id}/members/${group}`;
    const members = async () => (await house.operator('GET', `/networks/${network.id}`)).practice_group_ids;
    house.clock.advance(1_000);

    expect((await send('PUT', path)).status).toBe(204);
    expect((await send('PUT', path)).text).toBe('');
    const joined = await house.operator('GET', `/networks/${network.id}`);
    expect(joined.practice_group_ids).toEqual([group]);
    expect(joined.updated_at).toBe(now());

    const before = await lastEntry(house);
    house.clock.advance(1_000);
    expect((await send('PUT', path)).status).toBe(204);
    expect(await house.operator('GET', `/networks/${network.id}`)).toEqual(joined);
    expect(await lastEntry(house)).toBe(before);

    expect((await send('DELETE', path)).status).toBe(204);
    expect(await members()).toEqual([]);
    expect((await send('DELETE', path)).status).toBe(404);
    expect(await lastEntry(house)).toBe(before + 1);
  });

  it('422: a full network takes no more, and still takes those that are in it', async () => {
    const groups: string[] = Array.from({ length: 1_001 }, (_, n) => `crowd-${n}`);
    const db = new pg.Client({ connectionString: house.databaseUrl });
    await db.connect();
    await db.query(
      `INSERT INTO practice_groups (id, name, timezone, opening_hours, created_at, updated_at)
       SELECT id, id, 'Europe/London', '{}', now(), now() FROM unnest($1::text[]) AS id`,
      [groups],
    );
    await db.end();
    const tooMany = await send('POST', '/networks', { name: 'N', practice_group_ids: groups });
    expect(tooMany.status).toBe(400);
    const { id } = await house.operator('POST', '/networks', {
      name: 'N',
      practice_group_ids: groups.slice(0, 999),
    });
    const join = (group: string | undefined) => send('PUT', `/networks/${id}/members/${group}`);

    expect((await join(groups[999])).status).toBe(204);
    const before = await lastEntry(house);
    const answer = await join(groups[1_000]);
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({
      error: 'business_rule_violation',
      path: ['practice_group_id'],
      message: 'The network has 1,000 practice groups, which is the maximum. Remove one first.',
    });
    expect((await join(groups[5])).status).toBe(204);
    expect(await lastEntry(house)).toBe(before);
    expect((await house.operator('GET', `/networks/${id}`)).practice_group_ids).toHaveLength(1_000);
  });

  it('204: a dissolved network is gone, its groups are not', async () => {
    const group = await newGroup();
    const { id } = await house.operator('POST', '/networks', { name: 'N', practice_group_ids: [group] });
    expect((await send('DELETE', `/networks/${id}`)).status).toBe(204);
    expect((await send('GET', `/networks/${id}`)).status).toBe(404);
    expect((await send('DELETE', `/networks/${id}`)).status).toBe(404);
    expect((await house.operator('GET', `/practice-groups/${group}`)).networks).toEqual([]);
  });

  it('many who join at once all become members, and the audit trail tells it one by one', async () => {
    const groups = await Promise.all(Array.from({ length: 12 }, newGroup));
    const { id } = await house.operator('POST', '/networks', { name: 'N', practice_group_ids: [] });
    const answers = await Promise.all(groups.map((group) => send('PUT', `/networks/${id}/members/${group}`)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204]));
    expect((await house.operator('GET', `/networks/${id}`)).practice_group_ids).toEqual([...groups].sort());

    const { data } = await house.operator('GET', `/audit?subject_id=${id}&action=network.members`);
    const told = data
      .reverse()
      .map((entry: { before: Members; after: Members }) => [
        entry.before.practice_group_ids.length,
        entry.after.practice_group_ids.length,
      ]);
    expect(told).toEqual(groups.map((_, i) => [i, i + 1]));
  });
});

interface Members {
  practice_group_ids: string[];
}
