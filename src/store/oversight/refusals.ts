import type { RefusalCode } from '../../contract/operator/oversight/requests.ts';
import type { Page, PageQuery } from '../../contract/page.ts';
import type { RefusalReason } from '../../contract/partner/requests.ts';
import type { Transaction } from '../database.ts';
import { type Span, spanSeconds } from '../halving.ts';
import { type Keyset, readStretch } from '../page.ts';
import { where } from '../where.ts';

/** A refused call of a partner, as it is kept. */
export interface Refusal {
  partnerId: string;
  requestId: string;
  at: string;
  keyId: string;
  practiceGroupId: string | undefined;
  /** Why the key was refused, if it was. */
  reason?: RefusalReason | undefined;
  address?: string | undefined;
  method: string;
  path: string;
  operation: string;
  status: number;
  /** The body that was answered. */
  body: string;
}

/** They are counted by the hour as well: alerts compare these (store/oversight/alerts.ts). In one order, so that two nodes never wait for each other. */
export async function insertRefusals(tx: Transaction, refusals: readonly Refusal[]): Promise<void> {
  tx.defer(
    `INSERT INTO refusal_counts (hour, partner_id, refused)
     SELECT date_trunc('hour', at), partner_id, count(*) FROM unnest($1::timestamptz[], $2::text[]) AS r (at, partner_id)
      GROUP BY 1, 2 ORDER BY 1, 2
     ON CONFLICT (hour, partner_id) DO UPDATE SET refused = refusal_counts.refused + excluded.refused`,
    [refusals.map((one) => one.at), refusals.map((one) => one.partnerId)],
  );
  await tx.query(
    `INSERT INTO refused_requests (partner_id, request_id, at, key_id, practice_group_id, method, path, operation,
                                   status, body, reason, address)
     SELECT * FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::text[],
                          $8::text[], $9::smallint[], $10::text[], $11::text[], $12::text[])`,
    [
      refusals.map((one) => one.partnerId),
      refusals.map((one) => one.requestId),
      refusals.map((one) => one.at),
      refusals.map((one) => one.keyId),
      refusals.map((one) => one.practiceGroupId ?? null),
      refusals.map((one) => one.method),
      refusals.map((one) => one.path),
      refusals.map((one) => one.operation),
      refusals.map((one) => one.status),
      refusals.map((one) => one.body),
      refusals.map((one) => one.reason ?? null),
      refusals.map((one) => one.address ?? null),
    ],
  );
}

/** As whoever asks is told of it, but for `body`, the answer of then. */
export interface KeptRefusal {
  request_id: string;
  at: string;
  method: string;
  path: string;
  operation: string;
  status: number;
  reason: RefusalReason | null;
  body: string;
}

const KEPT = 'request_id, at, method, path, operation, status, reason, body';

/** The partner's own, and the newest if the ID was used more than once. */
export async function findRefusal(
  tx: Transaction,
  partnerId: string,
  requestId: string,
): Promise<KeptRefusal | undefined> {
  return tx.first<KeptRefusal>(
    `SELECT ${KEPT} FROM refused_requests WHERE partner_id = $1 AND request_id = $2 ORDER BY at DESC LIMIT 1`,
    [partnerId, requestId],
  );
}

interface PartnerRefusal extends KeptRefusal {
  partner_id: string;
  key_id: string;
  practice_group_id: string | null;
  address: string | null;
}

type Row = PartnerRefusal & { no: number };

const newestFirst: Keyset<Row> = { types: ['number'], keyOf: ({ no }) => [no] };
/** So many are looked through for one page with more than one filter. */
const STRETCH = 10_000;

export interface RefusalFilter extends PageQuery, Span {
  key_id?: string | undefined;
  status?: number | undefined;
  error?: RefusalCode | undefined;
  request_id?: string | undefined;
  practice_group_id?: string | undefined;
  partner_id?: string | undefined;
}

