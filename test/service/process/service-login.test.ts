import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/platform/logger.ts';
import { startService } from '../../../src/service/compose.ts';
import { readConfig } from '../../../src/service/config.ts';
import { auditAppendSql } from '../../../src/store/audit-append.ts';
import { prepareDatabase, UnusableDatabase } from '../../../src/store/migrate.ts';
import { clearings, clearSome } from '../../../src/store/oversight/retention.ts';
import { afterwards, temporaryFolder } from '../../support/afterwards.ts';
import { asAdmin, createOwnedDatabase } from '../../support/logins.ts';
import { createDatabase, type Harness, makeWorld, startHarness } from '../../support/service.ts';

/** A login of the server that owns nothing, at the database of another one. */
async function serviceLogin(ownerUrl: string): Promise<string> {
  const url = new URL(ownerUrl);
  url.username = `service_${randomBytes(8).toString('hex')}`;
  url.password = randomBytes(12).toString('hex');
  await asAdmin(`CREATE ROLE ${url.username} LOGIN PASSWORD '${url.password}'`);
  return url.href;
}

async function twoLogins() {
  const owner = await createOwnedDatabase();
  return { owner, service: await serviceLogin(owner) };
}

const warnings = (house: Harness) => house.logLines().filter(({ level }) => level === 'warn');

const MAY_NOT = '42501';

/** Each on a connection that is the service's own, as whoever has taken it over would send it. */
const forbidden = [
  'ALTER TABLE submission_types ADD COLUMN mine text',
  'ALTER TABLE audit_entries DISABLE TRIGGER USER',
  'ALTER TABLE audit_entries DISABLE TRIGGER audit_entries_are_final',
  'ALTER TABLE events DISABLE ROW LEVEL SECURITY',
  'DROP POLICY tenant ON events',
  'CREATE POLICY mine ON events USING (true)',
  'DROP TABLE rate_moments',
  'DROP FUNCTION audit_append',
  'DROP TRIGGER audit_entries_are_kept ON audit_entries',
  'CREATE TABLE mine (x int)',
  'CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$',
  `CREATE OR REPLACE FUNCTION porter_sees_all() RETURNS boolean LANGUAGE sql AS $$ SELECT true $$`,
  'TRUNCATE audit_entries',
  'TRUNCATE rate_moments',
  "UPDATE audit_entries SET body = ''",
  'DELETE FROM audit_entries',
  `INSERT INTO audit_entries VALUES (1000000, now(), 'a', 'b', 'c', NULL, '{}', '')`,
  'UPDATE audit_head SET seq = 0',
  'DELETE FROM audit_head',
  "UPDATE access_log SET body = ''",
  'DELETE FROM access_log',
  "INSERT INTO access_log_batches VALUES (1, now(), 1, 1, '')",
  'UPDATE access_log_head SET batch = 0',
  'DELETE FROM access_log_batches',
  "INSERT INTO schema_migrations (name) VALUES ('9999.sql')",
  'DELETE FROM schema_migrations',
  'UPDATE schema_version SET version = 7',
  "UPDATE sql_functions SET digest = ''",
  'UPDATE cell SET no = 3',
  "SELECT setval('webhooks_no_seq', 1)",
  'CREATE ROLE mine',
  "COPY audit_entries TO PROGRAM 'cat'",
];

