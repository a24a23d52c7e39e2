import { readdirSync } from 'node:fs';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { MIGRATIONS_FOLDER, SCHEMA_VERSION } from '../../src/store/migrate.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { until } from '../support/porter-process.ts';
import { ok, startReceiver } from '../support/receiver.ts';
import { createUpToDateDatabase, type Harness, startHarness } from '../support/service.ts';
import { superuser } from '../support/superuser.ts';
import {
  AFTER_THE_DUMP,
  restoreUnreleasedMain,
  unreleasedMain,
  unreleasedWorld,
} from '../support/unreleased-main.ts';

/** A database of the last version before the first release, brought up to date with all that is in it. */

const world = unreleasedWorld();
const files = readdirSync(MIGRATIONS_FOLDER)
  .filter((name) => name.endsWith('.sql'))
  .sort();

/** Every row of every table, as JSON by the names of its columns. */
async function rowsOf(databaseUrl: string): Promise<Record<string, Record<string, unknown>[]>> {
  const db = await superuser(databaseUrl);
  const { rows: tables } = await db.query<{ name: string }>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1",
  );
  const found: Record<string, Record<string, unknown>[]> = {};
  for (const { name } of tables)
    found[name] = (
      await db.query(`SELECT to_jsonb(t) AS row FROM ${name} t ORDER BY to_jsonb(t)::text`)
    ).rows.map(({ row }) => row);
  return found;
}

type Rows = Awaited<ReturnType<typeof rowsOf>>;

/** What there is now of the tables and columns that there were; a table that is new has to be empty. */
function asBefore(now: Rows, before: Rows): Rows {
  const tables = Object.entries(now).filter(([name, rows]) => name in before || rows.length > 0);
  return inOrder(
    Object.fromEntries(
      tables.map(([name, rows]) => {
        const columns = Object.keys(before[name]?.[0] ?? {});
        return [name, rows.map((row) => Object.fromEntries(columns.map((one) => [one, row[one]])))];
      }),
    ),
  );
}

function inOrder(tables: Rows): Rows {
  const text = (row: object) => JSON.stringify(Object.entries(row).sort());
  return Object.fromEntries(
    Object.entries(tables).map(([name, rows]) => [
      name,
      rows.toSorted((one, other) => (text(one) < text(other) ? -1 : 1)),
    ]),
  );
}

/** Secrets are sealed anew for their webhook at the first start; that they still sign is shown below. */
function sealsAside({ webhook_secrets = [], ...rows }: Rows): Rows {
  return {
    ...rows,
    webhook_secrets: webhook_secrets.map(({ sealed: _, is_bound: __, ...secret }) => secret),
  };
}

describe('the upgrade', () => {
  it('keeps every row of every table', async () => {
    const databaseUrl = await restoreUnreleasedMain();
    const before = await rowsOf(databaseUrl);
    expect(Object.values(before).flat().length).toBeGreaterThan(350);
    const house = await startHarness({
      databaseUrl,
      clock: new ManualClock(AFTER_THE_DUMP),
      env: { PORTER_ROLE: 'api', PORTER_OPERATOR_TOKEN: world.token, PORTER_MASTER_KEY: world.masterKey },
    });
    await house.stop();
    const {
      schema_migrations,
      schema_version,
      sql_functions,
      cell,
      ehr_health,
      feed_timelines,
      access_log_head,
      network_memberships,
      alert_head: _looked,
      ...after
    } = await rowsOf(databaseUrl);

    const { schema_migrations: _applied, ...kept } = before;
    const practice_groups = kept.practice_groups?.map(({ ehr_status: _status, ...group }) => group) ?? [];
    const expected = { ...kept, practice_groups };
    expect(sealsAside(asBefore(after, expected))).toEqual(sealsAside(inOrder(expected)));
    expect(schema_migrations?.map(({ name }) => name)).toEqual(files);
    expect(schema_version).toMatchObject([{ version: SCHEMA_VERSION }]);
    expect(sql_functions?.length).toBeGreaterThan(20);
    expect(cell).toMatchObject([{ no: 0 }]);
    expect(feed_timelines).toMatchObject([{ after: kept.feed_head?.[0]?.position }]);
    expect(access_log_head).toMatchObject([{ batch: 0, last_no: 0 }]);
    expect(network_memberships).toEqual(
      kept.network_members?.map((member) =>
        expect.objectContaining({ ...member, left_at: null, scopes: null, partner_ids: null }),
      ),
    );
    expect(ehr_health).toEqual(
      kept.practice_groups
        ?.filter(({ ehr_status }) => ehr_status !== 'unknown')
        .map(({ id, ehr_status, updated_at }) => ({
          practice_group_id: id,
          status: ehr_status,
          changed_at: updated_at,
        })),
    );
  });

  it('leaves the schema that a new database has', async () => {
    expect(await schemaOf((await unreleasedMain()).databaseUrl)).toEqual(
      await schemaOf(await createUpToDateDatabase()),
    );
  });

  it('is not done again', async () => {
    const { databaseUrl } = await unreleasedMain();
    const before = await rowsOf(databaseUrl);
    const house = await startHarness({
      databaseUrl,
      env: { PORTER_ROLE: 'api', PORTER_OPERATOR_TOKEN: world.token, PORTER_MASTER_KEY: world.masterKey },
    });
    await house.stop();
    const after = await rowsOf(databaseUrl);
    // Every start begins a timeline of the feed.
    expect(after.feed_timelines).toHaveLength(1);
    expect(sealsAside({ ...after, feed_timelines: [] })).toEqual(sealsAside(before));
  });
});

