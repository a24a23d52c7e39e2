import pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectProblem } from '../../support/answers.ts';
import { type Answer, type Loose, makeWorld, type Send, serviceForTests } from '../../support/service.ts';

type Tenant = Awaited<ReturnType<typeof makeWorld>>;
const path = (id: string) => `/v1/care-nav/submission-types/${id}`;

const { house, world: north } = await serviceForTests();
const south = await makeWorld(house);
beforeAll(async () => {
  for (const [{ groupId }, id] of [
    [north, 'type-3'],
    [north, 'gate'],
    [north, 'gate-2'],
    [south, 'souths'],
  ] as const) {
    await house.operator('POST', `/practice-groups/${groupId}/submission-types`, {
      id,
      pathway_id: 'p',
      title: 'Title',
    });
  }
});

const patch = (tenant: Tenant, id: string, body: unknown, more: Send = {}): Promise<Answer> =>
  house.send('PATCH', path(id), { key: tenant.key, group: tenant.groupId, body, ...more });
const updatesOf = async (tenant: Tenant, id: string): Promise<Loose[]> =>
  (
    await house.operator(
      'GET',
      `/audit?action=submission_type.update&practice_group_id=${tenant.groupId}&subject_id=${id}&page_size=100`,
    )
  ).data.reverse();

type Call = () => Promise<Answer>;

/**
 * Sends calls in this order, so that all of them wait together while two batches before them are under way, the first
 * of which waits for a row that somebody else holds, and are then written in one transaction.
 */
async function together(calls: Call[]): Promise<Answer[]> {
  const outsider = new pg.Client({ connectionString: house.databaseUrl });
  await outsider.connect();
  const { updates } = house.service.app;
  const submit = updates.submit;
  let arrived = () => {};
  updates.submit = (item) => {
    const outcome = submit.call(updates, item);
    arrived();
    return outcome;
  };
  const begin = async (call: Call) => {
    const inside = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const answer = call();
    await inside;
    return { answer };
  };
  try {
    await outsider.query('BEGIN');
    await outsider.query("SELECT FROM submission_types WHERE id = 'gate' FOR UPDATE");
    const title = `Gate ${Math.random()}`;
    const gates = [await begin(() => patch(north, 'gate', { title }))];
    const waiting =
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    await expect.poll(async () => (await outsider.query(waiting)).rowCount).toBe(1);
    gates.push(await begin(() => patch(north, 'gate-2', { title })));
    const begun: { answer: Promise<Answer> }[] = [];
    for (const call of calls) begun.push(await begin(call));
    await outsider.query('COMMIT');
    for (const gate of gates) expect((await gate.answer).status).toBe(200);
    return await Promise.all(begun.map(({ answer }) => answer));
  } finally {
    updates.submit = submit;
    await outsider.end();
  }
}

/** The transaction that wrote a row last. */
async function writerOf(tenant: Tenant, id: string): Promise<string> {
  const outsider = new pg.Client({ connectionString: house.databaseUrl });
  await outsider.connect();
  const { rows } = await outsider.query(
    'SELECT xmin::text AS writer FROM submission_types WHERE practice_group_id = $1 AND id = $2',
    [tenant.groupId, id],
  );
  await outsider.end();
  return rows[0].writer;
}

