import { describe, expect, it } from 'vitest';
import { expectProblem } from '../../support/answers.ts';
import { fresh } from '../../support/operator-calls.ts';
import { type Loose, makeKey, makeWorld, OPERATOR_TOKEN, startHarness } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

const house = await startHarness();
const world = await makeWorld(house, 'practice');
const db = await superuser(house.databaseUrl);

async function newType(settings: object = {}, groupId = world.groupId): Promise<string> {
  const body = { id: fresh('kind'), pathway_id: 'p', title: 'T', ...settings };
  return (await house.operator('POST', `/practice-groups/${groupId}/submission-types`, body)).id;
}

const submit = (submission_type_id: string, id?: string, groupId = world.groupId, node = house) =>
  node.send('POST', `/operator/v1/practice-groups/${groupId}/form-submissions`, {
    token: OPERATOR_TOKEN,
    body: { submission_type_id, ...(id !== undefined && { id }) },
  });

const change = (typeId: string, body: object) =>
  house.send('PATCH', `/v1/care-nav/submission-types/${typeId}`, {
    key: world.key,
    group: world.groupId,
    body,
  });

/** The count, as a partner's GET and (empty) PATCH and the operator's GET and list tell it. */
async function countsSeen(typeId: string): Promise<number[]> {
  const partner = { key: world.key, group: world.groupId };
  const read = await house.send('GET', `/v1/care-nav/submission-types/${typeId}`, partner);
  const listed = await house.operator(
    'GET',
    `/practice-groups/${world.groupId}/submission-types?page_size=100`,
  );
  const own = await house.operator('GET', `/practice-groups/${world.groupId}/submission-types/${typeId}`);
  return [
    (await change(typeId, {})).body,
    read.body,
    own,
    listed.data.find(({ id }: Loose) => id === typeId),
  ].map((type) => type.forms_submitted_today);
}

const audited = async (id: string) => (await house.operator('GET', `/audit?subject_id=${id}`)).data;

describe('a form submission', () => {
  it('201: is recorded, counted and audited', async () => {
    const type = await newType();
    const id = fresh('submission');
    const { status, body } = await submit(type, id);
    expect(status).toBe(201);
    expect(body).toEqual({
      id,
      practice_group_id: world.groupId,
      submission_type_id: type,
      local_day: '2026-11-16',
      submitted_at: new Date(house.clock.now()).toISOString(),
      over_limit: false,
      suspended: false,
      outside_hours: false,
    });
    const path = `/practice-groups/${world.groupId}/form-submissions/${id}`;
    expect(await house.operator('GET', path)).toEqual(body);
    expect(await countsSeen(type)).toEqual([1, 1, 1, 1]);
    expect(await audited(id)).toMatchObject([
      { action: 'form_submission.create', before: null, after: body },
    ]);
  });

  it('201: makes an ID of its own when none is given', async () => {
    const { body } = await submit(await newType());
    expect(body.id).toMatch(/^fs_/);
  });

  it('422: of a submission type that this group does not have', async () => {
    const other = await makeWorld(house);
    const theirs = await newType({}, other.groupId);
    for (const type of ['no-such-type', theirs]) {
      const answer = await submit(type);
      expect(answer.status).toBe(422);
      expect(answer.body).toMatchObject({
        error: 'business_rule_violation',
        rule: 'submission_type_unknown',
        path: ['submission_type_id'],
      });
    }
  });

  it('409: with an ID that was recorded already, for this type or another, and it is counted once', async () => {
    const [type, other] = [await newType(), await newType()];
    const id = fresh('submission');
    const first = await submit(type, id);
    for (const again of [await submit(type, id), await submit(other, id)]) {
      expect(again.status).toBe(409);
      expect(again.body).toMatchObject({ error: 'conflict', statusCode: 409 });
    }
    expect(await countsSeen(type)).toEqual([1, 1, 1, 1]);
    expect(await countsSeen(other)).toEqual([0, 0, 0, 0]);
    expect(await audited(id)).toHaveLength(1);
    const path = `/practice-groups/${world.groupId}/form-submissions/${id}`;
    expect(await house.operator('GET', path)).toEqual(first.body);
  });

  it('409: also when it was the one that reached the cap, so that a retry after a lost answer is told the truth', async () => {
    const type = await newType({ daily_limit: 1 });
    const id = fresh('submission');
    expect((await submit(type, id)).status).toBe(201);
    expect((await submit(type, id)).status).toBe(409);
    expect(await countsSeen(type)).toEqual([1, 1, 1, 1]);
  });

  it('the same ID may be used by two groups', async () => {
    const other = await makeWorld(house);
    const id = fresh('submission');
    expect((await submit(await newType(), id)).status).toBe(201);
    expect((await submit('type-1', id, other.groupId)).status).toBe(201);
  });

  it('of many with one ID at once, one is recorded', async () => {
    const type = await newType();
    const id = fresh('submission');
    const answers = await Promise.all(Array.from({ length: 20 }, () => submit(type, id)));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([201, ...Array.from({ length: 19 }, () => 409)]);
    expect(await countsSeen(type)).toEqual([1, 1, 1, 1]);
  });

  it('409: with an ID that is being recorded for another type at that moment', async () => {
    const [type, other] = [await newType(), await newType()];
    const id = fresh('submission');
    await db.query('BEGIN');
    await db.query(
      `INSERT INTO form_submissions (practice_group_id, id, submission_type_id, local_day, submitted_at)
       VALUES ($1, $2, $3, '2026-11-16', now())`,
      [world.groupId, id, type],
    );
    const answer = submit(other, id);
    const waiting = async () => {
      await db.query('SELECT pg_stat_clear_snapshot()');
      const isWaiting = "datname = current_database() AND wait_event_type = 'Lock'";
      return (await db.query(`SELECT FROM pg_stat_activity WHERE ${isWaiting}`)).rowCount;
    };
    await expect.poll(waiting).toBe(1);
    await db.query('COMMIT');
    expectProblem(await answer, 409, 'conflict');
    expect(await countsSeen(other)).toEqual([0, 0, 0, 0]);
  });
});

