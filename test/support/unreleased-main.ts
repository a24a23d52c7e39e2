import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';
import { prepareDatabase } from '../../src/store/migrate.ts';
import { createDatabase } from './service.ts';

/**
 * A database as the last version before the first release left it, after a day of work: partners in every state, keys that were
 * rotated and revoked, webhooks that are well, failing, paused and deleted, deliveries that wait, events that nobody has fanned out. It was
 * dumped by `pg_dump --inserts` of PostgreSQL 15; the JSON beside it has the secrets of those who were there.
 */

const fixture = (name: string) => readFileSync(new URL(`../fixtures/${name}`, import.meta.url));

export interface UnreleasedWorld {
  token: string;
  masterKey: string;
  keys: Record<'acme' | 'beta' | 'betaRotated' | 'revoked' | 'gone', string>;
  webhooks: Record<'good' | 'bad' | 'hub' | 'south' | 'paused', { id: string; secret: string }>;
  /** The end of the feed of north-surgery, as Acme knew it. */
  feedCursor: string;
  audit: { ok: boolean; entries: number };
  /** What the receiver that was away had refused, attempt by attempt. */
  undelivered: { id: string; sequence: string }[];
}

export const unreleasedWorld = (): UnreleasedWorld => JSON.parse(fixture('unreleased-main.json').toString());

/** When it was dumped, or soon after. */
export const AFTER_THE_DUMP = '2026-11-17T16:15:00.000Z';

/** Not upgraded yet. */
export async function restoreUnreleasedMain(): Promise<string> {
  const databaseUrl = await createDatabase();
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(gunzipSync(fixture('unreleased-main.sql.gz')).toString());
  } finally {
    await client.end();
  }
  return databaseUrl;
}

export async function unreleasedMain(): Promise<{ databaseUrl: string; role: string | undefined }> {
  const databaseUrl = await restoreUnreleasedMain();
  const { role } = await prepareDatabase(databaseUrl, async () => {});
  return { databaseUrl, role };
}
