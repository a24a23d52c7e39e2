import type { Input, Read, Stream } from '../../contract/endpoint.ts';
import { type Change, streamChanges } from '../../contract/operator/practices/changes.ts';
import { HEARTBEAT_SECONDS, STREAMS_PER_KEY_MAX, streamEvents } from '../../contract/partner/events.ts';
import { Problem } from '../../contract/problems.ts';
import { Verbatim, verbatimText } from '../../contract/verbatim.ts';
import { type OperatorPrincipal, type PartnerPrincipal, SYSTEM } from '../../domain/access/principal.ts';
import { type FeedPlace, feedCursor, readFeedCursor } from '../../domain/events/feed-cursor.ts';
import { Bell } from '../../platform/bell.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import { Outage } from '../../platform/outage.ts';
import { Semaphore } from '../../platform/semaphore.ts';
import { type Database, transact } from '../../store/database.ts';
import {
  type FeedEvent,
  OF_CHANGES,
  readFeedNews,
  readFeedPage,
  refuseGone,
} from '../../store/events/event-feed.ts';
import { type PlacedChange, readChangePage } from '../../store/practices/changes.ts';
import { AccessWatch } from '../access/access-watch.ts';
import type { AccessLog } from '../oversight/access-log.ts';

/** How soon an event shows in the streams: one question so often, for all streams of the node together. */
const LOOK_MS = 250;
const STREAMS_MAX = 1_000;
/** A stream that is far behind reads page after page, and must leave connections to the calls. */
const READS_AT_ONCE = 3;
/** A reader that has not taken what it was given for so long takes nothing any more. */
const STUCK_MS = 60_000;
const EVENTS_AT_ONCE = 100;
/** How soon a reader that was cut off comes back. */
const RETRY_MS = 2_000;

/** A call that wants to hear of events as they happen. */
type Listener = Input<typeof streamEvents> & { principal: PartnerPrincipal };
type ChangeListener = Input<typeof streamChanges> & { principal: OperatorPrincipal };

/** Who opens a stream, and whose news it is about. */
interface Opener {
  stillAdmitted(): Promise<boolean>;
  /** The key, or the operator. */
  keyId: string;
  groupId: string;
}

/** What one look into the feed of a stream brought. */
interface Told {
  text: string;
  reads: Read[];
  nextCursor: string;
  hasMore: boolean;
}

/** The feed that a stream shows. */
interface Shown {
  principal: PartnerPrincipal | OperatorPrincipal;
  operationId: string;
  look(cursor: string): Promise<Told>;
}

interface OpenStream extends Opener {
  /** Rings when there is something to do: events, a heartbeat, or the end. */
  bell: Bell;
  quietSince: number;
  /** Since when its reader has something to take; undefined when it has taken all. */
  handedAt: number | undefined;
  stuck: AbortController;
  over: boolean;
}

/** The streams that are open on this node. While there are any, it asks the feed for news on behalf of all of them. */
export class OpenStreams {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #accessLog: AccessLog;
  readonly #open = new Set<OpenStream>();
  readonly #watch: AccessWatch<OpenStream>;
  readonly #reads = new Semaphore(READS_AT_ONCE);
  #looking = false;
  #closed = false;
  #position = 0;

  constructor(db: Database, clock: Clock, log: Logger, accessLog: AccessLog) {
    this.#db = db;
    this.#clock = clock;
    this.#log = log;
    this.#accessLog = accessLog;
    this.#watch = new AccessWatch(clock, log, this.#open, (stream) => this.end(stream));
  }

  get count(): number {
    return this.#open.size;
  }

