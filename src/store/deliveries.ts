import type { ClaimedDelivery } from '../domain/lane.ts';
import { SYSTEM } from '../domain/principal.ts';
import type { AuditRecord } from './audit-append.ts';
import { type Database, statement, transact } from './database.ts';
import { list } from './list.ts';

/**
 * The queue of deliveries, for the engine; results are written by deliveries-record.ts. What each statement guarantees is
 * told in migrations/0003_delivery.sql and 0007_lighter_deliveries.sql, how it reads today in 0020_lighter_batches.sql,
 * 0021_lighter_calls.sql, 0022_lighter_letters.sql, 0023_narrow_feed.sql and 0024_fair_fan_out.sql, and why plans are pinned in 0011_steady_plans.sql;
 * the order of the whole in delivery/engine.ts.
 */

/** Deliveries to one webhook, in the order of their sequence. */
export interface ClaimedLane {
  webhookNo: number;
  /** Of the webhook: which address and secrets to use. */
  version: number;
  /** Whoever held the lane before let its lease run out. */
  leaseExpired: boolean;
  deliveries: ClaimedDelivery[];
}

export interface FannedOut {
  /** How many events were taken; -1: another node is at it. */
  taken: number;
  /** How many deliveries they made. */
  made: number;
  /** Whether there are more. */
  more: boolean;
}

export async function fanOut(db: Database, at: string, me: number, eventsMax: number): Promise<FannedOut> {
  const [row] = await statement<FannedOut>(db, 'SELECT * FROM fan_out($1, $2, $3)', [at, me, eventsMax]);
  return row ?? { taken: 0, made: 0, more: false };
}

/** A webhook that the worker knows. */
export interface KnownLane {
  no: number;
  /** How many deliveries more it may be given. */
  room: number;
  /** Whether its lane is leased to this worker for long enough. */
  held: boolean;
  /** From which sequence on it wants what is new; undefined: whatever is new. */
  from: number | undefined;
  /** What the worker has of it already and could be handed again. */
  underWay: Iterable<number>;
}

export interface Claim {
  at: string;
  until: string;
  me: number;
  /** Goes on with the webhook after this one. */
  afterNo: number;
  deliveriesMax: number;
  /** How many of a webhook that is not known. */
  usualRoom: number;
  /** Also what was set aside and is due. */
  lookBack: boolean;
  known: readonly KnownLane[];
}

/** Lists travel as text; a payload is JSON on one line. */
interface LaneRow {
  webhook_no: number;
  version: number;
  lease_expired: boolean;
  /** This and the rest is null when there was nothing for a webhook. */
  is_new: boolean | null;
  sequences: string | null;
  /** Null for new ones. */
  tries: string | null;
  behind: string | null;
  event_nos: string | null;
}

/** The events of all lanes, each of them once. */
interface EventsRow {
  webhook_no: null;
  event_nos: string | null;
  object_hashes: string;
  accepted_ms: string;
  payloads: string;
}

type DeliveryEvent = Pick<ClaimedDelivery, 'objectHash' | 'acceptedMs' | 'payload'>;

/** In the order of the webhooks' numbers. */
export async function claimDeliveries(db: Database, claim: Claim): Promise<ClaimedLane[]> {
  const rows = await statement<LaneRow | EventsRow>(
    db,
    'SELECT * FROM claim_deliveries($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)',
    [
      claim.at,
      claim.until,
      claim.me,
      claim.afterNo,
      claim.deliveriesMax,
      claim.usualRoom,
      claim.lookBack,
      list(claim.known, (lane) => lane.no),
      list(claim.known, (lane) => lane.room),
      list(claim.known, (lane) => lane.held),
      list(claim.known, (lane) => lane.from ?? 'NULL'),
      claim.known.map((lane) => rangesOf(lane.underWay)).join('\n'),
    ],
  );
  const events = new Map<string, DeliveryEvent>();
  for (const row of rows) if (row.webhook_no === null) learnEvents(row, events);
  const lanes = new Map<number, ClaimedLane>();
  for (const row of rows) {
    if (row.webhook_no === null) continue;
    const { webhook_no: webhookNo, version, lease_expired: leaseExpired } = row;
    const lane = lanes.get(webhookNo);
    if (lane) lane.deliveries.push(...deliveriesOf(row, events));
    else lanes.set(webhookNo, { webhookNo, version, leaseExpired, deliveries: deliveriesOf(row, events) });
  }
  for (const { deliveries } of lanes.values()) deliveries.sort((a, b) => a.sequence - b.sequence);
  // PostgreSQL gathers them in no order. Who comes first after a claim that was full goes by their numbers.
  return [...lanes.values()].sort((a, b) => a.webhookNo - b.webhookNo);
}

function learnEvents(row: EventsRow, events: Map<string, DeliveryEvent>): void {
  if (row.event_nos === null) return;
  const hashes = row.object_hashes.split(',');
  const accepted = row.accepted_ms.split(',');
  const payloads = row.payloads.split('\n');
  row.event_nos.split(',').forEach((no, index) => {
    events.set(no, {
      objectHash: hashes[index] as string,
      acceptedMs: Number(accepted[index]),
      payload: payloads[index] as string,
    });
  });
}

