import { listEvents as listEndpoint, streamEvents as streamEndpoint } from '../../contract/partner/events.ts';
import { presentFeedEvent, readOfFeed } from '../../runtime/events/event-streams.ts';
import { transact } from '../../store/database.ts';
import { readFeedPage } from '../../store/events/event-feed.ts';
import { operation } from '../app.ts';

export const listEvents = operation(listEndpoint, async (app, { principal, query }) => {
  const { events, nextCursor, hasMore } = await transact(app.db, principal, (tx) =>
    readFeedPage(tx, principal, query),
  );
  const data = events.map(presentFeedEvent);
  return {
    body: { data, count: data.length, next_cursor: nextCursor, has_more: hasMore },
    read: readOfFeed(principal, events, query.event_types),
  };
});

export const streamEvents = operation(streamEndpoint, async (app, call) => {
  return { stream: await app.streams.follow(call) };
});
