import { BACKLOG_PART } from '../domain/events/flow-control.ts';
import { roomIn } from '../domain/events/lane.ts';
import type { KnownWebhook } from './known-webhooks.ts';

/** Over all webhooks: deliveries in flight, and those claimed with them. */
export const IN_FLIGHT_MAX = 2_000;
/** When there were too many in flight, and are so few again, others are claimed. */
export const IN_FLIGHT_FEWER = 1_800;
/** Over all webhooks: deliveries that are in flight, or answered and not recorded. For each webhook there is `SENT_UNRECORDED_MAX`. */
const UNRECORDED_MAX = 4_000;

/**
 * How many deliveries may be sent to a webhook now, as far as all webhooks together and its host allow. None without a lease: a worker that
 * was frozen, or is too slow, must not send what another one has sent since, behind what came after it. None if entitlement
 * was not asked recently. `waitedMs`: how long the next one has; `isPaced`: they may go when its turn has come.
 */
export function placesOf(
  { receiver, heldUntil, entitledUntil, part }: KnownWebhook,
  waitedMs: number,
  moment: number,
  { inFlight, unrecorded }: { inFlight: number; unrecorded: number },
): { places: number; isPaced: boolean } {
  if (!receiver || Math.min(heldUntil, entitledUntil) <= moment) return { places: 0, isPaced: false };
  const most = Math.max(0, Math.min(IN_FLIGHT_MAX, UNRECORDED_MAX - unrecorded) - inFlight);
  const places = Math.min(most, receiver.host.room(moment));
  if (!receiver.host.isBacklog(waitedMs, moment)) return { places, isPaced: false };
  return { places: Math.min(places, part), isPaced: places > 0 && part === 0 };
}

/** Stands for an empty queue: its wait time is zero. */
export const EMPTY_QUEUE = { acceptedMs: Number.POSITIVE_INFINITY };

/** How many more may be claimed for it. */
export function roomFor(
  { lane, leftUntil, awaitsTurn, part, receiver }: KnownWebhook,
  moment: number,
): number {
  if (leftUntil > moment || awaitsTurn) return 0;
  if (receiver && receiver.host.restsUntil > moment) return 0;
  const room = roomIn(lane);
  if (!receiver?.host.isPacing(moment)) return room;
  // In its turn all of the part, however narrow its window: one claim for each.
  return part > 0 ? Math.max(0, part - lane.queue.length) : Math.min(room, BACKLOG_PART);
}
