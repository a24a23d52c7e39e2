import pg from 'pg';
import { afterAll } from 'vitest';

/** For use in `beforeAll`: a connection of the database's superuser, past everything that the service would not do. */
export async function superuser(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on('error', () => {});
  await client.connect();
  afterAll(() => client.end());
  return client;
}
