import { readdirSync } from 'node:fs';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { MIGRATIONS_FOLDER, SCHEMA_VERSION } from '../../../src/store/migrate.ts';
import { type EarlierVersion, unreleasedMain, versionOne } from '../../support/earlier-versions.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { until } from '../../support/porter-process.ts';
import { ok, type Receiver, startReceiver } from '../../support/receiver.ts';
import { createUpToDateDatabase, type Harness, type Loose, startHarness } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

/** Databases of earlier versions, brought up to date with all that is in them. */

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

/** Without what a running service writes by itself: the key that signs webhooks, that it runs, and that deliveries are late by now. */
const BY_ITSELF = [
  'uptime',
  'figures',
  'nodes',
  'signing_keys',
  'alert_head',
  'alerts',
  'alert_notices',
  'notifications',
  'new_announcements',
];

function atRest(rows: Rows): Rows {
  const { events = [], ...others } = Object.fromEntries(
    Object.entries(rows).filter(([name]) => !BY_ITSELF.includes(name)),
  );
  return { ...others, events: events.filter(({ source }) => source !== 'alerts') };
}

/** Each partner that has signed has its agreement as a record. */
function withAgreements(kept: Rows): Rows {
  const signed = (kept.partners ?? []).filter(({ agreement_signed_at }) => agreement_signed_at !== null);
  expect(signed.length).toBeGreaterThan(0);
  return {
    ...kept,
    agreements: signed.map(({ id, agreement_signed_at }) => ({
      partner_id: id,
      signed_at: agreement_signed_at,
    })),
  };
}

/** The rows of before as they are afterwards, with those that an upgrade makes of them. */
const expectedOf: Record<string, (kept: Rows) => Rows> = {
  [unreleasedMain.name]: (kept) => {
    const { practice_groups = [], network_members = [] } = kept;
    const unmade = { access_log_head: [{ batch: 0, last_no: 0 }], cell: [{ no: 0 }] };
    return {
      ...kept,
      ...unmade,
      practice_groups: practice_groups.map(({ ehr_status: _, ...group }) => group),
      network_memberships: network_members.map((member) => ({
        ...member,
        left_at: null,
        scopes: null,
        partner_ids: null,
      })),
      ehr_health: practice_groups
        .filter(({ ehr_status }) => ehr_status !== 'unknown')
        .map(({ id, ehr_status, updated_at }) => ({
          practice_group_id: id,
          status: ehr_status,
          changed_at: updated_at,
        })),
    };
  },
  [versionOne.name]: (kept) => kept,
};

describe.each<EarlierVersion>([unreleasedMain, versionOne])('from $name, the upgrade', (version) => {
  const { world } = version;

  it('keeps every row of every table', async () => {
    const databaseUrl = await version.restore();
    const before = await rowsOf(databaseUrl);
    expect(Object.values(before).flat().length).toBeGreaterThan(350);
    const house = await startHarness({
      databaseUrl,
      clock: new ManualClock(world.after),
      env: { PORTER_ROLE: 'api', ...envOf(version) },
    });
    await house.stop();
    const { schema_migrations, schema_version, sql_functions, feed_timelines, ...after } = atRest(
      await rowsOf(databaseUrl),
    );

    const {
      schema_migrations: _migrations,
      schema_version: _version,
      sql_functions: _functions,
      feed_timelines: timelines = [],
      ...kept
    } = before;
    const expected = withAgreements(expectedOf[version.name]?.(kept) ?? kept);
    expect(sealsAside(asBefore(after, expected))).toEqual(sealsAside(inOrder(expected)));
    expect(schema_migrations?.map(({ name }) => name)).toEqual(files);
    expect(schema_version).toMatchObject([{ version: SCHEMA_VERSION }]);
    expect(sql_functions?.length).toBeGreaterThan(20);
    // Every start begins a timeline at the end of the feed, in place of one that begins there, too.
    const places = [...timelines, { after: kept.feed_head?.[0]?.position }].map((one) => one.after);
    expect(feed_timelines?.map((one) => one.after)).toEqual([...new Set(places)]);
  });

  it('leaves the schema that a new database has', async () => {
    expect(await schemaOf((await version.upgraded()).databaseUrl)).toEqual(
      await schemaOf(await createUpToDateDatabase()),
    );
  });

  it('is not done again', async () => {
    const { databaseUrl } = await version.upgraded();
    const before = await rowsOf(databaseUrl);
    const house = await startHarness({ databaseUrl, env: { PORTER_ROLE: 'api', ...envOf(version) } });
    await house.stop();
    // Every start begins a timeline of the feed.
    const settled = (rows: Rows) => sealsAside({ ...atRest(rows), feed_timelines: [] });
    expect(settled(await rowsOf(databaseUrl))).toEqual(settled(before));
  });
});

