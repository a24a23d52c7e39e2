import pg from 'pg';
import { afterAll } from 'vitest';

/** A connection of the database's own superuser, past everything that the service would never let happen. */
export async function superuser(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on('error', () => {});
  await client.connect();
  afterAll(() => client.end());
  return client;
}
