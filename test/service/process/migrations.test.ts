import { readdirSync } from 'node:fs';
import pg from 'pg';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import {
  MIGRATIONS_FOLDER,
  prepareDatabase,
  SCHEMA_VERSION,
  UnusableDatabase,
} from '../../../src/store/migrate.ts';
import { unreleasedMain } from '../../support/earlier-versions.ts';
import { contents } from '../../support/for-test.ts';
import { asAdmin, createOwnedDatabase } from '../../support/logins.ts';
import { createDatabase, startHarness } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

const files = readdirSync(MIGRATIONS_FOLDER)
  .filter((name) => name.endsWith('.sql'))
  .sort();

async function failure(databaseUrl: string): Promise<Error> {
  const started = await startHarness({ databaseUrl }).catch((error: Error) => error);
  if (!(started instanceof Error)) throw new Error('the service started');
  return started;
}

/** Without a table of the service's yet, but for the list of the migrations that were applied. */
async function databaseToMigrate() {
  const databaseUrl = await createDatabase();
  const db = new pg.Client({ connectionString: databaseUrl });
  await db.connect();
  onTestFinished(() => db.end());
  await db.query(
    'CREATE TABLE schema_migrations (name text PRIMARY KEY, applied_at timestamptz DEFAULT now())',
  );
  return { databaseUrl, db };
}

describe('several services that start at once on an empty database', () => {
  it('all work; the migrations, the first operator and the demo world are made once', async () => {
    const databaseUrl = await createDatabase();
    const env = { PORTER_DEMO: 'on', PORTER_OPERATOR_TOKEN: '' };
    const houses = await Promise.all(Array.from({ length: 4 }, () => startHarness({ databaseUrl, env })));

    const tokens = houses.map(({ service }) => service.firstOperatorToken).filter(Boolean) as string[];
    // It is shown by every start until somebody has used it.
    expect(new Set(tokens).size).toBe(1);
    const db = await contents(databaseUrl);
    expect(db.schema_migrations).toHaveLength(files.length);
    expect(db.operators).toHaveLength(1);
    expect(db.practice_groups).toHaveLength(2);
    expect(db.networks).toHaveLength(1);
    expect(db.partners).toHaveLength(1);
    for (const { send, service } of houses) {
      const group = 'riverside-surgery';
      const call = await send('GET', '/v1/practice-groups', { key: service.demoKey, group });
      expect(call.body).toMatchObject({ count: 1, data: [{ id: group }] });
      const audit = await send('GET', '/operator/v1/audit/verify', { token: tokens[0] ?? '' });
      expect(audit.body).toMatchObject({ ok: true });
    }
  });

  it('all work on a database that an ordinary login owns, too', async () => {
    const databaseUrl = await createOwnedDatabase();
    const houses = await Promise.all(Array.from({ length: 3 }, () => startHarness({ databaseUrl })));
    for (const [i, house] of houses.entries())
      await house.operator('POST', '/practice-groups', { id: `group-${i}`, name: 'G' });
    expect((await contents(databaseUrl)).practice_groups).toHaveLength(3);
  });
});

describe('a service that starts again', () => {
  it('changes nothing in the database', async () => {
    const databaseUrl = await createDatabase();
    const first = await startHarness({ databaseUrl });
    await first.operator('POST', '/practice-groups', { id: 'g', name: 'G' });
    await first.stop();
    const before = await contents(databaseUrl, { timelineNames: true });
    const second = await startHarness({ databaseUrl });
    expect(await contents(databaseUrl, { timelineNames: true })).toEqual(before);
    expect((await second.operator('GET', '/practice-groups/g')).name).toBe('G');
    expect(second.logLines().map(({ msg }) => msg)).not.toContain('migrated');
    expect(first.logLines().map(({ msg }) => msg)).toContain('migrated');
  });
});