/** By the code that its answer has. A 400 has none. */
const errorMark = (error: RefusalCode) =>
  error === 'validation_error' ? '"error":true' : `"error":"${error}"`;

export async function listRefusalPage(tx: Transaction, filter: RefusalFilter): Promise<Page<PartnerRefusal>> {
  // There is no index of keys: those of one are among those of its partner.
  const ofKey = filter.key_id === undefined ? undefined : await partnerOfKey(tx, filter.key_id);
  const led = { ...filter, partner_id: filter.partner_id ?? ofKey };
  const given = (['request_id', 'practice_group_id', 'partner_id'] as const).filter((name) => led[name]);
  // The list goes along the index of the first, and no other: neither those of the rest, nor that of all, which PostgreSQL
  // would rather go through from its end when it takes a rare partner for one of two.
  const place = given.length === 0 ? 'no + 0' : 'no';
  const conditions = given.map(
    (name, at) => [at === 0 ? `${name} = ?` : `${name} || '' = ?`, led[name]] as const,
  );
  const { since, until } = spanSeconds(filter);
  const further = [
    ["key_id || '' = ?", filter.key_id],
    ['status = ?', filter.status],
    ['position(? IN body) > 0', filter.error && errorMark(filter.error)],
    ["at + interval '0' >= to_timestamp(?)", since],
    ["at + interval '0' < to_timestamp(?)", until],
  ] as const;
  const isFurther = further.some(([, value]) => value !== undefined);
  const bounds = await boundsOf(tx, since, until);
  const page = await readStretch(
    filter,
    newestFirst,
    async ([before]) => {
      if (given.length < 2 && !isFurther) return undefined;
      const { text, values } = where([`${place} < ?`, before ?? bounds.before], ...conditions.slice(0, 1));
      const end = await tx.first<{ no: number }>(
        `SELECT no FROM refused_requests ${text} ORDER BY ${place} DESC OFFSET $${values.length + 1} LIMIT 1`,
        [...values, STRETCH - 1],
      );
      return end && end.no > (bounds.from ?? 0) ? [end.no] : undefined;
    },
    ([before], end, limit) => {
      const { text, values } = where(
        [`${place} < ?`, before ?? bounds.before],
        [`${place} >= ?`, end?.[0] ?? bounds.from],
        ...conditions,
        ...further,
      );
      return tx.query<Row>(
        `SELECT no, ${KEPT}, partner_id, key_id, practice_group_id, address FROM refused_requests ${text}
          ORDER BY ${place} DESC LIMIT $${values.length + 1}`,
        [...values, limit],
      );
    },
  );
  return { ...page, data: page.data.map(({ no: _no, ...kept }) => kept) };
}

async function partnerOfKey(tx: Transaction, keyId: string): Promise<string | undefined> {
  const row = await tx.first<{ partner_id: string }>('SELECT partner_id FROM api_keys WHERE id = $1', [
    keyId,
  ]);
  return row?.partner_id;
}

/** Nodes write them a moment after, each in its own time: numbers and moments are out of order by less than this. */
const DISORDER = { seconds: 300, rows: 10_000 };

/** Between which numbers a span of time lies, by the index of moments. Undefined: there is no such bound. */
async function boundsOf(tx: Transaction, since: number | undefined, until: number | undefined) {
  const [first, last] = await Promise.all([
    since === undefined
      ? undefined
      : tx.first<{ no: number }>(
          'SELECT no FROM refused_requests WHERE at >= to_timestamp($1) ORDER BY at LIMIT 1',
          [since - DISORDER.seconds],
        ),
    until === undefined
      ? undefined
      : tx.first<{ no: number }>(
          'SELECT no FROM refused_requests WHERE at < to_timestamp($1) ORDER BY at DESC LIMIT 1',
          [until + DISORDER.seconds],
        ),
  ]);
  return {
    from: first && Math.max(0, first.no - DISORDER.rows),
    before: last && last.no + DISORDER.rows,
  };
}
