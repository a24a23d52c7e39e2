import type { ClaimedDelivery } from '../../domain/events/lane.ts';
import { alone, type Database } from '../database.ts';
import { list, sqlFunction } from '../sql-functions.ts';
import { learnTraces } from './event-traces.ts';

/** What the engine takes from the queue to send it. What a claim guarantees is told in src/sql/delivery/claim_deliveries_3.sql. */

/** Of whatever hands out deliveries. */
export const CLAIM_LISTS = {
  at: 'timestamptz',
  lease_ms: 'integer',
  me: 'bigint',
  deliveries_max: 'integer',
  usual_room: 'integer',
  known_nos: 'integer[]',
  known_rooms: 'integer[]',
  known_held: 'boolean[]',
  known_froms: 'bigint[]',
  under_way: 'text',
} as const;
export const claimDeliveriesSql = sqlFunction('claim_deliveries_3', {
  ...CLAIM_LISTS,
  after_no: 'integer',
  look_back: 'boolean',
  passed_over: 'integer[]',
  usual_only: 'boolean',
});

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
  /** Webhooks of which nothing is under way, and that must not be given anything. */
  passedOver: readonly number[];
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

export type ClaimRow = LaneRow | EventsRow;

type DeliveryEvent = Omit<ClaimedDelivery, 'sequence' | 'tries' | 'isNew' | 'isBehind'>;

/** In the order of the webhooks' numbers. */
export async function claimDeliveries(db: Database, claim: Claim): Promise<ClaimedLane[]> {
  const rows = await claimDeliveriesSql<ClaimRow>(alone(db), {
    at: claim.at,
    lease_ms: claim.leaseMs,
    me: claim.me,
    after_no: claim.afterNo,
    deliveries_max: claim.deliveriesMax,
    usual_room: claim.usualRoom,
    look_back: claim.lookBack,
    ...knownLists(claim.known),
    passed_over: list(claim.passedOver, (no) => no),
    usual_only: false,
  });
  return claimedLanes(db, rows, claim.traces);
}

/** The lanes that the worker knows, as lists. */
export function knownLists(known: readonly KnownLane[]) {
  return {
    known_nos: list(known, (lane) => lane.no),
    known_rooms: list(known, (lane) => lane.room),
    known_held: list(known, (lane) => lane.held),
    known_froms: list(known, (lane) => lane.from ?? 'NULL'),
    under_way: known.map((lane) => rangesOf(lane.underWay)).join('\n'),
  };
}

export async function claimedLanes(
  db: Database,
  rows: readonly ClaimRow[],
  traces: boolean | undefined,
): Promise<ClaimedLane[]> {
  const events = new Map<string, DeliveryEvent>();
  for (const row of rows) if (row.webhook_no === null) learnEvents(row, events);
  if (traces) await learnTraces(db, events);
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
