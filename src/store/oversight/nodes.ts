import type { Node } from '../../contract/operator/oversight/deployment.ts';
import { SYSTEM } from '../../domain/access/principal.ts';
import { type Database, type Transaction, transact } from '../database.ts';

/** A process of the service, as it tells of itself. */
export type NodeSign = Omit<Node, 'seen_at' | 'share_percent' | 'answering'>;

/** `at` is of `databaseTime`. */
export async function signNode(db: Database, at: string | null, node: NodeSign): Promise<void> {
  await transact(db, SYSTEM, async (tx) => {
    tx.defer(
      `INSERT INTO nodes (id, name, version, role, started_at, seen_at, clock_skew_ms, calls_per_minute, deliveries_per_minute)
       VALUES ($1, $2, $3, $4, $5, coalesce($6::timestamptz, clock_timestamp()), $7, $8, $9)
       ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, clock_skew_ms = excluded.clock_skew_ms,
         calls_per_minute = excluded.calls_per_minute, deliveries_per_minute = excluded.deliveries_per_minute`,
      [
        node.id,
        node.name,
        node.version,
        node.role,
        node.started_at,
        at,
        node.clock_skew_ms,
        node.calls_per_minute,
        node.deliveries_per_minute,
      ],
    );
  });
}

export async function forgetNode(db: Database, id: string): Promise<void> {
  await transact(db, SYSTEM, async (tx) => tx.defer('DELETE FROM nodes WHERE id = $1', [id]));
}

/** Those that have given a sign since a moment. */
export function listNodesSince(
  tx: Transaction,
  since: string,
): Promise<Omit<Node, 'share_percent' | 'answering'>[]> {
  return tx.query(
    `SELECT id, name, version, role, started_at, seen_at, clock_skew_ms, calls_per_minute, deliveries_per_minute
       FROM nodes WHERE seen_at >= $1 ORDER BY started_at, id`,
    [since],
  );
}

/** A node signs every 15 s, and may miss one sign. */
const SIGNED_WITHIN = "interval '35 seconds'";
/** A node that crashes again and again signs once at each start. */
const SIGNED_AGAIN_AFTER = "interval '10 seconds'";

/** Whether a node that delivers runs at this moment. */
export async function hasDeliverer(tx: Transaction, at: string): Promise<boolean> {
  const found = await tx.query(
    `SELECT FROM nodes WHERE role <> 'api' AND seen_at > $1::timestamptz - ${SIGNED_WITHIN} AND seen_at > started_at + ${SIGNED_AGAIN_AFTER}
      LIMIT 1`,
    [at],
  );
  return found.length > 0;
}
