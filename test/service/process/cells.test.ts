import type pg from 'pg';
import { expect, it } from 'vitest';
import { sqlFunction } from '../../../src/store/sql-functions.ts';
import { until } from '../../support/porter-process.ts';
import { newPartner, publish } from '../../support/post.ts';
import { ok, type Receiver, startReceiver, status } from '../../support/receiver.ts';
import { createUpToDateDatabase, type Harness, startHarness } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

/** Several databases, each with its own practice groups: what the schema brings along so that a group can be moved between them. */

const becomeCell = sqlFunction('become_cell', { number: 'smallint' });

/** A table's rows of one practice group. */
const OF_GROUP = 'practice_group_id = $group';
const OF_WEBHOOKS = `webhook_no IN (SELECT no FROM webhooks WHERE ${OF_GROUP})`;

/** Goes along with a practice group, in an order that foreign keys allow. */
const MOVES = {
  practice_groups: 'id = $group',
  ehr_health: OF_GROUP,
  forms: OF_GROUP,
  assignees: OF_GROUP,
  submission_types: OF_GROUP,
  form_submissions: OF_GROUP,
  form_counts: OF_GROUP,
  write_to_record_jobs: OF_GROUP,
  refused_requests: OF_GROUP,
  events: OF_GROUP,
  new_events: OF_GROUP,
  feed: OF_GROUP,
  webhooks: OF_GROUP,
  webhook_secrets: OF_WEBHOOKS,
  webhook_lanes: OF_WEBHOOKS,
  deliveries: OF_WEBHOOKS,
  erasures: OF_GROUP,
  changes: OF_GROUP,
  stops: OF_GROUP,
  removed_items: OF_GROUP,
};
/** Is the same in every cell. */
const EVERYWHERE = [
  'partners',
  'agreements',
  'api_keys',
  'operators',
  'networks',
  'network_members',
  'network_memberships',
  'idempotency_keys',
  'signing_keys',
  'contacts',
];
/** Belongs to a cell and stays there. */
const STAYS = [
  'cell',
  'schema_migrations',
  'schema_version',
  'sql_functions',
  'audit_entries',
  'audit_head',
  'feed_head',
  'feed_timelines',
  'rate_windows',
  'rate_moments',
  'access_log',
  'access_log_batches',
  'access_log_head',
  'key_uses',
  'sessions',
  'approvals',
  'invitations',
  'used_assertions',
  'alerts',
  'alert_head',
  'alert_notices',
  'notifications',
  'refusal_counts',
  'new_changes',
  'new_announcements',
  'write_through',
  'proposals',
  // Of webhooks for all practice groups, which have a sequence of their own in each cell.
  'withheld_groups',
  'usage',
  'usage_times',
  'uptime',
  'figures',
  'nodes',
];

async function cell(number: number) {
  const databaseUrl = await createUpToDateDatabase();
  const db = await superuser(databaseUrl);
  await becomeCell({ query: async (text, values) => (await db.query(text, [...values])).rows }, { number });
  return { databaseUrl, db };
}

async function copy(from: pg.Client, to: pg.Client, table: string, condition: string): Promise<void> {
  const { rows } = await from.query(
    `SELECT current_setting('data_directory') || '/' || pg_backend_pid() || '.copy' AS file,
            (SELECT string_agg(quote_ident(attname), ', ' ORDER BY attname) FROM pg_attribute
              WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '') AS columns`,
    [table],
  );
  const [{ file, columns }] = rows;
  await from.query(`COPY (SELECT ${columns} FROM ${table} WHERE ${condition}) TO '${file}'`);
  await to.query(`COPY ${table} (${columns}) FROM '${file}'`);
}

/** Nobody serves the group meanwhile. */
async function move(from: pg.Client, to: pg.Client, groupId: string): Promise<void> {
  for (const [table, condition] of Object.entries(MOVES))
    await copy(from, to, table, condition.replace('$group', `'${groupId}'`));
  await to.query('UPDATE webhook_lanes SET holder = NULL, held_until = NULL');
  await to.query('UPDATE feed_head SET position = greatest(position, (SELECT max(position) FROM feed))');
}

