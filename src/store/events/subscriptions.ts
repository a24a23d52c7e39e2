import type { Subscription } from '../../contract/operator/events/subscriptions.ts';
import type { PageQuery } from '../../contract/page.ts';
import { QUEUED_COUNT_MAX } from '../../contract/partner/webhooks.ts';
import { eventsOf, type StoredSubscription, topicsOf } from '../../domain/events/subscription.ts';
import type { Transaction } from '../database.ts';
import { byId, readPage } from '../page.ts';
import { where } from '../where.ts';

/**
 * The operator's own webhooks: rows of `webhooks` that belong to no partner and no practice group. What else can be done with a webhook
 * goes by its number (store/events/webhooks.ts, webhook-secrets.ts, deliveries-replay.ts). Those that only serve write-through are not listed.
 */

type Row = Omit<StoredSubscription, 'health' | 'topics'> & Subscription['health'] & { event_types: string[] };

const SUBSCRIPTION = `
  w.no, w.id, w.url, w.description, w.event_types, w.status, w.status_reason, w.version, w.created_at, w.updated_at,
  l.failures, l.failing_since, l.last_success_at,
  (SELECT count(*) FROM ((SELECT FROM deliveries d
                           WHERE greatest(d.webhook_no, 0) = w.no AND d.retry_at IS NOT NULL LIMIT ${QUEUED_COUNT_MAX})
                         UNION ALL
                         (SELECT FROM deliveries d
                           WHERE d.webhook_no = w.no AND d.sequence >= l.open_from AND d.state = 'due'
                             AND d.retry_at IS NULL LIMIT ${QUEUED_COUNT_MAX})
                         LIMIT ${QUEUED_COUNT_MAX}) AS open) AS queued`;
const OF_OPERATOR = "w.audience = 'operator' AND w.event_types <> '{}' AND w.deleted_at IS NULL";

function subscriptionOf(row: Row): StoredSubscription {
  const { failures, failing_since, last_success_at, queued, event_types, ...subscription } = row;
  const health = { failures, failing_since, last_success_at, queued };
  return { ...subscription, topics: topicsOf(event_types), health };
}

export async function findSubscription(tx: Transaction, id: string): Promise<StoredSubscription | undefined> {
  const row = await tx.first<Row>(
    `SELECT ${SUBSCRIPTION} FROM webhooks w JOIN webhook_lanes l ON l.webhook_no = w.no WHERE ${OF_OPERATOR} AND w.id = $1`,
    [id],
  );
  return row && subscriptionOf(row);
}

/**
 * The same, and nobody else changes it until the transaction ends. Locks first and reads then: a statement that waited for a lock
 * still sees its health from before its wait.
 */
export function lockSubscription(tx: Transaction, id: string): Promise<StoredSubscription | undefined> {
  tx.defer(`SELECT FROM webhooks w WHERE ${OF_OPERATOR} AND w.id = $1 FOR NO KEY UPDATE`, [id]);
  return findSubscription(tx, id);
}

export function listSubscriptionPage(tx: Transaction, query: PageQuery & { status?: string | undefined }) {
  return readPage(query, byId, async ([after], limit) => {
    const { text, values } = where(['w.id > ?', after], ['w.status = ?', query.status]);
    const rows = await tx.query<Row>(
      `SELECT ${SUBSCRIPTION} FROM webhooks w JOIN webhook_lanes l ON l.webhook_no = w.no
        ${text ? `${text} AND` : 'WHERE'} ${OF_OPERATOR} ORDER BY w.id LIMIT $${values.length + 1}`,
      [...values, limit],
    );
    return rows.map(subscriptionOf);
  });
}

/** How many there are. Whoever asks is the only one to add one until the transaction ends. */
export async function countSubscriptions(tx: Transaction): Promise<number> {
  tx.defer("SELECT pg_advisory_xact_lock(hashtextextended('subscriptions', 0))");
  const row = await tx.first<{ count: number }>(`SELECT count(*) FROM webhooks w WHERE ${OF_OPERATOR}`);
  return row?.count ?? 0;
}

/** Gives it its number, and a queue. One without topics serves write-through alone. */
export async function insertSubscription(
  tx: Transaction,
  { id, url, description, topics, status, version, created_at }: Omit<StoredSubscription, 'no' | 'health'>,
): Promise<number> {
  const row = await tx.first<{ no: number }>(
    `INSERT INTO webhooks (audience, id, url, description, event_types, status, version, created_at, updated_at)
     VALUES ('operator', $1, $2, $3, $4, $5, $6, $7, $7) RETURNING no`,
    [id, url, description, eventsOf(topics), status, version, created_at],
  );
  if (!row) throw new Error('a subscription was inserted without a number');
  tx.defer('INSERT INTO webhook_lanes (webhook_no) VALUES ($1)', [row.no]);
  return row.no;
}

export function updateSubscriptionRow(tx: Transaction, subscription: StoredSubscription): void {
  tx.defer(
    `UPDATE webhooks SET url = $2, description = $3, event_types = $4, status = $5, status_reason = $6, version = $7,
                         updated_at = $8 WHERE no = $1`,
    [
      subscription.no,
      subscription.url,
      subscription.description,
      eventsOf(subscription.topics),
      subscription.status,
      subscription.status_reason,
      subscription.version,
      subscription.updated_at,
    ],
  );
}
