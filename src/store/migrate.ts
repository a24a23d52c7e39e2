import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';
import { mayPass, translate } from './database-errors.ts';
import { hostsOf, NoHost, openClient, reasonOf } from './hosts.ts';
import {
  enterRole,
  grantToThoseWhoServe,
  letServiceIn,
  MAY_NOT,
  ownsTables,
  type ServiceRole,
  UnusableDatabase,
} from './service-role.ts';
import { readSqlFunctions } from './sql-functions.ts';

/**
 * Brings a database to the schema that this code knows: the tables by migrations, plain SQL files that are applied in order and never
 * undone, the functions by their texts in `src/sql` wherever these have changed. All of it is one transaction. Several nodes may start at
 * once: an advisory lock lets one work while the others wait, and those then find nothing to do.
 *
 * Nodes of two neighbouring versions work side by side on one database. The newer one migrates while the older one serves; an older one that
 * starts afterwards leaves everything as it is. So a version changes nothing that the version before relies on: tables expand first and
 * contract a version later, and a function whose arguments or results change gets a new name, while the old one stays for one version.
 */

export const MIGRATIONS_FOLDER = new URL('../../migrations/', import.meta.url);
/** Goes up by one with every release that changes a table or a function. */
export const SCHEMA_VERSION = 2;
const OLDEST_SERVER = 15;
/** Any number, as long as it is always the same: it names the lock. */
export const START_LOCK = 7_203_561;
/** The last of the migrations from before the first release, which the baseline replaces. */
const LAST_UNRELEASED = '0024_fair_fan_out.sql';
const BASELINE = '0001_baseline.sql';

/** So long a migration waits for a lock. Other nodes wait behind it, and for longer (`LOCK_MS` in database.ts), so none of them gives up. */
const LOCK_WAIT_MS = 2_000;
/** A transaction of another node may be in the way. Then all is undone, and tried again. */
const TRIES_MAX = 15;
const IN_THE_WAY = ['40P01', '55P03'];

/** A database that may be usable in a moment: it is starting, failing over, or out of reach. */
export class UnreachableDatabase extends UnusableDatabase {}

export { UnusableDatabase };

const CONNECT_MS = 10_000;
/** Less than a client waits for an answer (hosts.ts). */
const LOCK_TURN_MS = 5_000;
/** A migration may rewrite large tables. A migration that takes longer than a day fails. */
const MIGRATION_MS = 24 * 3_600_000;

export interface Prepared extends ServiceRole {
  applied: string[];
}

/**
 * Checks the server, migrates, and then runs `seed` while still holding the lock, so only one node seeds. `url` is of the login that
 * the service works as; the login of `ownerUrl`, if there is one, migrates and owns the tables.
 */
export async function prepareDatabase(
  url: string,
  seed: (prepared: Prepared) => Promise<void>,
  ownerUrl?: string,
): Promise<Prepared> {
  const service = await connected(url);
  const owner = ownerUrl === undefined ? service : await connected(ownerUrl).catch(closing(service));
  const close = () => Promise.all([owner, service].map((client) => client.end().catch(() => {})));
  try {
    await refuseSharedConnections(url, service).catch((error) => {
      throw explained(url, error);
    });
    const prepared = await prepare(owner, service).catch((error) => {
      throw explained(ownerUrl ?? url, error);
    });
    await seed(prepared);
    await close();
    return prepared;
  } catch (error) {
    // A server that hangs closes no connection, and the start must try the next server.
    void close();
    throw error;
  }
}

function connected(url: string): Promise<pg.Client> {
  return openClient(url, CONNECT_MS).catch((error) => {
    throw unreachable(url, error);
  });
}

function closing(client: pg.Client): (error: unknown) => Promise<never> {
  return async (error) => {
    await client.end().catch(() => {});
    throw error;
  };
}

/**
 * A pooler that gives a connection to the next one after each transaction would mix up what is said once for a whole connection:
 * locks, prepared statements, the role. It looks well as long as there is little to do.
 */
