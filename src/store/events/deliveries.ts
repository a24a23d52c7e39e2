import { SYSTEM } from '../../domain/access/principal.ts';
import type { AuditRecord } from '../audit-append.ts';
import { alone, type Database, type Transaction, transact } from '../database.ts';
import { sqlFunction } from '../sql-functions.ts';

/**
 * The queue of deliveries, for the engine; deliveries-claim.ts takes from it, results are written by deliveries-record.ts. What each step guarantees is told at the head of
 * its function in src/sql, the order of the whole in delivery/engine.ts.
 */

export const fanOutSql = sqlFunction('fan_out', { at: 'timestamptz', me: 'bigint', events_max: 'integer' });
const entitledWebhooksSql = sqlFunction('entitled_webhooks_2', {
  at: 'timestamptz',
  nos: 'integer[]',
  group_ids: 'text[]',
});
const reviewEntitlementSql = sqlFunction('review_entitlement', {
  at: 'timestamptz',
  after_no: 'integer',
  webhooks_max: 'integer',
  nos: 'integer[]',
});
const renewLanesSql = sqlFunction('renew_lanes', {
  at: 'timestamptz',
  me: 'bigint',
  lease_ms: 'integer',
  nos: 'integer[]',
});
const freeLanesSql = sqlFunction('free_lanes', { me: 'bigint', nos: 'integer[]' });

export interface FannedOut {
  /** How many events were taken; -1: another node is at it. */
  taken: number;
  /** How many deliveries they made. */
  made: number;
  /** Whether there are more. */
  more: boolean;
}

/** `at` null, here and below: by the clock of the server. */
export async function fanOut(
  db: Database,
  at: string | null,
  me: number,
  eventsMax: number,
): Promise<FannedOut> {
  const [row] = await fanOutSql<FannedOut>(alone(db), { at, me, events_max: eventsMax });
  return row ?? { taken: 0, made: 0, more: false };
}

/** Tells the workers, when the transaction commits, that deliveries may be due. A hint: they would find out by themselves. */
export function wakeWorkers(tx: Transaction): void {
  tx.defer("SELECT pg_notify('porter_deliveries', '')");
}

/** Returns which of these lanes the worker still holds, from now on for so long. */
export async function renewLanes(
  db: Database,
  at: string | null,
  me: number,
  leaseMs: number,
  nos: readonly number[],
): Promise<Set<number>> {
  const rows = await renewLanesSql<{ renew_lanes: number }>(alone(db), { at, me, lease_ms: leaseMs, nos });
  return new Set(rows.map(({ renew_lanes: no }) => no));
}

/** A webhook that is active and not withheld. */
export interface WebhookNow {
  version: number;
  /** For so long, from before it was asked, its partner is taken to be entitled to what is queued for it. 0: it is not. */
  entitledMs: number;
}

/** A webhook for several practice groups is named once for each of those whose deliveries are queued for it; `groupId` null: its own. */
export async function lookAtWebhooks(
  db: Database,
  at: string | null,
  asked: readonly { no: number; groupId: string | null }[],
): Promise<Map<number, WebhookNow>> {
  const rows = await transact(db, SYSTEM, (tx) =>
    entitledWebhooksSql<{ webhook_no: number; version: number; entitled_ms: number }>(tx, {
      at,
      nos: asked.map(({ no }) => no),
      group_ids: asked.map(({ groupId }) => groupId),
    }),
  );
  const found = new Map<number, WebhookNow>();
  for (const { webhook_no: no, version, entitled_ms } of rows) {
    const entitledMs = Math.min(entitled_ms, found.get(no)?.entitledMs ?? entitled_ms);
    found.set(no, { version, entitledMs });
  }
  return found;
}

export interface Review {
  /** Where to go on; 0: it has been through all. */
  last_no: number;
  /** How many webhooks have their deliveries withheld from now on, and how many no longer. */
  withheld: number;
  resumed: number;
}

/** Webhooks that are looked at in one go, twice a second: each takes PostgreSQL 40 µs, in which others wait. */
const REVIEWED_MAX = 200;

/** Notes whose deliveries are withheld: of these webhooks, or of the next that have open deliveries. */
export async function reviewEntitlement(
  db: Database,
  at: string | null,
  which: { nos: readonly number[] } | { afterNo: number },
): Promise<Review> {
  const [row] = await reviewEntitlementSql<Review>(alone(db), {
    at,
    after_no: 'afterNo' in which ? which.afterNo : 0,
    webhooks_max: REVIEWED_MAX,
    nos: 'nos' in which ? which.nos : null,
  });
  return row ?? { last_no: 0, withheld: 0, resumed: 0 };
}

