import { describe, expect, it } from 'vitest';
import { scopeNames } from '../../../src/contract/access.ts';
import { lastEntry } from '../../support/audit.ts';
import { fresh } from '../../support/operator-calls.ts';
import { makeWorld, OPERATOR_TOKEN, serviceForTests } from '../../support/service.ts';

const { house, world } = await serviceForTests();

const send = (method: string, path: string, body?: unknown) =>
  house.send(method, `/operator/v1${path}`, { token: OPERATOR_TOKEN, body });
const now = () => new Date(house.clock.now()).toISOString();
const ofGroup = (path: string) => `/practice-groups/${world.groupId}${path}`;

describe.each([
  ['forms', (id: string) => `/forms/${id}`, 'title'],
  ['assignees', (id: string) => `/assignees/AdminTeam/${id}`, 'name'],
] as const)('%s', (_noun, at, field) => {
  it('200: describing it makes it, describing it again changes it, saying the same changes nothing', async () => {
    const id = fresh('entry');
    const path = ofGroup(at(id));
    expect((await send('GET', path)).status).toBe(404);
    const made = await house.operator('PUT', path, { [field]: 'First' });
    expect(made).toMatchObject({ id, [field]: 'First', created_at: now(), updated_at: now() });
    house.clock.advance(1_000);
    const changed = await house.operator('PUT', path, { [field]: 'Second' });
    expect(changed).toEqual({ ...made, [field]: 'Second', updated_at: now() });

    const before = await lastEntry(house);
    house.clock.advance(1_000);
    expect(await house.operator('PUT', path, { [field]: 'Second' })).toEqual(changed);
    expect(await house.operator('GET', path)).toEqual(changed);
    expect(await lastEntry(house)).toBe(before);
  });

  it('takes any text as the name that somebody else gave it', async () => {
    for (const id of ['a b', 'a/b', 'ünïcode 💊', "'; DROP TABLE forms; --", '%', '.x']) {
      const path = ofGroup(at(encodeURIComponent(id)));
      expect(await house.operator('PUT', path, { [field]: 'x' })).toMatchObject({ id });
      expect((await send('GET', path)).body.id).toBe(id);
    }
  });

  it('400: without text, and with too much', async () => {
    for (const text of ['', 'x'.repeat(256), null, 1, 'nul\0'])
      expect((await send('PUT', ofGroup(at('bad')), { [field]: text })).status).toBe(400);
  });

  it('404: of another practice group', async () => {
    const other = await makeWorld(house);
    await house.operator('PUT', ofGroup(at('own')), { [field]: 'x' });
    expect((await send('GET', `/practice-groups/${other.groupId}${at('own')}`)).status).toBe(404);
  });

  it('first descriptions at the same moment leave one new thing and the changes to it', async () => {
    const path = ofGroup(at(fresh('race')));
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => send('PUT', path, { [field]: `Text ${i}` })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const { data } = await house.operator('GET', `/audit?subject_id=${path.split('/').at(-1)}`);
    expect(data).toHaveLength(10);
    const told = data.reverse() as { before: object | null; after: object }[];
    expect(told.filter(({ before }) => before === null)).toHaveLength(1);
    for (const [i, { before }] of told.entries()) expect(before).toEqual(told[i - 1]?.after ?? null);
  });
});

describe('assignees', () => {
  it('400: only people and teams', async () => {
    expect((await send('PUT', ofGroup('/assignees/Robot/r2'), { name: 'x' })).status).toBe(400);
  });

  it('a person and a team may have the same ID', async () => {
    for (const type of ['Admin', 'AdminTeam'])
      await house.operator('PUT', ofGroup(`/assignees/${type}/same`), { name: type });
    expect((await house.operator('GET', ofGroup('/assignees/Admin/same'))).name).toBe('Admin');
    expect((await house.operator('GET', ofGroup('/assignees/AdminTeam/same'))).name).toBe('AdminTeam');
  });
});