describe.each([
  ['a login beside the owner', twoLogins],
  [
    'a superuser, through the role porter_app',
    async () => ({ owner: undefined, service: await createDatabase() }),
  ],
])('the service as %s', (_who, logins) => {
  let house: Harness;
  let tableOwners: (client: pg.ClientBase) => Promise<unknown>;

  beforeAll(async () => {
    const { owner, service } = await logins();
    const env = { PORTER_RATE_WINDOWS: 'shared', ...(owner && { PORTER_MIGRATION_DATABASE_URL: owner }) };
    house = await startHarness({ databaseUrl: service, env });
    tableOwners = async (client) =>
      (
        await client.query(
          `SELECT count(*)::int AS owned FROM pg_class WHERE pg_has_role(current_user, relowner, 'USAGE') AND relnamespace = 'public'::regnamespace`,
        )
      ).rows;
  });

  it('does all of its work', async () => {
    const world = await makeWorld(house);
    const as = { key: world.key, group: world.groupId };
    const patched = await house.send('PATCH', '/v1/care-nav/submission-types/type-1', {
      ...as,
      body: { title: 'Changed' },
    });
    expect(patched.status).toBe(200);
    const body = { url: 'https://partner.example/hook' };
    expect((await house.send('POST', '/v1/webhooks', { ...as, body })).status).toBe(201);
    expect((await house.send('GET', '/readyz')).status).toBe(200);
    expect(await house.operator('GET', '/audit/verify')).toMatchObject({ ok: true });
  });

  it('writes the access log, erases and clears away', async () => {
    const { groupId } = await makeWorld(house);
    const path = `/practice-groups/${groupId}/form-submissions`;
    await house.operator('POST', path, { submission_type_id: 'type-1', id: 'fs-1' });
    await house.operator('GET', `${path}/fs-1`);
    const { erased } = await house.operator('POST', '/erasures', {
      practice_group_id: groupId,
      object: 'FormSubmission',
      object_id: 'fs-1',
    });
    expect(erased).toMatchObject({ form_submissions: 1, audit_entries: 1, access_log_entries: 1 });
    expect(await house.operator('GET', '/audit/verify')).toMatchObject({ ok: true });
    const { db, retention } = house.service.app;
    const later = new Date(house.clock.now() + (retention.accessLog + 1) * 24 * 3_600_000).toISOString();
    let cleared = 0;
    for (const name of clearings) cleared += await clearSome(db, name, later, retention);
    expect(cleared).toBeGreaterThan(0);
    const { rows } = await db.pool.query(
      "SELECT count(*)::int AS entries FROM set_config('porter.tenant', '*', false), access_log",
    );
    expect(rows).toEqual([{ entries: 0 }]);
  });

  it.each(forbidden)('may not: %s', async (statement) => {
    const client = await house.service.app.db.pool.connect();
    try {
      expect(await tableOwners(client)).toEqual([{ owned: 0 }]);
      await client.query("SET porter.tenant = '*'");
      const error = await client.query(statement).catch((reason: pg.DatabaseError) => reason);
      expect(error).toMatchObject({ code: MAY_NOT });
    } finally {
      client.release(true);
    }
  });

  it.each([
    "redact_audit('[]')",
    "append_access_log(now(), '{}')",
    "redact_access_log('a', 'b', 'c', 'd')",
    'clear_access_log(now())',
  ])('nobody else may call %s', async (call) => {
    const client = new pg.Client({ connectionString: await serviceLogin(house.databaseUrl) });
    await client.connect();
    const error = await client.query(`SELECT ${call}`).catch((reason) => reason);
    await client.end();
    expect(error).toMatchObject({ code: MAY_NOT });
  });

  it('nobody else may append to the audit', async () => {
    const stranger = await serviceLogin(house.databaseUrl);
    const client = new pg.Client({ connectionString: stranger });
    await client.connect();
    const sender = {
      query: async (text: string, values: readonly unknown[]) =>
        (await client.query(text, [...values])).rows as never,
    };
    const none: string[] = [];
    const error = await auditAppendSql(sender, {
      at: '2026-11-17T10:00:00Z',
      actor_ids: none,
      actions: none,
      subject_ids: none,
      group_ids: none,
      bodies: none,
    }).catch((reason) => reason);
    await client.end();
    expect(error).toMatchObject({ code: MAY_NOT });
  });
});

