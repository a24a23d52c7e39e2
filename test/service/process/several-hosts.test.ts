import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { createLogger } from '../../../src/platform/logger.ts';
import { startEmbeddedPostgres } from '../../../src/platform/postgres/embedded.ts';
import { prepare } from '../../../src/service/prepare.ts';
import { closeDatabase, connect, openDatabase } from '../../../src/store/database.ts';
import { prepareDatabase, UnusableDatabase } from '../../../src/store/migrate.ts';
import { afterwards, temporaryFolder } from '../../support/afterwards.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { OPERATOR_TOKEN, startHarness } from '../../support/service.ts';

/** `DATABASE_URL` with several servers, on two real ones that know the same login and database. */

const NAME = `hosts_${randomBytes(6).toString('hex')}`;
/** Nobody listens there. */
const CLOSED = '127.0.0.1:1';

interface Server {
  host: string;
  admin(...statements: string[]): Promise<void>;
  /** From now on, and for whoever is connected. */
  setReadOnly(isReadOnly: boolean): Promise<void>;
}

let one: Server;
let two: Server;

beforeAll(async () => {
  const postgres = await startEmbeddedPostgres({
    dataDir: temporaryFolder(),
    log: () => {},
    settings: { fsync: 'off' },
  });
  afterwards(() => postgres.stop());
  [one, two] = (await Promise.all([inject('postgresUrl'), postgres.adminUrl].map(furnished))) as [
    Server,
    Server,
  ];
});

async function furnished(adminUrl: string): Promise<Server> {
  const admin: Server['admin'] = async (...statements) => {
    const client = new pg.Client({ connectionString: adminUrl });
    await client.connect();
    try {
      for (const statement of statements) await client.query(statement);
    } finally {
      await client.end();
    }
  };
  await admin(`CREATE ROLE ${NAME} LOGIN PASSWORD 'same'`, `CREATE DATABASE ${NAME} OWNER ${NAME}`);
  return {
    host: new URL(adminUrl).host,
    admin,
    setReadOnly: (isReadOnly) =>
      admin(
        `ALTER DATABASE ${NAME} SET default_transaction_read_only = ${isReadOnly}`,
        `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${NAME}'`,
      ),
  };
}

const urlOf = (hosts: string[], options = '') =>
  `postgres://${NAME}:same@${hosts.join(',')}/${NAME}${options}`;

/** Where new connections go. */
async function reached(url: string): Promise<number> {
  const db = openDatabase({ url, connectionsMax: 2 });
  try {
    const client = await connect(db);
    const { rows } = await client.query("SELECT current_setting('port')::int AS port");
    client.release();
    return rows[0].port;
  } finally {
    await closeDatabase(db);
  }
}
const portOf = ({ host }: Server) => Number(host.split(':')[1]);

describe('a connection goes to', () => {
  it('the first server that answers and takes writes', async () => {
    expect(await reached(urlOf([one.host, two.host]))).toBe(portOf(one));
    expect(await reached(urlOf([CLOSED, two.host]))).toBe(portOf(two));
    await two.setReadOnly(true);
    expect(await reached(urlOf([CLOSED, two.host, one.host]))).toBe(portOf(one));
    for (const attrs of ['read-write', 'any', 'primary'])
      expect(await reached(urlOf([two.host, one.host], `?target_session_attrs=${attrs}`)), attrs).toBe(
        portOf(attrs === 'read-write' ? one : two),
      );
    await two.setReadOnly(false);
  });

  it('the next one as soon as the one in use takes no writes any more', async () => {
    // Both have the tables, as a standby would.
    await prepareDatabase(urlOf([two.host]), async () => {});
    const databaseUrl = urlOf([one.host, two.host], '?target_session_attrs=read-write');
    const house = await startHarness({ databaseUrl, env: { PORTER_ROLE: 'api' } });
    await house.operator('POST', '/practice-groups', { id: 'on-one', name: 'On one' });
    await one.setReadOnly(true);
    const ready = async () => (await house.send('GET', '/readyz')).status;
    await expect.poll(ready).toBe(200);
    const client = await connect(house.service.app.db);
    const { rows } = await client.query("SELECT current_setting('port')::int AS port");
    client.release();
    expect(rows[0].port).toBe(portOf(two));
    const there = await house.send('GET', '/operator/v1/practice-groups', { token: OPERATOR_TOKEN });
    expect(there.body).toMatchObject({ data: [] });
    await house.operator('POST', '/practice-groups', { id: 'on-two', name: 'On two' });
    await one.setReadOnly(false);
  });
});

describe('a start', () => {
  it('goes on to the next server when the first one, an old primary, takes connections and never commits', async () => {
    // It waits for a standby that is gone, as after a failover.
    const standby = (name: string) =>
      two.admin(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`, 'SELECT pg_reload_conf()');
    await Promise.all([one, two].map(({ host }) => prepareDatabase(urlOf([host]), async () => {})));
    await standby('gone');
    const house = await startHarness({
      databaseUrl: urlOf([two.host, one.host]),
      env: { PORTER_ROLE: 'api' },
    });
    await house.operator('POST', '/practice-groups', { id: 'after-failover', name: 'After failover' });
    const client = await connect(house.service.app.db);
    const { rows } = await client.query("SELECT current_setting('port')::int AS port");
    client.release();
    expect(rows[0].port).toBe(portOf(one));
    await standby('');
  });

  it('tries again for a minute, and not at all when trying again does not help', async () => {
    const tries = async (url: string) => {
      const clock = new ManualClock();
      const begun = clock.monotonic();
      const lines: string[] = [];
      const log = createLogger((line) => lines.push(line));
      const surroundings = { clock, log, stop: undefined };
      const error = await prepare({ url, ownerUrl: undefined }, async () => {}, surroundings).catch((e) => e);
      return { error, lines, seconds: (clock.monotonic() - begun) / 1000 };
    };
    const refused = await tries(urlOf([CLOSED, CLOSED]));
    expect(refused.error.message).toContain('ECONNREFUSED');
    expect(refused.seconds).toBeGreaterThanOrEqual(60);
    expect(refused.seconds).toBeLessThan(66);
    expect(refused.lines[0]).toContain('trying again');
    const wrong = await tries(urlOf([one.host, two.host]).replaceAll(':same@', ':wrong@'));
    expect(wrong.error.message).toContain('password authentication failed');
    expect([wrong.seconds, wrong.lines]).toEqual([0, []]);
  });
});

describe('a start that finds no server to write to says of each why', () => {
  it('none answers, or all are read-only', async () => {
    await two.setReadOnly(true);
    const error = await prepareDatabase(urlOf([CLOSED, two.host]), async () => {}).catch((error) => error);
    expect(error).toBeInstanceOf(UnusableDatabase);
    expect(error.message).toContain(`${CLOSED}/${NAME}: connect ECONNREFUSED`);
    expect(error.message).toContain(`${two.host}/${NAME}: it takes no writes`);
    expect(error.message).toContain('promote a standby');
    expect(error.message).not.toContain('same@');
    await two.setReadOnly(false);
  });
});
