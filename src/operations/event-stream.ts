import { HEARTBEAT_SECONDS, type streamEvents as streamEndpoint } from '../contract/partner/events.ts';
import { transact } from '../store/database.ts';
import { cursorAt, type FeedEvent, readFeedPage } from '../store/event-feed.ts';
import type { App, PartnerCall } from './app.ts';
import { textOf } from './event-feed.ts';
import type { OpenStream } from './open-streams.ts';

const EVENTS_AT_ONCE = 100;
/** How soon a reader that was cut off comes back. */
const RETRY_MS = 2_000;

export async function streamEvents(app: App, call: PartnerCall<typeof streamEndpoint>) {
  const sent = call.lastEventId ?? call.query.cursor;
  const startAt = (end: number) => cursorAt(end, sent, call.lastEventId && 'last-event-id');
  // Refuses what is no cursor before anything is opened.
  startAt(0);
  const { stream, end } = await app.streams.open(call.principal);
  return {
    stream: {
      text: follow(app, call, stream, startAt(end)),
      close: () => app.streams.end(stream),
      stuck: stream.stuck.signal,
    },
  };
}

async function* follow(
  app: App,
  { principal, query, stillAdmitted }: PartnerCall<typeof streamEndpoint>,
  stream: OpenStream,
  start: string,
): AsyncGenerator<string> {
  let cursor = start;
  const hand = (text: string): string => {
    stream.handedAt = app.clock.monotonic();
    return text;
  };
  yield hand(`retry: ${RETRY_MS}\nid: ${cursor}\n\n`);
  while (!stream.over) {
    stream.handedAt = undefined;
    const page = await app.streams.read(stream, () =>
      transact(app.db, principal, (tx) =>
        readFeedPage(tx, principal, { ...query, cursor, page_size: EVENTS_AT_ONCE }),
      ),
    );
    // Asked after reading: what is sent now may be sent now, however long it took to read.
    if (!(await stillAdmitted())) return;
    cursor = page.nextCursor;
    const isDue = app.clock.monotonic() - stream.quietSince >= HEARTBEAT_SECONDS * 1000;
    if (page.events.length > 0 || isDue) {
      stream.quietSince = app.clock.monotonic();
      yield hand(page.events.map(blockOf).join('') || `: heartbeat\nid: ${cursor}\n\n`);
      stream.handedAt = undefined;
    }
    if (!page.hasMore) await stream.bell.wait(HEARTBEAT_SECONDS * 1000);
  }
}

function blockOf(event: FeedEvent): string {
  return `id: ${cursorAt(event.position)}\nevent: ${event.event}\ndata: ${textOf(event)}\n\n`;
}
