import type { listEvents as listEndpoint } from '../contract/partner/events.ts';
import { transact } from '../store/database.ts';
import { readFeedPage } from '../store/event-feed.ts';
import type { App, PartnerCall } from './app.ts';

/** Payloads go out as they are stored, byte for byte, as they do in webhooks. */
export async function listEvents(app: App, { principal, query }: PartnerCall<typeof listEndpoint>) {
  const { events, nextCursor, hasMore } = await transact(app.db, principal, (tx) =>
    readFeedPage(tx, principal.group.id, query),
  );
  const data = events.map(
    ({ id, accepted_at, payload }) =>
      `{"id":${JSON.stringify(id)},"created_at":"${accepted_at}","data":${payload}}`,
  );
  const rest = { count: data.length, next_cursor: nextCursor, has_more: hasMore };
  return { text: `{"data":[${data.join(',')}],${JSON.stringify(rest).slice(1)}` };
}
