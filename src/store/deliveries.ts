import type { ClaimedDelivery } from '../domain/lane.ts';
import { SYSTEM } from '../domain/principal.ts';
import type { AuditRecord } from './audit-append.ts';
import { alone, type Database, type Transaction, transact } from './database.ts';
import { learnTraces } from './event-traces.ts';
import { list, sqlFunction } from './sql-functions.ts';

/**
 * The queue of deliveries, for the engine; results are written by deliveries-record.ts. What each step guarantees is told at the head of
 * its function in src/sql, the order of the whole in delivery/engine.ts.
 */

export const fanOutSql = sqlFunction('fan_out', { at: 'timestamptz', me: 'bigint', events_max: 'integer' });
export const claimDeliveriesSql = sqlFunction('claim_deliveries_2', {
  at: 'timestamptz',
  lease_ms: 'integer',
  me: 'bigint',
  after_no: 'integer',
  deliveries_max: 'integer',
  usual_room: 'integer',
  look_back: 'boolean',
  known_nos: 'integer[]',
  known_rooms: 'integer[]',
  known_held: 'boolean[]',
  known_froms: 'bigint[]',
  under_way: 'text',
  usual_only: 'boolean',
});
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

/** Deliveries to one webhook, in the order of their sequence. */
export interface ClaimedLane {
  webhookNo: number;
  /** Of the webhook: which address and secrets to use. */
  version: number;
  /** Whoever held the lane before let its lease run out. */
  leaseExpired: boolean;
  /** For so long, from before the claim was made, its partner is taken to be entitled to them. 0: it is not, and there are none. */
  entitledMs: number;
  /** They are of several practice groups: the answer is for those of this claim alone. */
  isWide: boolean;
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
  at: string | null;
  leaseMs: number;
  me: number;
  /** Goes on with the webhook after this one. */
  afterNo: number;
  deliveriesMax: number;
  /** How many of a webhook that is not known. */
  usualRoom: number;
  /** Also what was set aside and is due. */
  lookBack: boolean;
  known: readonly KnownLane[];
  traces?: boolean | undefined;
}

/** Lists travel as text; a payload is JSON on one line. */
interface LaneRow {
  webhook_no: number;
  version: number;
  lease_expired: boolean;
  entitled_ms: number;
  /** This and the rest is null when there was nothing for a webhook. */
  is_new: boolean | null;
  sequences: string | null;
  /** Null for new ones. */
  tries: string | null;
  behind: string | null;
  event_nos: string | null;
  /** Whose events it may be sent, on lines of their own; null: anybody's. */
  group_ids: string | null;
  is_wide: boolean;
}

/** The events of all lanes, each of them once. */
interface EventsRow {
  webhook_no: null;
  event_nos: string | null;
  object_hashes: string;
  accepted_ms: string;
  payloads: string;
  group_ids: string;
}

type DeliveryEvent = Omit<ClaimedDelivery, 'sequence' | 'tries' | 'isNew' | 'isBehind'>;

/** In the order of the webhooks' numbers. */
export async function claimDeliveries(db: Database, claim: Claim): Promise<ClaimedLane[]> {
  const rows = await claimDeliveriesSql<LaneRow | EventsRow>(alone(db), {
    at: claim.at,
    lease_ms: claim.leaseMs,
    me: claim.me,
    after_no: claim.afterNo,
    deliveries_max: claim.deliveriesMax,
    usual_room: claim.usualRoom,
    look_back: claim.lookBack,
    known_nos: list(claim.known, (lane) => lane.no),
    known_rooms: list(claim.known, (lane) => lane.room),
    known_held: list(claim.known, (lane) => lane.held),
    known_froms: list(claim.known, (lane) => lane.from ?? 'NULL'),
    under_way: claim.known.map((lane) => rangesOf(lane.underWay)).join('\n'),
    usual_only: false,
  });
  const events = new Map<string, DeliveryEvent>();
  for (const row of rows) if (row.webhook_no === null) learnEvents(row, events);
  if (claim.traces) await learnTraces(db, events);
  const lanes = new Map<number, ClaimedLane>();
  for (const row of rows) {
    if (row.webhook_no === null) continue;
    const { webhook_no: webhookNo, version, lease_expired: leaseExpired, entitled_ms: entitledMs } = row;
    const deliveries = deliveriesOf(row, events);
    const lane = lanes.get(webhookNo);
    if (lane) lane.deliveries.push(...deliveries);
    else
      lanes.set(webhookNo, { webhookNo, version, leaseExpired, entitledMs, isWide: row.is_wide, deliveries });
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
  const groupIds = row.group_ids.split('\n');
  row.event_nos.split(',').forEach((no, index) => {
    events.set(no, {
      objectHash: hashes[index] as string,
      acceptedMs: Number(accepted[index]),
      payload: payloads[index] as string,
      groupId: groupIds[index] as string,
    });
  });
}

/**
 * A delivery whose event is gone, or is of a practice group that the webhook may not hear of, is left where it is: it must reach nobody.
 * Where a webhook is for several groups, objects of two of them are two objects, whatever their IDs.
 */
function deliveriesOf(row: LaneRow, events: ReadonlyMap<string, DeliveryEvent>): ClaimedDelivery[] {
  if (row.sequences === null || row.event_nos === null) return [];
  const tries = row.tries?.split(',');
  const eventNos = row.event_nos.split(',');
  const behind = row.behind === null ? undefined : new Set(row.behind.split(','));
  const deliveries: ClaimedDelivery[] = [];
  const groupIds = row.is_wide ? new Set(row.group_ids?.split('\n')) : undefined;
  row.sequences.split(',').forEach((sequence, index) => {
    const event = events.get(eventNos[index] as string);
    if (!event) return;
    if (groupIds ? !groupIds.has(event.groupId) : event.groupId !== (row.group_ids ?? event.groupId)) return;
    deliveries.push({
      sequence: Number(sequence),
      tries: Number(tries?.[index] ?? 0),
      objectHash: groupIds ? `${event.objectHash} ${event.groupId}` : event.objectHash,
      groupId: event.groupId,
      payload: event.payload,
      traceparent: event.traceparent,
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

/** Webhooks that are looked at in one go. */
const REVIEWED_MAX = 500;

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
    const webhook = await tx.first<{ id: string; practice_group_id: string | null }>(
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
      practiceGroupId: webhook.practice_group_id ?? undefined,
      requestId: null,
      before: { status: 'active' },
      after: { status: 'disabled', status_reason: reason },
    };
    tx.audit(record);
    return true;
  });
}
