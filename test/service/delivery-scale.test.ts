import { expect, it } from 'vitest';
import { openPostOffice, type PostOffice } from '../support/post-office.ts';

const WEBHOOKS = 3_000;
const EVENTS = 30;

/** What a statement reads of the tables that grow with the number of webhooks and of deliveries. It is undone. */
async function rowsRead(office: PostOffice, sql: string, values: unknown[] = []): Promise<number> {
  const read = async () => {
    const [row] = await office.rows<{ read: number }>(
      `SELECT coalesce(sum(coalesce(idx_tup_fetch, 0) + seq_tup_read), 0)::integer AS read FROM pg_stat_xact_user_tables
        WHERE relname IN ('webhooks', 'webhook_lanes', 'deliveries', 'events', 'api_keys', 'practice_groups')`,
    );
    return row?.read ?? 0;
  };
  await office.rows('BEGIN');
  const before = await read();
  await office.rows(sql, values);
  const after = await read();
  await office.rows('ROLLBACK');
  return after - before;
}

it('a step costs what there is to do, not how many webhooks there are', async () => {
  const office = await openPostOffice();
  await office.addWebhook();
  await office.rows(`
    INSERT INTO practice_groups (id, name, timezone, opening_hours, created_at, updated_at)
      SELECT 'g-' || n, 'Group', 'Europe/London', '{}', now(), now() FROM generate_series(1, ${WEBHOOKS}) AS n;
    INSERT INTO api_keys (id, partner_id, practice_group_id, key_hash, prefix, last_four, scopes, created_at)
      SELECT 'k-' || n, 'partner', 'g-' || n, sha256(n::text::bytea), 'ptr', 'last', '{}', now()
        FROM generate_series(1, ${WEBHOOKS}) AS n;
    INSERT INTO webhooks (id, partner_id, practice_group_id, url, event_types, status, created_at, updated_at)
      SELECT 'wh_' || n, 'partner', 'g-' || n, 'https://receiver.example/' || n, '{appointment.confirmed}', 'active', now(), now()
        FROM generate_series(1, ${WEBHOOKS}) AS n;
    INSERT INTO webhook_lanes (webhook_no) SELECT no FROM webhooks ON CONFLICT DO NOTHING;
    INSERT INTO webhook_secrets (webhook_no, sealed, key_id, created_at)
      SELECT w.no, s.sealed, s.key_id, now() FROM webhooks w, webhook_secrets s WHERE w.id LIKE 'wh\\_%' AND w.no <> s.webhook_no;`);
  await office.rows('ANALYZE');
  await office.rows("SET porter.tenant = '*'");
  const groups = Array.from({ length: EVENTS }, (_, n) => `g-${1 + n * 97}`);
  await office.publish(...groups.map((practice_group_id, n) => ({ practice_group_id, id: `a-${n}` })));

  const now = new Date(office.clock.now()).toISOString();
  expect(await rowsRead(office, 'SELECT * FROM fan_out($1, 1000)', [now])).toBeLessThan(WEBHOOKS / 3);
  await office.rows('SELECT * FROM fan_out($1, 1000)', [now]);
  const claim = `SELECT * FROM claim_deliveries($1, $1, 1, 0, 1000, 4, true, '{}', '{}', '{}', '{}', '')`;
  expect(await rowsRead(office, claim, [now])).toBeLessThan(WEBHOOKS / 3);

  await office.engine.drain();
  expect(office.letters).toHaveLength(EVENTS);
  expect(await rowsRead(office, claim, [now])).toBeLessThan(EVENTS);
});
