import type pg from 'pg';
import { expect } from 'vitest';

/** Waits until one process waits for a table of this database that somebody else has locked. Returns its number. */
export async function waiter(db: Pick<pg.Client, 'query'>): Promise<number> {
  const pids = async (): Promise<number[]> => {
    const { rows } = await db.query(
      `SELECT pid FROM pg_locks
        WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    );
    return rows.map(({ pid }) => pid);
  };
  await expect.poll(pids).toHaveLength(1);
  const [pid] = await pids();
  return pid as number;
}
