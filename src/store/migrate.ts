import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';
import { translate } from './database.ts';

/**
 * Brings a database to the schema that this code knows. Migrations are plain SQL files, applied in order, each in its
 * own transaction, never undone. Several nodes may start at once: an advisory lock lets one work while the others
 * wait, and those then find nothing to do.
 */

export const MIGRATIONS_FOLDER = new URL('../../migrations/', import.meta.url);
const OLDEST_SERVER = 15;
/** Any number, as long as it is always the same: it names the lock. */
export const START_LOCK = 7_203_561;

/** Migrations that have run under another name. */
const RENAMED: Record<string, string> = { '0003_lighter_updates.sql': '0004_lighter_updates.sql' };

/** PostgreSQL's code for what a login may not do. */
const MAY_NOT = '42501';

/** Why the service will not work with this database; the message says what to do. */
export class UnusableDatabase extends Error {}

export interface Prepared {
  applied: string[];
  /** The role that statements must run as, where the login itself would bypass row-level security. */
  role: string | undefined;
}

/** Checks the server, migrates, and then runs `seed` while still holding the lock, so only one node seeds. */
export async function prepareDatabase(
  url: string,
  seed: (prepared: Prepared) => Promise<void>,
): Promise<Prepared> {
  const client = clientOf(url);
  try {
    await client.connect();
  } catch (error) {
    throw unreachable(url, error);
  }
  try {
    await refuseSharedConnections(url, client).catch((error) => {
      throw explained(url, error);
    });
    const prepared = await prepare(client).catch((error) => {
      throw explained(url, error);
    });
    await seed(prepared);
    return prepared;
  } finally {
    await client.end().catch(() => {});
  }
}

function clientOf(url: string): pg.Client {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on('error', () => {});
  return client;
}

/**
 * A pooler that gives a connection to the next one after each transaction would mix up what is said once for a whole connection:
 * locks, prepared statements, the role. It looks well as long as there is little to do.
 */
async function refuseSharedConnections(url: string, client: pg.Client): Promise<void> {
  const other = clientOf(url);
  try {
    await other.connect();
    const mine = await sessionOf(client);
    await other.query('BEGIN');
    // As long as its transaction is open, the other one keeps the session that it was given.
    if ((await sessionOf(other)) !== mine && (await sessionOf(client)) === mine) return;
  } finally {
    await other.end().catch(() => {});
  }
  throw new UnusableDatabase(
    `The pooler at ${place(url)} shares connections between transactions. Let it work in session mode, or let DATABASE_URL point to PostgreSQL itself.`,
  );
}

async function sessionOf(client: pg.Client): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid;
}

async function prepare(client: pg.Client): Promise<Prepared> {
  const { rows } = await client.query<{ server_version: string }>('SHOW server_version');
  refuseOldServer(rows[0]?.server_version ?? '0');
  await client.query('SELECT pg_advisory_lock($1)', [START_LOCK]);
  const applied = await migrate(client);
  return { applied, role: await enterRole(client) };
}

function unreachable(url: string, error: unknown): Error {
  const reason = error instanceof Error ? error.message || (error as { code?: string }).code : String(error);
  if (error instanceof pg.DatabaseError && error.code?.startsWith('28'))
    return new UnusableDatabase(
      `PostgreSQL at ${place(url)} refused the login (${reason}). Check user and password in DATABASE_URL, and sslmode if it wants encryption.`,
    );
  if (error instanceof pg.DatabaseError && error.code === '3D000')
    return new UnusableDatabase(
      `PostgreSQL at ${place(url)} has no such database (${reason}). Create it, or correct DATABASE_URL.`,
    );
  return new UnusableDatabase(
    `PostgreSQL at ${place(url)} cannot be reached (${reason}). Is it running, and is DATABASE_URL right?`,
  );
}

function explained(url: string, error: unknown): unknown {
  if (error instanceof UnusableDatabase) return error;
  if (error instanceof pg.DatabaseError && error.code === MAY_NOT)
    return new UnusableDatabase(
      `PostgreSQL at ${place(url)} does not let this login set up its tables (${error.message}). Let the login of DATABASE_URL own the database.`,
    );
  return translate(error);
}

