import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OperatorPrincipal } from '../../../src/domain/access/principal.ts';
import { startDatabaseProxy } from '../../support/database-proxy.ts';
import { fresh } from '../../support/operator-calls.ts';
import { freePort, kill, newDataDir, startPorter } from '../../support/porter-process.ts';
import {
  type Harness,
  type Loose,
  MASTER_KEY,
  makeWorld,
  OPERATOR_TOKEN,
  serviceForTests,
  startHarness,
} from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

/** Form submissions, EHR health and write-to-record jobs of concurrent calls: they share a transaction, and nothing else. */

const { house, world, db } = await serviceForTests();
const { groupId } = world;
const { gathered } = house.service.app;
const principal: OperatorPrincipal = {
  kind: 'operator',
  operatorId: 'opr_first',
  name: 'First',
  role: 'admin',
  expiresAt: Number.POSITIVE_INFINITY,
};

async function newType(settings: object = {}, group = groupId): Promise<string> {
  const body = { id: fresh('kind'), pathway_id: 'p', title: 'T', ...settings };
  return (await house.operator('POST', `/practice-groups/${group}/submission-types`, body)).id;
}
async function newGroup(): Promise<string> {
  return (await house.operator('POST', '/practice-groups', { id: fresh('practice'), name: 'P' })).id;
}
const newJob = async (group = groupId): Promise<string> =>
  (
    await house.operator('POST', '/write-to-record-jobs', {
      practice_group_id: group,
      resource: 'Consultation',
      resource_id: 'c',
    })
  ).id;

/** As operations hand them on: those of one moment are in one batch. */
const form = (typeId: string, id = fresh('form'), group = groupId) =>
  gathered.forms({ groupId: group, typeId, id, principal, requestId: 'r' });
const report = (id: string, status: 'healthy' | 'unhealthy') =>
  gathered.ehrReports({ id, status, principal, requestId: 'r' });

const send = (path: string, body: unknown, key?: string, at = house) =>
  at.send('POST', `/operator/v1${path}`, {
    token: OPERATOR_TOKEN,
    body,
    headers: key === undefined ? {} : { 'idempotency-key': key },
  });
const sendForm = (
  typeId: string,
  { id, key, at, group = groupId }: { id?: string; key?: string; at?: Harness; group?: string } = {},
) => send(`/practice-groups/${group}/form-submissions`, { submission_type_id: typeId, id }, key, at);

const rowsOf = async (ids: readonly string[]) =>
  (await db.query('SELECT id, xmin FROM form_submissions WHERE id = ANY ($1)', [ids])).rows;
const eventsOf = async (objectId: string) =>
  (await db.query('SELECT event FROM events WHERE object_id = $1 ORDER BY no', [objectId])).rows.map(
    ({ event }) => event,
  );
const auditedOf = async (id: string): Promise<Loose[]> =>
  (await house.operator('GET', `/audit?subject_id=${id}&page_size=100`)).data.reverse();
const countOf = async (typeId: string) =>
  Number(
    (
      await db.query(
        'SELECT coalesce(sum(submitted), 0) AS n FROM form_counts WHERE submission_type_id = $1',
        [typeId],
      )
    ).rows[0].n,
  );
const deadlocks = async () =>
  (await db.query('SELECT deadlocks::integer AS n FROM pg_stat_database WHERE datname = current_database()'))
    .rows[0].n;

const RECORD = `INSERT INTO form_submissions (practice_group_id, id, submission_type_id, local_day, submitted_at)
                VALUES ($1, $2, $3, '2026-11-16', now())`;
const TAKE_KEY = `INSERT INTO idempotency_keys (caller_id, key, body_hash, answer, created_at)
                  VALUES ($1, $2, '', '{}', now())`;

