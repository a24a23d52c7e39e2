import { describe, expect, it } from 'vitest';
import { SYSTEM } from '../../../src/domain/access/principal.ts';
import { AuditVerification } from '../../../src/runtime/oversight/audit-verification.ts';
import { appendAudit } from '../../../src/store/audit-append.ts';
import { transact } from '../../../src/store/database.ts';
import { expectInvalid } from '../../support/answers.ts';
import { entriesAfter, lastEntry } from '../../support/audit.ts';
import { createOwnedDatabase } from '../../support/logins.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { fanOutAll, HOOK, newPartner, publish } from '../../support/post.ts';
import { ok, startReceiver } from '../../support/receiver.ts';
import { type Harness, makeWorld, OPERATOR_TOKEN, startHarness } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

/** One operation takes an object's identifiers out of everything that is kept, and the audit stays verifiable. */

const ID = 'NHS-943-476-5919';

/** Every text of every table that holds the identifier. */
async function placesOf(house: Harness, id: string): Promise<string[]> {
  const db = await superuser(house.databaseUrl);
  const { rows } = await db.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1");
  const places: string[] = [];
  for (const { tablename } of rows) {
    const found = await db.query(
      `SELECT count(*)::integer AS n FROM ${tablename} t WHERE strpos(t::text, $1) > 0`,
      [id],
    );
    if (found.rows[0].n > 0) places.push(tablename);
  }
  return places;
}

const erase = (house: Harness, practice_group_id: string, object: string, object_id = ID) =>
  house.operator('POST', '/erasures', { practice_group_id, object, object_id });

