import { describe, expect, it } from 'vitest';
import { fresh } from '../../support/operator-calls.ts';
import {
  type Answer,
  type Loose,
  makeWorld,
  OPERATOR_TOKEN,
  serviceForTests,
} from '../../support/service.ts';

const { house, world, db } = await serviceForTests();
const { groupId } = world;

const post = (path: string, body?: unknown): Promise<Answer> =>
  house.send('POST', `/operator/v1/write-to-record-jobs${path}`, { token: OPERATOR_TOKEN, body });

const jobBody = (more: object = {}) => ({
  practice_group_id: groupId,
  resource: 'Consultation',
  resource_id: fresh('consultation'),
  ...more,
});
const newJob = async () => (await post('', jobBody())).body;
const succeed = (id: string) => post(`/${id}/succeed`);
const fail = (id: string, permanent: boolean) => post(`/${id}/fail`, { permanent });
const read = (id: string) => house.operator('GET', `/write-to-record-jobs/${id}`);

const said = async (id: string) =>
  (await house.operator('GET', `/events?practice_group_id=${groupId}&page_size=100`)).data
    .map(({ payload }: Loose) => payload)
    .filter((payload: Loose) => payload.id === id);
const audited = async (id: string) =>
  (await house.operator('GET', `/audit?subject_id=${id}`)).data.map(({ action }: Loose) => action).reverse();

/** How many wait for a lock. Inside a transaction PostgreSQL would tell the same again and again. */
async function waiting(): Promise<number> {
  await db.query('SELECT pg_stat_clear_snapshot()');
  const { rows } = await db.query(
    `SELECT count(*)::integer AS n FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rows[0].n;
}

describe('a write-to-record job', () => {
  it('201: begins as queued, and says nothing', async () => {
    const body = jobBody();
    const answer = await post('', body);
    const now = new Date(house.clock.now()).toISOString();
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^wtr_/),
      ...body,
      status: 'queued',
      failed_attempts: 0,
      created_at: now,
      updated_at: now,
    });
    expect(await read(answer.body.id)).toEqual(answer.body);
    expect(await said(answer.body.id)).toEqual([]);
    expect(await audited(answer.body.id)).toEqual(['write_to_record_job.create']);
  });

  it('200: succeeds, which is an event', async () => {
    const job = await newJob();
    house.clock.advance(1_000);
    const answer = await succeed(job.id);
    expect(answer.status).toBe(200);
    const updated_at = new Date(house.clock.now()).toISOString();
    expect(answer.body).toEqual({ ...job, status: 'succeeded', updated_at });
    expect(await read(job.id)).toEqual(answer.body);
    expect(await said(job.id)).toEqual([
      {
        object: 'WriteToRecordEntry',
        id: job.id,
        practice_group_id: groupId,
        event: 'write-to-record.succeeded',
        resource: job.resource,
        resource_id: job.resource_id,
      },
    ]);
    expect(await audited(job.id)).toEqual(['write_to_record_job.create', 'write_to_record_job.succeed']);
  });

  it('200: fails for good, which is an event', async () => {
    const job = await newJob();
    const answer = await fail(job.id, true);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ status: 'failed', failed_attempts: 1 });
    expect(await said(job.id)).toEqual([
      {
        object: 'WriteToRecordEntry',
        id: job.id,
        practice_group_id: groupId,
        event: 'write-to-record.failed',
        resource: job.resource,
        resource_id: job.resource_id,
      },
    ]);
    expect(await audited(job.id)).toEqual(['write_to_record_job.create', 'write_to_record_job.fail']);
  });

  it('200: a failure that may pass is counted, and says nothing', async () => {
    const job = await newJob();
    await fail(job.id, false);
    const answer = await fail(job.id, false);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ status: 'queued', failed_attempts: 2 });
    expect(await said(job.id)).toEqual([]);
    expect((await succeed(job.id)).body).toMatchObject({ status: 'succeeded', failed_attempts: 2 });
    expect(await audited(job.id)).toEqual([
      'write_to_record_job.create',
      'write_to_record_job.fail',
      'write_to_record_job.fail',
      'write_to_record_job.succeed',
    ]);
  });

  it('409: nothing leads back from the end', async () => {
    for (const finish of [succeed, (id: string) => fail(id, true)]) {
      const job = await newJob();
      const finished = (await finish(job.id)).body;
      for (const answer of [await succeed(job.id), await fail(job.id, true), await fail(job.id, false)]) {
        expect(answer.status).toBe(409);
        expect(answer.body).toMatchObject({
          error: 'conflict',
          message: `The job ${job.id} has ${finished.status} already.`,
        });
      }
      expect(await read(job.id)).toEqual(finished);
      expect(await said(job.id)).toHaveLength(1);
      expect(await audited(job.id)).toHaveLength(2);
    }
  });

  it('ends once, however many say so at once', async () => {
    const job = await newJob();
    await db.query('BEGIN');
    await db.query('SELECT FROM write_to_record_jobs WHERE id = $1 FOR UPDATE', [job.id]);
    const calls = [succeed(job.id), fail(job.id, true), succeed(job.id), fail(job.id, true)];
    // The first waits here, and the others with it or behind it.
    while ((await waiting()) === 0);
    await db.query('COMMIT');
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, 409, 409, 409]);
    expect(await said(job.id)).toEqual([
      expect.objectContaining({ event: `write-to-record.${(await read(job.id)).status}` }),
    ]);
  });

  it('422: belongs to a practice group that exists', async () => {
    const answer = await post('', jobBody({ practice_group_id: 'nowhere' }));
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ rule: 'practice_group_unknown', path: ['practice_group_id'] });
  });

  it.each([
    [{ resource: '' }, ['resource']],
    [{ resource: 'x'.repeat(256) }, ['resource']],
    [{ resource_id: 5 }, ['resource_id']],
    [{ status: 'succeeded' }, ['status']],
  ])('400: %j', async (more, path) => {
    const answer = await post('', jobBody(more));
    expect(answer.status).toBe(400);
    expect(answer.body.message.map((entry: Loose) => entry.path)).toEqual([path]);
  });

  it('400: whoever says that it failed says whether for good', async () => {
    const { id } = await newJob();
    for (const body of [{}, { permanent: 'yes' }, { permanent: null }])
      expect((await post(`/${id}/fail`, body)).status).toBe(400);
    expect((await read(id)).failed_attempts).toBe(0);
  });
});

describe('the list of jobs', () => {
  it('is filtered by practice group and status', async () => {
    const { groupId: other } = await makeWorld(house);
    const make = async () => (await post('', jobBody({ practice_group_id: other }))).body.id;
    const [queued, done] = [await make(), await make()];
    await succeed(done);
    const ids = async (query: string) =>
      (await house.operator('GET', `/write-to-record-jobs?practice_group_id=${other}${query}`)).data
        .map(({ id }: Loose) => id)
        .sort();
    expect(await ids('')).toEqual([queued, done].sort());
    expect(await ids('&status=queued')).toEqual([queued]);
    expect(await ids('&status=succeeded')).toEqual([done]);
    expect(await ids('&status=failed')).toEqual([]);
  });
});
