import type { Scope } from '../../contract/access.ts';
import type { Transaction } from '../database.ts';

/** How a key and what it called for stand now, for whoever asks why a call was refused. */
export interface DoorFacts {
  partner: { id: string; name: string };
  key: {
    name: string;
    homeId: string;
    scopes: Scope[];
    limitPerMinute: number | null;
    allowedAddresses: string[] | null;
  } | null;
  group: { id: string; name: string } | null;
  /** Those that hold the key's group and the one acted for, and let its partner through. */
  networks: { name: string; scopes: Scope[] | null }[];
  stop: { by: string; since: string } | null;
}

interface Refused {
  partner_id: string;
  key_id: string;
  practice_group_id: string | null;
}

export async function readDoorFacts(
  tx: Transaction,
  { partner_id: partnerId, key_id: keyId, practice_group_id: groupId }: Refused,
): Promise<DoorFacts> {
  const [partner, key, group, networks, stop] = await Promise.all([
    tx.first<{ id: string; name: string }>('SELECT id, name FROM partners WHERE id = $1', [partnerId]),
    tx.first<NonNullable<DoorFacts['key']>>(
      `SELECT coalesce(k.label, k.prefix || '…' || k.last_four) AS name, k.practice_group_id AS "homeId", k.scopes,
              coalesce(k.rate_limit_per_minute,
                       CASE WHEN k.agreement_id IS NULL THEN p.rate_limit_per_minute ELSE a.rate_limit_per_minute END) AS "limitPerMinute",
              k.allowed_addresses AS "allowedAddresses"
         FROM api_keys k JOIN partners p ON p.id = k.partner_id LEFT JOIN agreements a ON a.id = k.agreement_id WHERE k.id = $1`,
      [keyId],
    ),
    tx.first<{ id: string; name: string }>('SELECT id, name FROM practice_groups WHERE id = $1', [groupId]),
    tx.query<DoorFacts['networks'][number]>(
      `SELECT n.name, n.scopes FROM api_keys k JOIN network_members home ON home.practice_group_id = k.practice_group_id
         JOIN network_members target USING (network_id) JOIN networks n ON n.id = network_id
        WHERE k.id = $1 AND target.practice_group_id = $2 AND (n.partner_ids IS NULL OR $3 = ANY (n.partner_ids)) ORDER BY n.name, n.id`,
      [keyId, groupId, partnerId],
    ),
    tx.first<NonNullable<DoorFacts['stop']>>(
      `SELECT stopped_by_name AS by, stopped_at AS since FROM stops
        WHERE practice_group_id = $1 AND partner_id = $2 AND lifted_at IS NULL`,
      [groupId, partnerId],
    ),
  ]);
  return {
    partner: partner ?? { id: partnerId, name: partnerId },
    key: key ?? null,
    group: group ?? null,
    networks,
    stop: stop ?? null,
  };
}