describe('a service on the upgraded database', () => {
  it('knows the keys, the changes, the audit and the feed of before', async () => {
    const house = await serve();
    const asAcme = { key: world.keys.acme, group: 'north-surgery' };
    const groups = await house.send('GET', '/v1/practice-groups?include=network', asAcme);
    expect(groups.body.data).toMatchObject([
      { id: 'north-surgery', ehr_status: 'healthy' },
      { id: 'west-hub', ehr_status: 'unhealthy', timezone: 'Europe/Dublin' },
    ]);
    for (const [key, status] of [
      [world.keys.betaRotated, 200],
      [world.keys.beta, 200],
      [world.keys.revoked, 401],
      [world.keys.gone, 401],
    ] as const)
      expect(
        (await house.send('GET', '/v1/practice-groups', { key, group: 'south-surgery' })).status,
        key,
      ).toBe(status);

    const patched = await house.send('PATCH', '/v1/care-nav/submission-types/type-1', {
      ...asAcme,
      body: { title: 'After' },
    });
    expect(patched.body).toMatchObject({ title: 'After', order: 1, daily_limit: 13 });
    const audit = await house.send('GET', '/operator/v1/audit/verify', { token: world.token });
    expect(audit.body).toEqual({ ok: true, entries: world.audit.entries + 1 });

    const feed = () => house.send('GET', `/v1/events?cursor=${world.feedCursor}`, asAcme);
    await until('what was not fanned out is in the feed', async () => (await feed()).body.data.length === 4);
    expect((await feed()).body.data.map(({ data }: { data: { event: string } }) => data.event)).toEqual([
      'appointment.confirmed',
      'appointment.cancelled',
      'appointment.booking-failed',
      'prescription.issued',
    ]);
  });

  it('goes on with every delivery under the name and the sequence that it had, signed with the secret of before', async () => {
    const receiver = await startReceiver({ behaviour: ok });
    const clock = new ManualClock(AFTER_THE_DUMP);
    const house = await serve(clock, new URL(receiver.url).port);
    const refused = new Map(world.undelivered.map(({ id, sequence }) => [sequence, id]));
    expect(refused.size).toBe(7);

    await until('all of the webhook that failed arrive', () => {
      clock.advance(60_000);
      return (
        new Set(
          receiver.received
            .filter(({ path }) => path === '/away')
            .map(({ headers }) => headers['webhook-sequence']),
        ).size === 11
      );
    });
    const toIt = receiver.received.filter(({ path }) => path === '/away');
    const names = new Map(toIt.map(({ headers }) => [headers['webhook-sequence'], headers['webhook-id']]));
    for (const [sequence, id] of refused) expect(names.get(sequence)).toBe(id);
    expect([...names.keys()].map(Number).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 11 }, (_, i) => i + 1),
    );
    const signer = new Webhook(world.webhooks.bad.secret);
    for (const { headers, body } of toIt) {
      const at = new Date(Number(headers['webhook-timestamp']) * 1000);
      expect(headers['webhook-signature']).toBe(signer.sign(String(headers['webhook-id']), at, body));
    }
    expect((await house.send('GET', '/operator/v1/audit/verify', { token: world.token })).body.ok).toBe(true);
  });
});