/** A delivery whose event is gone is left where it is. */
function deliveriesOf(row: LaneRow, events: ReadonlyMap<string, DeliveryEvent>): ClaimedDelivery[] {
  if (row.sequences === null || row.event_nos === null) return [];
  const tries = row.tries?.split(',');
  const eventNos = row.event_nos.split(',');
  const behind = row.behind === null ? undefined : new Set(row.behind.split(','));
  const deliveries: ClaimedDelivery[] = [];
  row.sequences.split(',').forEach((sequence, index) => {
    const event = events.get(eventNos[index] as string);
    if (!event) return;
    deliveries.push({
      sequence: Number(sequence),
      tries: Number(tries?.[index] ?? 0),
      objectHash: event.objectHash,
      payload: event.payload,
      acceptedMs: event.acceptedMs,
      isNew: row.is_new === true,
      isBehind: behind?.has(sequence) ?? false,
    });
  });
  return deliveries;
}

/** As PostgreSQL writes a multirange: `{[7,9],[12,12]}`. */
function rangesOf(numbers: Iterable<number>): string {
  const ranges: [first: number, last: number][] = [];
  for (const number of [...numbers].sort((a, b) => a - b)) {
    const open = ranges.at(-1);
    if (open && number === open[1] + 1) open[1] = number;
    else ranges.push([number, number]);
  }
  return `{${ranges.map(([first, last]) => `[${first},${last}]`).join(',')}}`;
}

/** Returns which of these lanes the worker still holds, now until then. */
export async function renewLanes(db: Database, me: number, until: string, nos: readonly number[]) {
  const rows = await statement<{ no: number }>(db, 'SELECT renew_lanes($1, $2, $3) AS no', [me, until, nos]);
  return new Set(rows.map(({ no }) => no));
}

/** Of those webhooks that are active. */
export async function readVersions(db: Database, nos: readonly number[]): Promise<Map<number, number>> {
  const rows = await transact(db, SYSTEM, (tx) =>
    tx.query<{ no: number; version: number }>(
      "SELECT no, version FROM webhooks WHERE no = ANY ($1::integer[]) AND status = 'active' AND deleted_at IS NULL",
      [nos],
    ),
  );
  return new Map(rows.map(({ no, version }) => [no, version]));
}

/** All that the worker holds, unless some are named. */
export async function freeLanes(
  db: Database,
  me: number,
  nos: readonly number[] | null = null,
): Promise<void> {
  await statement(db, 'SELECT free_lanes($1, $2)', [me, nos]);
}

/** Where deliveries go and what signs them. */
export interface Destination {
  no: number;
  id: string;
  version: number;
  url: string;
  secrets: { sealed: Buffer; keyId: string; expiresAt: number }[];
}

interface DestinationRow {
  no: number;
  id: string;
  version: number;
  url: string;
  sealed: string[];
  key_ids: string[];
  expiries: (string | null)[];
}

/** Of these webhooks; one that was deleted meanwhile is left out. The newest secret comes first. */
export async function findDestinations(db: Database, nos: readonly number[]): Promise<Destination[]> {
  const rows = await transact(db, SYSTEM, (tx) =>
    tx.query<DestinationRow>(
      `SELECT w.no, w.id, w.version, w.url,
              array_agg(encode(s.sealed, 'base64') ORDER BY s.no DESC) AS sealed,
              array_agg(s.key_id ORDER BY s.no DESC) AS key_ids,
              array_agg(to_char(s.expires_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') ORDER BY s.no DESC) AS expiries
         FROM webhooks w JOIN webhook_secrets s ON s.webhook_no = w.no
        WHERE w.no = ANY ($1::integer[]) AND w.deleted_at IS NULL GROUP BY w.no`,
      [nos],
    ),
  );
  return rows.map(({ sealed, key_ids, expiries, ...webhook }) => ({
    ...webhook,
    secrets: sealed.map((text, index) => ({
      sealed: Buffer.from(text, 'base64'),
      keyId: key_ids[index] ?? '',
      expiresAt: expiries[index] ? Date.parse(expiries[index]) : Number.POSITIVE_INFINITY,
    })),
  }));
}

/** Nothing is sent to it any more until its owner activates it again; what is queued stays queued. */
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
    const webhook = await tx.first<{ id: string; practice_group_id: string }>(
      `UPDATE webhooks SET status = 'disabled', status_reason = $2, version = version + 1, updated_at = $3
        WHERE no = $1 AND status = 'active' AND deleted_at IS NULL AND url = coalesce($4, url)
          AND ($5::timestamptz IS NULL
               OR EXISTS (SELECT FROM webhook_lanes WHERE webhook_no = $1 AND failing_since = $5))
       RETURNING id, practice_group_id`,
      [no, reason, at, url, failingSince],
    );
    if (!webhook) return false;
    const record: AuditRecord = {
      at,
      principal: SYSTEM,
      action: 'webhook.disable',
      subject: { type: 'webhook', id: webhook.id },
      practiceGroupId: webhook.practice_group_id,
      requestId: null,
      before: { status: 'active' },
      after: { status: 'disabled', status_reason: reason },
    };
    tx.audit(record);
    return true;
  });
}

/**
 * Returns how many rows went; as long as it is not zero there may be more. Of events that are still on their way to
 * somebody, those from before `openBefore`.
 */
export async function clearOld(
  db: Database,
  before: string,
  openBefore: string,
  rowsMax: number,
): Promise<number> {
  const [row] = await statement<{ cleared: number }>(db, 'SELECT clear_old($1, $2, $3) AS cleared', [
    before,
    openBefore,
    rowsMax,
  ]);
  return row?.cleared ?? 0;
}