describe('at the start', () => {
  it('says in one line that there is one login, and nothing when there are two', async () => {
    const alone = await createOwnedDatabase();
    for (const url of [alone, await createDatabase()])
      expect(warnings(await startHarness({ databaseUrl: url }))).toMatchObject([
        {
          login: new URL(url).username,
          msg: expect.stringMatching(/owns its tables: .*PORTER_MIGRATION_DATABASE_URL/),
        },
      ]);
    const { owner, service } = await twoLogins();
    const env = { PORTER_MIGRATION_DATABASE_URL: owner };
    expect(warnings(await startHarness({ databaseUrl: service, env }))).toEqual([]);
  });

  it('a login that may make roles works through one that owns nothing', async () => {
    const url = await createOwnedDatabase();
    await asAdmin(
      `ALTER ROLE ${new URL(url).username} CREATEROLE`,
      `DO $$ BEGIN CREATE ROLE porter_app NOLOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$`,
      `GRANT porter_app TO ${new URL(url).username} WITH ADMIN OPTION`,
    );
    expect(await prepareDatabase(url, async () => {})).toMatchObject({ role: 'porter_app' });
  });

  it('a deployment that had one login gets a second one without more ado', async () => {
    const owner = await createOwnedDatabase();
    const before = await startHarness({ databaseUrl: owner });
    await makeWorld(before);
    await before.stop();
    const env = { PORTER_MIGRATION_DATABASE_URL: owner };
    const after = await startHarness({ databaseUrl: await serviceLogin(owner), env });
    await makeWorld(after);
    expect(await after.operator('GET', '/audit/verify')).toMatchObject({ ok: true });
  });

  it('the service needs the owner only to migrate', async () => {
    const { owner, service } = await twoLogins();
    await prepareDatabase(service, async () => {}, owner);
    const house = await startHarness({ databaseUrl: service });
    await makeWorld(house);
    expect(warnings(house)).toEqual([]);
    await house.stop();

    const client = new pg.Client({ connectionString: owner });
    await client.connect();
    await client.query("UPDATE sql_functions SET digest = '' WHERE name = 'fan_out'");
    await client.end();
    await expect(startHarness({ databaseUrl: service })).rejects.toThrow(
      /not up to date \(fan_out\), .* Set PORTER_MIGRATION_DATABASE_URL/,
    );
    await prepareDatabase(service, async () => {}, owner);
    await startHarness({ databaseUrl: service });
  });

  it('a login of the service that may do more is refused, with what to do', async () => {
    const { owner, service } = await twoLogins();
    const { username } = new URL(service);
    const tried = () => prepareDatabase(service, async () => {}, owner).catch((reason: Error) => reason);
    for (const [grant, revoke] of [
      ['ALTER ROLE %s BYPASSRLS', 'ALTER ROLE %s NOBYPASSRLS'],
      [`GRANT ${new URL(owner).username} TO %s`, `REVOKE ${new URL(owner).username} FROM %s`],
    ] as const) {
      await asAdmin(grant.replace('%s', username));
      const error = await tried();
      expect(error).toBeInstanceOf(UnusableDatabase);
      expect(error).toHaveProperty('message', expect.stringMatching(/an ordinary login that owns nothing/));
      await asAdmin(revoke.replace('%s', username));
    }
    expect(await tried()).toMatchObject({ role: undefined, onlyLogin: undefined });
  });

  it('on its own PostgreSQL it works as a login that owns nothing', async () => {
    const folder = temporaryFolder();
    const lines: string[] = [];
    const config = readConfig({ PORTER_PORT: '0', PORTER_DEMO: 'off', PORTER_DATA_DIR: folder }, folder);
    const service = await startService(config, { log: createLogger((line) => lines.push(line)) });
    afterwards(() => service.stop());
    const { rows } = await service.app.db.pool.query(
      `SELECT current_user AS role, session_user AS login, (SELECT count(*)::int FROM pg_class WHERE relowner = current_user::regrole) AS owned`,
    );
    expect(rows).toEqual([{ role: 'porter_service', login: 'porter_service', owned: 0 }]);
    expect(lines.join('')).not.toContain('"warn"');
  });
});
