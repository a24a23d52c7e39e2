import { beforeAll, describe, expect, it } from 'vitest';
import { SYSTEM } from '../../../src/domain/access/principal.ts';
import { type Transaction, transact } from '../../../src/store/database.ts';
import { listDeliveryPage } from '../../../src/store/events/deliveries-read.ts';
import { listEventPage } from '../../../src/store/events/events.ts';
import { listAuditEntries } from '../../../src/store/oversight/audit.ts';
import { listRefusalPage } from '../../../src/store/oversight/refusals.ts';
import { listSubmissionTypePage } from '../../../src/store/practices/submission-types.ts';
import { listJobPage } from '../../../src/store/practices/write-to-record-jobs.ts';
import { startHarness } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

/**
 * What a page costs where there is much. Statements are prepared, and after a few calls PostgreSQL may go over to a plan
 * that it made for all values alike, so each is looked at with both kinds of plan.
 */

const WEBHOOKS = 3_000;
const EVENTS = 40_000;

const house = await startHarness({ env: { PORTER_ROLE: 'api' } });
const db = await superuser(house.databaseUrl);
beforeAll(async () => {
  await db.query(`
    INSERT INTO partners (id, name, contact_email, status, created_at, updated_at)
      VALUES ('partner', 'P', 'p@partner.example', 'verified', now(), now());
    INSERT INTO practice_groups (id, name, timezone, opening_hours, created_at, updated_at)
      SELECT id, 'Group', 'Europe/London', '{}', now(), now() FROM unnest(ARRAY['large', 'small']) AS id;
    INSERT INTO webhooks (id, partner_id, practice_group_id, url, event_types, status, created_at, updated_at)
      SELECT 'wh_' || n, 'partner', 'large', 'https://receiver.example/' || n, '{appointment.confirmed}', 'active', now(), now()
        FROM generate_series(1, ${WEBHOOKS}) AS n;
    INSERT INTO events (id, practice_group_id, event, object_id, object_hash, payload, source, accepted_at)
      SELECT 'evt_' || n, CASE WHEN n % 10000 = 7 THEN 'small' ELSE 'large' END,
             CASE WHEN n = 5 THEN 'prescription.issued' ELSE 'appointment.confirmed' END,
             'apt-' || n, n, '{}', 'source', now()
        FROM generate_series(1, ${EVENTS} + 3) AS n;
    INSERT INTO feed SELECT no, practice_group_id, no, event FROM events WHERE no <= ${EVENTS};
    INSERT INTO new_events SELECT practice_group_id, min(no), array_agg(no), now() FROM events WHERE no > ${EVENTS} GROUP BY practice_group_id;
    INSERT INTO deliveries (webhook_no, sequence, event_no, object_hash, state, created_at)
      SELECT 1 + n % ${WEBHOOKS}, 1 + n / ${WEBHOOKS}, n, n,
             CASE WHEN n > ${EVENTS} - 9000 THEN 'due' ELSE 'delivered' END, now()
        FROM generate_series(1, ${EVENTS}) AS n;
    INSERT INTO submission_types (practice_group_id, id, pathway_id, title, in_hours, out_of_hours, suspended, default_priority,
                                  patient_eligibility_check, "order", version, created_at, updated_at)
      SELECT 'large', 'type-' || n, 'pathway', 'T', true, true, false, 'low', false, n, 1, now(), now()
        FROM generate_series(1, 2000) AS n;
    INSERT INTO form_counts (practice_group_id, submission_type_id, local_day, submitted)
      SELECT 'large', 'type-' || n, '2026-11-15', n FROM generate_series(1, 2000) AS n;
    INSERT INTO write_to_record_jobs (id, practice_group_id, resource, resource_id, status, created_at, updated_at)
      SELECT 'job_' || lpad(n::text, 6, '0'), CASE WHEN n % 10000 = 9 THEN 'small' ELSE 'large' END, 'appointment', 'a',
             CASE WHEN n % 5000 = 1 THEN 'failed' ELSE 'succeeded' END, now(), now()
        FROM generate_series(1, 20000) AS n;
    INSERT INTO audit_entries (seq, at, actor_id, action, subject_id, practice_group_id, body, hash)
      SELECT n, timestamptz '2025-01-01T00:00:00Z' + n * interval '1 minute', 'actor', CASE WHEN n = 3 THEN 'rare' ELSE 'usual' END,
             'subject', 'large', '{"n":' || n || '}', '\\x00'
        FROM generate_series((SELECT coalesce(max(seq), 0) FROM audit_entries) + 1, 120000) AS n;
    INSERT INTO refused_requests (partner_id, request_id, at, key_id, practice_group_id, method, path, operation, status, body)
      SELECT CASE WHEN n % 10000 = 5 THEN 'rare' ELSE 'busy' END, CASE WHEN n = 11 THEN 'one' ELSE 'many' END, now(), 'key',
             CASE WHEN n % 10000 = 9 THEN 'small' ELSE 'large' END, 'GET', '/v1/x', 'none', 404, '{"error":"not_found"}'
        FROM generate_series(1, 40000) AS n;
    ANALYZE`);
});