describe.each<EarlierVersion>([unreleasedMain, versionOne])('upgraded from $name, a service', (version) => {
  const { world } = version;
  const asAcme = { key: world.keys.acme, group: 'north-surgery' };

  it('knows the keys, the changes, the audit and the feed of before', async () => {
    const { house } = await serve(version);
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

  it('goes on with every delivery under the name and the sequence that it had, signed with the secrets of before', async () => {
    const receiver = await startReceiver({ behaviour: ok });
    const { house, clock } = await serve(version, receiver);
    const refused = new Map(world.undelivered.map(({ id, sequence }) => [sequence, id]));
    expect(refused.size).toBeGreaterThan(5);

    await until('all of the webhook that failed arrive', () => {
      clock.advanceNowAndThen(60_000);
      return namesAt(receiver, '/away').size === world.sequences;
    });
    const names = namesAt(receiver, '/away');
    for (const [sequence, id] of refused) expect(names.get(sequence)).toEqual(new Set([id]));
    expect([...names.keys()].map(Number).sort((a, b) => a - b)).toEqual(
      Array.from({ length: world.sequences }, (_, i) => i + 1),
    );
    const signers = world.signing.map((secret) => new Webhook(secret));
    for (const { headers, body } of receiver.received.filter(({ path }) => path === '/away')) {
      const at = new Date(Number(headers['webhook-timestamp']) * 1000);
      const signatures = signers.map((signer) => signer.sign(String(headers['webhook-id']), at, body));
      expect(headers['webhook-signature']).toBe(signatures.join(' '));
    }
    expect((await house.send('GET', '/operator/v1/audit/verify', { token: world.token })).body.ok).toBe(true);
  });

  it('sends again under the name that a receiver knows: a test event, and everything in a replay', async () => {
    const receiver = await startReceiver({ behaviour: ok });
    const { house, clock } = await serve(version, receiver);

    // The test event that the webhook got before, as its answer named the delivery then.
    const { id: before, sequence } = world.tested;
    const shown = await house.send('GET', `/v1/webhooks/${world.webhooks.good}/deliveries/${before}`, asAcme);
    expect(shown.body).toMatchObject({ id: before, status: 'delivered' });
    const again = await house.send('POST', `/operator/v1/deliveries/${before}/retry`, { token: world.token });
    expect(again.body).toMatchObject({ id: before });
    await until('the test event arrives again', () => namesAt(receiver, '/good').has(sequence));
    expect(namesAt(receiver, '/good').get(sequence)).toEqual(new Set([before]));

    const since = new Date(Date.parse(world.after) - 24 * 3_600_000).toISOString();
    const refused = new Map(world.undelivered.map(({ id, sequence }) => [sequence, id]));
    const replay = () =>
      house.send('POST', `/v1/webhooks/${world.webhooks.bad}/replay`, { ...asAcme, body: { since } });
    expect((await replay()).status).toBe(202);
    await until('what it had refused arrives', () => {
      clock.advanceNowAndThen(1_000);
      return [...refused.keys()].every((one) => namesAt(receiver, '/away').has(one));
    });
    const count = receiver.received.length;
    expect((await replay()).status).toBe(202);
    await until('all of it arrives once more', () => {
      clock.advanceNowAndThen(1_000);
      return receiver.received.length >= count + refused.size;
    });
    const names = namesAt(receiver, '/away');
    for (const [one, id] of refused) expect(names.get(one)).toEqual(new Set([id]));
    for (const ids of names.values()) expect(ids.size).toBe(1);
  });
});

describe('upgraded from version 1, a service', () => {
  const { world } = versionOne;
  const { operators, anchor, once, erasure, withheld } = world.more;

  it('knows the operators, the anchor, the answer to an idempotency key, the caps of a network and the erasures of before', async () => {
    const { house } = await serve(versionOne);
    const statusOf = async (token: string) =>
      (await house.send('GET', '/operator/v1/partners', { token })).status;
    expect([
      await statusOf(operators.support),
      await statusOf(operators.source),
      await statusOf(operators.former),
    ]).toEqual([200, 403, 401]);

    const verdict = await asOperator(house, 'GET', `/audit/verify?anchor=${encodeURIComponent(anchor)}`);
    expect(verdict).toMatchObject({ ok: true, anchor: { key_known: true } });
    const again = await house.send('POST', '/operator/v1/events', {
      token: world.token,
      body: once.body,
      headers: { 'idempotency-key': once.key },
    });
    expect([again.status, again.body]).toEqual([202, once.answer]);

    const asBeta = { key: world.keys.betaRotated, group: 'east-clinic' };
    expect((await house.send('GET', '/v1/practice-groups', asBeta)).status).toBe(200);
    expect((await house.send('GET', '/v1/events', asBeta)).status).toBe(403);

    expect(await asOperator(house, 'GET', `/erasures/${erasure.id}`)).toEqual({
      ...erasure,
      recipients: erasure.recipients.map((one) => ({ ...one, under_way: 0, reads: 0 })),
      finished: true,
    });
    const log = await asOperator(house, 'GET', '/access-log?practice_group_id=south-surgery&page_size=100');
    expect(log.data).toContainEqual(expect.objectContaining({ operation: 'listEvents' }));
  });

  it('withholds what was withheld, sends it under its name when its partner is verified again, and what was erased never', async () => {
    const receiver = await startReceiver({ behaviour: ok });
    const { house, clock } = await serve(versionOne, receiver);
    await until('the others have theirs', () => {
      clock.advanceNowAndThen(60_000);
      return namesAt(receiver, '/away').size === world.sequences;
    });
    expect(namesAt(receiver, '/gone')).toEqual(new Map());

    await asOperator(house, 'POST', `/partners/${withheld.partnerId}/verify`);
    const names = new Map(withheld.deliveries.map(({ id, sequence }) => [sequence, new Set([id])]));
    await until('what was withheld arrives', () => {
      clock.advanceNowAndThen(1_000);
      return namesAt(receiver, '/gone').size === names.size;
    });
    expect(namesAt(receiver, '/gone')).toEqual(names);
    expect(receiver.received.map(({ body }) => JSON.parse(body).id)).not.toContain('s-1');
  });

  async function asOperator(house: Harness, method: string, path: string): Promise<Loose> {
    const answer = await house.send(method, `/operator/v1${path}`, { token: world.token });
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  }
});

/** Of each delivery to a webhook, the names under which it arrived, by its sequence. */
function namesAt({ received }: Receiver, webhook: string): Map<string, Set<string>> {
  const names = new Map<string, Set<string>>();
  for (const { path, headers } of received) {
    if (path !== webhook) continue;
    const sequence = String(headers['webhook-sequence']);
    names.set(sequence, (names.get(sequence) ?? new Set()).add(String(headers['webhook-id'])));
  }
  return names;
}

function envOf({ world }: EarlierVersion): Record<string, string> {
  return { PORTER_OPERATOR_TOKEN: world.token, PORTER_MASTER_KEY: world.masterKey };
}

/** With the receivers of before moved to this one. */
async function serve(
  version: EarlierVersion,
  receiver?: Receiver,
): Promise<{ house: Harness; clock: ManualClock }> {
  const { databaseUrl } = await version.upgraded();
  if (receiver)
    await (await superuser(databaseUrl)).query(
      "UPDATE webhooks SET url = regexp_replace(url, ':[0-9]+/', $1)",
      [`:${new URL(receiver.url).port}/`],
    );
  const clock = new ManualClock(version.world.after);
  return { house: await startHarness({ databaseUrl, clock, env: envOf(version) }), clock };
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
    -- What everybody may call.
    SELECT 'rights', oid::regprocedure::text, has_function_privilege('public', oid, 'EXECUTE')::text
      FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    UNION ALL
    SELECT 'sequence', sequencename, data_type || ' ' || start_value || ' ' || increment_by FROM pg_sequences WHERE schemaname = 'public'
    ORDER BY 1, 2, 3`);
  return rows;
}
