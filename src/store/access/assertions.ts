import { SYSTEM } from '../../domain/access/principal.ts';
import { type Database, transact } from '../database.ts';

/** A signed assertion by which the holder of a key shows itself. */
export interface Assertion {
  keyId: string;
  jti: string;
  expiresAt: string;
}

/** Nodes judge by their own clocks whether an assertion has expired: by so much the last of them may be behind. */
const KEPT_AFTER_EXPIRY = '10 minutes';
const CLEARED_MAX = 1_000;

/**
 * Uses assertions up: tells for each whether this was its first use on any node. Two transactions with the same one wait for each
 * other, and one of them is told no. What has expired is cleared on the way. `now` undefined: by the clock of the server.
 */
export async function useAssertions(
  db: Database,
  now: string | undefined,
  assertions: readonly Assertion[],
): Promise<boolean[]> {
  return transact(db, SYSTEM, async (tx) => {
    const rows = await tx.query<{ key_id: string; jti: string }>(
      // In one order, so that two batches never wait for each other.
      `INSERT INTO used_assertions (key_id, jti, expires_at)
       SELECT * FROM unnest($1::text[], $2::text[], $3::timestamptz[]) AS a (key_id, jti, expires_at) ORDER BY key_id, jti
       ON CONFLICT DO NOTHING RETURNING key_id, jti`,
      [
        assertions.map(({ keyId }) => keyId),
        assertions.map(({ jti }) => jti),
        assertions.map(({ expiresAt }) => expiresAt),
      ],
    );
    tx.defer(
      `DELETE FROM used_assertions a USING (
         SELECT ctid AS id FROM used_assertions
          WHERE expires_at < coalesce($1::timestamptz, now()) - interval '${KEPT_AFTER_EXPIRY}'
          ORDER BY expires_at LIMIT ${CLEARED_MAX} FOR UPDATE SKIP LOCKED) AS old
        WHERE a.ctid = old.id`,
      [now],
    );
    return assertions.map(({ keyId, jti }) => {
      // Of two in one batch the first has it.
      const at = rows.findIndex((row) => row.key_id === keyId && row.jti === jti);
      if (at >= 0) rows.splice(at, 1);
      return at >= 0;
    });
  });
}
