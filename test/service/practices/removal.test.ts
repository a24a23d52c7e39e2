import { describe, expect, it } from 'vitest';
import { expectProblem } from '../../support/answers.ts';
import { fresh } from '../../support/operator-calls.ts';
import { makeKey, makeWorld, OPERATOR_TOKEN, serviceForTests } from '../../support/service.ts';

const { house, world, db } = await serviceForTests();

const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  house.send(method, `/operator/v1/practice-groups/${path}`, { token: OPERATOR_TOKEN, body, headers });
const ofWorld = (path: string) => `${world.groupId}/${path}`;
const partnerPatch = (id: string, body: unknown, { key, groupId: group } = world) =>
  house.send('PATCH', `/v1/care-nav/submission-types/${id}`, { key, group, body });

async function newType(settings: object = {}, groupId = world.groupId): Promise<string> {
  const body = { id: fresh('kind'), pathway_id: 'p', title: 'T', ...settings };
  return (await house.operator('POST', `/practice-groups/${groupId}/submission-types`, body)).id;
}

async function newForm(groupId = world.groupId): Promise<string> {
  const id = fresh('form');
  await house.operator('PUT', `/practice-groups/${groupId}/forms/${id}`, { title: 'F' });
  return id;
}

describe('a submission type, by an operator', () => {
  it('200: is changed by the rules of a partner’s update, and a partner sees it at once', async () => {
    const id = await newType();
    const path = ofWorld(`submission-types/${id}`);
    await partnerPatch(id, { title: 'By the partner' });
    const read = await send('GET', path);
    house.clock.advance(1_000);
    const changed = await send('PATCH', path, { suspended: true, description: 'x', order: 7 });
    expect(changed.status).toBe(200);
    expect(changed.body).toEqual({
      ...read.body,
      suspended: true,
      description: 'x',
      order: 7,
      updated_at: new Date(house.clock.now()).toISOString(),
    });
    expect(await send('GET', path)).toMatchObject({
      body: changed.body,
      headers: { etag: changed.headers.etag },
    });
    // The node remembers the row from before: it must not write or tell that.
    const patched = await partnerPatch(id, { in_hours: false });
    expect(patched.body).toMatchObject({
      title: 'By the partner',
      suspended: true,
      in_hours: false,
      order: 7,
    });
  });

  it('400, 404, 412, 422: is refused as a partner is', async () => {
    const id = await newType();
    const path = ofWorld(`submission-types/${id}`);
    expect((await send('PATCH', path, { titel: 'x' })).status).toBe(400);
    expect((await send('PATCH', path, { pathway_id: 'x' })).body.message[0].code).toBe('read_only');
    expectProblem(await send('PATCH', ofWorld('submission-types/none'), { title: 'x' }), 404, 'not_found');
    expectProblem(await send('PATCH', `none/submission-types/${id}`, { title: 'x' }), 404, 'not_found');
    const { etag } = (await send('GET', path)).headers;
    expect((await send('PATCH', path, { title: 'y' }, { 'if-match': String(etag) })).status).toBe(200);
    expectProblem(
      await send('PATCH', path, { title: 'z' }, { 'if-match': String(etag) }),
      412,
      'precondition_failed',
    );
    expect((await send('PATCH', path, { form_id: 'none' })).body.rule).toBe('form_unknown');
    expect((await send('PATCH', path, { assignee_id: 'ann' })).body.rule).toBe('assignee_pair');
    expect(await send('PATCH', path, {})).toMatchObject({ status: 200, body: { title: 'y' } });
  });

  it('204: is deleted, with its forms kept, and one of the same name goes on with its ETags and its count', async () => {
    const id = await newType();
    const path = ofWorld(`submission-types/${id}`);
    const submission = fresh('submission');
    await house.operator('POST', `/practice-groups/${world.groupId}/form-submissions`, {
      submission_type_id: id,
      id: submission,
    });
    const seen = await partnerPatch(id, { title: 'Seen' });
    expectProblem(await send('DELETE', path, undefined, { 'if-match': '"1"' }), 412, 'precondition_failed');
    expect((await send('DELETE', path, undefined, { 'if-match': String(seen.headers.etag) })).status).toBe(
      204,
    );
    expectProblem(await send('DELETE', path), 404, 'not_found');
    expectProblem(await partnerPatch(id, { title: 'x' }), 404, 'not_found');
    expect((await send('GET', ofWorld(`form-submissions/${submission}`))).status).toBe(200);
    const again = await house.operator('POST', `/practice-groups/${world.groupId}/submission-types`, {
      id,
      pathway_id: 'p',
      title: 'Again',
    });
    expect(again.title).toBe('Again');
    const { headers, body } = await send('GET', path);
    expect([headers.etag, body.forms_submitted_today]).toEqual(['"3"', 1]);
    // What the node remembers of the first one is not taken for this one.
    expect((await partnerPatch(id, { suspended: true })).body).toMatchObject({
      title: 'Again',
      suspended: true,
    });
  });

  it('201: one of the same name that is made while it is being removed goes on with its ETags, too', async () => {
    const id = await newType();
    for (const title of ['Second', 'Third']) await partnerPatch(id, { title });
    const waiting = async () => {
      await db.query('SELECT pg_stat_clear_snapshot()');
      const blocked =
        "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
      return (await db.query(blocked)).rowCount;
    };
    // The audit is the last thing that whoever removes it waits for.
    await db.query('BEGIN; SELECT FROM audit_head FOR UPDATE');
    const removed = send('DELETE', ofWorld(`submission-types/${id}`));
    await expect.poll(waiting).toBe(1);
    const made = send('POST', ofWorld('submission-types'), { id, pathway_id: 'p', title: 'Again' });
    await expect.poll(waiting).toBe(2);
    await db.query('COMMIT');
    expect([(await removed).status, (await made).status]).toEqual([204, 201]);
    expect((await send('GET', ofWorld(`submission-types/${id}`))).headers.etag).toBe('"4"');
  });
});

