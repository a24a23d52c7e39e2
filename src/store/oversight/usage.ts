import type { PartnerUsage } from '../../contract/operator/oversight/usage.ts';
import type { PageQuery } from '../../contract/page.ts';
import { alone, type Database, type Transaction } from '../database.ts';
import { type Keyset, readPage } from '../page.ts';
import { sqlFunction } from '../sql-functions.ts';

/** What a node has counted on one day, to be added to what is there. */
export interface CountedDay {
  /** Such as 2026-11-14. */
  day: string;
  calls: { partnerId: string; keyId: string; operation: string; outcome: string; count: number }[];
  callTimes: { partnerId: string; upToMs: number; count: number }[];
  deliveries: { webhookNo: number; outcome: string; count: number }[];
  deliveryTimes: { webhookNo: number; upToMs: number; count: number }[];
}

/** In one order, so that two nodes never wait for each other. Webhooks that are gone, and the operator's own, are nobody's usage. */
export function addUsage(
  tx: Transaction,
  { day, calls, callTimes, deliveries, deliveryTimes }: CountedDay,
): void {
  const added =
    'ON CONFLICT (partner_id, day, kind, subject_id, operation, outcome) DO UPDATE SET count = usage.count + excluded.count';
  const addedTimes =
    'ON CONFLICT (partner_id, day, kind, up_to_ms) DO UPDATE SET count = usage_times.count + excluded.count';
  if (calls.length > 0)
    tx.defer(
      `INSERT INTO usage (partner_id, day, kind, subject_id, operation, outcome, count)
       SELECT partner_id, $1::date, 'call', key_id, operation, outcome, count
         FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[]) AS c (partner_id, key_id, operation, outcome, count)
        ORDER BY partner_id, key_id, operation, outcome ${added}`,
      [
        day,
        calls.map(({ partnerId }) => partnerId),
        calls.map(({ keyId }) => keyId),
        calls.map(({ operation }) => operation),
        calls.map(({ outcome }) => outcome),
        calls.map(({ count }) => count),
      ],
    );
  if (callTimes.length > 0)
    tx.defer(
      `INSERT INTO usage_times (partner_id, day, kind, up_to_ms, count)
       SELECT partner_id, $1::date, 'call', up_to_ms, count
         FROM unnest($2::text[], $3::bigint[], $4::bigint[]) AS c (partner_id, up_to_ms, count) ORDER BY partner_id, up_to_ms ${addedTimes}`,
      [
        day,
        callTimes.map(({ partnerId }) => partnerId),
        callTimes.map(({ upToMs }) => upToMs),
        callTimes.map(({ count }) => count),
      ],
    );
  if (deliveries.length > 0)
    tx.defer(
      `INSERT INTO usage (partner_id, day, kind, subject_id, operation, outcome, count)
       SELECT w.partner_id, $1::date, 'delivery', w.id, '', outcome, count
         FROM unnest($2::integer[], $3::text[], $4::bigint[]) AS c (webhook_no, outcome, count) JOIN webhooks w ON w.no = webhook_no
        WHERE w.partner_id IS NOT NULL ORDER BY w.partner_id, w.id, outcome ${added}`,
      [
        day,
        deliveries.map(({ webhookNo }) => webhookNo),
        deliveries.map(({ outcome }) => outcome),
        deliveries.map(({ count }) => count),
      ],
    );
  if (deliveryTimes.length > 0)
    tx.defer(
      `INSERT INTO usage_times (partner_id, day, kind, up_to_ms, count)
       SELECT w.partner_id, $1::date, 'delivery', up_to_ms, sum(count)
         FROM unnest($2::integer[], $3::bigint[], $4::bigint[]) AS c (webhook_no, up_to_ms, count) JOIN webhooks w ON w.no = webhook_no
        WHERE w.partner_id IS NOT NULL GROUP BY w.partner_id, up_to_ms ORDER BY w.partner_id, up_to_ms ${addedTimes}`,
      [
        day,
        deliveryTimes.map(({ webhookNo }) => webhookNo),
        deliveryTimes.map(({ upToMs }) => upToMs),
        deliveryTimes.map(({ count }) => count),
      ],
    );
}

interface Row {
  partner_id: string;
  day: string;
  day_no: number;
  kind: 'call' | 'delivery';
  subject_id: string;
  operation: string;
  outcome: PartnerUsage['outcome'];
  count: number;
}

/** Days in a cursor are counted from 1970, so that none can be sent that is no day. */
const byDay: Keyset<Row> = {
  types: ['number', 'string', 'string', 'string', 'string', 'string'],
  keyOf: (row) => [row.day_no, row.partner_id, row.kind, row.subject_id, row.operation, row.outcome],
};
const DAY_NO_MAX = 2_900_000;

export interface UsageFilter extends PageQuery {
  from: string;
  to: string;
  partner_id?: string | undefined;
  key_id?: string | undefined;
}

export async function listUsagePage(tx: Transaction, filter: UsageFilter) {
  const page = await readPage(filter, byDay, ([dayNo, ...after], limit) => {
    const isNext = dayNo !== null;
    const first = isNext ? Math.min(Math.max(Number(dayNo), 0), DAY_NO_MAX) : 0;
    const values = [filter.from, filter.to, limit, first, ...(isNext ? after : [])];
    const ofPartner =
      filter.partner_id === undefined ? '' : `AND partner_id = $${values.push(filter.partner_id)}`;
    const ofKey =
      filter.key_id === undefined ? '' : `AND kind = 'call' AND subject_id = $${values.push(filter.key_id)}`;
    const further = isNext
      ? `AND (day, partner_id, kind, subject_id, operation, outcome) > (date '1970-01-01' + $4::integer, $5, $6, $7, $8, $9)`
      : '';
    return tx.query<Row>(
      `SELECT partner_id, to_char(day, 'YYYY-MM-DD') AS day, day - date '1970-01-01' AS day_no, kind, subject_id, operation, outcome, count
         FROM usage WHERE day BETWEEN greatest($1::date, date '1970-01-01' + $4::integer) AND $2::date ${ofPartner} ${ofKey} ${further}
        ORDER BY usage.day, partner_id, kind, subject_id, operation, outcome LIMIT $3`,
      values,
    );
  });
  return { ...page, data: page.data.map(entryOf) };
}

function entryOf({ partner_id, day, kind, subject_id, operation, outcome, count }: Row): PartnerUsage {
  const isCall = kind === 'call';
  return {
    day,
    kind,
    partner_id,
    key_id: isCall ? subject_id : null,
    webhook_id: isCall ? null : subject_id,
    operation: isCall ? operation : null,
    outcome,
    count,
  };
}

const markUptimeSql = sqlFunction('mark_uptime', { given: 'timestamptz' });

/** `at` is of `databaseTime`. */
export async function markUptime(db: Database, at: string | null): Promise<void> {
  await markUptimeSql(alone(db), { given: at });
}