/** All that the worker holds, unless some are named. */
export async function freeLanes(
  db: Database,
  me: number,
  nos: readonly number[] | null = null,
): Promise<void> {
  await freeLanesSql(alone(db), { me, nos });
}

/** Where deliveries go and what signs them. */
export interface Destination {
  no: number;
  id: string;
  version: number;
  url: string;
  /** A webhook of the operator's own. */
  isOfOperator: boolean;
  /** What serves write-through: the practice software keeps a change that was not made for as long as it has not heard so. */
  mustArrive: boolean;
  secrets: { sealed: Buffer; keyId: string; expiresAt: number }[];
  signature: 'hmac' | 'ed25519' | 'both';
  /** Of its own; null: it has none. */
  headers: { sealed: Buffer; keyId: string } | null;
}

interface DestinationRow {
  no: number;
  id: string;
  version: number;
  url: string;
  isOfOperator: boolean;
  mustArrive: boolean;
  sealed: string[];
  key_ids: string[];
  expiries: (string | null)[];
  signature: Destination['signature'];
  headers_sealed: Buffer | null;
  headers_key_id: string | null;
}

/** Of these webhooks; one that was deleted meanwhile is left out. The newest secret comes first. */
export async function findDestinations(db: Database, nos: readonly number[]): Promise<Destination[]> {
  const rows = await transact(db, SYSTEM, (tx) =>
    tx.query<DestinationRow>(
      `SELECT w.no, w.id, w.version, w.url, w.audience = 'operator' AS "isOfOperator", w.signature, w.headers_sealed, w.headers_key_id,
              EXISTS (SELECT FROM write_through t WHERE t.webhook_no = w.no) AS "mustArrive",
              array_agg(encode(s.sealed, 'base64') ORDER BY s.no DESC) AS sealed,
              array_agg(s.key_id ORDER BY s.no DESC) AS key_ids,
              array_agg(to_char(s.expires_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') ORDER BY s.no DESC) AS expiries
         FROM webhooks w JOIN webhook_secrets s ON s.webhook_no = w.no
        WHERE w.no = ANY ($1::integer[]) AND w.deleted_at IS NULL GROUP BY w.no`,
      [nos],
    ),
  );
  return rows.map(({ sealed, key_ids, expiries, headers_sealed, headers_key_id: keyId, ...webhook }) => ({
    ...webhook,
    headers: headers_sealed && keyId !== null ? { sealed: headers_sealed, keyId } : null,
    secrets: sealed.map((text, index) => ({
      sealed: Buffer.from(text, 'base64'),
      keyId: key_ids[index] ?? '',
      expiresAt: expiries[index] ? Date.parse(expiries[index]) : Number.POSITIVE_INFINITY,
    })),
  }));
}

/**
 * Nothing is sent to it any more until its owner activates it again; what is queued stays queued. Not one that serves write-through: what it has
 * still to be told must arrive.
 */
export async function disableWebhook(
  db: Database,
  no: number,
  reason: string,
  at: string,
  /** Only if this is still its address, and it has failed without a success since then: its owner may be changing it. */
  { url, failingSince }: { url?: string; failingSince?: string },
): Promise<boolean> {
  return transact(db, SYSTEM, async (tx) => {
    // Locks first and reads then: a statement that waited for a lock still sees the failures from before its wait.
    tx.defer('SELECT FROM webhooks WHERE no = $1 FOR NO KEY UPDATE', [no]);
    const webhook = await tx.first<{ id: string; practice_group_id: string | null }>(
      `UPDATE webhooks SET status = 'disabled', status_reason = $2, version = version + 1, updated_at = $3
        WHERE no = $1 AND status = 'active' AND deleted_at IS NULL AND url = coalesce($4, url)
          AND ($5::timestamptz IS NULL
               OR EXISTS (SELECT FROM webhook_lanes WHERE webhook_no = $1 AND failing_since = $5))
          AND NOT EXISTS (SELECT FROM write_through t WHERE t.webhook_no = webhooks.no)
       RETURNING id, practice_group_id`,
      [no, reason, at, url, failingSince],
    );
    if (!webhook) return false;
    const record: AuditRecord = {
      at,
      principal: SYSTEM,
      action: 'webhook.disable',
      subject: { type: 'webhook', id: webhook.id },
      practiceGroupId: webhook.practice_group_id ?? undefined,
      requestId: null,
      before: { status: 'active' },
      after: { status: 'disabled', status_reason: reason },
    };
    tx.audit(record);
    return true;
  });
}