describe.each([
  ['form', (id: string) => `forms/${id}`, { title: 'x' }, (id: string) => ({ form_id: id })],
  [
    'assignee',
    (id: string) => `assignees/AdminTeam/${id}`,
    { name: 'x' },
    (id: string) => ({ assignee_id: id, assignee_type: 'AdminTeam' }),
  ],
] as const)('a %s', (noun, at, body, pointing) => {
  it('204: is deleted, 404 from then on', async () => {
    const id = fresh(noun);
    await send('PUT', ofWorld(at(id)), body);
    expect((await send('DELETE', ofWorld(at(id)))).status).toBe(204);
    for (const method of ['GET', 'DELETE'])
      expectProblem(await send(method, ofWorld(at(id))), 404, 'not_found');
    const type = await newType();
    expect((await partnerPatch(type, pointing(id))).status).toBe(422);
    expect((await send('PUT', ofWorld(at(id)), body)).status).toBe(200);
    expect((await partnerPatch(type, pointing(id))).status).toBe(200);
  });

  it('409: while submission types use it, which it names, the first ten of many', async () => {
    const id = fresh(noun);
    await send('PUT', ofWorld(at(id)), body);
    const types: string[] = [];
    for (let i = 0; i < 12; i++) types.push(await newType(pointing(id)));
    const answer = await send('DELETE', ofWorld(at(id)));
    expect(answer.body).toMatchObject({ error: 'conflict', statusCode: 409 });
    const named = types.toSorted().slice(0, 10);
    expect(answer.body.used_by).toEqual([{ type: 'submission_type', count: 12, ids: named }]);
    expect(answer.body.message).toBe(
      `The ${noun} ${id} is in use by 12 submission types (${named.join(', ')} and 2 more). Remove or change what uses it first.`,
    );
    for (const type of types) await send('DELETE', ofWorld(`submission-types/${type}`));
    expect((await send('DELETE', ofWorld(at(id)))).status).toBe(204);
  });

  it('is never pointed to when it is gone, whoever is faster: partners, operators, or whoever removes it', async () => {
    const type = await newType();
    for (let round = 0; round < 25; round++) {
      const id = fresh(noun);
      await send('PUT', ofWorld(at(id)), body);
      const [removed, ...pointed] = await Promise.all([
        send('DELETE', ofWorld(at(id))),
        partnerPatch(type, { ...pointing(id), description: `${round}` }),
        send('PATCH', ofWorld(`submission-types/${type}`), pointing(id)),
        newType(pointing(id)).then(
          () => ({ status: 200 }),
          () => ({ status: 422 }),
        ),
      ]);
      const isPointedTo = pointed.some(({ status }) => status === 200);
      expect([removed?.status, isPointedTo]).toEqual(isPointedTo ? [409, true] : [204, false]);
      const { rows } = await db.query(
        `SELECT id FROM submission_types s WHERE form_id IS NOT NULL
            AND NOT EXISTS (SELECT FROM forms f WHERE f.practice_group_id = s.practice_group_id AND f.id = s.form_id)
         UNION ALL SELECT id FROM submission_types s WHERE assignee_id IS NOT NULL
            AND NOT EXISTS (SELECT FROM assignees a WHERE a.practice_group_id = s.practice_group_id
                               AND a.type = s.assignee_type::text AND a.id = s.assignee_id)`,
      );
      expect(rows).toEqual([]);
    }
  });
});

