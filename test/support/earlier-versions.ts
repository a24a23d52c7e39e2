import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';
import { prepareDatabase } from '../../src/store/migrate.ts';
import { createDatabase } from './service.ts';

/**
 * Databases as earlier versions left them, after a day of work: partners in every state, keys that were rotated and revoked, webhooks that are
 * well, failing, paused and deleted, deliveries that wait, events that nobody has fanned out. That of version 1 also has deliveries that were given
 * up or are withheld, a webhook between two secrets, networks with caps, operators, erasures and an access log. They were dumped by
 * `pg_dump --inserts` of PostgreSQL 15; the JSON beside each has the secrets of those who were there.
 */

interface Delivered {
  id: string;
  sequence: string;
}

interface EarlierWorld {
  /** When it was dumped, or soon after. */
  after: string;
  token: string;
  masterKey: string;
  keys: Record<'acme' | 'beta' | 'betaRotated' | 'revoked' | 'gone', string>;
  /** Their IDs: one that is well, and one whose receiver was away. */
  webhooks: Record<'good' | 'bad', string>;
  /** The secrets of the one whose receiver was away, the newest first. */
  signing: string[];
  /** The end of the feed of north-surgery, as Acme knew it. */
  feedCursor: string;
  audit: { ok: boolean; entries: number };
  /** The test event that the webhook that is well got. */
  tested: Delivered;
  /** How many deliveries the one whose receiver was away has, with those that are still to be fanned out. */
  sequences: number;
  /** Those of them that its receiver had refused. */
  undelivered: Delivered[];
}

/** What there was from version 1 on. */
interface FirstWorld extends EarlierWorld {
  webhooks: Record<'good' | 'bad' | 'gone', string>;
  more: {
    operators: Record<'support' | 'source' | 'former', string>;
    /** A line that was given out. */
    anchor: string;
    /** A call with an idempotency key. */
    once: { key: string; body: object; answer: object };
    erasure: { id: string; practice_group_id: string; recipients: object[] };
    /** What its partner's suspension withholds from the webhook `gone`. */
    withheld: { partnerId: string; deliveries: Delivered[] };
  };
}

export interface EarlierVersion<World extends EarlierWorld = EarlierWorld> {
  name: string;
  world: World;
  /** Not upgraded yet. */
  restore(): Promise<string>;
  upgraded(): Promise<{ databaseUrl: string; role: string | undefined }>;
}

const fixture = (name: string) => readFileSync(new URL(`../fixtures/${name}`, import.meta.url));

function earlierVersion<World extends EarlierWorld>(name: string): EarlierVersion<World> {
  const restore = async () => {
    const databaseUrl = await createDatabase();
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    try {
      await client.query(gunzipSync(fixture(`${name}.sql.gz`)).toString());
    } finally {
      await client.end();
    }
    return databaseUrl;
  };
  return {
    name,
    world: JSON.parse(fixture(`${name}.json`).toString()),
    restore,
    async upgraded() {
      const databaseUrl = await restore();
      const { role } = await prepareDatabase(databaseUrl, async () => {});
      return { databaseUrl, role };
    },
  };
}

/** The last one before the first release. */
export const unreleasedMain = earlierVersion('unreleased-main');
export const versionOne = earlierVersion<FirstWorld>('version-1');