/** How many rows of tables a page took. */
async function rowsRead(plans: string, list: (tx: Transaction) => Promise<{ data: unknown[] }>) {
  return transact(house.service.app.db, SYSTEM, async (tx) => {
    await tx.query(`SELECT set_config('plan_cache_mode', $1, true)`, [plans]);
    const read = async () => {
      const row = await tx.first<{ read: number }>(
        `SELECT sum(coalesce(idx_tup_fetch, 0) + seq_tup_read)::integer AS read FROM pg_stat_xact_user_tables`,
      );
      return row?.read ?? 0;
    };
    const before = await read();
    const page = await list(tx);
    return { read: (await read()) - before, found: page.data.length };
  });
}

describe.each(['force_custom_plan', 'force_generic_plan'])('with %s', (plans) => {
  it.each<[string, (tx: Transaction) => Promise<{ data: unknown[] }>, found: number, atMost: number]>([
    ['deliveries that are due', (tx) => listDeliveryPage(tx, { state: 'due' }), 50, 35_000],
    ['deliveries of which there is none', (tx) => listDeliveryPage(tx, { state: 'waiting' }), 0, 55_000],
    ['deliveries', (tx) => listDeliveryPage(tx, {}), 50, 6_000],
    ['events of a small practice', (tx) => listEventPage(tx, { practice_group_id: 'small' }), 4, 60],
    ['events of a large practice', (tx) => listEventPage(tx, { practice_group_id: 'large' }), 50, 200],
    [
      'rare events of a practice',
      (tx) => listEventPage(tx, { practice_group_id: 'large', event: 'prescription.issued' }),
      0,
      20_100,
    ],
    ['rare events', (tx) => listEventPage(tx, { event: 'prescription.issued' }), 0, 20_100],
    [
      'submission types',
      (tx) => listSubmissionTypePage(tx, 'large', '2026-11-15', { page_size: 50 }),
      50,
      2_200,
    ],
    ['jobs that failed', (tx) => listJobPage(tx, { status: 'failed' }), 4, 60],
    ['jobs of a small practice', (tx) => listJobPage(tx, { practice_group_id: 'small' }), 2, 60],
    [
      'the last minutes of the audit',
      (tx) => listAuditEntries(tx, { since: '2025-03-25T07:00:00Z' }),
      50,
      400,
    ],
    [
      'an hour of the audit',
      (tx) => listAuditEntries(tx, { since: '2025-02-01T10:00:00Z', until: '2025-02-01T10:30:00Z' }),
      30,
      400,
    ],
    ['refused calls', (tx) => listRefusalPage(tx, {}), 50, 60],
    ['refused calls of a partner', (tx) => listRefusalPage(tx, { partner_id: 'rare' }), 4, 60],
    ['refused calls for a practice', (tx) => listRefusalPage(tx, { practice_group_id: 'small' }), 4, 60],
    ['refused calls by their ID', (tx) => listRefusalPage(tx, { request_id: 'one' }), 1, 60],
    [
      'refused calls by an ID that is always the same',
      (tx) => listRefusalPage(tx, { request_id: 'many' }),
      50,
      60,
    ],
    [
      'refused calls of a partner for a large practice',
      (tx) => listRefusalPage(tx, { practice_group_id: 'large', partner_id: 'rare' }),
      1,
      20_100,
    ],
    ['a rare action', (tx) => listAuditEntries(tx, { action: 'rare' }), 0, 50_100],
  ])('%s: a page costs what it holds, or a stretch', async (_name, list, found, atMost) => {
    const page = await rowsRead(plans, list);
    expect(page.found).toBe(found);
    expect(page.read).toBeLessThanOrEqual(atMost);
  });
});

