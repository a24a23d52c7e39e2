import { describe, expect, it } from 'vitest';
import { SYSTEM } from '../../../src/domain/access/principal.ts';
import { Outage } from '../../../src/platform/outage.ts';
import { transact } from '../../../src/store/database.ts';
import { startHarness } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

const house = await startHarness({ env: { PORTER_ROLE: 'api' } });

const failing = (code: string) => `DO $$ BEGIN RAISE 'told' USING ERRCODE = '${code}'; END $$`;

describe('a statement of a transaction that nobody waits for', () => {
  it('tells why the ones behind it failed', async () => {
    const broken = transact(house.service.app.db, SYSTEM, async (tx) => {
      tx.defer(failing('22012'));
      return tx.query('SELECT 1');
    });
    await expect(broken).rejects.toMatchObject({ code: '22012', message: 'told' });
  });

  it('is an outage when it waited too long for a lock, whatever came behind it', async () => {
    const late = transact(house.service.app.db, SYSTEM, async (tx) => {
      tx.defer(failing('55P03'));
      return tx.query('SELECT 1');
    });
    await expect(late).rejects.toBeInstanceOf(Outage);
  });

  it('is tried again when PostgreSQL broke a deadlock by it', async () => {
    let tries = 0;
    const undone = transact(house.service.app.db, SYSTEM, async (tx) => {
      if (++tries < 3) tx.defer(failing('40P01'));
      return tx.first('SELECT 7 AS seven');
    });
    expect(await undone).toEqual({ seven: 7 });
    expect(tries).toBe(3);
  });
});

describe('statements of a transaction that are sent together', () => {
  // Whoever waits a little longer for the first hears of it after the second, which only tells that something went wrong before.
  const together = (code: string) =>
    transact(house.service.app.db, SYSTEM, (tx) =>
      Promise.all([tx.first(failing(code)), tx.query('SELECT 1')]),
    );

  it('tell why the first of them failed', async () => {
    for (let n = 0; n < 20; n++)
      await expect(together('22012')).rejects.toMatchObject({ code: '22012', message: 'told' });
  });

  it('are an outage when the first waited too long for a lock', async () => {
    for (let n = 0; n < 20; n++) await expect(together('55P03')).rejects.toBeInstanceOf(Outage);
  });
});

it('a transaction that the server ended because its node stood still is an outage, not a bug', async () => {
  const db = await superuser(house.databaseUrl);
  const frozen = transact(house.service.app.db, SYSTEM, async (tx) => {
    await tx.query("SET LOCAL idle_in_transaction_session_timeout = '10ms'");
    const [row] = await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const isThere = async () =>
      (await db.query('SELECT FROM pg_stat_activity WHERE pid = $1', [row?.pid])).rowCount;
    await expect.poll(isThere).toBe(0);
    return tx.query('SELECT 1');
  });
  await expect(frozen).rejects.toBeInstanceOf(Outage);
  for (const code of ['25P03', '25P04'])
    await expect(
      transact(house.service.app.db, SYSTEM, (tx) => tx.query(failing(code))),
      code,
    ).rejects.toBeInstanceOf(Outage);
});
