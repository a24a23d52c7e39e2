import pg from 'pg';
import type { Cluster } from './cluster.ts';

const wrongPassword = '28P01'; // also when there is no such role
const noSuchDatabase = '3D000';

export function porterUrl(cluster: Cluster, port: number): string {
  return `postgres://porter:${cluster.passwords.porter}@127.0.0.1:${port}/porter`;
}

export function serviceUrl(cluster: Cluster, port: number): string {
  return `postgres://porter_service:${cluster.passwords.porter_service}@127.0.0.1:${port}/porter`;
}

export function adminUrl(cluster: Cluster, port: number): string {
  return `postgres://postgres:${cluster.passwords.postgres}@127.0.0.1:${port}/postgres`;
}

/**
 * Makes sure that porterUrl and serviceUrl work. Usually two logins that also prove that the server is ours; otherwise creates
 * what an interrupted first start left out. The roles have no rights beyond the database: row security binds them.
 */
export async function ensurePorterAccounts(cluster: Cluster, port: number): Promise<void> {
  const refusals = [
    await logIn(porterUrl(cluster, port), async () => {}),
    await logIn(serviceUrl(cluster, port), async () => {}),
  ];
  if (refusals.every((refusal) => refusal === undefined)) return;

  const adminRefusal = await logIn(adminUrl(cluster, port), async (client) => {
    // A statement that fails goes to the log with its text, here a password.
    await client.query('set log_min_error_statement = panic');
    for (const name of ['porter', 'porter_service'] as const) {
      const role = await client.query('select from pg_roles where rolname = $1', [name]);
      await client.query(
        `${role.rowCount === 0 ? 'create' : 'alter'} role ${name} with login nosuperuser nobypassrls nocreatedb ` +
          `nocreaterole noreplication password '${cluster.passwords[name]}'`,
      );
    }
    const database = await client.query("select from pg_database where datname = 'porter'");
    if (database.rowCount === 0) await client.query('create database porter owner porter');
  });
  if (adminRefusal === undefined) return;
  throw new Error(
    `PostgreSQL does not accept the password in ${cluster.dataDir}/postgres.password (${adminRefusal}); restore that ` +
      'file from a backup',
  );
}

/** Logs in and does the work. Returns the reason when the account is refused, and throws for everything else. */
async function logIn(url: string, work: (client: pg.Client) => Promise<void>): Promise<string | undefined> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on('error', () => {}); // a server that dies meanwhile also fails the query, which is where we hear of it
  try {
    await client.connect();
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    if (code === wrongPassword || code === noSuchDatabase) return message;
    throw error;
  }
  try {
    await work(client);
    return undefined;
  } finally {
    await client.end();
  }
}
