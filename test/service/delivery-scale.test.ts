import { expect, it } from 'vitest';
import { claimDeliveries } from '../../src/store/deliveries.ts';
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

  // One that is cut short is gone on with after the last webhook that it reached.
  await office.publish(...groups.map((practice_group_id, n) => ({ practice_group_id, id: `b-${n}` })));
  await office.rows('SELECT * FROM fan_out($1, 1000)', [now]);
  const at = new Date(office.clock.now() + 60_000).toISOString();
  const cut = { at, until: at, me: 1, deliveriesMax: 20, usualRoom: 4, lookBack: true, known: [] };
  const reached: number[] = [];
  for (let round = 0; round < 2; round++) {
    const claimed = await claimDeliveries(office.db, { ...cut, afterNo: reached.at(-1) ?? 0 });
    reached.push(...claimed.map(({ webhookNo }) => webhookNo));
  }
  expect(new Set(reached).size).toBe(EVENTS);
  expect(reached).toEqual(reached.toSorted((a, b) => a - b));
});

it('results cost what they are, also with statistics from when the queue was empty', async () => {
  const office = await openPostOffice();
  const no = await office.addWebhook();
  await office.rows("SET porter.tenant = '*'");
  const insert = (from: number, to: number) =>
    office.rows(
      `INSERT INTO deliveries (webhook_no, sequence, event_no, object_hash, state, created_at)
       SELECT $1::integer, n, n, n % 3000, 'due', now() FROM generate_series($2::integer, $3::integer) AS n`,
      [no, from, to],
    );
  await insert(1, 2);
  await office.rows('ANALYZE deliveries');
  await insert(3, 10_000);
  await office.rows('UPDATE webhook_lanes SET last_sequence = 10000, holder = 1');
  // Some wait, so that finishing others means to look for the next of their object.
  await office.rows("UPDATE deliveries SET state = 'waiting', retry_at = 'infinity' WHERE sequence > 9000");
  const results = 300;
  for (const state of ['delivered', 'due', 'waiting']) {
    const record = `
      SELECT * FROM record_results(now(), 1, array_fill($1::integer, ARRAY[$2::integer]),
               ARRAY(SELECT generate_series(1, $2)), array_fill(0, ARRAY[$2]), array_fill($3::text, ARRAY[$2]),
               array_fill(CASE WHEN $3 = 'due' THEN now() END, ARRAY[$2]), array_fill(0::bigint, ARRAY[$2]),
               array_to_string(array_fill('[{}]'::text, ARRAY[$2]), E'\\n'), ARRAY[$1], ARRAY[1])`;
    expect(await rowsRead(office, record, [no, results, state]), state).toBeLessThan(10 * results);
  }
});

it('the first events of a burst are fanned out by themselves, so that their letters need not wait for the others', async () => {
  const office = await openPostOffice();
  await office.addWebhook();
  await office.rows(`
    CREATE TABLE steps (position bigint);
    CREATE FUNCTION note_step() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
      'BEGIN INSERT INTO steps VALUES (NEW.position); RETURN NEW; END';
    CREATE TRIGGER note_step AFTER UPDATE ON feed_head FOR EACH ROW EXECUTE FUNCTION note_step();`);
  const burst = (count: number) => Array.from({ length: count }, (_, n) => ({ id: `a-${n}` }));
  await office.publish(...burst(1_000));
  await office.engine.drain();
  await office.publish(...burst(300));
  await office.engine.drain();
  const steps = await office.rows<{ position: number }>(
    'SELECT position::integer FROM steps ORDER BY position',
  );
  expect(steps.map(({ position }) => position)).toEqual([100, 400, 1_000, 1_100, 1_300]);
  await office.close();
});
