import pg from 'pg';
import { afterwards } from './afterwards.ts';

/** A connection of the database's superuser, past everything that the service would not do. */
export async function superuser(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on('error', () => {});
  await client.connect();
  afterwards(() => client.end());
  return client;
}