async function refuseSharedConnections(url: string, client: pg.Client): Promise<void> {
  const other = await openClient(url, CONNECT_MS);
  try {
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

async function prepare(owner: pg.Client, service: pg.Client): Promise<Prepared> {
  const { rows } = await owner.query<{ server_version: string }>('SHOW server_version');
  refuseOldServer(rows[0]?.server_version ?? '0');
  await owner.query(`SET lock_timeout = ${LOCK_TURN_MS}`);
  while (!(await hasStartLock(owner)));
  await owner.query('RESET lock_timeout');
  if (!(await ownsTables(owner))) await refuseOutdated(owner);
  const applied = (await ownsTables(owner)) ? await migrate(owner) : [];
  const role = owner === service ? await enterRole(owner) : await letServiceIn(owner, service);
  return { applied, ...role };
}

/** Waits for another node that migrates, but only for a while, so that a server that no longer answers is noticed. */
async function hasStartLock(owner: pg.Client): Promise<boolean> {
  try {
    await owner.query('SELECT pg_advisory_lock($1)', [START_LOCK]);
    return true;
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === '55P03') return false;
    throw error;
  }
}

/** A login that owns nothing finds everything in place: somebody else has migrated. */
async function refuseOutdated(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ version: number }>('SELECT version FROM schema_version');
  const version = rows[0]?.version ?? 0;
  if (version === SCHEMA_VERSION + 1) return;
  const applied = await listApplied(client);
  const known = await listKnown();
  refuseUnknown(applied, known, version);
  const missing = known.filter((name) => !applied.includes(name));
  const outdated = [...(await functionsToPut(client)).keys()];
  if (missing.length + outdated.length > 0)
    throw new UnusableDatabase(
      `The database is not up to date (${[...missing, ...outdated].join(', ')}), and the login of DATABASE_URL may not change it. Set PORTER_MIGRATION_DATABASE_URL to the login that owns the tables, here or for \`porter migrate\`.`,
    );
}

function unreachable(url: string, error: unknown): Error {
  const reason = reasonOf(error);
  if (error instanceof NoHost) {
    const message = `None of the PostgreSQL servers in DATABASE_URL can be used (${reason}). Start the primary or promote a standby, or correct DATABASE_URL.`;
    return error.reasons.some(mayPass) ? new UnreachableDatabase(message) : new UnusableDatabase(message);
  }
  if (error instanceof pg.DatabaseError && error.code?.startsWith('28'))
    return new UnusableDatabase(
      `PostgreSQL at ${place(url)} refused the login (${reason}). Check user and password in DATABASE_URL, and sslmode if it wants encryption.`,
    );
  if (error instanceof pg.DatabaseError && error.code === '3D000')
    return new UnusableDatabase(
      `PostgreSQL at ${place(url)} has no such database (${reason}). Create it, or correct DATABASE_URL.`,
    );
  const message = `PostgreSQL at ${place(url)} cannot be reached (${reason}). Is it running, and is DATABASE_URL right?`;
  return mayPass(error) ? new UnreachableDatabase(message) : new UnusableDatabase(message);
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
    return hostsOf(url).place;
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
  for (let attempt = 1; ; attempt++) {
    try {
      return await migrateOnce(client);
    } catch (error) {
      await client.query('ROLLBACK').catch(() => {});
      const cause = error instanceof FailedMigration ? error.cause : error;
      const isInTheWay = cause instanceof pg.DatabaseError && IN_THE_WAY.includes(cause.code ?? '');
      if (!isInTheWay || attempt === TRIES_MAX) throw error;
    }
  }
}

async function migrateOnce(client: pg.Client): Promise<string[]> {
  await client.query('BEGIN');
  await client.query(
    `SELECT set_config('porter.tenant', '*', true), set_config('lock_timeout', '${LOCK_WAIT_MS}', true),
            set_config('client_min_messages', 'warning', true), set_config('check_function_bodies', 'off', true)`,
  );
  await client.query(`
    CREATE TABLE IF NOT EXISTS schema_migrations (name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now());
    CREATE TABLE IF NOT EXISTS schema_version (is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only), version integer NOT NULL);
    CREATE TABLE IF NOT EXISTS sql_functions (name text PRIMARY KEY, digest text NOT NULL)`);
  const { rows } = await client.query<{ version: number }>('SELECT version FROM schema_version');
  const version = rows[0]?.version ?? 0;
  // A neighbour's: it has everything that this version needs.
  if (version === SCHEMA_VERSION + 1) {
    await client.query('ROLLBACK');
    return [];
  }
  const applied = await listApplied(client);
  const known = await listKnown();
  const isUnreleased = applied.at(-1) === LAST_UNRELEASED && !applied.includes(BASELINE);
  if (!isUnreleased) refuseUnknown(applied, known, version);

  if (isUnreleased) await apply(client, 'unreleased/to_baseline.sql', BASELINE);
  // Before the tables, whose policies and triggers name some of them. What is in them is looked at when they run.
  await putFunctions(client);
  const done = isUnreleased ? [BASELINE] : applied;
  const missing = known.filter((name) => !done.includes(name));
  for (const name of missing) await apply(client, name, name);
  if (version !== SCHEMA_VERSION)
    await client.query(
      'INSERT INTO schema_version (version) VALUES ($1) ON CONFLICT (is_only) DO UPDATE SET version = $1',
      [SCHEMA_VERSION],
    );
  if (missing.length > 0) await grantToThoseWhoServe(client);
  await client.query('COMMIT');
  return isUnreleased ? [BASELINE, ...missing] : missing;
}

