import { readdirSync, readFileSync } from 'node:fs';
import pg from 'pg';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { closeDatabase, openDatabase } from '../../src/store/database.ts';
import { claimDeliveries, fanOut } from '../../src/store/deliveries.ts';
import { MIGRATIONS_FOLDER, prepareDatabase, UnusableDatabase } from '../../src/store/migrate.ts';
import { contents } from '../support/for-test.ts';
import { asAdmin, createOwnedDatabase } from '../support/logins.ts';
import { createDatabase, startHarness } from '../support/service.ts';
import { superuser } from '../support/superuser.ts';

const files = readdirSync(MIGRATIONS_FOLDER).filter((name) => name.endsWith('.sql'));

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

async function databaseFromBefore(migration: string) {
  const { databaseUrl, db } = await databaseToMigrate();
  for (const name of files.filter((file) => file < migration)) {
    await db.query(readFileSync(new URL(name, MIGRATIONS_FOLDER), 'utf8'));
    await db.query('INSERT INTO schema_migrations (name) VALUES ($1)', [name]);
  }
  return { databaseUrl, db };
}

/** How many wait for a lock on the table. */
async function waitingFor(databaseUrl: string, table: string): Promise<number | null> {
  const admin = await superuser(databaseUrl);
  return (await admin.query('SELECT FROM pg_locks WHERE relation = $1::regclass AND NOT granted', [table]))
    .rowCount;
}

describe('several services that start at once on an empty database', () => {
  it('all work; the migrations, the first operator and the demo world are made once', async () => {
    const databaseUrl = await createDatabase();
    const env = { PORTER_DEMO: 'on', PORTER_OPERATOR_TOKEN: '' };
    const houses = await Promise.all(Array.from({ length: 4 }, () => startHarness({ databaseUrl, env })));

    const tokens = houses.map(({ service }) => service.firstOperatorToken).filter(Boolean) as string[];
    expect(tokens).toHaveLength(1);
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
    const before = await contents(databaseUrl);
    const second = await startHarness({ databaseUrl });
    expect(await contents(databaseUrl)).toEqual(before);
    expect((await second.operator('GET', '/practice-groups/g')).name).toBe('G');
    expect(second.logLines().map(({ msg }) => msg)).not.toContain('migrated');
    expect(first.logLines().map(({ msg }) => msg)).toContain('migrated');
  });
});

describe('a database from before the steps of the delivery had a migration of their own', () => {
  it('is brought up to date, with what is in it', async () => {
    const { databaseUrl, db } = await databaseToMigrate();
    const read = (name: string) => readFileSync(new URL(name, MIGRATIONS_FOLDER), 'utf8');
    // Then 0002 held the functions too, with an index that was not unique.
    for (const [name, ...parts] of [
      ['0001_door.sql', '0001_door.sql'],
      ['0002_post.sql', '0002_post.sql', '0003_delivery.sql'],
      ['0003_lighter_updates.sql', '0004_lighter_updates.sql'],
    ] as const) {
      for (const part of parts)
        await db.query(
          read(part).replaceAll('UNIQUE INDEX deliveries_by_event', 'INDEX deliveries_by_event'),
        );
      await db.query('INSERT INTO schema_migrations (name) VALUES ($1)', [name]);
    }
    await db.query(
      `INSERT INTO practice_groups (id, name, timezone, opening_hours, created_at, updated_at)
       VALUES ('old', 'Old', 'Europe/London', '{}', now(), now())`,
    );

    const house = await startHarness({ databaseUrl });
    expect((await house.operator('GET', '/practice-groups/old')).name).toBe('Old');
    expect(house.logLines().find(({ msg }) => msg === 'migrated')?.applied).toEqual(
      files.filter((name) => name === '0003_delivery.sql' || name >= '0005'),
    );
    expect((await contents(databaseUrl)).schema_migrations).toHaveLength(files.length);
    const { rows } = await db.query(
      "SELECT indexdef FROM pg_indexes WHERE indexname = 'deliveries_by_event'",
    );
    expect(rows[0].indexdef).toContain('UNIQUE');
  });
});

