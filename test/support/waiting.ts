import type pg from 'pg';
import { expect } from 'vitest';

/**
 * Waits until one process waits for a table of this database that somebody else has locked, with a statement that begins so. Returns its
 * number.
 */
export async function waiter(db: Pick<pg.Client, 'query'>, statement = ''): Promise<number> {
  let pids: number[] = [];
  const look = async () => {
    // Within a transaction PostgreSQL tells the same of the others until it is told to forget it.
    await db.query('SELECT pg_stat_clear_snapshot()');
    const { rows } = await db.query(
      `SELECT pid FROM pg_locks JOIN pg_stat_activity USING (pid)
        WHERE NOT granted AND starts_with(query, $1)
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      [statement],
    );
    pids = rows.map(({ pid }) => pid);
    return pids;
  };
  await expect.poll(look).toHaveLength(1);
  return pids[0] as number;
}