const STRANGERS = `
  SELECT 'deliveries' AS of, d.webhook_no AS no FROM deliveries d
    LEFT JOIN events e ON e.no = d.event_no LEFT JOIN webhooks w ON w.no = d.webhook_no
   WHERE e.practice_group_id IS DISTINCT FROM w.practice_group_id
  UNION ALL
  SELECT 'feed', f.event_no FROM feed f LEFT JOIN events e ON e.no = f.event_no
   WHERE e.practice_group_id IS DISTINCT FROM f.practice_group_id
  UNION ALL
  SELECT 'new_events', n FROM new_events CROSS JOIN LATERAL unnest(event_nos) AS n LEFT JOIN events e ON e.no = n
   WHERE e.practice_group_id IS DISTINCT FROM new_events.practice_group_id
  UNION ALL
  SELECT 'events', e.no FROM events e LEFT JOIN webhooks w ON w.no = e.only_webhook_no
   WHERE e.only_webhook_no IS NOT NULL AND w.practice_group_id IS DISTINCT FROM e.practice_group_id`;

const sequences = ({ received }: Receiver) =>
  received.map(({ headers }) => Number(headers['webhook-sequence']));
const objects = ({ received }: Receiver) => received.map(({ body }) => JSON.parse(body).id as string);

async function positions(db: pg.Client, groupId: string): Promise<number[]> {
  const { rows } = await db.query(
    'SELECT position FROM feed WHERE practice_group_id = $1 ORDER BY event_no',
    [groupId],
  );
  return rows.map(({ position }) => Number(position));
}

async function feedOf(house: Harness, partner: { key: string; groupId: string }, cursor = '') {
  const { body } = await house.send('GET', `/v1/events${cursor && `?cursor=${cursor}`}`, {
    key: partner.key,
    group: partner.groupId,
  });
  return {
    ids: body.data.map(({ data }: { data: { id: string } }) => data.id),
    cursor: body.next_cursor as string,
  };
}

it('every table is known to move, to be the same everywhere, or to stay', async () => {
  const { db } = await cell(0);
  const { rows } = await db.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1");
  expect(rows.map(({ tablename }) => tablename)).toEqual(
    [...Object.keys(MOVES), ...EVERYWHERE, ...STAYS].sort(),
  );
});

it('a practice group moves to another cell with everything it has', async () => {
  const [old, next] = [await cell(0), await cell(1)];
  const [moving, settled, staying] = [
    await startReceiver({ behaviour: ok }),
    await startReceiver({ behaviour: ok }),
    await startReceiver({ behaviour: ok }),
  ];
  // Both cells have worked: without ranges of their own, the same numbers would stand for other things.
  const before = await startHarness({ databaseUrl: old.databaseUrl });
  const there = await startHarness({ databaseUrl: next.databaseUrl });
  const mover = await newPartner(before);
  const stayer = await newPartner(before);
  const settler = await newPartner(there);
  await mover.call('POST', '/v1/webhooks', { url: moving.url });
  await stayer.call('POST', '/v1/webhooks', { url: staying.url });
  await settler.call('POST', '/v1/webhooks', { url: settled.url });
  for (const id of ['a', 'b', 'c']) {
    await publish(before, mover.groupId, ['prescription.issued', id]);
    await publish(before, stayer.groupId, ['prescription.issued', id]);
    await publish(there, settler.groupId, ['prescription.issued', id]);
  }
  for (const receiver of [moving, staying, settled])
    await until('the first three arrive', () => receiver.received.length === 3);
  // One fails and waits for its retry, one was accepted and is not fanned out when the cell stops.
  await moving.setBehaviour(status(503));
  await publish(before, mover.groupId, ['prescription.issued', 'd']);
  await until('the fourth was tried', () => moving.received.length === 4);
  const feed = await feedOf(before, mover);
  expect(feed.ids).toEqual(['a', 'b', 'c', 'd']);
  await before.stop();
  await there.stop();
  const deaf = await startHarness({ databaseUrl: old.databaseUrl, env: { PORTER_ROLE: 'api' } });
  await publish(deaf, mover.groupId, ['prescription.issued', 'e']);
  await deaf.stop();

  // What every cell has is there before, but for the keys: these name the practice group.
  await copy(old.db, next.db, 'partners', `id = '${mover.partnerId}'`);
  await copy(old.db, next.db, 'agreements', `partner_id = '${mover.partnerId}'`);
  await move(old.db, next.db, mover.groupId);
  await copy(old.db, next.db, 'api_keys', `partner_id = '${mover.partnerId}'`);
  expect((await next.db.query(STRANGERS)).rows).toEqual([]);

  await moving.setBehaviour(ok);
  const after = await startHarness({ databaseUrl: next.databaseUrl, clock: before.clock });
  await publish(after, mover.groupId, ['prescription.issued', 'f']);
  await publish(after, settler.groupId, ['prescription.issued', 'd']);
  await until('all arrive', () => {
    after.clock.advanceNowAndThen(1_000);
    return new Set(sequences(moving)).size === 6 && settled.received.length === 4;
  });
  expect([...new Set(sequences(moving))].sort()).toEqual([1, 2, 3, 4, 5, 6]);
  expect([...new Set(objects(moving))].sort()).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  const names = new Map(
    moving.received.map(({ headers }) => [headers['webhook-sequence'], headers['webhook-id']]),
  );
  expect(new Set(moving.received.map(({ headers }) => headers['webhook-id'])).size).toBe(names.size);
  expect(objects(settled)).toEqual(['a', 'b', 'c', 'd']);
  expect(staying.received).toHaveLength(3);

  // A reader goes on with the cursor that it had in the other cell.
  expect((await feedOf(after, mover, feed.cursor)).ids).toEqual(['e', 'f']);
  const places = await positions(next.db, mover.groupId);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(new Set(places).size).toBe(6);
  expect((await next.db.query(STRANGERS)).rows).toEqual([]);

  for (const house of [
    after,
    await startHarness({ databaseUrl: old.databaseUrl, env: { PORTER_ROLE: 'api' } }),
  ])
    expect(await house.operator('GET', '/audit/verify')).toMatchObject({ ok: true });
});