async function listKnown(): Promise<string[]> {
  return (await readdir(MIGRATIONS_FOLDER)).filter((name) => name.endsWith('.sql')).sort();
}

async function listApplied(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>('SELECT name FROM schema_migrations ORDER BY name');
  return rows.map(({ name }) => name);
}

function refuseUnknown(applied: readonly string[], known: readonly string[], version: number): void {
  const unknown = applied.filter((name) => !known.includes(name));
  if (unknown.length === 0 && version <= SCHEMA_VERSION) return;
  if (version === 0 && applied.includes('0001_door.sql'))
    throw new UnusableDatabase(
      `The database is of an early version from before the first release (its last migration is ${applied.at(-1)}). Upgrade it to ${LAST_UNRELEASED} with that version first.`,
    );
  throw new UnusableDatabase(
    `The database has migrations that this version of Porter does not know (${unknown.join(', ') || `schema version ${version}`}): a newer version has used it. Start that version; schemas are never taken back.`,
  );
}

async function apply(client: pg.Client, file: string, name: string): Promise<void> {
  try {
    const text = await readFile(new URL(file, MIGRATIONS_FOLDER), 'utf8');
    const patient = { text, query_timeout: MIGRATION_MS };
    await client.query(patient);
    if (file !== name) await client.query('DELETE FROM schema_migrations');
    await client.query('INSERT INTO schema_migrations (name) VALUES ($1)', [name]);
  } catch (error) {
    throw blamed(`The migration ${file}`, error);
  }
}

/** Those whose text has changed; and those are dropped that have no text any more. */
async function putFunctions(client: pg.Client): Promise<void> {
  for (const [name, text] of await functionsToPut(client)) {
    if (text === undefined) {
      await client.query(`DROP FUNCTION ${name}`);
      await client.query('DELETE FROM sql_functions WHERE name = $1', [name]);
      continue;
    }
    await client.query(text).catch((error) => {
      throw blamed(`The function ${name}`, error);
    });
    await client.query(
      'INSERT INTO sql_functions (name, digest) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET digest = $2',
      [name, digestOf(text)],
    );
  }
}

/** By name, with the text; without one for what is to go. */
async function functionsToPut(client: pg.Client): Promise<Map<string, string | undefined>> {
  const { rows } = await client.query<{ name: string; digest: string }>(
    'SELECT name, digest FROM sql_functions',
  );
  const inPlace = new Map(rows.map(({ name, digest }) => [name, digest]));
  const texts = await readSqlFunctions();
  const changed = [...texts].filter(([name, text]) => inPlace.get(name) !== digestOf(text));
  const gone = [...inPlace.keys()].filter((name) => !texts.has(name));
  return new Map<string, string | undefined>([...changed, ...gone.map((name) => [name, undefined] as const)]);
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** PostgreSQL says what is wrong, but not what met it. */
class FailedMigration extends UnusableDatabase {}

/** What may pass by itself, and what the login may not do, is told elsewhere. */
function blamed(what: string, error: unknown): unknown {
  if (!(error instanceof pg.DatabaseError) || error.code === MAY_NOT || isOutage(error)) return error;
  return new FailedMigration(
    `${what} failed and was undone (${error.message}). Start again; if it fails again, the database is not as the version before left it: restore the backup that was made before the upgrade.`,
    { cause: error },
  );
}

/** A lock that was not had in time is no outage here: whoever holds it is tried again. */
function isOutage(error: pg.DatabaseError): boolean {
  return error.code !== '55P03' && translate(error) !== error;
}
