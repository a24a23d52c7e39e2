import pg from 'pg';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { expectProblem } from '../../support/answers.ts';
import { type Answer, type Harness, type Loose, makeWorld, startHarness } from '../../support/service.ts';

/** Two batches of updates are under way on one connection; the first waits for a row that somebody else holds. */

let house: Harness;
let world: Awaited<ReturnType<typeof makeWorld>>;
let outsider: pg.Client;
beforeEach(async () => {
  house = await startHarness();
  world = await makeWorld(house);
  const types = `/practice-groups/${world.groupId}/submission-types`;
  await house.operator('POST', types, { id: 'gate', pathway_id: 'p', title: 'Gate' });
  outsider = new pg.Client({ connectionString: house.databaseUrl });
  await outsider.connect();
  return () => outsider.end();
});

const patch = (id: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  house.send('PATCH', `/v1/care-nav/submission-types/${id}`, {
    key: world.key,
    group: world.groupId,
    body,
    headers,
  });

const auditOf = async (id: string): Promise<Loose[]> =>
  (
    await house.operator(
      'GET',
      `/audit?action=submission_type.update&practice_group_id=${world.groupId}&subject_id=${id}&page_size=100`,
    )
  ).data.reverse();

/** Begins an update and returns once it was handed to the batcher. */
async function begin(id: string, body: unknown, headers?: Record<string, string>) {
  const submit = vi.spyOn(house.service.app.updates, 'submit');
  const answer = patch(id, body, headers);
  await expect.poll(() => submit.mock.calls.length).toBeGreaterThan(0);
  submit.mockRestore();
  return { answer };
}

/** The connection of the service whose statement waits for the row. */
async function waiting(): Promise<number> {
  const held = async () =>
    (
      await outsider.query<{ pid: number }>(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      )
    ).rows;
  await expect.poll(held).toHaveLength(1);
  return (await held())[0]?.pid as number;
}

async function holdGate() {
  await outsider.query('BEGIN');
  await outsider.query('UPDATE submission_types SET version = version + 1, "order" = 7 WHERE id = \'gate\'');
  const first = await begin('gate', { title: 'First' });
  return { first, pid: await waiting() };
}

describe('two batches of updates under way', () => {
  it('200 in the order of arrival, and what another writer changed meanwhile is read and kept', async () => {
    await patch('gate', { title: 'Seen' });
    const { first } = await holdGate();
    const behind = [];
    for (const title of ['A', 'B', 'C']) behind.push(await begin('type-1', { title }));
    const after = await begin('gate', { description: 'Second' });
    const stale = await begin('gate', { title: 'No' }, { 'if-match': '"2"' });
    await outsider.query('COMMIT');

    // Version 2 was seen, 3 is the outsider's.
    const answer = await first.answer;
    expect(answer).toMatchObject({
      status: 200,
      headers: { etag: '"4"' },
      body: { title: 'First', order: 7 },
    });
    expect(await after.answer).toMatchObject({
      headers: { etag: '"5"' },
      body: { title: 'First', order: 7, description: 'Second' },
    });
    expectProblem(await stale.answer, 412, 'precondition_failed');
    const answers = await Promise.all(behind.map(({ answer }) => answer));
    expect(answers.map(({ headers }) => headers.etag)).toEqual(['"2"', '"3"', '"4"']);
    expect((await auditOf('type-1')).map(({ after }) => after.title)).toEqual(['A', 'B', 'C']);
    expect((await auditOf('gate')).map(({ after }) => after)).toEqual([
      { title: 'Seen' },
      { title: 'First' },
      { description: 'Second' },
    ]);
    expect((await house.operator('GET', '/audit/verify')).ok).toBe(true);
  });

  it('503 for both when their connection is lost, and the next update has another', async () => {
    await patch('type-1', { title: 'Seen' });
    const { first, pid } = await holdGate();
    const second = await begin('type-1', { title: 'Lost' });
    await outsider.query('SELECT pg_terminate_backend($1)', [pid]);
    expect((await first.answer).status).toBe(503);
    expect((await second.answer).status).toBe(503);
    await outsider.query('ROLLBACK');

    expect(await patch('type-1', { title: 'Kept' })).toMatchObject({ status: 200, headers: { etag: '"3"' } });
    expect((await patch('gate', { title: 'Kept' })).status).toBe(200);
    expect((await auditOf('type-1')).map(({ after }) => after.title)).toEqual(['Seen', 'Kept']);
    expect((await house.operator('GET', '/audit/verify')).ok).toBe(true);
  });

  it('200: a connection that was lost while nothing was under way is replaced', async () => {
    await patch('type-1', { title: 'Seen' });
    await outsider.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'porter%'",
    );
    await expect.poll(() => house.service.app.db.kept).toBeUndefined();
    await expect.poll(async () => (await patch('type-1', { title: 'Kept' })).status).toBe(200);
  });

  it('what is under way is finished before the service stops', async () => {
    const { first } = await holdGate();
    const second = await begin('type-1', { title: 'Second' });
    const stopped = house.stop();
    await outsider.query('COMMIT');
    expect([(await first.answer).status, (await second.answer).status]).toEqual([200, 200]);
    await stopped;
  });
});