describe('a practice group', () => {
  it('409: while anything of it is in use, which it names; 204 when only its history is left', async () => {
    const { groupId, key, keyId } = await makeWorld(house);
    const form = await newForm(groupId);
    const network = await house.operator('POST', '/networks', { name: 'N', practice_group_ids: [groupId] });
    const hook = await house.send('POST', '/v1/webhooks', {
      key,
      group: groupId,
      body: { url: 'https://partner.example/hook' },
    });
    const job = await house.operator('POST', '/write-to-record-jobs', {
      practice_group_id: groupId,
      resource: 'Consultation',
      resource_id: 'c-1',
    });
    await send('PUT', `${groupId}/write-through`, { url: 'https://practice-software.example/ask' });
    await house.operator('PUT', `/practice-groups/${groupId}/ehr-health`, { status: 'healthy' });
    const answer = await send('DELETE', groupId);
    expect(answer.body).toMatchObject({ error: 'conflict', statusCode: 409 });
    expect(answer.body.used_by).toEqual([
      { type: 'key', count: 1, ids: [keyId] },
      { type: 'webhook', count: 1, ids: [hook.body.id] },
      { type: 'network', count: 1, ids: [network.id] },
      { type: 'submission_type', count: 1, ids: ['type-1'] },
      { type: 'form', count: 2, ids: ['form-1', form].toSorted() },
      { type: 'assignee', count: 2, ids: ['ann', 'desk'] },
      { type: 'write_through', count: 1, ids: [groupId] },
      { type: 'write_to_record_job', count: 1, ids: [job.id] },
    ]);

    await house.send('DELETE', `/v1/webhooks/${hook.body.id}`, { key, group: groupId });
    await house.operator('POST', `/keys/${keyId}/revoke`);
    await house.operator('DELETE', `/networks/${network.id}/members/${groupId}`);
    await house.operator('POST', `/write-to-record-jobs/${job.id}/succeed`);
    for (const path of [
      'submission-types/type-1',
      'forms/form-1',
      `forms/${form}`,
      'assignees/Admin/ann',
      'assignees/AdminTeam/desk',
      'write-through',
    ])
      expect((await send('DELETE', `${groupId}/${path}`)).status).toBe(204);
    expect((await send('DELETE', groupId)).status).toBe(204);
    for (const method of ['GET', 'DELETE']) expectProblem(await send(method, groupId), 404, 'not_found');
    expect((await house.operator('GET', `/keys/${keyId}`)).practice_group_id).toBe(groupId);
    expect((await house.operator('GET', '/audit/verify')).ok).toBe(true);
    const erasure = { practice_group_id: groupId, object: 'Consultation', object_id: 'c-1' };
    expect((await house.operator('POST', '/erasures', erasure)).practice_group_id).toBe(groupId);
    // The name may be given again.
    expect((await house.operator('POST', '/practice-groups', { id: groupId, name: 'Anew' })).name).toBe(
      'Anew',
    );
  });

  it('409, 204: a webhook whose partner has no key left is deleted by an operator, and then its practice group', async () => {
    const bare = await house.operator('POST', '/practice-groups', { name: 'Bare' });
    const { key, keyId } = await makeKey(house, bare.id);
    const make = (body: object) =>
      house.send('POST', '/v1/webhooks', {
        key,
        group: bare.id,
        body: { url: 'https://partner.example/hook', ...body },
      });
    const [hook, ofAll] = [await make({}), await make({ practice_groups: 'all' })];
    const path = `/operator/v1/webhooks/${hook.body.id}`;
    await house.operator('POST', `/keys/${keyId}/revoke`);
    expect((await send('DELETE', bare.id)).body.used_by).toEqual([
      { type: 'webhook', count: 1, ids: [hook.body.id] },
    ]);
    const as = (headers: Record<string, string> = {}) => ({ token: OPERATOR_TOKEN, headers });
    expectProblem(await house.send('DELETE', path, as({ 'if-match': '"7"' })), 412, 'precondition_failed');
    expect((await house.send('DELETE', path, as())).status).toBe(204);
    for (const method of ['GET', 'DELETE'])
      expectProblem(await house.send(method, path, as()), 404, 'not_found');
    expect((await send('DELETE', bare.id)).status).toBe(204);
    expect((await house.operator('GET', `/webhooks/${ofAll.body.id}`)).id).toBe(ofAll.body.id);
  });

  it('is given no key by one who is as fast as whoever removes it', async () => {
    const { partnerId } = world;
    for (let round = 0; round < 15; round++) {
      const id = fresh('brief');
      await house.operator('POST', '/practice-groups', { id, name: 'Brief' });
      const [removed, issued] = await Promise.all([
        send('DELETE', id),
        house.send('POST', '/operator/v1/keys', {
          token: OPERATOR_TOKEN,
          body: { partner_id: partnerId, practice_group_id: id, scopes: ['events:read'] },
        }),
      ]);
      expect([
        [204, 422],
        [409, 201],
      ]).toContainEqual([removed.status, issued.status]);
    }
  });

  it('makes no job, and takes no member, when it is gone', async () => {
    const id = fresh('gone');
    await house.operator('POST', '/practice-groups', { id, name: 'Gone' });
    const { key, keyId } = await makeKey(house, id);
    await house.operator('POST', `/keys/${keyId}/revoke`);
    expect((await send('DELETE', id)).status).toBe(204);
    const job = { practice_group_id: id, resource: 'Consultation', resource_id: 'c' };
    const make = await house.send('POST', '/operator/v1/write-to-record-jobs', {
      token: OPERATOR_TOKEN,
      body: job,
    });
    expect(make.body.rule).toBe('practice_group_unknown');
    expect((await house.send('GET', '/v1/practice-groups', { key, group: id })).status).toBe(401);
    await expect(
      db.query(
        `INSERT INTO write_to_record_jobs (practice_group_id, id, resource, resource_id, status, created_at, updated_at)
         VALUES ($1, 'x', 'r', 'r', 'queued', now(), now())`,
        [id],
      ),
    ).rejects.toThrow(/no practice group/);
  });
});
