import type pg from 'pg';
import type { Clock } from '../../platform/clock.ts';
import { alone, connect, type Database, type Transaction } from '../database.ts';
import { translate } from '../database-errors.ts';
import { sqlFunction } from '../sql-functions.ts';

/** Added to a worker's number, so that it is no other advisory lock's. */
const PRESENCE = '1152921504606846976';
const freeLanesOfTheDeadSql = sqlFunction('free_lanes_of_the_dead', { me: 'bigint', base: 'bigint' });

/** A connection that ended without a word, as when a firewall forgets it, is found out by asking. */
const ASK_MS = 5_000;

export interface Presence {
  /** Connects if needed, and returns when the liveness lock is held. Throws an outage while the database is away. */
  ensure(): Promise<void>;
  /** Whether the liveness lock is held, as far as this process knows. */
  isThere(): boolean;
  leave(): void;
}

/**
 * Keeps a connection of the worker open while the worker runs. The connection holds an advisory lock, by which other nodes see that the worker is
 * alive: PostgreSQL releases the lock the moment the process dies, so no node waits for its leases to expire. The connection also receives
 * notifications. A notification is only a hint: regular polling covers notifications that were lost while the connection was down.
 */
export function announceLiveness(
  db: Database,
  me: number,
  channels: readonly string[],
  heard: (channel: string, what: string) => void,
  clock: Clock,
): Presence {
  let client: pg.PoolClient | undefined;
  let left = false;
  let askedAt = clock.monotonic();
  let appearing: Promise<void> | undefined;

  const lose = (lost: pg.PoolClient) => {
    if (client !== lost) return;
    client = undefined;
    lost.release(true);
  };

  async function appear(): Promise<void> {
    const fresh = await connect(db);
    client = fresh;
    try {
      fresh.on('notification', ({ channel, payload }) => heard(channel, payload ?? ''));
      fresh.on('end', () => lose(fresh));
      const listen = channels.map((channel) => `LISTEN ${channel};`).join(' ');
      await fresh.query(`${listen} SELECT pg_advisory_lock_shared(${PRESENCE} + ${me}::bigint)`);
      if (left) lose(fresh);
    } catch (error) {
      lose(fresh);
      throw translate(error);
    }
  }

  return {
    async ensure() {
      if (left) return;
      if (!client)
        appearing ??= appear().finally(() => {
          appearing = undefined;
        });
      else if (clock.monotonic() - askedAt > ASK_MS) {
        askedAt = clock.monotonic();
        const asked = client;
        asked.query('SELECT 1').catch(() => lose(asked));
      }
      await appearing;
    },
    isThere: () => client !== undefined && !appearing,
    leave() {
      left = true;
      if (client && !appearing) lose(client);
    },
  };
}

/**
 * Where nodes of a version before `version` are connected from, at this moment; where addresses are not shown, a process of PostgreSQL that serves
 * them. Nodes name their connections by their version (database.ts); those of version 1 did not.
 */
export async function findOlderNodes(tx: Transaction, version: number): Promise<string[]> {
  const rows = await tx.query<{ place: string }>(
    `SELECT coalesce(host(client_addr), 'pid ' || min(pid)) AS place FROM pg_stat_activity
      WHERE datname = current_database() AND application_name ~ '^porter( \\d+)?$'
        AND coalesce(substring(application_name FROM '\\d+')::integer, 1) < $1 GROUP BY client_addr ORDER BY place`,
    [version],
  );
  return rows.map(({ place }) => place);
}

/** Frees the lanes of workers that are no more. Returns how many lanes that were. */
export async function freeLanesOfTheDead(db: Database, me: number): Promise<number> {
  const [row] = await freeLanesOfTheDeadSql<{ free_lanes_of_the_dead: number }>(alone(db), {
    me,
    base: PRESENCE,
  });
  return row?.free_lanes_of_the_dead ?? 0;
}