describe('POST /operator/v1/erasures', () => {
  it('takes an object in capitals or not, and refuses what is nearly the name of one', async () => {
    const house = await startHarness();
    const { groupId } = await newPartner(house);
    const erasing = (object: string, object_id: string) =>
      house.send('POST', '/operator/v1/erasures', {
        token: OPERATOR_TOKEN,
        body: { practice_group_id: groupId, object, object_id },
      });
    await publish(house, groupId, ['appointment.confirmed', 'apt-1']);
    expect((await erasing('appointment', 'apt-1')).body).toMatchObject({
      object: 'Appointment',
      erased: { events: 1 },
    });
    const misspelled = await erasing('Appointmnt', 'apt-2');
    expectInvalid(misspelled, [{ code: 'invalid_value', path: ['object'] }]);
    expect(misspelled.text).toContain('it is probably Appointment');
    // It may be what a job is to write.
    await house.operator('POST', '/write-to-record-jobs', {
      practice_group_id: groupId,
      resource: 'Appointmnt',
      resource_id: 'apt-2',
    });
    expect((await erasing('Appointmnt', 'apt-2')).body.erased).toMatchObject({ write_to_record_jobs: 1 });
    expect((await erasing('Observation', 'obs-1')).status).toBe(200);
  });

  it('leaves the identifier in no table, and nothing but the identifier is gone', async () => {
    const house = await startHarness();
    const db = await superuser(house.databaseUrl);
    const receiver = await startReceiver({
      behaviour: (response, { body }) => response.end(`thank you for ${body}`),
    });
    const partner = await newPartner(house);
    const { groupId } = partner;
    await partner.call('POST', '/v1/webhooks', { url: receiver.url });
    await house.operator('POST', `/practice-groups/${groupId}/form-submissions`, {
      submission_type_id: 'type-1',
      id: ID,
    });
    await house.send('POST', '/operator/v1/events', {
      token: OPERATOR_TOKEN,
      headers: { 'idempotency-key': 'once' },
      body: {
        object: 'FormSubmission',
        id: ID,
        practice_group_id: groupId,
        event: 'form-submission.created',
      },
    });
    const job = await house.operator('POST', '/write-to-record-jobs', {
      practice_group_id: groupId,
      resource: 'formsubmission',
      resource_id: ID,
    });
    await house.operator('POST', `/write-to-record-jobs/${job.id}/succeed`);
    await publish(house, groupId, ['appointment.confirmed', 'other-object']);
    await expect.poll(() => receiver.received.length).toBe(4);
    await partner.send('GET', `/v1/nothing/${ID}`);
    await partner.call('GET', '/v1/events');
    await house.operator('GET', `/practice-groups/${groupId}/form-submissions/${ID}`);
    await house.service.app.refusals.flush();
    await house.service.app.accessLog.flush();
    const delivered = async () =>
      (await db.query("SELECT FROM deliveries WHERE state = 'delivered'")).rowCount;
    await expect.poll(delivered).toBe(4);
    expect(await placesOf(house, ID)).toEqual([
      'access_log',
      'audit_entries',
      'deliveries',
      'events',
      'form_submissions',
      'refused_requests',
      'write_to_record_jobs',
    ]);
    const last = await lastEntry(house);
    const counts = await db.query('SELECT count(*)::integer AS n FROM events');

    const erasure = await erase(house, groupId, 'FormSubmission');
    expect(erasure).toMatchObject({
      id: expect.stringMatching(/^era_/),
      erased: {
        events: 3,
        deliveries: 3,
        deliveries_withdrawn: 0,
        form_submissions: 1,
        write_to_record_jobs: 1,
        audit_entries: 3,
        refused_requests: 1,
        idempotency_keys: 1,
        access_log_entries: 1,
      },
      recipients: [
        { partner_id: partner.partnerId, deliveries: 3, under_way: 0, reads: 1, last_at: expect.any(String) },
      ],
    });
    expect(await placesOf(house, ID)).toEqual([]);
    expect(await placesOf(house, 'other-object')).not.toEqual([]);
    expect(await db.query('SELECT count(*)::integer AS n FROM events')).toMatchObject({ rows: counts.rows });
    expect(await house.operator('GET', '/audit/verify')).toMatchObject({ ok: true });
    expect(await entriesAfter(house, last)).toHaveLength(3);
    const entry = (
      await house.operator('GET', `/audit?subject_id=${erasure.id}&action=form_submission.create`)
    ).data[0];
    expect(entry).toMatchObject({ erased_by: erasure.id, request_id: null, after: { id: erasure.id } });
    const feed = await partner.call('GET', '/v1/events');
    expect(feed.data.map(({ data }: { data: { id: string } }) => data.id)).toEqual(['other-object']);
    expect(await house.operator('GET', `/erasures/${erasure.id}`)).toEqual(erasure);
    expect((await house.operator('GET', `/erasures?practice_group_id=${groupId}`)).data).toEqual([erasure]);
  });

  it('what is queued is not sent, and its log says why; what comes behind it is', async () => {
    const house = await startHarness({ env: { PORTER_ROLE: 'api' } });
    const partner = await newPartner(house);
    const { id } = await partner.call('POST', '/v1/webhooks', { url: HOOK });
    await publish(
      house,
      partner.groupId,
      ['patient.added-to-sequence', ID],
      ['patient.added-to-sequence', 'kept'],
    );
    await fanOutAll(house);
    await publish(house, partner.groupId, ['patient.added-to-sequence', ID]);
    const erasure = await erase(house, partner.groupId, 'Patient');
    expect(erasure.erased).toMatchObject({ events: 2, deliveries: 1, deliveries_withdrawn: 1 });
    expect(erasure.recipients).toEqual([]);
    await fanOutAll(house);

    const receiver = await startReceiver({ behaviour: ok });
    await partner.call('PATCH', `/v1/webhooks/${id}`, { url: receiver.url });
    const worker = await startHarness({ databaseUrl: house.databaseUrl, clock: house.clock });
    const log = async () => (await partner.call('GET', `/v1/webhooks/${id}/deliveries`)).data;
    await expect.poll(async () => (await log())[0].status).toBe('delivered');
    const data = await log();
    expect(data).toMatchObject([
      { sequence: 2, status: 'delivered', object_id: 'kept' },
      {
        sequence: 1,
        status: 'failed',
        object_id: erasure.id,
        attempts: [{ code: 'erased', outcome: 'failed' }],
      },
    ]);
    const replay = await partner.call('POST', `/v1/webhooks/${id}/replay`, { event_ids: [data[1].event_id] });
    expect(replay).toEqual({ count: 0 });
    const retry = await house.send('POST', `/operator/v1/deliveries/${data[1].id}/retry`, {
      token: OPERATOR_TOKEN,
    });
    expect(retry.status).toBe(409);
    await worker.stop();
    expect(receiver.received.map(({ body }) => JSON.parse(body).id)).toEqual(['kept']);
  });

  it('a worker that has fetched deliveries ahead sends none of them after the answer', async () => {
    const house = await startHarness();
    let answer = () => {};
    const open = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const receiver = await startReceiver({
      behaviour: (response) => void open.then(() => response.end()),
    });
    const partner = await newPartner(house);
    await partner.call('POST', '/v1/webhooks', { url: receiver.url });
    const others = Array.from({ length: 40 }, (_, n) => ['patient.added-to-sequence', `other-${n}`] as const);
    await publish(
      house,
      partner.groupId,
      ...others.map(([event, id]): [typeof event, string] => [event, id]),
    );
    await publish(house, partner.groupId, ['patient.added-to-sequence', ID]);
    await expect.poll(() => receiver.received.length).toBeGreaterThan(0);
    const { erased } = await erase(house, partner.groupId, 'Patient');
    expect(erased.deliveries_withdrawn).toBe(1);
    // The manual clock does not wait; the worker looks twice a second.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    answer();
    await expect.poll(() => receiver.received.length).toBeGreaterThanOrEqual(40);
    expect(receiver.received.map(({ body }) => JSON.parse(body).id)).not.toContain(ID);
  });

  it('only the object that is named: neither another type, nor another practice, nor a longer ID', async () => {
    const house = await startHarness({ env: { PORTER_ROLE: 'api' } });
    const { groupId } = await makeWorld(house);
    const other = await makeWorld(house);
    await publish(house, groupId, ['appointment.confirmed', ID], ['prescription.issued', `${ID}-1`]);
    await publish(house, other.groupId, ['prescription.issued', ID]);
    const erasure = await erase(house, groupId, 'Prescription');
    expect(erasure.erased.events).toBe(0);
    expect(await placesOf(house, ID)).toEqual(['events']);
  });

  it('goes through the refused calls of a practice whose client hammers on in several transactions', async () => {
    const house = await startHarness({ env: { PORTER_ROLE: 'api' } });
    const db = await superuser(house.databaseUrl);
    const { groupId, partnerId } = await newPartner(house);
    await db.query(
      `INSERT INTO refused_requests (partner_id, request_id, at, key_id, practice_group_id, method, path, operation, status, body)
       SELECT $1, 'r', now(), 'key_1', $2, 'GET', CASE WHEN n % 20000 = 1 THEN '/v1/things/' || $3 ELSE '/v1/events' END, 'listEvents', 429, '{}'
         FROM generate_series(1, 40001) AS n`,
      [partnerId, groupId, ID],
    );
    expect((await erase(house, groupId, 'Patient')).erased.refused_requests).toBe(3);
    const { rows } = await db.query("SELECT xmin FROM refused_requests WHERE path LIKE '%/era\\_%'");
    expect(new Set(rows.map(({ xmin }) => xmin)).size).toBe(3);
  });

  it('is for admins, and for practice groups that exist', async () => {
    const house = await startHarness({ env: { PORTER_ROLE: 'api' } });
    const answer = await house.send('POST', '/operator/v1/erasures', {
      token: OPERATOR_TOKEN,
      body: { practice_group_id: 'nobody', object: 'Patient', object_id: ID },
    });
    expect(answer).toMatchObject({ status: 422, body: { rule: 'practice_group_unknown' } });
    const health = await house.send('POST', '/operator/v1/erasures', {
      token: OPERATOR_TOKEN,
      body: { practice_group_id: 'nobody', object: 'EhrHealthStatus', object_id: 'nobody' },
    });
    expect(health).toMatchObject({ status: 400, body: { message: [{ path: ['object'] }] } });
  });
});