/** Another transaction has this locked meanwhile. */
async function whileLocked<T>(
  statement: string,
  values: unknown[],
  meanwhile: () => Promise<T>,
  end = 'COMMIT',
): Promise<T> {
  await db.query('BEGIN');
  try {
    await db.query(statement, values);
    return await meanwhile();
  } finally {
    await db.query(end);
  }
}
/** Until so many statements wait for a lock. Inside a transaction PostgreSQL would tell the same again and again. */
async function untilWaited({ by = '', count = 1 } = {}): Promise<void> {
  const waiting = `SELECT FROM pg_stat_activity
                    WHERE datname = current_database() AND wait_event_type = 'Lock' AND strpos(query, $1) > 0`;
  const look = async () => {
    await db.query('SELECT pg_stat_clear_snapshot()');
    return (await db.query(waiting, [by])).rowCount;
  };
  await expect.poll(look).toBeGreaterThanOrEqual(count);
}

describe('what comes at the same time', () => {
  it('shares a transaction, also of several practices', async () => {
    const other = await newGroup();
    const types = [await newType(), await newType(), await newType({}, other)];
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, n) =>
        form(types[n % 3] as string, fresh('form'), n % 3 === 2 ? other : groupId),
      ),
    );
    const rows = await rowsOf(answers.map(({ id }) => id));
    expect(rows).toHaveLength(60);
    expect(new Set(rows.map(({ xmin }) => xmin)).size).toBe(1);
  });

  it('is answered only after the commit', async () => {
    const type = await newType();
    let answered = false;
    const call = await whileLocked('LOCK TABLE new_events IN EXCLUSIVE MODE', [], async () => {
      const answer = sendForm(type).finally(() => {
        answered = true;
      });
      await untilWaited({ by: 'accept_events' });
      expect(answered).toBe(false);
      return { answer };
    });
    expect((await call.answer).status).toBe(201);
  });

  it('counts forms in the order of their arrival: the cap is exact within a batch', async () => {
    const [capped, free] = [await newType({ daily_limit: 5 }), await newType()];
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, n) => form(n % 2 === 0 ? capped : free)),
    );
    const marks = answers
      .filter(({ submission_type_id }) => submission_type_id === capped)
      .map(({ over_limit }) => over_limit);
    expect(marks).toEqual(marks.map((_, n) => n >= 5));
    expect(answers.filter(({ over_limit }) => over_limit)).toHaveLength(7);
    expect(await countOf(capped)).toBe(12);
    const [next] = await Promise.all([form(capped), form(free)]);
    expect(next.over_limit).toBe(true);
  });

  it('speaks of EHR health only on a change, and in order', async () => {
    const [flickering, steady] = [await newGroup(), await newGroup()];
    const said = ['healthy', 'healthy', 'unhealthy', 'healthy'] as const;
    const answers = await Promise.all([
      ...said.map((status) => report(flickering, status)),
      report(steady, 'unhealthy'),
    ]);
    expect(answers.map(({ changed }) => changed)).toEqual([true, false, true, true, true]);
    expect(await eventsOf(flickering)).toEqual(
      ['healthy', 'unhealthy', 'healthy'].map((status) => `ehr.health_status.${status}`),
    );
    expect(
      (await auditedOf(flickering)).filter(({ action }) => action === 'ehr_health.change'),
    ).toMatchObject([
      { before: { status: 'unknown' }, after: { status: 'healthy' } },
      { before: { status: 'healthy' }, after: { status: 'unhealthy' } },
      { before: { status: 'unhealthy' }, after: { status: 'healthy' } },
    ]);
    expect(await house.operator('GET', `/practice-groups/${flickering}/ehr-health`)).toEqual({
      status: 'healthy',
    });
  });

  it('takes a job from state to state: what comes after its end is told so', async () => {
    const [job, other] = [await newJob(), await newJob()];
    const outcomes = ['failed_for_now', 'failed_for_now', 'succeeded', 'failed'] as const;
    const answers = await Promise.allSettled([
      ...outcomes.map((outcome) => gathered.jobReports({ id: job, outcome, principal, requestId: 'r' })),
      gathered.jobReports({ id: other, outcome: 'failed', principal, requestId: 'r' }),
      gathered.jobReports({ id: 'wtr_none', outcome: 'failed', principal, requestId: 'r' }),
    ]);
    expect(answers.map((one) => (one.status === 'fulfilled' ? one.value.status : one.reason.code))).toEqual([
      'queued',
      'queued',
      'succeeded',
      'conflict',
      'failed',
      'not_found',
    ]);
    expect(await house.operator('GET', `/write-to-record-jobs/${job}`)).toMatchObject({
      status: 'succeeded',
      failed_attempts: 2,
    });
    expect(await eventsOf(job)).toEqual(['write-to-record.succeeded']);
    expect((await auditedOf(job)).map(({ action }) => action)).toEqual(
      ['create', 'fail', 'fail', 'succeed'].map((action) => `write_to_record_job.${action}`),
    );
  });

  it('begins jobs together, and none for a practice that is not there', async () => {
    const wanted = { practice_group_id: groupId, resource: 'Consultation', resource_id: 'c' };
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        send('/write-to-record-jobs', n === 7 ? { ...wanted, practice_group_id: 'nowhere' } : wanted),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map((_, n) => (n === 7 ? 422 : 201)));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(20);
  });

  it('keeps the trace of each call on its own event', async () => {
    const type = await newType();
    const ids = [fresh('form'), fresh('form')];
    const traces = ids.map((_, n) => `00-${'a'.repeat(31)}${n}-${'b'.repeat(16)}-01`);
    await Promise.all(
      ids.map((id, n) =>
        gathered.forms({ groupId, typeId: type, id, principal, requestId: 'r', traceparent: traces[n] }),
      ),
    );
    const { rows } = await db.query('SELECT traceparent FROM events WHERE object_id = ANY ($1) ORDER BY no', [
      ids,
    ]);
    expect(rows.map(({ traceparent }) => traceparent)).toEqual(traces);
  });
});

