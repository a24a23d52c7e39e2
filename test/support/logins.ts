import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';

/** Runs statements as the superuser of the PostgreSQL that all test files share. */
export async function asAdmin(...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: inject('postgresUrl') });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** A database that belongs to an ordinary login, as a managed PostgreSQL would hand it out. */
export async function createOwnedDatabase(): Promise<string> {
  const name = `owner_${randomBytes(8).toString('hex')}`;
  const password = randomBytes(12).toString('hex');
  await asAdmin(
    `CREATE ROLE ${name} LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEROLE NOCREATEDB PASSWORD '${password}'`,
    `CREATE DATABASE ${name} OWNER ${name}`,
  );
  const url = new URL(inject('postgresUrl'));
  url.username = name;
  url.password = password;
  url.pathname = name;
  return url.href;
}