describe('the audit after an erasure', () => {
  async function erased() {
    const house = await startHarness({ env: { PORTER_ROLE: 'api' } });
    const { groupId } = await makeWorld(house);
    const db = await superuser(house.databaseUrl);
    await house.operator('POST', `/practice-groups/${groupId}/form-submissions`, {
      submission_type_id: 'type-1',
      id: ID,
    });
    const { rows } = await db.query(
      "SELECT seq, body FROM audit_entries WHERE action = 'form_submission.create'",
    );
    await house.operator('PUT', `/practice-groups/${groupId}/forms/form-2`, { title: 'Later' });
    const erasure = await erase(house, groupId, 'FormSubmission');
    await db.query('ALTER TABLE audit_entries DISABLE TRIGGER USER');
    const seq = Number(rows[0].seq);
    return { house, db, seq, original: rows[0].body as string, erasure };
  }

  it.each([
    ['the redacted entry is changed again', 0, "body = replace(body, 'type-1', 'type-2')"],
    // The one behind it was hashed with the true one.
    ['the hash of the redacted entry is changed', 1, "hash = sha256('x')"],
    [
      'the redacted entry is passed off as of another erasure',
      0,
      "body = replace(body, 'era_', 'erb_'), subject_id = replace(subject_id, 'era_', 'erb_')",
    ],
  ])('%s: it comes out', async (_what, behind, change) => {
    const { house, db, seq } = await erased();
    expect(await house.operator('GET', '/audit/verify')).toMatchObject({ ok: true });
    await db.query(`UPDATE audit_entries SET ${change} WHERE seq = $1`, [seq]);
    expect(await house.operator('GET', '/audit/verify')).toMatchObject({
      ok: false,
      first_bad: seq + behind,
    });
  });

  it('the entry before the redacted one cannot be swapped for another with a chain of its own', async () => {
    const { house, db, seq } = await erased();
    // Rewritten from the origin up to the redacted entry, as whoever can write to the tables could.
    await db.query(
      `DO $$ DECLARE e record; last bytea := sha256('porter'); BEGIN
         FOR e IN SELECT * FROM audit_entries WHERE seq < ${seq} ORDER BY seq LOOP
           IF e.seq = 1 THEN e.body := replace(e.body, '"admin"', '"viewer"'); END IF;
           last := sha256(last || convert_to(e.seq || ':' || e.body, 'UTF8'));
           UPDATE audit_entries SET body = e.body, hash = last WHERE seq = e.seq;
         END LOOP;
       END $$`,
    );
    expect(await house.operator('GET', '/audit/verify')).toMatchObject({ ok: false, first_bad: seq });
  });

  it('an erasure that is undone comes out as well', async () => {
    const { house, db, seq, original } = await erased();
    await db.query('UPDATE audit_entries SET body = $2, subject_id = $3 WHERE seq = $1', [seq, original, ID]);
    expect(await house.operator('GET', '/audit/verify')).toMatchObject({ ok: false, first_bad: seq });
  });

  it('an entry that only says that it was erased is not believed', async () => {
    const { house, db } = await erased();
    await db.query(
      `UPDATE audit_entries SET body = (body::jsonb || '{"erased_by": "era_x", "before": {"a": 1}}')::text WHERE seq = 2`,
    );
    expect(await house.operator('GET', '/audit/verify')).toMatchObject({ ok: false, first_bad: 2 });
  });

  it('an anchor from before the erasure holds', async () => {
    const house = await startHarness({ env: { PORTER_ROLE: 'api' } });
    const { groupId } = await makeWorld(house);
    const path = `/practice-groups/${groupId}/form-submissions`;
    await house.operator('POST', path, { submission_type_id: 'type-1', id: ID });
    const { line, seq } = await house.operator('GET', '/audit/anchor');
    expect((await erase(house, groupId, 'FormSubmission')).erased).toMatchObject({ audit_entries: 1 });
    const verdict = await house.operator('GET', `/audit/verify?anchor=${encodeURIComponent(line)}`);
    expect(verdict).toMatchObject({ ok: true, anchor: { seq } });
    expect(verdict.anchor).not.toHaveProperty('problem');
  });

  it('an erasure in the middle of a walk: the walk is made again', async () => {
    const house = await startHarness({ env: { PORTER_ROLE: 'api' } });
    const { groupId } = await makeWorld(house);
    const { db } = house.service.app;
    const filling = {
      at: new Date(house.clock.now()).toISOString(),
      principal: SYSTEM,
      action: 'event.test' as const,
      subject: { type: 'x', id: 'x' },
      requestId: null,
      before: null,
      after: null,
    };
    // More than one stretch, so that the walk rests before it comes to the entry.
    await transact(db, SYSTEM, async (tx) => {
      appendAudit(tx.deferred, [filling, ...Array.from({ length: 600 }, () => filling)]);
    });
    const path = `/practice-groups/${groupId}/form-submissions`;
    await house.operator('POST', path, { submission_type_id: 'type-1', id: ID });
    let time = 0;
    let rests = 0;
    const clock = Object.assign(new ManualClock(), {
      monotonic: () => (time += 5),
      sleep: async () => {
        rests++;
        if (rests === 1) await erase(house, groupId, 'FormSubmission');
      },
    });
    const verdict = await new AuditVerification(db, clock).verify(new AbortController().signal);
    expect(verdict).toMatchObject({ ok: true });
    expect(rests).toBeGreaterThan(2);
  });

  it('what is left of a redacted entry tells nothing to whoever tries identifiers', async () => {
    const { original, db, seq } = await erased();
    expect(JSON.parse(original).salt).toMatch(/^\w{22}$/);
    const { rows } = await db.query('SELECT body FROM audit_entries WHERE seq = $1', [seq]);
    expect(JSON.parse(rows[0].body)).not.toHaveProperty('salt');
    expect(rows[0].body).not.toContain(JSON.parse(original).salt);
  });

  it('is redacted and verified where the login owns the database, too', async () => {
    const house = await startHarness({
      databaseUrl: await createOwnedDatabase(),
      env: { PORTER_ROLE: 'api' },
    });
    const { groupId } = await makeWorld(house);
    const path = `/practice-groups/${groupId}/form-submissions`;
    await house.operator('POST', path, { submission_type_id: 'type-1', id: ID });
    expect((await erase(house, groupId, 'FormSubmission')).erased).toMatchObject({ audit_entries: 1 });
    expect(await house.operator('GET', '/audit/verify')).toMatchObject({ ok: true });
    expect((await house.operator('GET', `/audit?subject_id=${ID}`)).data).toEqual([]);
  });

  it('the database changes entries for erasures alone', async () => {
    const house = await startHarness({ env: { PORTER_ROLE: 'api' } });
    await makeWorld(house);
    const db = await superuser(house.databaseUrl);
    await expect(db.query("UPDATE audit_entries SET body = '{}' WHERE seq = 1")).rejects.toThrow(
      'never changed',
    );
    await expect(
      db.query("BEGIN; SET LOCAL porter.redacts = '1'; UPDATE audit_entries SET hash = '' WHERE seq = 1"),
    ).rejects.toThrow('never changed');
    await db.query('ROLLBACK');
    await expect(db.query('DELETE FROM audit_entries WHERE seq = 1')).rejects.toThrow('never changed');
  });
});
