import type { Transaction } from '../database.ts';

/** What was counted of a partner from one day up to another, that one excluded. Days are such as 2026-11-14. */
export interface SlaFigures {
  outcomes: Map<string, number>;
  callTimes: { upToMs: number; count: number }[];
  deliveryTimes: { upToMs: number; count: number }[];
}

export async function readSlaFigures(
  tx: Transaction,
  partnerId: string,
  from: string,
  to: string,
): Promise<SlaFigures> {
  const period = [partnerId, from, to];
  const [outcomes, times] = await Promise.all([
    tx.query<{ outcome: string; count: number }>(
      `SELECT outcome, sum(count)::bigint AS count FROM usage
        WHERE partner_id = $1 AND day >= $2::date AND day < $3::date GROUP BY outcome`,
      period,
    ),
    tx.query<{ kind: string; upToMs: number; count: number }>(
      `SELECT kind, up_to_ms AS "upToMs", sum(count)::bigint AS count FROM usage_times
        WHERE partner_id = $1 AND day >= $2::date AND day < $3::date GROUP BY kind, up_to_ms`,
      period,
    ),
  ]);
  const timesOf = (wanted: string) =>
    times.flatMap(({ kind, upToMs, count }) => (kind === wanted ? { upToMs, count } : []));
  return {
    outcomes: new Map(outcomes.map(({ outcome, count }) => [outcome, count])),
    callTimes: timesOf('call'),
    deliveryTimes: timesOf('delivery'),
  };
}

/** When the service ran, on each of those days, and on the first of which that is known at all. */
export async function readUptime(tx: Transaction, from: string, to: string) {
  const rows = await tx.query<{ starts_at: string; minutes: string }>(
    `SELECT day::timestamp AT TIME ZONE 'UTC' AS starts_at, minutes::text FROM uptime
      WHERE (day >= $1::date AND day < $2::date) OR day = (SELECT min(day) FROM uptime) ORDER BY day`,
    [from, to],
  );
  return rows.map(({ starts_at, minutes }) => ({ startsAt: Date.parse(starts_at), minutes }));
}
