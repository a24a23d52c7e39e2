import { type EventPayload, eventNames, type FeedEvent } from './generated/types.ts';
import type { UnknownEvent } from './unknown.ts';

const known: ReadonlySet<string> = new Set(eventNames);

/** A payload as it came, told apart by its name; undefined if it is no event at all. */
export function readEvent(payload: unknown): EventPayload | undefined {
  if (typeof payload !== 'object' || payload === null || !('event' in payload)) return undefined;
  if (typeof payload.event !== 'string') return undefined;
  if (known.has(payload.event)) return payload as EventPayload;
  return { event: 'unknown', name: payload.event, payload: payload as UnknownEvent['payload'] };
}

export function readFeedEvent(event: FeedEvent): FeedEvent {
  return { ...event, data: readEvent(event.data) ?? event.data };
}
