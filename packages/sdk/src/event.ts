import { type EventPayload, eventNames, type FeedEvent } from './generated/types.ts';
import { isRecord } from './shape.ts';
import type { UnknownEvent } from './unknown.ts';

const known: ReadonlySet<string> = new Set(eventNames);

/** A payload as it came, told apart by its name; undefined if it is no event at all. */
export function readEvent(payload: unknown): EventPayload | undefined {
  if (!isRecord(payload) || typeof payload.event !== 'string') return undefined;
  if (known.has(payload.event)) return payload as unknown as EventPayload;
  return { event: 'unknown', name: payload.event, payload: payload as UnknownEvent['payload'] };
}

export function readFeedEvent(item: unknown): FeedEvent | undefined {
  const data = isRecord(item) ? readEvent(item.data) : undefined;
  return data && { ...(item as unknown as FeedEvent), data };
}