it.each(['force_custom_plan', 'force_generic_plan'])(
  'with %s, no more events are looked up than a page holds when none of a practice are fanned out yet',
  async (plans) => {
    const [{ rows }, NEW] = [await db.query('SELECT max(no)::integer AS last FROM events'), 20_000];
    const { last } = rows[0];
    await db.query(`
      INSERT INTO events (no, id, practice_group_id, event, object_id, object_hash, payload, source, accepted_at) OVERRIDING SYSTEM VALUE
        SELECT n, 'evt_' || n, 'busy', 'appointment.confirmed', 'a', 1, '{}', 'source', now() FROM generate_series(${last + 1}, ${last + NEW}) AS n;
      INSERT INTO new_events SELECT 'busy', min(no), array_agg(no), now() FROM events WHERE no > ${last} GROUP BY no / 100`);
    const page = await rowsRead(plans, (tx) => listEventPage(tx, { practice_group_id: 'busy' }));
    expect(page.found).toBe(50);
    expect(page.read).toBeLessThan(NEW / 100 + 100);
    await db.query("DELETE FROM new_events WHERE practice_group_id = 'busy'");
    await db.query('DELETE FROM events WHERE no > $1', [last]);
  },
);

describe('a walk finds everything once', () => {
  async function walk(list: (cursor?: string) => Promise<{ data: unknown[]; next_cursor: string | null }>) {
    const all: unknown[] = [];
    let pages = 0;
    for (let cursor: string | null | undefined; cursor !== null; pages++) {
      const page = await list(cursor);
      all.push(...page.data);
      cursor = page.next_cursor;
    }
    return { all, pages };
  }
  const read = <T>(list: (tx: Transaction) => Promise<T>) => transact(house.service.app.db, SYSTEM, list);

  it('events of a practice, those that are not fanned out yet first', async () => {
    const { all } = await walk((cursor) =>
      read((tx) => listEventPage(tx, { practice_group_id: 'small', page_size: 1, cursor })),
    );
    expect(all).toMatchObject(['evt_30007', 'evt_20007', 'evt_10007', 'evt_7'].map((id) => ({ id })));
    const large = await walk((cursor) =>
      read((tx) => listEventPage(tx, { practice_group_id: 'large', page_size: 100, cursor })),
    );
    const ids = large.all.map((one) => Number(String((one as { id: string }).id).slice(4)));
    expect(ids.slice(0, 4)).toEqual([EVENTS + 3, EVENTS + 2, EVENTS + 1, EVENTS]);
    expect(ids).toEqual(ids.toSorted((a, b) => b - a));
    expect(new Set(ids).size).toBe(EVENTS + 3 - 4);
    const few = await walk((cursor) =>
      read((tx) => listEventPage(tx, { practice_group_id: 'large', page_size: 2, cursor })).then((page) => ({
        ...page,
        next_cursor:
          page.data.length > 0 && Number(String(page.data[0]?.id).slice(4)) > EVENTS
            ? page.next_cursor
            : null,
      })),
    );
    expect(few.all.map((one) => (one as { id: string }).id)).toEqual(
      [43, 42, 41, 40, 39, 38].map((n) => `evt_${EVENTS - 40 + n}`),
    );
  });

  it('events that are fanned out while they are read', async () => {
    const ids = await read(async (tx) => {
      const racing: Transaction = Object.create(tx, {
        query: {
          value: async (text: string, values: unknown[]) => {
            const rows = await tx.query(text, values);
            await db.query(`WITH taken AS (DELETE FROM new_events RETURNING event_nos)
                            INSERT INTO feed SELECT no, practice_group_id, no, event FROM taken JOIN events ON no = ANY (event_nos)`);
            return rows;
          },
        },
      });
      const page = await listEventPage(racing, { practice_group_id: 'large', page_size: 5 });
      return page.data.map(({ id }) => Number(id.slice(4)) - EVENTS);
    });
    expect(ids).toEqual([3, 2, 1, 0, -1]);
    await db.query(`WITH placed AS (DELETE FROM feed WHERE event_no > ${EVENTS} RETURNING event_no)
                    INSERT INTO new_events SELECT 'large', min(event_no), array_agg(event_no), now() FROM placed`);
  });

  it('one event among many, page by page', async () => {
    const groups = [undefined, 'large'];
    for (const practice_group_id of groups) {
      const { all, pages } = await walk((cursor) =>
        read((tx) => listEventPage(tx, { practice_group_id, event: 'prescription.issued', cursor })),
      );
      expect(all).toMatchObject([{ id: 'evt_5' }]);
      expect(pages).toBeLessThan(7);
    }
  });

  it('one entry of the audit among many', async () => {
    const { all, pages } = await walk((cursor) =>
      read((tx) => listAuditEntries(tx, { action: 'rare', cursor })),
    );
    expect(all).toHaveLength(1);
    expect(pages).toBe(3);
  });
});