describe('one call never spoils its neighbours', () => {
  it('whatever it is refused for', async () => {
    const [type, other] = [await newType(), await newType()];
    const taken = (await form(type)).id;
    const twice = fresh('form');
    const answers = await Promise.allSettled([
      form(type),
      form(type, taken),
      form('no-such-type'),
      form(type, fresh('form'), 'nobody'),
      form(type, twice),
      form(other, twice),
      form(other),
    ]);
    expect(answers.map((one) => (one.status === 'fulfilled' ? 'done' : one.reason.code))).toEqual([
      'done',
      'conflict',
      'business_rule_violation',
      'not_found',
      'done',
      'conflict',
      'done',
    ]);
    expect(await countOf(type)).toBe(3);
    expect(await countOf(other)).toBe(1);
  });

  it('when what it is about is locked by somebody else', async () => {
    const [locked, free, other] = [await newType(), await newType(), await newType()];
    const [lockedGroup, freeGroup] = [await newGroup(), await newGroup()];
    const [lockedJob, freeJob] = [await newJob(), await newJob()];
    const done: string[] = [];
    const note = (name: string) => () => void done.push(name);
    const job = (id: string) => gathered.jobReports({ id, outcome: 'succeeded', principal, requestId: 'r' });
    const lock = `SELECT FROM submission_types s, practice_groups g, write_to_record_jobs j
                   WHERE s.id = $1 AND g.id = $2 AND j.id = $3 FOR UPDATE OF s, g, j`;
    const waiting = await whileLocked(lock, [locked, lockedGroup, lockedJob], async () => {
      const held = [
        form(locked).then(note('form')),
        report(lockedGroup, 'healthy').then(note('report')),
        job(lockedJob).then(note('job')),
        form(locked).then(note('form')),
      ];
      const neighbours = [form(free), form(other)];
      await Promise.all([...neighbours, report(freeGroup, 'healthy'), job(freeJob)]);
      expect(done).toEqual([]);
      // They went on together: not each by itself, once they had waited long enough.
      const rows = await rowsOf((await Promise.all(neighbours)).map(({ id }) => id));
      expect(rows[0]?.xmin).toBe(rows[1]?.xmin);
      return { held };
    });
    await Promise.all(waiting.held);
    expect(done.toSorted()).toEqual(['form', 'form', 'job', 'report']);
    expect(await countOf(locked)).toBe(2);
  });

  it('when it begins a job of a practice that is locked by somebody else', async () => {
    const locked = await newGroup();
    const begin = (group: string) =>
      gathered.newJobs({
        id: fresh('job'),
        wanted: { practice_group_id: group, resource: 'Consultation', resource_id: 'c' },
        principal,
        requestId: 'r',
      });
    const lock = 'SELECT FROM practice_groups WHERE id = $1 FOR UPDATE';
    const waiting = await whileLocked(lock, [locked], async () => {
      const held = Array.from({ length: 8 }, () => begin(locked));
      expect((await begin(groupId)).status).toBe('queued');
      // All of them wait as one.
      await untilWaited();
      await db.query('SELECT pg_stat_clear_snapshot()');
      const { rowCount } = await db.query(
        "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      );
      expect(rowCount).toBe(1);
      return { held };
    });
    expect(await Promise.all(waiting.held)).toHaveLength(8);
  });

  it('nor those who come next, when two wait for what somebody else has locked', async () => {
    const [one, two, free] = [await newType(), await newType(), await newType()];
    const lock = 'SELECT FROM submission_types WHERE id IN ($1, $2) FOR UPDATE';
    const waiting = await whileLocked(lock, [one, two], async () => {
      const held = [form(one)];
      await untilWaited();
      held.push(form(two));
      await untilWaited({ count: 2 });
      expect((await form(free)).submission_type_id).toBe(free);
      return { held };
    });
    expect(await Promise.all(waiting.held)).toHaveLength(2);
  });

  it('nor those who come next, when two have keys that somebody else has', async () => {
    const [type, keys] = [await newType(), [fresh('key'), fresh('key')]];
    const take = `INSERT INTO idempotency_keys (caller_id, key, body_hash, answer, created_at)
                  SELECT $1, key, '', '{}', now() FROM unnest($2::text[]) AS key`;
    const waiting = await whileLocked(
      take,
      [principal.operatorId, keys],
      async () => {
        const held: Promise<unknown>[] = [];
        for (const key of keys) {
          held.push(
            gathered.forms({ groupId, principal, requestId: 'r', typeId: type, id: key, keep: keepAs(key) }),
          );
          await untilWaited({ count: held.length });
        }
        await form(type);
        return { held };
      },
      'ROLLBACK',
    );
    expect(await Promise.all(waiting.held)).toHaveLength(2);
  });

  it('nor everybody else, when many wait: three connections are enough for them', async () => {
    const types = await Promise.all(Array.from({ length: 15 }, () => newType()));
    const lock = 'SELECT FROM submission_types WHERE id = ANY ($1) FOR UPDATE';
    const waiting = await whileLocked(lock, [types.slice(1)], async () => {
      const held = types.slice(1).map((type) => form(type));
      await untilWaited({ count: 3 });
      await form(types[0] as string);
      await house.operator('GET', `/practice-groups/${groupId}`);
      await db.query('SELECT pg_stat_clear_snapshot()');
      const { rowCount } = await db.query(
        "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      );
      expect(rowCount).toBe(3);
      return { held };
    });
    expect(await Promise.all(waiting.held)).toHaveLength(14);
  });

  it('when it waited for the same lock, and then for an ID that is taken', async () => {
    const [locked, free] = [await newType(), await newType()];
    const [id, recorder] = [fresh('form'), await superuser(house.databaseUrl)];
    await recorder.query('BEGIN');
    await recorder.query(RECORD, [groupId, id, free]);
    const lock = 'SELECT FROM submission_types WHERE id = $1 FOR UPDATE';
    const waiting = await whileLocked(lock, [locked], async () => {
      const calls = [form(locked, id), form(locked), form(free)];
      const settled = Promise.allSettled(calls);
      await calls[2];
      await untilWaited();
      return { settled };
    });
    await untilWaited({ by: 'INSERT INTO form_submissions' });
    await recorder.query('COMMIT');
    const statuses = (await waiting.settled).map(({ status }) => status);
    expect(statuses).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    expect(await countOf(locked)).toBe(1);
  });

  it('when somebody else has its key, and stands still', async () => {
    const [one, two, key] = [await newType(), await newType(), fresh('key')];
    const call = { groupId, principal, requestId: 'r' };
    const waiting = await whileLocked(
      TAKE_KEY,
      [principal.operatorId, key],
      async () => {
        const keyed = gathered.forms({ ...call, typeId: one, id: fresh('form'), keep: keepAs(key) });
        await Promise.all([form(two), form(one)]);
        return { keyed };
      },
      'ROLLBACK',
    );
    await waiting.keyed;
    expect(await countOf(one)).toBe(2);
  });

  it('when another form of its ID is being recorded for another type', async () => {
    const [type, other] = [await newType(), await newType()];
    const id = fresh('form');
    const calls = await whileLocked(RECORD, [groupId, id, type], async () => {
      const answers = [sendForm(other, { id }), sendForm(other), sendForm(type)];
      await untilWaited();
      return { answers };
    });
    const statuses = (await Promise.all(calls.answers)).map(({ status }) => status);
    expect(statuses).toEqual([409, 201, 201]);
    expect(await countOf(other)).toBe(1);
  });
});

describe('an Idempotency-Key', () => {
  it('is taken once, on two nodes and by a dozen calls at once', async () => {
    const other = await startHarness({ databaseUrl: house.databaseUrl });
    const [type, key] = [await newType(), fresh('key')];
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, n) => sendForm(type, { key, at: n % 2 ? other : house })),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers['idempotent-replayed'] === undefined)).toHaveLength(1);
    expect(await countOf(type)).toBe(1);
  });

  it('tells the answer of that time, and 409 to another body', async () => {
    const [type, key] = [await newType({ daily_limit: 1 }), fresh('key')];
    const first = await sendForm(type, { key });
    const answers = await Promise.all([
      sendForm(type, { key }),
      sendForm(type, { key, id: fresh('form') }),
      sendForm(type),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([201, 409, 201]);
    expect(answers[0]?.text).toBe(first.text);
    expect(answers[2]?.body.over_limit).toBe(true);
    expect(await countOf(type)).toBe(2);
  });

  it('of a call that was refused is free again, beside neighbours that used theirs', async () => {
    const type = await newType();
    const later = fresh('kind');
    const [used, refused] = [fresh('key'), fresh('key')];
    const answers = await Promise.all([sendForm(type, { key: used }), sendForm(later, { key: refused })]);
    expect(answers.map(({ status }) => status)).toEqual([201, 422]);
    const { rows } = await db.query('SELECT key FROM idempotency_keys WHERE key = ANY ($1)', [
      [used, refused],
    ]);
    expect(rows).toEqual([{ key: used }]);
    await house.operator('POST', `/practice-groups/${groupId}/submission-types`, {
      id: later,
      pathway_id: 'p',
      title: 'T',
    });
    expect((await sendForm(later, { key: refused })).status).toBe(201);
  });

  it('of a call that waits for a lock is kept as any other', async () => {
    const [locked, free, key] = [await newType(), await newType(), fresh('key')];
    const lock = 'SELECT FROM submission_types WHERE id = $1 FOR UPDATE';
    const waiting = await whileLocked(lock, [locked], async () => {
      const answer = sendForm(locked, { key });
      await Promise.all([sendForm(free), sendForm(free)]);
      await untilWaited();
      return { answer };
    });
    const first = await waiting.answer;
    expect(first.status).toBe(201);
    expect((await sendForm(locked, { key })).text).toBe(first.text);
  });

  it('on every kind of report on a job', async () => {
    const keys = [fresh('key'), fresh('key'), fresh('key')];
    const body = { practice_group_id: groupId, resource: 'Consultation', resource_id: 'c' };
    const created = await send('/write-to-record-jobs', body, keys[0]);
    const path = `/write-to-record-jobs/${created.body.id}`;
    const failed = await send(`${path}/fail`, { permanent: false }, keys[1]);
    const succeeded = await send(`${path}/succeed`, undefined, keys[2]);
    expect([created.status, failed.status, succeeded.status]).toEqual([201, 200, 200]);
    const again = await Promise.all([
      send('/write-to-record-jobs', body, keys[0]),
      send(`${path}/fail`, { permanent: false }, keys[1]),
      send(`${path}/succeed`, undefined, keys[2]),
    ]);
    expect(again.map(({ text }) => text)).toEqual([created.text, failed.text, succeeded.text]);
    expect(await eventsOf(created.body.id)).toEqual(['write-to-record.succeeded']);
  });

  it('repairs what a kill between the commit and the answer leaves', async () => {
    const proxy = await startDatabaseProxy(house.databaseUrl);
    const porter = await startPorter(await freePort(), {
      DATABASE_URL: proxy.url,
      PORTER_DATA_DIR: newDataDir(),
      PORTER_MASTER_KEY: MASTER_KEY,
    });
    const [type, key, id] = [await newType(), fresh('key'), fresh('form')];
    // The last lock that it needs, and the one that it is patient for: COMMIT is on its way behind it.
    const call = await whileLocked('SELECT FROM audit_head FOR UPDATE', [], async () => {
      const answer = fetch(`${porter.url}/operator/v1/practice-groups/${groupId}/form-submissions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${OPERATOR_TOKEN}`,
          'content-type': 'application/json',
          'idempotency-key': key,
        },
        body: JSON.stringify({ submission_type_id: type, id }),
      }).then(
        ({ status }) => status,
        () => 'nothing',
      );
      await untilWaited({ by: 'audit_append' });
      proxy.cut('mute');
      return { answer };
    });
    await expect.poll(() => rowsOf([id])).toHaveLength(1);
    await kill(porter);
    expect(await call.answer).toBe('nothing');
    const again = await sendForm(type, { key, id });
    expect(again).toMatchObject({ status: 201, body: { id } });
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect((await sendForm(type, { id })).status).toBe(409);
    expect(await countOf(type)).toBe(1);
    expect(await eventsOf(id)).toEqual(['form-submission.created']);
  });
});

