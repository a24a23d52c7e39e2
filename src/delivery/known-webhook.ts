import type { CircuitBreaker } from '../domain/flow-control.ts';
import { type LaneState, newLane } from '../domain/lane.ts';
import type { OpenDestination } from './destinations.ts';

/** A webhook whose lane this worker knows. All times are by the monotonic clock. */
export interface KnownWebhook {
  readonly no: number;
  readonly lane: LaneState;
  /** When the lease ends. */
  heldUntil: number;
  /** Nothing may be sent from then on, unless it was asked again whether its partner is entitled to it. */
  entitledUntil: number;
  /** This worker cannot serve it until then. */
  leftUntil: number;
  /** Where its deliveries go, as of the last claim; undefined: that cannot be had. */
  receiver: Receiver | undefined;
}

export interface Receiver {
  destination: OpenDestination;
  host: CircuitBreaker;
}

export function newKnownWebhook(no: number, windowSize: number | undefined): KnownWebhook {
  return {
    no,
    lane: newLane(windowSize),
    heldUntil: 0,
    entitledUntil: 0,
    leftUntil: 0,
    receiver: undefined,
  };
}
