import { HEARTBEAT_SECONDS, STREAMS_PER_KEY_MAX } from '../contract/partner/events.ts';
import { Problem } from '../contract/problems.ts';
import { type PartnerPrincipal, SYSTEM } from '../domain/principal.ts';
import { Bell } from '../platform/bell.ts';
import type { Clock } from '../platform/clock.ts';
import { Outage } from '../platform/outage.ts';
import { type Database, transact } from '../store/database.ts';
import { readFeedNews } from '../store/event-feed.ts';

/** How soon an event shows in the streams: one question so often, for all streams of the node together. */
const LOOK_MS = 250;
const STREAMS_MAX = 1_000;

export interface OpenStream {
  keyId: string;
  groupId: string;
  /** Rings when there is something to do: events, a heartbeat, or the end. */
  bell: Bell;
  quietSince: number;
  over: boolean;
}

/** The streams that are open on this node. While there are any, it asks the feed for news on behalf of all of them. */
export class OpenStreams {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #open = new Set<OpenStream>();
  #looking = false;
  #position = 0;

  constructor(db: Database, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
  }

  get count(): number {
    return this.#open.size;
  }

  /** Also the position of the feed's end at a moment from which on the stream is told of news. */
  async open({ holder: { keyId }, group }: PartnerPrincipal): Promise<{ stream: OpenStream; end: number }> {
    if (this.#open.size >= STREAMS_MAX) throw new Outage('too many streams are open');
    const own = [...this.#open].filter((one) => one.keyId === keyId);
    if (own.length >= STREAMS_PER_KEY_MAX)
      throw new Problem('conflict', {
        message: `This key has ${STREAMS_PER_KEY_MAX} streams open already, which is as many as there may be. Close one of them.`,
      });
    const bell = new Bell();
    const stream = { keyId, groupId: group.id, bell, quietSince: this.#clock.monotonic(), over: false };
    this.#open.add(stream);
    try {
      const { position } = await transact(this.#db, SYSTEM, (tx) => readFeedNews(tx, [], 0));
      if (!this.#looking) void this.#look(position);
      return { stream, end: position };
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

  endAll(): void {
    for (const stream of this.#open) this.end(stream);
  }

  async #look(from: number): Promise<void> {
    this.#looking = true;
    this.#position = from;
    const pause = new Bell();
    while (this.#open.size > 0) {
      const groups = [...new Set([...this.#open].map(({ groupId }) => groupId))];
      const news = await transact(this.#db, SYSTEM, (tx) => readFeedNews(tx, groups, this.#position)).catch(
        () => undefined,
      );
      const now = this.#clock.monotonic();
      // One that was opened meanwhile was not asked for.
      for (const { bell, groupId, quietSince } of this.#open)
        if (
          news?.groups.includes(groupId) ||
          !groups.includes(groupId) ||
          now - quietSince >= HEARTBEAT_SECONDS * 1000
        )
          bell.ring();
      this.#position = news?.position ?? this.#position;
      await pause.wait(LOOK_MS);
    }
    this.#looking = false;
  }
}