  /** The stream of a call, from where its reader left off or from now on. */
  follow({ lastEventId, query, principal, stillAdmitted }: Listener): Promise<Stream> {
    const opener = { keyId: principal.holder.keyId, groupId: principal.group.id, stillAdmitted };
    return this.#follow(opener, lastEventId, query.cursor, {
      principal,
      operationId: streamEvents.operationId,
      look: async (cursor) => {
        const page = await transact(this.#db, principal, (tx) =>
          readFeedPage(tx, principal, { ...query, cursor, page_size: EVENTS_AT_ONCE }),
        );
        const reads = readOfFeed(principal, page.events, query.event_types);
        return { ...page, text: page.events.map(blockOf).join(''), reads };
      },
    });
  }

  /** The same of what partners change, for the operator's systems. */
  followChanges({ lastEventId, query, principal, stillAdmitted }: ChangeListener): Promise<Stream> {
    const opener = { keyId: principal.operatorId, groupId: OF_CHANGES, stillAdmitted };
    return this.#follow(opener, lastEventId, query.cursor, {
      principal,
      operationId: streamChanges.operationId,
      look: async (cursor) => {
        const page = await transact(this.#db, principal, (tx) =>
          readChangePage(tx, { ...query, cursor, page_size: EVENTS_AT_ONCE }),
        );
        return {
          ...page,
          text: page.changes.map(changeBlock).join(''),
          reads: page.changes.map(readOfChange),
        };
      },
    });
  }

  async #follow(
    opener: Opener,
    lastEventId: string | undefined,
    cursor: string | undefined,
    shown: Shown,
  ): Promise<Stream> {
    // Refuses what is no cursor before anything is opened.
    const sent = readFeedCursor(lastEventId ?? cursor, lastEventId && 'last-event-id');
    const { stream, start } = await this.open(opener, sent);
    return {
      text: this.#texts(shown, stream, feedCursor(start)),
      close: () => this.end(stream),
      stuck: stream.stuck.signal,
    };
  }

  async *#texts(
    { principal, operationId, look }: Shown,
    stream: OpenStream,
    start: string,
  ): AsyncGenerator<string> {
    let cursor = start;
    const hand = (text: string): string => {
      stream.handedAt = this.#clock.monotonic();
      return text;
    };
    yield hand(`retry: ${RETRY_MS}\nid: ${cursor}\n\n`);
    while (!stream.over) {
      stream.handedAt = undefined;
      const page = await this.read(stream, () => look(cursor)).catch(unlessGone);
      // The feed was set back. Its reader comes again, and is told so.
      if (!page) return;
      // Asked after reading: what is sent now may be sent now, however long it took to read.
      if (!(await stream.stillAdmitted())) return;
      cursor = page.nextCursor;
      const isDue = this.#clock.monotonic() - stream.quietSince >= HEARTBEAT_SECONDS * 1000;
      if (page.text !== '' || isDue) {
        stream.quietSince = this.#clock.monotonic();
        for (const read of page.reads) this.#accessLog.add(principal, operationId, read);
        yield hand(page.text || `: heartbeat\nid: ${cursor}\n\n`);
        stream.handedAt = undefined;
      }
      if (!page.hasMore) await stream.bell.wait(HEARTBEAT_SECONDS * 1000);
    }
  }

  /** It starts where it was left, or at the feed's end at a moment from which on the stream is told of news. */
  async open(
    { keyId, groupId, stillAdmitted }: Opener,
    sent?: FeedPlace,
  ): Promise<{ stream: OpenStream; start: FeedPlace }> {
    if (this.#closed) throw new Outage('the service stops');
    if (this.#open.size >= STREAMS_MAX) throw new Outage('too many streams are open');
    const own = [...this.#open].filter((one) => one.keyId === keyId);
    if (own.length >= STREAMS_PER_KEY_MAX)
      throw new Problem('conflict', {
        message: `This ${groupId === OF_CHANGES ? 'operator' : 'key'} has ${STREAMS_PER_KEY_MAX} streams open already, which is as many as there may be. Close one of them.`,
      });
    const stream: OpenStream = {
      keyId,
      groupId,
      stillAdmitted,
      bell: new Bell(this.#clock),
      quietSince: this.#clock.monotonic(),
      handedAt: undefined,
      stuck: new AbortController(),
      over: false,
    };
    this.#open.add(stream);
    try {
      const end = await transact(this.#db, SYSTEM, async (tx) => {
        if (sent) await refuseGone(tx, sent);
        return readFeedNews(tx, [], 0);
      });
      if (!this.#looking) void this.#look(end.position);
      this.#watch.begin();
      return { stream, start: sent ?? end };
    } catch (error) {
      this.end(stream);
      throw error;
    }
  }

  end(stream: OpenStream): void {
    stream.over = true;
    this.#open.delete(stream);
    stream.bell.ring();
  }

  /** For good: the service stops. */
  endAll(): void {
    this.#closed = true;
    for (const stream of this.#open) this.end(stream);
  }

  /** Reads for a stream; keys take turns. */
  read<T>({ keyId }: OpenStream, work: () => Promise<T>): Promise<T> {
    return this.#reads.run(keyId, work);
  }

  async #look(from: number): Promise<void> {
    this.#looking = true;
    this.#position = from;
    while (this.#open.size > 0) {
      const groups = [...new Set([...this.#open].map(({ groupId }) => groupId))];
      const news = await transact(this.#db, SYSTEM, (tx) => readFeedNews(tx, groups, this.#position)).catch(
        (error) => {
          // While the database is away the streams find out by themselves, when they read.
          if (!(error instanceof Outage)) this.#log.error({ err: error }, 'the streams are told of no news');
          return undefined;
        },
      );
      const now = this.#clock.monotonic();
      for (const { bell, groupId, quietSince, handedAt, stuck } of this.#open) {
        if (now - (handedAt ?? now) >= STUCK_MS) stuck.abort();
        // One that was opened meanwhile was not asked for.
        if (
          news?.groups.includes(groupId) ||
          !groups.includes(groupId) ||
          now - quietSince >= HEARTBEAT_SECONDS * 1000
        )
          bell.ring();
      }
      this.#position = news?.position ?? this.#position;
      await new Promise<void>((resolve) => this.#clock.timer(LOOK_MS, resolve));
    }
    this.#looking = false;
  }
}

function unlessGone(error: unknown): undefined {
  if (!(error instanceof Problem && error.code === 'cursor_gone')) throw error;
}

function blockOf(event: FeedEvent): string {
  const data = verbatimText(streamEvents.response.body, presentFeedEvent(event));
  return `id: ${feedCursor(event)}\nevent: ${event.event}\ndata: ${data}\n\n`;
}

function changeBlock(change: PlacedChange): string {
  const { position: _position, timeline: _timeline, ...shown } = change;
  return `id: ${feedCursor(change)}\nevent: submission-type.changed\ndata: ${JSON.stringify(shown)}\n\n`;
}

/** It shows settings of a practice, and nothing of a patient. */
export function readOfChange({ practice_group_id: practiceGroupId, object_id: objectId }: Change): Read {
  return { practiceGroupId, object: 'submission-types', objectId, isOfSettings: true };
}

/** What a page of the feed showed; nothing when it was empty. */
export function readOfFeed(
  { group }: PartnerPrincipal,
  events: readonly FeedEvent[],
  eventTypes: readonly string[] | undefined,
): Read[] {
  const [first, last] = [events.at(0)?.position, events.at(-1)?.position];
  if (first === undefined || last === undefined) return [];
  return [{ practiceGroupId: group.id, positions: { first, last, eventTypes } }];
}

/** Payloads go out as they are stored, as they do in webhooks. */
export function presentFeedEvent({ id, accepted_at, payload }: FeedEvent) {
  return { id, created_at: accepted_at, data: new Verbatim(payload) };
}