it('a cell counts from ranges of its own, and its audit begins at an origin of its own', async () => {
  const { databaseUrl, db } = await cell(3);
  const house = await startHarness({ databaseUrl, env: { PORTER_ROLE: 'api' } });
  const partner = await newPartner(house);
  await partner.call('POST', '/v1/webhooks', { url: 'https://receiver.example/' });
  await publish(house, partner.groupId, ['prescription.issued', 'a']);
  const { rows } = await db.query(
    'SELECT (SELECT min(no) FROM events) AS event, (SELECT min(no) FROM webhooks) AS webhook, (SELECT min(seq) FROM audit_entries) AS entry',
  );
  expect(rows).toEqual([
    { event: String(3 * 2 ** 40 + 1), webhook: 3 * 2 ** 24 + 1, entry: String(3 * 2 ** 40 + 1) },
  ]);
  const { entries } = await house.operator('GET', '/audit/verify');
  const page = await house.operator('GET', '/audit?action=partner.create');
  expect(page).toMatchObject({ count: 2, next_cursor: null });
  expect(entries).toBeGreaterThan(3);
  await db.query('UPDATE cell SET no = 2');
  expect((await house.operator('GET', '/audit/verify')).ok).toBe(false);
});

it('a database in use does not become another cell', async () => {
  const { db, databaseUrl } = await cell(0);
  await startHarness({ databaseUrl, env: { PORTER_ROLE: 'api' } });
  const sender = {
    query: async (text: string, values: readonly unknown[]) =>
      (await db.query(text, [...values])).rows as never,
  };
  await expect(becomeCell(sender, { number: 1 })).rejects.toThrow('the database is in use');
});

it('a delivery that points at an event of another practice group reaches nobody', async () => {
  const receiver = await startReceiver({ behaviour: ok });
  const house = await startHarness();
  const db = await superuser(house.databaseUrl);
  const [own, other] = [await newPartner(house), await newPartner(house)];
  await own.call('POST', '/v1/webhooks', { url: receiver.url });
  await publish(house, own.groupId, ['prescription.issued', 'first']);
  await publish(house, other.groupId, ['prescription.issued', 'not yours']);
  await until('the first arrives', () => receiver.received.length === 1);
  await until('the other is in the feed', async () => (await positions(db, other.groupId)).length === 1);
  await db.query(`
    INSERT INTO deliveries (webhook_no, sequence, event_no, object_hash, state, created_at)
      SELECT w.no, 2, e.no, e.object_hash, 'due', now() FROM webhooks w, events e WHERE e.object_id = 'not yours';
    UPDATE webhook_lanes SET last_sequence = 2`);
  await publish(house, own.groupId, ['prescription.issued', 'second']);
  await until('the second arrives', () => receiver.received.length === 2);
  expect(objects(receiver)).toEqual(['first', 'second']);
});