describe('two nodes', () => {
  it('that are told of the same practices in crossing order agree, and never deadlock', async () => {
    const other = await startHarness({ databaseUrl: house.databaseUrl });
    const groups = [await newGroup(), await newGroup(), await newGroup()];
    const types: string[] = [];
    for (const group of groups) types.push(await newType({}, group));
    const before = await deadlocks();
    const rounds = 20;
    for (let round = 0; round < rounds; round++) {
      const jobs = await Promise.all(groups.map((group) => newJob(group)));
      const crossing = groups.flatMap((group, n) => {
        const typeId = types[n] as string;
        return [
          (at: Harness) => sendForm(typeId, { key: `crossing-${round}-${n}`, at, group }),
          (at: Harness) => sendForm(typeId, { at, group }),
          (at: Harness) =>
            at.send('PUT', `/operator/v1/practice-groups/${group}/ehr-health`, {
              token: OPERATOR_TOKEN,
              body: { status: round % 2 ? 'healthy' : 'unhealthy' },
            }),
          (at: Harness) => send(`/write-to-record-jobs/${jobs[n]}/fail`, { permanent: false }, undefined, at),
        ];
      });
      const answers = await Promise.all([
        ...crossing.map((call) => call(house)),
        ...crossing.toReversed().map((call) => call(other)),
      ]);
      expect(answers.filter(({ status }) => status >= 300)).toEqual([]);
    }
    expect(await deadlocks()).toBe(before);
    // Of each round: one with a key, however many nodes were asked, and one of each node without.
    for (const type of types) expect(await countOf(type)).toBe(3 * rounds);
    for (const group of groups) expect(await eventsOf(group)).toHaveLength(rounds);
  });

  it.each(['keys', 'IDs'])(
    'that take the same %s in crossing order wait for each other, and never deadlock',
    async (what) => {
      const other = await startHarness({ databaseUrl: house.databaseUrl });
      const [one, two] = [await newType(), await newType()];
      const names = ['first', 'middle', 'last'].map((name) => fresh(name));
      const [, middle] = names;
      const take = (node: typeof gathered, typeId: string) => (name: string) =>
        node
          .forms({
            groupId,
            typeId,
            principal,
            requestId: 'r',
            ...(what === 'IDs' ? { id: name } : { id: fresh('form'), keep: keepAs(name) }),
          })
          .then(
            () => 'fulfilled',
            () => 'rejected',
          );
      const before = await deadlocks();
      const insert = what === 'IDs' ? RECORD : TAKE_KEY;
      // Both have begun, and neither can have taken all that it wants.
      const { calls } = await whileLocked(
        insert,
        what === 'IDs' ? [groupId, middle, 'none'] : [principal.operatorId, middle],
        async () => {
          const calls = names.map(take(gathered, one));
          await untilWaited({ count: 1 });
          calls.push(...names.toReversed().map(take(other.service.app.gathered, two)));
          await untilWaited({ count: 2 });
          return { calls };
        },
        'ROLLBACK',
      );
      const done = await Promise.all(calls);
      const ofBoth = names.map((_, n) => [done[n], done.at(-1 - n)].toSorted());
      expect(ofBoth).toEqual(names.map(() => ['fulfilled', 'rejected']));
      expect(await deadlocks()).toBe(before);
    },
  );
});

