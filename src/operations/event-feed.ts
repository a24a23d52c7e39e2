import type { listEvents as listEndpoint } from '../contract/partner/events.ts';
import { transact } from '../store/database.ts';
import { type FeedEvent, readFeedPage } from '../store/event-feed.ts';
import type { App, PartnerCall } from './app.ts';

export async function listEvents(app: App, { principal, query }: PartnerCall<typeof listEndpoint>) {
  const { events, nextCursor, hasMore } = await transact(app.db, principal, (tx) =>
    readFeedPage(tx, principal, query),
  );
  const data = events.map(textOf);
  const rest = { count: data.length, next_cursor: nextCursor, has_more: hasMore };
  return { text: `{"data":[${data.join(',')}],${JSON.stringify(rest).slice(1)}` };
}

/** Payloads go out as they are stored, byte for byte, as they do in webhooks. */
export function textOf({ id, accepted_at, payload }: FeedEvent): string {
  return `{"id":${JSON.stringify(id)},"created_at":"${accepted_at}","data":${payload}}`;
}
