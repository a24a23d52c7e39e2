import { beforeAll, describe, expect, it } from 'vitest';
import { SYSTEM } from '../../src/domain/principal.ts';
import { Outage } from '../../src/platform/outage.ts';
import { transact } from '../../src/store/database.ts';
import { type Harness, startHarness } from '../support/service.ts';

let house: Harness;
beforeAll(async () => {
  house = await startHarness({ env: { PORTER_ROLE: 'api' } });
});

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