function keepAs(key: string) {
  const { clock, sealer } = house.service.app;
  return {
    callerId: principal.operatorId,
    key,
    bodyHash: Buffer.from(key),
    at: new Date(clock.now()).toISOString(),
    expiresAt: new Date(clock.now() + 1_000).toISOString(),
    seal: (body: unknown) => sealer.seal(Buffer.from(JSON.stringify(body)), key),
  };
}

it('whatever comes at once on two nodes, the count, the marks, the forms, the events and the audit agree', async () => {
  const other = await startHarness({ databaseUrl: house.databaseUrl });
  const { groupId: otherGroup } = await makeWorld(house);
  const call = fc.record({
    type: fc.constantFrom('capped', 'capped', 'free', 'foreign', 'unknown'),
    id: fc.constantFrom(undefined, undefined, 'a', 'b'),
    key: fc.constantFrom(undefined, 'k1', 'k2'),
    node: fc.constantFrom(house, other),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 24 }), async (calls) => {
      const round = fresh('round');
      const types: Record<string, string> = {
        capped: await newType({ daily_limit: 3 }),
        free: await newType(),
        foreign: await newType({}, otherGroup),
        unknown: fresh('kind'),
      };
      const answers = await Promise.all(
        calls.map(({ type, id, key, node }) =>
          sendForm(types[type] as string, {
            at: node,
            group: type === 'foreign' ? otherGroup : groupId,
            ...(id && { id: `${round}-${id}` }),
            ...(key && { key: `${round}-${key}` }),
          }),
        ),
      );
      const forms = new Map<string, Loose>();
      answers.forEach(({ status, body, headers }, n) => {
        const { type, id, key } = calls[n] as (typeof calls)[number];
        const mayConflict = id !== undefined || key !== undefined;
        if (type === 'unknown' && key === undefined) expect(status).toBe(422);
        else expect(mayConflict ? [201, 409, 422] : [201]).toContain(status);
        if (status !== 201) return;
        const known = forms.get(`${body.practice_group_id} ${body.id}`);
        if (known) expect(body).toEqual(known);
        forms.set(`${body.practice_group_id} ${body.id}`, body);
        if (headers['idempotent-replayed']) expect(key).toBeDefined();
      });
      const told = [...forms.values()];
      expect(
        answers.filter(({ status, headers }) => status === 201 && !headers['idempotent-replayed']),
      ).toHaveLength(told.length);
      const capped = told.filter(({ submission_type_id }) => submission_type_id === types.capped);
      expect(capped.filter(({ over_limit }) => over_limit)).toHaveLength(Math.max(0, capped.length - 3));
      for (const type of Object.values(types)) {
        const ofType = told.filter(({ submission_type_id }) => submission_type_id === type);
        expect(await countOf(type)).toBe(ofType.length);
        const { rows } = await db.query(
          `SELECT f.id, (SELECT count(*)::integer FROM events e
                          WHERE e.practice_group_id = f.practice_group_id AND e.object_id = f.id) AS events,
                  (SELECT count(*)::integer FROM audit_entries a
                    WHERE a.practice_group_id = f.practice_group_id AND a.subject_id = f.id) AS entries
             FROM form_submissions f WHERE f.submission_type_id = $1 ORDER BY f.id`,
          [type],
        );
        const wanted = ofType.map(({ id }) => ({ id, events: 1, entries: 1 }));
        expect(rows.toSorted(byId)).toEqual(wanted.toSorted(byId));
      }
    }),
    { numRuns: 30 },
  );
});

const byId = (a: Loose, b: Loose) => (a.id < b.id ? -1 : 1);