/** Where a URL points, without its password. */
function place(url: string): string {
  try {
    const { host, pathname } = new URL(url);
    return host + pathname;
  } catch {
    return 'the address in DATABASE_URL';
  }
}

export function refuseOldServer(version: string): void {
  if (Number.parseInt(version, 10) < OLDEST_SERVER)
    throw new UnusableDatabase(
      `PostgreSQL ${version} is too old: Porter needs version ${OLDEST_SERVER} or newer. Upgrade the server, or point DATABASE_URL to another.`,
    );
}

async function migrate(client: pg.Client): Promise<string[]> {
  await client.query(
    `CREATE TABLE IF NOT EXISTS schema_migrations (name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())`,
  );
  for (const [before, name] of Object.entries(RENAMED))
    await client.query('UPDATE schema_migrations SET name = $2 WHERE name = $1', [before, name]);
  const { rows } = await client.query<{ name: string }>('SELECT name FROM schema_migrations ORDER BY name');
  const done = new Set(rows.map((row) => row.name));
  const known = (await readdir(MIGRATIONS_FOLDER)).filter((name) => name.endsWith('.sql')).sort();

  const unknown = [...done].filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new UnusableDatabase(
      `The database has migrations that this version of Porter does not know (${unknown.join(', ')}): a newer version has used it. Start that version; schemas are never taken back.`,
    );

  const missing = known.filter((name) => !done.has(name));
  for (const name of missing)
    await apply(client, name).catch((error) => {
      throw blamed(name, error);
    });
  return missing;
}

async function apply(client: pg.Client, name: string): Promise<void> {
  const sql = await readFile(new URL(name, MIGRATIONS_FOLDER), 'utf8');
  await client.query('BEGIN');
  await client.query("SELECT set_config('porter.tenant', '*', true)");
  await client.query(sql);
  await client.query('INSERT INTO schema_migrations (name) VALUES ($1)', [name]);
  await client.query('COMMIT');
}

/**
 * PostgreSQL says what is wrong, but not which migration met it. A node of the version before that still works may be in its way
 * (a deadlock). What may pass by itself, and what the login may not do, is told elsewhere.
 */
function blamed(name: string, error: unknown): unknown {
  if (!(error instanceof pg.DatabaseError) || error.code === MAY_NOT || translate(error) !== error)
    return error;
  return new UnusableDatabase(
    `The migration ${name} failed and was undone (${error.message}). Stop every other node and start again; if it fails again, the database is not as the version before left it: restore the backup that was made before the upgrade.`,
    { cause: error },
  );
}

const RESTRICTED_ROLE = 'porter_app';

/**
 * Superusers bypass row-level security, even where it is forced. When the login is one, the service works through a
 * role that is not; an ordinary login needs no role, since the tables force their policies on their owner too.
 */
async function enterRole(client: pg.Client): Promise<string | undefined> {
  const { rows } = await client.query<{ superuser: boolean; bypasses: boolean }>(
    'SELECT rolsuper AS superuser, rolbypassrls AS bypasses FROM pg_roles WHERE rolname = current_user',
  );
  if (!rows[0]?.superuser && !rows[0]?.bypasses) return undefined;
  await makeRole(client, rows[0].superuser).catch((error) => {
    if (!(error instanceof pg.DatabaseError) || error.code !== MAY_NOT) throw error;
    throw new UnusableDatabase(
      `The login of DATABASE_URL bypasses row-level security, and may not make and use the role ${RESTRICTED_ROLE} instead (${error.message}). Let an administrator run ALTER ROLE … NOBYPASSRLS for this login.`,
    );
  });
  await client.query(`GRANT USAGE ON SCHEMA public TO ${RESTRICTED_ROLE}`);
  await client.query(
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${RESTRICTED_ROLE}`,
  );
  return RESTRICTED_ROLE;
}

async function makeRole(client: pg.Client, isSuperuser: boolean): Promise<void> {
  // Roles belong to the whole server, and another database's start may be making the same one at this moment.
  await client.query(`DO $$ BEGIN CREATE ROLE ${RESTRICTED_ROLE} NOLOGIN;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$`);
  if (!isSuperuser) await client.query(`GRANT ${RESTRICTED_ROLE} TO current_user`);
}