describe('a database that the service cannot use', () => {
  it('with a newer schema: names what it does not know and leaves everything alone', async () => {
    const databaseUrl = await createDatabase();
    await (await startHarness({ databaseUrl })).stop();
    const db = new pg.Client({ connectionString: databaseUrl });
    await db.connect();
    onTestFinished(() => db.end());
    await db.query("INSERT INTO schema_migrations (name) VALUES ('9998_later.sql'), ('9999_latest.sql')");
    const before = await contents(databaseUrl);

    const error = await failure(databaseUrl);
    expect(error).toBeInstanceOf(UnusableDatabase);
    expect(error.message).toMatch(/^The database has migrations that this version of Porter does not know/);
    expect(error.message).toContain('9998_later.sql, 9999_latest.sql');
    expect(error.message).toMatch(/newer version.*Start that version/);
    expect(await contents(databaseUrl)).toEqual(before);
    // The lock is not held by a start that failed.
    await db.query("DELETE FROM schema_migrations WHERE name LIKE '999%'");
    await startHarness({ databaseUrl });
  });

  it('two versions newer: says so and leaves everything alone', async () => {
    const databaseUrl = await createDatabase();
    await (await startHarness({ databaseUrl })).stop();
    await (await superuser(databaseUrl)).query('UPDATE schema_version SET version = $1', [
      SCHEMA_VERSION + 2,
    ]);
    const before = await contents(databaseUrl);
    expect((await failure(databaseUrl)).message).toMatch(
      /does not know \(schema version \d+\): a newer version/,
    );
    expect(await contents(databaseUrl)).toEqual(before);
  });

  it('from early before the first release: says which version to upgrade it with', async () => {
    const { databaseUrl, db } = await databaseToMigrate();
    await db.query("INSERT INTO schema_migrations (name) VALUES ('0001_door.sql'), ('0002_post.sql')");
    const error = await failure(databaseUrl);
    expect(error).toBeInstanceOf(UnusableDatabase);
    expect(error.message).toMatch(
      /last migration is 0002_post\.sql\)\. Upgrade it to 0024_fair_fan_out\.sql/,
    );
  });

  it('because somebody changed it past the service: names the migration that failed, which leaves nothing behind', async () => {
    const { databaseUrl, db } = await databaseToMigrate();
    await db.query('CREATE TABLE webhooks (no integer)');

    const error = await failure(databaseUrl);
    expect(error).toBeInstanceOf(UnusableDatabase);
    expect(error.message).toMatch(/^The migration 0001_baseline\.sql failed .*"webhooks" already exists/);
    expect(error.message).toMatch(/Start again; .*restore the backup/);
    const { rows } = await db.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1");
    expect(rows).toEqual([{ tablename: 'schema_migrations' }, { tablename: 'webhooks' }]);
    expect((await db.query("SELECT FROM pg_proc WHERE pronamespace = 'public'::regnamespace")).rowCount).toBe(
      0,
    );
    // The lock is not held by a start that failed.
    await db.query('DROP TABLE webhooks');
    await startHarness({ databaseUrl });
  });

  it('because a transaction is in the way: waits for it, and for nothing else', async () => {
    const databaseUrl = await unreleasedMain.restore();
    const db = await superuser(databaseUrl);
    await db.query('BEGIN');
    await db.query('SELECT FROM practice_groups');
    const migrated = prepareDatabase(databaseUrl, async () => {});
    const admin = await superuser(databaseUrl);
    const waiting = async () =>
      (await admin.query("SELECT FROM pg_locks WHERE relation = 'practice_groups'::regclass AND NOT granted"))
        .rowCount;
    await expect.poll(waiting).toBe(1);
    // It gives up, so that others are not kept waiting behind it, and tries again.
    await expect.poll(waiting).toBe(0);
    await expect.poll(waiting).toBe(1);
    await db.query('COMMIT');
    expect((await migrated).applied).toEqual(files);
  });

  const changed = (change: (url: URL) => void): string => {
    const url = new URL(inject('postgresUrl'));
    url.password = 'hunter2-secret';
    change(url);
    return url.href;
  };

  it.each([
    [
      'nobody listens',
      changed((url) => (url.port = '1')),
      /cannot be reached \(.*ECONNREFUSED.*Is it running/,
    ],
    [
      'the host does not exist',
      changed((url) => (url.hostname = 'nowhere.invalid')),
      /nowhere\.invalid.* cannot be reached \(.*(ENOTFOUND|EAI_AGAIN)/,
    ],
    [
      'the password is wrong',
      changed(() => {}),
      /refused the login .*Check user and password in DATABASE_URL, and sslmode/,
    ],
    [
      'the user is unknown',
      changed((url) => (url.username = 'nobody')),
      /refused the login .*Check user and password in DATABASE_URL, and sslmode/,
    ],
  ])('because %s: says what to do, without the password', async (_why, databaseUrl, message) => {
    const error = await failure(databaseUrl);
    expect(error).toBeInstanceOf(UnusableDatabase);
    expect(error.message).toMatch(message);
    expect(error.message).not.toContain('hunter2');
    expect(String(error.stack)).not.toContain('hunter2');
  });

  it('because the database does not exist: says to create it', async () => {
    const url = new URL(inject('postgresUrl'));
    url.pathname = 'no_such_database';
    const error = await failure(url.href);
    expect(error).toBeInstanceOf(UnusableDatabase);
    expect(error.message).toMatch(
      /has no such database .*no_such_database.*Create it, or correct DATABASE_URL/,
    );
    expect(error.message).not.toContain(decodeURIComponent(url.password));
  });

  it('because the login may not make tables: says whose the database should be', async () => {
    const [owned, stranger] = [new URL(await createOwnedDatabase()), new URL(await createOwnedDatabase())];
    stranger.pathname = owned.pathname;
    const error = await failure(stranger.href);
    expect(error).toBeInstanceOf(UnusableDatabase);
    expect(error.message).toMatch(/permission denied.*Let the login of DATABASE_URL own the database/);
    expect(error.message).not.toContain(stranger.password);
  });
});

describe('a database that refuses connections for a while', () => {
  it('is served again without a restart of the service', async () => {
    // Without a worker, which may be opening a connection just then that is let in and not yet to be seen.
    const house = await startHarness({ env: { PORTER_ROLE: 'api' } });
    const name = new URL(house.databaseUrl).pathname.slice(1);
    await asAdmin(
      `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`,
      `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${name}'`,
    );
    expect((await house.send('GET', '/readyz')).status).toBe(503);
    await asAdmin(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
    expect((await house.send('GET', '/readyz')).status).toBe(200);
    await house.operator('POST', '/practice-groups', { name: 'G' });
  });
});