describe('a database from before new deliveries were told from those set aside', () => {
  it('has its open deliveries set aside, each for when it was due', async () => {
    const { databaseUrl, db } = await databaseFromBefore('0007');
    await db.query(`
      INSERT INTO practice_groups (id, name, timezone, opening_hours, created_at, updated_at)
        VALUES ('old', 'Old', 'Europe/London', '{}', now(), now());
      INSERT INTO partners (id, name, contact_email, status, created_at, updated_at)
        VALUES ('partner', 'P', 'p@partner.example', 'verified', now(), now());
      INSERT INTO webhooks (id, partner_id, practice_group_id, url, event_types, status, created_at, updated_at)
        VALUES ('wh_1', 'partner', 'old', 'https://receiver.example/', '{appointment.confirmed}', 'active', now(), now());
      INSERT INTO webhook_lanes (webhook_no, last_sequence) SELECT no, 4 FROM webhooks;
      INSERT INTO events (id, practice_group_id, event, object_id, object_hash, payload, source_id, accepted_at, position)
        SELECT 'evt_' || n, 'old', 'appointment.confirmed', 'a', 1, '{}', 'test', now(), n FROM generate_series(1, 4) AS n;
      INSERT INTO deliveries (webhook_no, sequence, event_no, object_hash, state, due_at, attempts, created_at)
        SELECT w.no, e.position, e.no, 1, (ARRAY['delivered', 'due', 'waiting', 'waiting'])[e.position],
               '2026-11-01T10:00:00Z', '[{"status": 204}]', now() FROM webhooks w, events e`);

    const { role } = await prepareDatabase(databaseUrl, async () => {});
    const { rows } = await db.query(
      'SELECT state, retry_at::text, attempts FROM deliveries ORDER BY sequence',
    );
    const attempts = [{ status: 204 }];
    expect(rows).toEqual([
      { state: 'delivered', retry_at: null, attempts },
      { state: 'due', retry_at: expect.stringContaining('2026-11-01'), attempts },
      { state: 'waiting', retry_at: 'infinity', attempts },
      { state: 'waiting', retry_at: 'infinity', attempts },
    ]);

    const own = openDatabase({ url: databaseUrl, connectionsMax: 2, role });
    onTestFinished(() => closeDatabase(own));
    const at = '2026-11-02T10:00:00Z';
    const claimed = await claimDeliveries(own, {
      at,
      until: at,
      me: 1,
      afterNo: 0,
      deliveriesMax: 10,
      usualRoom: 4,
      lookBack: true,
      known: [],
    });
    expect(claimed).toMatchObject([{ deliveries: [{ sequence: 2, isNew: false }] }]);
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

  it('because somebody changed it past the service: names the migration that failed, which leaves nothing behind', async () => {
    const { databaseUrl, db } = await databaseFromBefore('0012');
    await db.query('ALTER TABLE refused_requests ADD COLUMN no integer');

    const error = await failure(databaseUrl);
    expect(error).toBeInstanceOf(UnusableDatabase);
    expect(error.message).toMatch(/^The migration 0015_refusals_listed\.sql failed .*"no".*already exists/);
    expect(error.message).toMatch(/Stop every other node and start again; .*restore the backup/);
    const { rows } = await db.query('SELECT max(name) AS last FROM schema_migrations');
    expect(rows).toEqual([{ last: files.filter((file) => file < '0015').at(-1) }]);
    // The lock is not held by a start that failed.
    await db.query('ALTER TABLE refused_requests DROP COLUMN no');
    await startHarness({ databaseUrl });
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

describe('a database from before the feed was a table of its own', () => {
  it('has every event in its place, and fans out those that had none', async () => {
    const { databaseUrl, db } = await databaseFromBefore('0023');
    await db.query(`
      INSERT INTO events (id, practice_group_id, event, object_id, object_hash, payload, source_id, accepted_at, position,
                          only_webhook_no, only_partner_id)
        VALUES ('evt_late', 'old', 'appointment.confirmed', 'a', 1, '{}', 'test', now(), 2, NULL, NULL),
               ('evt_early', 'old', 'prescription.issued', 'a', 1, '{}', 'test', now(), 1, NULL, 'partner'),
               ('evt_new', 'old', 'appointment.confirmed', 'a', 1, '{}', 'test', now(), NULL, NULL, NULL),
               ('evt_test', 'old', 'appointment.confirmed', 'a', 1, '{}', 'test', now(), NULL, 1, NULL);
      UPDATE feed_head SET position = 2`);

    const { role } = await prepareDatabase(databaseUrl, async () => {});
    const own = openDatabase({ url: databaseUrl, connectionsMax: 2, role });
    onTestFinished(() => closeDatabase(own));
    expect(await fanOut(own, '2026-11-02T10:00:00Z', 1, 100)).toEqual({ taken: 1, made: 0, more: false });
    const { rows } = await db.query(
      `SELECT id, position::integer, feed.practice_group_id, feed.event, feed.only_partner_id
         FROM feed JOIN events ON no = event_no ORDER BY position`,
    );
    const inOld = { practice_group_id: 'old', event: 'appointment.confirmed', only_partner_id: null };
    expect(rows).toEqual([
      { ...inOld, id: 'evt_early', position: 1, event: 'prescription.issued', only_partner_id: 'partner' },
      { ...inOld, id: 'evt_late', position: 2 },
      { ...inOld, id: 'evt_new', position: 3 },
    ]);
  });

  it('loses nothing that a node of the version before is still writing, and lets it write no more', async () => {
    const { databaseUrl, db: oldNode } = await databaseFromBefore('0023');
    const accept = (id: string) =>
      oldNode.query(
        `INSERT INTO events (id, practice_group_id, event, object_id, object_hash, payload, source_id, accepted_at)
         VALUES ($1, 'old', 'appointment.confirmed', 'a', 1, '{}', 'test', now())`,
        [id],
      );
    await oldNode.query('BEGIN');
    await accept('evt_under_way');
    const migrated = prepareDatabase(databaseUrl, async () => {});
    await expect.poll(() => waitingFor(databaseUrl, 'events')).toBe(1);
    await oldNode.query('COMMIT');

    const { role } = await migrated;
    await expect(accept('evt_too_late')).rejects.toThrow(
      'column "source_id" of relation "events" does not exist',
    );
    const own = openDatabase({ url: databaseUrl, connectionsMax: 2, role });
    onTestFinished(() => closeDatabase(own));
    expect(await fanOut(own, '2026-11-02T10:00:00Z', 1, 100)).toEqual({ taken: 1, made: 0, more: false });
  });
});

describe('a database from before events were fanned out in turns', () => {
  it('fans out all that was listed as new', async () => {
    const { databaseUrl, db } = await databaseFromBefore('0024');
    await db.query(`
      INSERT INTO events (id, practice_group_id, event, object_id, object_hash, payload, source, accepted_at)
        SELECT 'evt_' || n, 'g' || n % 3, 'appointment.confirmed', 'a', 1, '{}', 'test', now() FROM generate_series(1, 700) AS n;
      INSERT INTO new_events SELECT no FROM events WHERE no > 200`);

    const { role } = await prepareDatabase(databaseUrl, async () => {});
    const own = openDatabase({ url: databaseUrl, connectionsMax: 2, role });
    onTestFinished(() => closeDatabase(own));
    const { rows: longest } = await db.query(
      'SELECT max(cardinality(event_nos)) <= 100 AS fits FROM new_events',
    );
    expect(longest).toEqual([{ fits: true }]);
    expect(await fanOut(own, '2026-11-02T10:00:00Z', 1, 500)).toMatchObject({ taken: 500 });
    const { rows } = await db.query(
      'SELECT min(event_no)::integer, max(event_no)::integer, count(*)::integer FROM feed',
    );
    expect(rows).toEqual([{ min: 201, max: 700, count: 500 }]);
  });

  it('loses nothing that a node of the version before is still writing, and lets it write no more', async () => {
    const { databaseUrl, db: oldNode } = await databaseFromBefore('0024');
    const accept = (id: string) =>
      oldNode.query(
        `WITH accepted AS (
           INSERT INTO events (id, practice_group_id, event, object_id, object_hash, payload, source, accepted_at)
           VALUES ($1, 'old', 'appointment.confirmed', 'a', 1, '{}', 'test', now()) RETURNING no)
         INSERT INTO new_events SELECT no FROM accepted`,
        [id],
      );
    await oldNode.query('BEGIN');
    await accept('evt_under_way');
    const migrated = prepareDatabase(databaseUrl, async () => {});
    await expect.poll(() => waitingFor(databaseUrl, 'new_events')).toBe(1);
    await oldNode.query('COMMIT');

    const { role } = await migrated;
    await expect(accept('evt_too_late')).rejects.toThrow('violates not-null constraint');
    const own = openDatabase({ url: databaseUrl, connectionsMax: 2, role });
    onTestFinished(() => closeDatabase(own));
    expect(await fanOut(own, '2026-11-02T10:00:00Z', 1, 100)).toEqual({ taken: 1, made: 0, more: false });
  });
});