describe('what a receiver knows a delivery by', () => {
  it('is the same when it is sent again after the upgrade: a test event, and everything in a replay', async () => {
    const receiver = await startReceiver({ behaviour: ok });
    const clock = new ManualClock(AFTER_THE_DUMP);
    const house = await serve(clock, new URL(receiver.url).port);
    const asAcme = { key: world.keys.acme, group: 'north-surgery' };
    const idsOf = (path: string) => {
      const ids = new Map<string, Set<string>>();
      for (const { path: to, headers } of receiver.received) {
        if (to !== path) continue;
        const sequence = String(headers['webhook-sequence']);
        ids.set(sequence, (ids.get(sequence) ?? new Set()).add(String(headers['webhook-id'])));
      }
      return ids;
    };

    // The test event that the webhook got before, as its answer named the delivery then.
    const before = 'dlv_00VbFNczNy23U9WX1Z8RJbfb3_9_00VbFNd2g';
    const shown = await house.send(
      'GET',
      `/v1/webhooks/${world.webhooks.good.id}/deliveries/${before}`,
      asAcme,
    );
    expect(shown.body).toMatchObject({ id: before, status: 'delivered' });
    const again = await house.send('POST', `/operator/v1/deliveries/${before}/retry`, { token: world.token });
    expect(again.body).toMatchObject({ id: before });
    await until('the test event arrives again', () => idsOf('/good').has('9'));
    expect(idsOf('/good').get('9')).toEqual(new Set([before]));

    const since = '2026-11-17T00:00:00.000Z';
    const refused = new Map(world.undelivered.map(({ id, sequence }) => [sequence, id]));
    const replay = () =>
      house.send('POST', `/v1/webhooks/${world.webhooks.bad.id}/replay`, { ...asAcme, body: { since } });
    expect((await replay()).status).toBe(202);
    const arrived = () => {
      clock.advance(1_000);
      return [...refused.keys()].every((sequence) => idsOf('/away').has(sequence));
    };
    await until('what it had refused arrives', arrived);
    const count = receiver.received.length;
    expect((await replay()).status).toBe(202);
    await until('all of it arrives once more', () => {
      clock.advance(1_000);
      return receiver.received.length >= count + refused.size;
    });
    for (const [sequence, id] of refused) expect(idsOf('/away').get(sequence)).toEqual(new Set([id]));
    for (const ids of idsOf('/away').values()) expect(ids.size).toBe(1);
  });
});

/** With the receivers of before moved to this port. */
async function serve(clock = new ManualClock(AFTER_THE_DUMP), port?: string): Promise<Harness> {
  const { databaseUrl } = await unreleasedMain();
  if (port)
    await (await superuser(databaseUrl)).query(
      "UPDATE webhooks SET url = regexp_replace(url, ':[0-9]+/', $1)",
      [`:${port}/`],
    );
  return startHarness({
    databaseUrl,
    clock,
    env: { PORTER_OPERATOR_TOKEN: world.token, PORTER_MASTER_KEY: world.masterKey },
  });
}

/** All that makes up a schema, but for the order of columns. */
async function schemaOf(databaseUrl: string): Promise<unknown> {
  const db = await superuser(databaseUrl);
  const { rows } = await db.query(`
    SELECT 'column' AS kind, attrelid::regclass || '.' || attname AS name,
           format_type(atttypid, atttypmod) || ' ' || attnotnull || ' ' || attidentity::text || ' ' || coalesce(pg_get_expr(adbin, adrelid), '') AS text
      FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
     WHERE attrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r') AND attnum > 0 AND NOT attisdropped
    UNION ALL
    SELECT 'table', oid::regclass::text, relrowsecurity || ' ' || relforcerowsecurity || ' ' || relpersistence::text || ' ' || coalesce(reloptions::text, '')
      FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
    UNION ALL
    SELECT 'index', indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'
    UNION ALL
    SELECT 'constraint', conrelid::regclass || '.' || conname, pg_get_constraintdef(oid)
      FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype <> 'n'
    UNION ALL
    SELECT 'policy', tablename || '.' || policyname, cmd || ' ' || coalesce(qual, '') || ' ' || coalesce(with_check, '') FROM pg_policies
    UNION ALL
    SELECT 'trigger', tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
    UNION ALL
    SELECT 'type', enumtypid::regtype::text, string_agg(enumlabel, ' ' ORDER BY enumsortorder) FROM pg_enum GROUP BY 1, 2
    UNION ALL
    SELECT 'sequence', sequencename, data_type || ' ' || start_value || ' ' || increment_by FROM pg_sequences WHERE schemaname = 'public'
    ORDER BY 1, 2, 3`);
  return rows;
}
