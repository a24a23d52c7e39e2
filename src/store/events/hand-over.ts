import { alone, type Database } from '../database.ts';
import { sqlFunction } from '../sql-functions.ts';
import { CLAIM_LISTS, type Claim, type ClaimRow, knownLists } from './deliveries-claim.ts';
import {
  type AcceptedOne,
  type AcceptedRow,
  EVENT_LISTS,
  listsOf,
  type OneEvent,
  outcomesOf,
} from './events.ts';

export const acceptAndHandOverSql = sqlFunction('accept_and_hand_over', {
  accepted_at: 'timestamptz',
  ...EVENT_LISTS,
  events_max: 'integer',
  ...CLAIM_LISTS,
});

/** One row tells of the events, the others are those of a claim. */
type HandedOverRow = AcceptedRow &
  ClaimRow & { taken: number | null; more: boolean | null; is_rest: boolean | null };

export interface HandedOver {
  outcomes: AcceptedOne[];
  /** What the worker is to send of it. */
  claimed: ClaimRow[];
  /** How many events were fanned out; less than 0: they were accepted, and nothing else was done. */
  taken: number;
  /** It failed through a fault, not through a lock that will be freed. */
  hasFailed: boolean;
  /** Whether there are more that are new. */
  more: boolean;
  /** Whether what came of the events is more than what was claimed. */
  isRest: boolean;
}

/**
 * Where acceptance and delivery of one node meet. `accept` is there while this node delivers; it answers undefined, and has done nothing, when
 * the events had better go the usual way.
 */
export interface HandOverPoint {
  accept?:
    | ((acceptedAt: string, events: readonly OneEvent[]) => Promise<AcceptedOne[] | undefined>)
    | undefined;
}

/** Accepts events and claims what came of them, in one transaction: src/sql/delivery/accept_and_hand_over.sql. */
export async function acceptAndHandOver(
  db: Database,
  acceptedAt: string,
  events: readonly OneEvent[],
  eventsMax: number,
  claim: Omit<Claim, 'afterNo' | 'lookBack' | 'passedOver'>,
): Promise<HandedOver> {
  const rows = await acceptAndHandOverSql<HandedOverRow>(alone(db), {
    accepted_at: acceptedAt,
    ...listsOf(events),
    events_max: eventsMax,
    at: claim.at,
    lease_ms: claim.leaseMs,
    me: claim.me,
    deliveries_max: claim.deliveriesMax,
    usual_room: claim.usualRoom,
    ...knownLists(claim.known),
  });
  const told = rows.find(({ taken }) => taken !== null);
  const claimed = rows.filter((row) => row !== told);
  return {
    outcomes: outcomesOf(told, events),
    claimed,
    taken: told?.taken ?? -1,
    hasFailed: told?.taken === -2,
    more: told?.more ?? false,
    isRest: claimed.some(({ is_rest: isRest }) => isRest),
  };
}
