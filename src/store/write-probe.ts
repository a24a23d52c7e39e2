import { SYSTEM } from '../domain/access/principal.ts';
import { alone, type Database, transact } from './database.ts';
import { sqlFunction } from './sql-functions.ts';

const probeWriteSql = sqlFunction('probe_write', {});

/** Changes nothing, but a standby that is not promoted yet, or a database that takes no writes, refuses it. */
export async function askForWrites(db: Database): Promise<void> {
  await transact(db, SYSTEM, (tx) => tx.query('UPDATE feed_head SET position = position WHERE false'));
}

/** Really writes; see src/sql/probe_write.sql. */
export async function probeWrite(db: Database): Promise<void> {
  await probeWriteSql(alone(db), {});
}