describe('submission types', () => {
  const path = () => ofGroup('/submission-types');

  it('201: the fewest fields', async () => {
    const { status, body } = await send('POST', path(), { pathway_id: 'p', title: 'T' });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^st_/),
      pathway_id: 'p',
      form_id: null,
      title: 'T',
      description: null,
      in_hours: true,
      out_of_hours: true,
      suspended: false,
      external_url: null,
      external_url_name: null,
      type: null,
      default_priority: 'medium',
      daily_limit: null,
      forms_submitted_today: 0,
      patient_eligibility_check: false,
      assignee_id: null,
      assignee_type: null,
      order: null,
      created_at: now(),
      updated_at: now(),
    });
    expect(await house.operator('GET', `${path()}/${body.id}`)).toEqual(body);
  });

  it('201: every updatable field, as the partner then sees it', async () => {
    const fields = {
      id: fresh('full'),
      pathway_id: 'p',
      form_id: 'form-1',
      title: 'T',
      description: 'D',
      in_hours: false,
      out_of_hours: true,
      suspended: true,
      external_url: 'https://example.org/x',
      external_url_name: 'X',
      type: 'clinical_request',
      default_priority: 'highest',
      daily_limit: 0,
      patient_eligibility_check: true,
      assignee_id: 'ann',
      assignee_type: 'Admin',
      order: 3,
    };
    const body = await house.operator('POST', path(), fields);
    expect(body).toMatchObject(fields);
    const seen = await house.send('GET', `/v1/care-nav/submission-types/${fields.id}`, {
      key: world.key,
      group: world.groupId,
    });
    expect(seen.body).toEqual(body);
  });

  it('409: an ID that the group has already; another group may have the same', async () => {
    expect((await send('POST', path(), { id: 'type-1', pathway_id: 'p', title: 'T' })).status).toBe(409);
    const other = await makeWorld(house);
    expect((await send('GET', `/practice-groups/${other.groupId}/submission-types/type-1`)).status).toBe(200);
  });

  it.each([
    [{ form_id: 'no-such-form' }, 'form_unknown'],
    [{ assignee_id: 'ann' }, 'assignee_pair'],
    [{ assignee_type: 'Admin' }, 'assignee_pair'],
    [{ assignee_id: 'ann', assignee_type: 'AdminTeam' }, 'assignee_unknown'],
    [{ assignee_id: 'nobody', assignee_type: 'Admin' }, 'assignee_unknown'],
    [{ external_url_name: 'X' }, 'external_url_name_without_url'],
  ])('422: with %j, by the same rules as an update: %s', async (fields, rule) => {
    const id = fresh('refused');
    const answer = await send('POST', path(), { id, pathway_id: 'p', title: 'T', ...fields });
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ error: 'business_rule_violation', rule });
    expect((await send('GET', `${path()}/${id}`)).status).toBe(404);
  });

  it("422: with another group's form or assignee", async () => {
    const other = await makeWorld(house);
    await house.operator('PUT', `/practice-groups/${other.groupId}/forms/theirs`, { title: 'x' });
    const answer = await send('POST', path(), { pathway_id: 'p', title: 'T', form_id: 'theirs' });
    expect(answer.body).toMatchObject({ statusCode: 422, rule: 'form_unknown' });
  });
});

