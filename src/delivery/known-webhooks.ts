import { type LaneState, newLane, WINDOW_START } from '../domain/events/lane.ts';
import type { OpenDestination } from './destinations.ts';
import type { Receiver } from './resting-hosts.ts';

const NARROW_MAX = 10_000;

/** A webhook whose lane this worker knows. All times are by the monotonic clock. */
export interface KnownWebhook {
  readonly no: number;
  readonly lane: LaneState;
  /** When the lease ends. */
  heldUntil: number;
  /** Nothing may be sent from then on, unless it was asked again whether its partner is entitled to it. */
  entitledUntil: number;
  /** Its deliveries are of several practice groups. */
  isWide: boolean;
  /** This worker cannot serve it until then. */
  leftUntil: number;
  /** So many more of its backlog may go before its next turn. */
  part: number;
  /** Its backlog waits for its turn, as its host paces it. */
  awaitsTurn: boolean;
  /** Where its deliveries go, as of the last claim; undefined: that cannot be had. */
  receiver: Receiver | undefined;
}

/** It was claimed. What is queued here of a wide one may be of other practice groups than those that the claim has asked about. */
export function entitle(webhook: KnownWebhook, isWide: boolean, until: number): void {
  const keepsOthers = isWide && webhook.lane.queue.length > 0;
  webhook.isWide = isWide;
  webhook.entitledUntil = keepsOthers ? Math.min(webhook.entitledUntil, until) : until;
}

/**
 * Whether a delivery that begins now has become stale when its connection is established: the lease has expired, the webhook has another version,
 * or the entitlement has to be queried again. An answer of PostgreSQL covers both the entitlement and the version, so neither is older than 900 ms.
 * A wide webhook keeps the entitlement of this moment, because a later claim may be about other practice groups.
 */
export function staleness(
  webhook: KnownWebhook,
  { version }: OpenDestination,
  monotonic: () => number,
): () => boolean {
  const { entitledUntil } = webhook;
  return () => {
    const until = webhook.isWide ? entitledUntil : webhook.entitledUntil;
    const isChanged = webhook.receiver?.destination.version !== version;
    return isChanged || Math.min(webhook.heldUntil, until) <= monotonic();
  };
}

/** Whose events are queued here for it. */
export function queuedGroups({ no, isWide, lane }: KnownWebhook): { no: number; groupId: string | null }[] {
  if (!isWide) return [{ no, groupId: null }];
  return [...new Set(lane.queue.map(({ groupId }) => groupId))].map((groupId) => ({ no, groupId }));
}

/** The lanes that this worker knows, by the numbers of their webhooks. */
export class KnownWebhooks extends Map<number, KnownWebhook> {
  /** The windows of webhooks that failed when their lanes were forgotten, the latest last. */
  readonly #narrow = new Map<number, number>();

  /** From now on it is known. */
  meet(no: number): KnownWebhook {
    let webhook = this.get(no);
    if (!webhook) {
      const lane = newLane(this.#narrow.get(no));
      webhook = {
        no,
        lane,
        heldUntil: 0,
        entitledUntil: 0,
        isWide: false,
        leftUntil: 0,
        part: 0,
        awaitsTurn: false,
        receiver: undefined,
      };
      this.set(no, webhook);
    }
    return webhook;
  }

  /** One that hangs must not begin with a whole window again whenever its deliveries are retried. */
  forget({ no, lane: { window } }: KnownWebhook): void {
    this.delete(no);
    this.#narrow.delete(no);
    if (window.size >= WINDOW_START) return;
    this.#narrow.set(no, window.size);
    if (this.#narrow.size > NARROW_MAX) this.#narrow.delete(this.#narrow.keys().next().value as number);
  }
}