describe('updates that are written together', () => {
  it('each gets its own answer: rows, tenants and refusals do not mix', async () => {
    const [a1, missing, stale, a2, ruled, b1, pairless, none, same, foreign, c1, c2] = await together([
      () => patch(north, 'type-1', { title: 'North' }, { headers: { 'x-request-id': 'one' } }),
      () => patch(north, 'missing', { title: 'No' }),
      () => patch(north, 'type-1', { title: 'No' }, { headers: { 'if-match': '"1"' } }),
      () => patch(north, 'type-1', { order: 4 }, { headers: { 'if-match': '"2"', 'x-request-id': 'two' } }),
      () => patch(north, 'type-1', { form_id: 'unknown', title: 'No' }),
      () => patch(south, 'type-1', { title: 'South', form_id: 'form-1' }),
      () => patch(south, 'type-1', { assignee_type: 'Admin', title: 'No' }),
      () => patch(north, 'type-3', {}),
      () => patch(north, 'type-1', { title: 'North', order: 4 }),
      () => patch(north, 'souths', { title: 'No' }),
      () => patch(north, 'type-3', { assignee_id: 'ann', assignee_type: 'Admin' }),
      () => patch(north, 'type-3', { assignee_id: 'desk', assignee_type: 'AdminTeam' }),
    ]);

    expect(a1).toMatchObject({
      status: 200,
      body: { title: 'North', order: null },
      headers: { etag: '"2"' },
    });
    expectProblem(missing as Answer, 404, 'not_found');
    expectProblem(stale as Answer, 412, 'precondition_failed');
    expect(a2).toMatchObject({ status: 200, body: { title: 'North', order: 4 }, headers: { etag: '"3"' } });
    expectProblem(ruled as Answer, 422, 'business_rule_violation', {
      rule: 'form_unknown',
      path: ['form_id'],
    });
    expect(b1).toMatchObject({
      status: 200,
      body: { title: 'South', form_id: 'form-1', order: null },
      headers: { etag: '"2"' },
    });
    expectProblem(pairless as Answer, 422, 'business_rule_violation', {
      rule: 'assignee_pair',
      path: ['assignee_type'],
    });
    expect(none).toMatchObject({ status: 200, body: { title: 'Title' }, headers: { etag: '"1"' } });
    expect(same).toMatchObject({ status: 200, body: { title: 'North', order: 4 }, headers: { etag: '"3"' } });
    expectProblem(foreign as Answer, 404, 'not_found');
    expect(c1).toMatchObject({ status: 200, body: { assignee_id: 'ann' }, headers: { etag: '"2"' } });
    expect(c2).toMatchObject({ status: 200, body: { assignee_id: 'desk' }, headers: { etag: '"3"' } });

    // They really went together, or this test would show nothing.
    expect(await writerOf(north, 'type-1')).toBe(await writerOf(south, 'type-1'));
    expect(await writerOf(north, 'type-3')).toBe(await writerOf(south, 'type-1'));

    const north1 = await house.send('GET', path('type-1'), { key: north.key, group: north.groupId });
    expect(north1).toMatchObject({
      body: { title: 'North', order: 4, form_id: null },
      headers: { etag: '"3"' },
    });
    const south1 = await house.send('GET', path('type-1'), { key: south.key, group: south.groupId });
    expect(south1.body).toMatchObject({ title: 'South', assignee_type: null });
    expect(
      (await house.send('GET', path('souths'), { key: south.key, group: south.groupId })).body.title,
    ).toBe('Title');

    const changes = (entries: Loose[]) => entries.map(({ before, after }) => [before, after]);
    expect(changes(await updatesOf(north, 'type-1'))).toEqual([
      [{ title: 'Type one' }, { title: 'North' }],
      [{ order: null }, { order: 4 }],
    ]);
    expect((await updatesOf(north, 'type-1')).map(({ request_id }) => request_id)).toEqual(['one', 'two']);
    expect(changes(await updatesOf(north, 'type-3'))).toEqual([
      [
        { assignee_id: null, assignee_type: null },
        { assignee_id: 'ann', assignee_type: 'Admin' },
      ],
      [
        { assignee_id: 'ann', assignee_type: 'Admin' },
        { assignee_id: 'desk', assignee_type: 'AdminTeam' },
      ],
    ]);
    const souths = await updatesOf(south, 'type-1');
    expect(changes(souths)).toEqual([
      [
        { title: 'Type one', form_id: null },
        { title: 'South', form_id: 'form-1' },
      ],
    ]);
    expect(souths[0].actor).toEqual({ type: 'partner', id: south.keyId });
    expect((await house.operator('GET', '/audit/verify')).ok).toBe(true);
  });

  it('a rule is checked on what the update before it left behind', async () => {
    const id = 'type-3';
    const answers = await together([
      () => patch(north, id, { external_url: null, external_url_name: null }),
      () => patch(north, id, { external_url_name: 'Too early' }),
      () => patch(north, id, { external_url: 'https://example.org' }),
      () => patch(north, id, { external_url_name: 'Now' }),
      () => patch(north, id, { external_url: null }),
      () => patch(north, id, { assignee_id: 'ann', assignee_type: 'Admin' }),
      () => patch(north, id, { assignee_type: 'AdminTeam' }),
      () => patch(north, id, { assignee_id: null, assignee_type: null }),
      () => patch(north, id, { assignee_id: 'desk' }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 422, 200, 200, 422, 200, 422, 200, 422]);
    expect(answers.map(({ body }) => body.rule)).toEqual([
      undefined,
      'external_url_name_without_url',
      undefined,
      undefined,
      'external_url_name_without_url',
      undefined,
      'assignee_unknown',
      undefined,
      'assignee_pair',
    ]);
  });

  it('every kind of value reaches its column', async () => {
    const first = { type: 'clinical_request', default_priority: 'highest', in_hours: false, daily_limit: 7 };
    const second = {
      type: null,
      default_priority: 'lowest',
      order: 3,
      title: 'With "quotes", {braces} and \\',
    };
    const third = { form_id: null, description: null, assignee_id: 'desk', assignee_type: 'AdminTeam' };
    const answers = await together([
      () => patch(north, 'type-1', first),
      () => patch(south, 'type-1', second),
      () => patch(north, 'type-3', third),
    ]);
    expect(answers.map(({ body }) => body)).toMatchObject([first, second, third]);
    const read = (tenant: Tenant, id: string) =>
      house.send('GET', path(id), { key: tenant.key, group: tenant.groupId });
    const stored = [await read(north, 'type-1'), await read(south, 'type-1'), await read(north, 'type-3')];
    expect(stored.map(({ body }) => body)).toMatchObject([first, second, third]);
  });

  it('500: one that the database itself refuses does not spoil its neighbours', async () => {
    const outsider = new pg.Client({ connectionString: house.databaseUrl });
    await outsider.connect();
    await outsider.query(`
      CREATE FUNCTION poison() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN IF NEW.title = 'poison' THEN RAISE EXCEPTION 'poisoned'; END IF; RETURN NEW; END $$;
      CREATE TRIGGER poison BEFORE UPDATE ON submission_types FOR EACH ROW EXECUTE FUNCTION poison()`);
    const [first, bad, last, elsewhere] = await together([
      () => patch(north, 'type-1', { title: 'Before' }),
      () => patch(north, 'type-3', { title: 'poison' }),
      () => patch(north, 'type-1', { title: 'After' }),
      () => patch(south, 'type-1', { title: 'Elsewhere' }),
    ]);
    await outsider.query('DROP TRIGGER poison ON submission_types');
    await outsider.end();
    expect(first?.status).toBe(200);
    expectProblem(bad as Answer, 500, 'internal_error');
    expect(bad?.text).not.toContain('poison');
    expect(last).toMatchObject({ status: 200, body: { title: 'After' } });
    expect(elsewhere).toMatchObject({ status: 200, body: { title: 'Elsewhere' } });
    const titles = (await updatesOf(north, 'type-1')).slice(-2).map(({ after }) => after);
    expect(titles).toEqual([{ title: 'Before' }, { title: 'After' }]);
    expect((await house.operator('GET', '/audit/verify')).ok).toBe(true);
  });
});

describe('updates of one row at the same time', () => {
  it('200 once and 412 for everybody else who read the same state', async () => {
    const { groupId, key } = await makeWorld(house);
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        house.send('PATCH', path('type-1'), {
          key,
          group: groupId,
          body: { title: `Editor ${i}` },
          headers: { 'if-match': '"1"' },
        }),
      ),
    );
    const winners = answers.filter(({ status }) => status === 200);
    expect(winners).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 412)).toHaveLength(49);
    const now = await house.send('GET', path('type-1'), { key, group: groupId });
    expect(now.body.title).toBe(winners[0]?.body.title);
  });
});