describe('the cap', () => {
  it('201: once it is reached, a form is recorded, counted, audited and kept all the same, with its mark', async () => {
    const type = await newType({ daily_limit: 2 });
    const marks = [];
    for (let i = 0; i < 4; i++) marks.push((await submit(type)).body.over_limit);
    expect(marks).toEqual([false, false, true, true]);
    const id = fresh('submission');
    const { status, body } = await submit(type, id);
    expect([status, body.over_limit]).toEqual([201, true]);
    expect(await countsSeen(type)).toEqual([5, 5, 5, 5]);
    expect(await audited(id)).toMatchObject([{ after: body }]);
    const path = `/practice-groups/${world.groupId}/form-submissions`;
    expect(await house.operator('GET', `${path}/${id}`)).toEqual(body);
    const { data } = await house.operator('GET', `${path}?page_size=100`);
    expect(data.find((one: Loose) => one.id === id)).toEqual(body);
  });

  it('of 0 marks every form; null none', async () => {
    const type = await newType({ daily_limit: 0 });
    expect((await submit(type)).body.over_limit).toBe(true);
    await change(type, { daily_limit: null });
    for (let i = 0; i < 3; i++) expect((await submit(type)).body.over_limit).toBe(false);
  });

  it('counts for one type only', async () => {
    const [full, free] = [await newType({ daily_limit: 1 }), await newType({ daily_limit: 1 })];
    await submit(full);
    expect((await submit(full)).body.over_limit).toBe(true);
    expect((await submit(free)).body.over_limit).toBe(false);
  });

  it('raised by a partner has room at once, lowered below the count has none', async () => {
    const type = await newType({ daily_limit: 1 });
    await submit(type);
    const raised = await change(type, { daily_limit: 3 });
    expect(raised.body).toMatchObject({ daily_limit: 3, forms_submitted_today: 1 });
    expect((await submit(type)).body.over_limit).toBe(false);
    await change(type, { daily_limit: 1 });
    expect((await submit(type)).body.over_limit).toBe(true);
    expect(await countsSeen(type)).toEqual([3, 3, 3, 3]);
  });

  it('is exact: of 50 forms at once exactly 10 have no mark, through two services', async () => {
    const other = await startHarness({ databaseUrl: house.databaseUrl, clock: house.clock });
    for (let round = 0; round < 3; round++) {
      const type = await newType({ daily_limit: 10 });
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, i) => submit(type, undefined, world.groupId, i % 2 ? other : house)),
      );
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(50);
      expect(answers.filter(({ body }) => !body.over_limit)).toHaveLength(10);
      expect(await countsSeen(type)).toEqual([50, 50, 50, 50]);
      const ids = new Set(answers.map(({ body }) => body.id));
      const { data } = await house.operator('GET', '/audit?action=form_submission.create&page_size=100');
      const entries = data.filter(({ after }: Loose) => after.submission_type_id === type);
      expect(new Set(entries.map(({ subject }: Loose) => subject.id))).toEqual(ids);
    }
  });

  it('is exact while a partner changes the type at the same time', async () => {
    const type = await newType({ daily_limit: 5 });
    const answers = await Promise.all(
      Array.from({ length: 30 }, async (_, i) =>
        i % 3 === 0 ? change(type, { title: `Title ${i}` }) : submit(type),
      ),
    );
    expect(answers.filter(({ body }) => body.over_limit === false)).toHaveLength(5);
    expect(answers.filter(({ body }) => body.over_limit === true)).toHaveLength(15);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
    expect(await countsSeen(type)).toEqual([20, 20, 20, 20]);
  });
});

describe('a type that is not to take forms', () => {
  it('201: its forms carry every mark that is so, until it is not', async () => {
    const type = await newType({ suspended: true, daily_limit: 0, in_hours: false, out_of_hours: false });
    expect(await submit(type)).toMatchObject({
      status: 201,
      body: { suspended: true, over_limit: true, outside_hours: true },
    });
    await change(type, { suspended: false, daily_limit: null, in_hours: true });
    expect(await submit(type)).toMatchObject({
      status: 201,
      body: { suspended: false, over_limit: false, outside_hours: false },
    });
  });
});

describe('what a partner may do with forms', () => {
  it('is nothing: the count is read only, and there is no address for it', async () => {
    const { key } = await makeKey(house, world.groupId);
    const type = await newType();
    const answer = await change(type, { forms_submitted_today: 5 });
    expect(answer.status).toBe(400);
    const path = `/operator/v1/practice-groups/${world.groupId}/form-submissions`;
    expect((await house.send('POST', path, { key, body: { submission_type_id: type } })).status).toBe(401);
  });
});