describe('keys', () => {
  const issue = async (more: object = {}) =>
    house.operator('POST', '/keys', {
      partner_id: world.partnerId,
      practice_group_id: world.groupId,
      scopes: ['practice-groups:read'],
      ...more,
    });
  const works = async (key: string) =>
    (await house.send('GET', '/v1/practice-groups', { key, group: world.groupId })).status === 200;

  it('201: shows the key once; afterwards only how it begins and ends', async () => {
    const scopes = [...scopeNames, 'practice-groups:read'].slice(1);
    const issued = await issue({ scopes, expires_at: '2027-01-01T01:00:00+01:00', rate_limit_per_minute: 5 });
    const { key, ...rest } = issued;
    expect(key).toMatch(/^ptr_test_[0-9A-Za-z]{38}$/);
    expect(rest).toEqual({
      id: expect.stringMatching(/^key_/),
      partner_id: world.partnerId,
      practice_group_id: world.groupId,
      scopes,
      prefix: 'ptr_test_',
      last_four: key.slice(-4),
      status: 'active',
      rate_limit_per_minute: 5,
      expires_at: '2027-01-01T00:00:00.000Z',
      revoked_at: null,
      replaced_by: null,
      agreement_id: expect.stringMatching(/^agr_/),
      label: null,
      allowed_addresses: null,
      proof: 'none',
      certificate_fingerprints: [],
      jwks: null,
      last_used_at: null,
      last_used_from: null,
      leak: null,
      created_at: now(),
    });
    expect(await house.operator('GET', `/keys/${issued.id}`)).toEqual(rest);
    const list = await send('GET', `/keys?partner_id=${world.partnerId}&page_size=100`);
    expect(list.text).not.toContain(key);
  });

  it('a scope named twice counts once', async () => {
    expect((await issue({ scopes: ['events:read', 'events:read'] })).scopes).toEqual(['events:read']);
  });

  it('422: a key that would be born expired', async () => {
    for (const expires_at of [now(), '2020-01-01T00:00:00Z']) {
      const answer = await send('POST', '/keys', {
        partner_id: world.partnerId,
        practice_group_id: world.groupId,
        scopes: ['events:read'],
        expires_at,
      });
      expect(answer.body).toMatchObject({ statusCode: 422, rule: 'expiry_in_the_past' });
    }
  });

  it('201: a rotation keeps tie, scopes and limit; the old key works on for the overlap, to the millisecond', async () => {
    const old = await issue({ rate_limit_per_minute: 50 });
    const { status, body: next } = await send('POST', `/keys/${old.id}/rotate`, { overlap_seconds: 60 });
    expect(status).toBe(201);
    expect(next.key).not.toBe(old.key);
    for (const field of ['partner_id', 'practice_group_id', 'scopes', 'rate_limit_per_minute'])
      expect(next[field]).toEqual(old[field]);
    const replaced = await house.operator('GET', `/keys/${old.id}`);
    expect(replaced).toMatchObject({
      status: 'active',
      replaced_by: next.id,
      expires_at: new Date(house.clock.now() + 60_000).toISOString(),
    });
    house.clock.advance(59_999);
    expect([await works(old.key), await works(next.key)]).toEqual([true, true]);
    house.clock.advance(1);
    expect([await works(old.key), await works(next.key)]).toEqual([false, true]);
    expect((await house.operator('GET', `/keys/${old.id}`)).status).toBe('expired');
  });

  it('the overlap is 24 hours unless given, and never makes an old key live longer', async () => {
    const old = await issue();
    await send('POST', `/keys/${old.id}/rotate`);
    const { expires_at } = await house.operator('GET', `/keys/${old.id}`);
    expect(Date.parse(expires_at)).toBe(house.clock.now() + 24 * 3_600_000);

    const soon = new Date(house.clock.now() + 5_000).toISOString();
    const ending = await issue({ expires_at: soon });
    await send('POST', `/keys/${ending.id}/rotate`);
    expect((await house.operator('GET', `/keys/${ending.id}`)).expires_at).toBe(soon);
  });

  it('no overlap: the old key is refused from the answer on', async () => {
    const old = await issue();
    expect(await works(old.key)).toBe(true);
    const { body } = await send('POST', `/keys/${old.id}/rotate`, { overlap_seconds: 0 });
    expect([await works(old.key), await works(body.key)]).toEqual([false, true]);
  });

  it('409: what was rotated, revoked or has expired is not rotated again; two rotations at once make one key', async () => {
    const [rotated, revoked, expired] = [
      await issue(),
      await issue(),
      await issue({ expires_at: '2030-01-01T00:00:00Z' }),
    ];
    const answers = await Promise.all([
      send('POST', `/keys/${rotated.id}/rotate`),
      send('POST', `/keys/${rotated.id}/rotate`),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
    await send('POST', `/keys/${revoked.id}/revoke`);
    expect((await send('POST', `/keys/${revoked.id}/rotate`)).status).toBe(409);
    house.clock.set('2030-01-01T00:00:00.000Z');
    expect((await send('POST', `/keys/${expired.id}/rotate`)).status).toBe(409);
  });

  it('200: a revoked key is refused from the answer on; revoking twice tells the first time', async () => {
    const issued = await issue();
    expect(await works(issued.key)).toBe(true);
    const first = await send('POST', `/keys/${issued.id}/revoke`);
    expect(first.body).toMatchObject({ id: issued.id, status: 'revoked', revoked_at: expect.any(String) });
    expect(await works(issued.key)).toBe(false);
    const before = await lastEntry(house);
    const second = await send('POST', `/keys/${issued.id}/revoke`);
    expect([second.status, second.body]).toEqual([200, first.body]);
    expect(await lastEntry(house)).toBe(before);
  });
});
