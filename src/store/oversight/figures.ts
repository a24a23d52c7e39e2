import { type Series, SUBJECT_GRAINS, startOf, TOTAL_GRAINS } from '../../domain/oversight/figures.ts';
import type { Transaction } from '../database.ts';

/** What a node counted within a minute. */
export interface CountedMinute {
  /** Milliseconds since 1970. */
  at: number;
  calls: { partnerId: string; counts: readonly number[] }[];
  deliveries: { webhookNo: number; counts: readonly number[] }[];
}

const moments = (at: number, grains: readonly number[]) =>
  grains.map((grain) => new Date(startOf(at, grain)).toISOString());

/**
 * Adds to what is there, one row for each thing that was counted and each grain. In one order, so that two nodes never wait for each other.
 * Webhooks that are gone, and the operator's own, are nobody's.
 */
export function addFigures(tx: Transaction, { at, calls, deliveries }: CountedMinute): void {
  tx.defer(
    `WITH counted AS MATERIALIZED (
       SELECT 'call' AS kind, partner_id, '' AS webhook_id, counts
         FROM json_to_recordset($1::json) AS c (partner_id text, counts bigint[])
       UNION ALL
       SELECT 'delivery', w.partner_id, w.id, counts
         FROM json_to_recordset($2::json) AS d (webhook_no integer, counts bigint[]) JOIN webhooks w ON w.no = d.webhook_no
        WHERE w.partner_id IS NOT NULL
     ), total AS (
       SELECT kind, array_agg(sum ORDER BY place) AS counts
         FROM (SELECT kind, place, sum(one)::bigint AS sum FROM counted CROSS JOIN LATERAL unnest(counts) WITH ORDINALITY AS each (one, place)
                GROUP BY kind, place) AS summed
        GROUP BY kind
     )
     INSERT INTO figures (grain, at, kind, partner_id, webhook_id, counts)
     SELECT grain, at, kind, partner_id, webhook_id, counts FROM (
       SELECT grain, at, kind, partner_id, webhook_id, counts FROM counted CROSS JOIN unnest($3::smallint[], $4::timestamptz[]) AS g (grain, at)
       UNION ALL
       SELECT grain, at, kind, '', '', counts FROM total CROSS JOIN unnest($5::smallint[], $6::timestamptz[]) AS g (grain, at)) AS added
      ORDER BY partner_id, grain, at, kind, webhook_id
     ON CONFLICT (partner_id, grain, at, kind, webhook_id) DO UPDATE SET counts = add_counts(figures.counts, excluded.counts)`,
    [
      JSON.stringify(calls.map(({ partnerId, counts }) => ({ partner_id: partnerId, counts }))),
      JSON.stringify(deliveries.map(({ webhookNo, counts }) => ({ webhook_no: webhookNo, counts }))),
      SUBJECT_GRAINS,
      moments(at, SUBJECT_GRAINS),
      TOTAL_GRAINS,
      moments(at, TOTAL_GRAINS),
    ],
  );
}

/** How long the oldest of what is undelivered has waited, as one node finds it once a minute. The worst of a stretch of time counts. */
export function noteOldest(tx: Transaction, at: number, waitedMs: number): void {
  tx.defer(
    `INSERT INTO figures (grain, at, kind, partner_id, webhook_id, counts)
     SELECT grain, at, 'oldest', '', '', ARRAY[$3::bigint] FROM unnest($1::smallint[], $2::timestamptz[]) AS g (grain, at)
     ON CONFLICT (partner_id, grain, at, kind, webhook_id)
     DO UPDATE SET counts = ARRAY[greatest(figures.counts[1], excluded.counts[1])]`,
    [TOTAL_GRAINS, moments(at, TOTAL_GRAINS), Math.round(waitedMs)],
  );
}

export interface Subject {
  partnerId?: string | undefined;
  webhookId?: string | undefined;
}

/** The sums of each point in which something was counted, by its number from `since` on. */
export interface FigureRow {
  point: number;
  kind: 'call' | 'delivery' | 'oldest';
  counts: number[];
}

export async function readFigures(
  tx: Transaction,
  { grain, since, until, stepMs }: Series,
  { partnerId, webhookId }: Subject,
): Promise<FigureRow[]> {
  const values: unknown[] = [grain, since / 1000, until / 1000, stepMs / 1000];
  const whose = webhookId === undefined ? partnerId : undefined;
  const of =
    webhookId === undefined
      ? `partner_id = $${values.push(whose ?? '')}`
      : `webhook_id = $${values.push(webhookId)} AND webhook_id <> ''`;
  const also =
    webhookId !== undefined && partnerId !== undefined ? `AND partner_id = $${values.push(partnerId)}` : '';
  const rows = await tx.query<{ point: number; kind: FigureRow['kind']; place: number; sum: number }>(
    `SELECT floor((extract(epoch FROM at) - $2::float8::numeric) / $4::integer)::integer AS point, kind, place::integer AS place,
            CASE WHEN kind = 'oldest' THEN max(one) ELSE sum(one)::bigint END AS sum
       FROM figures CROSS JOIN LATERAL unnest(counts) WITH ORDINALITY AS each (one, place)
      WHERE ${of} ${also} AND grain = $1::smallint AND at >= to_timestamp($2) AND at < to_timestamp($3::float8)
      GROUP BY 1, 2, 3`,
    values,
  );
  const sums = new Map<string, FigureRow>();
  for (const { point, kind, place, sum } of rows) {
    const name = `${kind} ${point}`;
    const row = sums.get(name) ?? { point, kind, counts: [] };
    sums.set(name, row);
    row.counts[place - 1] = sum;
  }
  return [...sums.values()];
}
