import type { Stream } from '../contract/endpoint.ts';
import {
  LIVE_HEARTBEAT_SECONDS,
  LIVE_STREAMS_MAX,
  type LiveKind,
  liveKinds,
} from '../contract/operator/deployment.ts';
import { SYSTEM } from '../domain/principal.ts';
import { Bell } from '../platform/bell.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';
import { Outage } from '../platform/outage.ts';
import { type Database, transact } from '../store/database.ts';
import { type Marks, readMarks } from '../store/live.ts';
import { NODE_GONE_MS } from './nodes.ts';

/** One question so often, for all streams of the node together. */
const LOOK_MS = 2_000;
/** A reader that has not taken what it was given for so long takes nothing any more. */
const STUCK_MS = 60_000;
/** How soon a reader that was cut off comes back. */
const RETRY_MS = 2_000;
const HEARTBEAT_MS = LIVE_HEARTBEAT_SECONDS * 1000;

interface OpenLive {
  bell: Bell;
  /** What it is to be told of. */
  kinds: Set<LiveKind>;
  /** Since when its reader has something to take; undefined when it has taken all. */
  handedAt: number | undefined;
  stuck: AbortController;
  over: boolean;
}

/**
 * Tells consoles what has changed. While any is open on this node, it asks the database every two seconds, with one statement, whether anything has; a
 * thousand cost it what one costs. Whether a reader may still hear of it is asked with each heartbeat: what it hears until then tells nothing.
 */
export class Live {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #open = new Set<OpenLive>();
  /** As of the last look, while it is looked at all: a reader is told that all may have changed once there is something to compare with. */
  #marks: Marks | undefined;
  #looking = false;
  #closed = false;

  constructor(db: Database, clock: Clock, log: Logger) {
    this.#db = db;
    this.#clock = clock;
    this.#log = log;
  }

  get count(): number {
    return this.#open.size;
  }

  follow(stillAdmitted: () => Promise<boolean>): Stream {
    if (this.#closed) throw new Outage('the service stops');
    if (this.#open.size >= LIVE_STREAMS_MAX) throw new Outage('too many streams are open');
    const stream: OpenLive = {
      bell: new Bell(this.#clock),
      kinds: new Set(this.#marks ? liveKinds : []),
      handedAt: undefined,
      stuck: new AbortController(),
      over: false,
    };
    this.#open.add(stream);
    if (!this.#looking) void this.#look();
    return {
      text: this.#texts(stream, stillAdmitted),
      close: () => this.#end(stream),
      stuck: stream.stuck.signal,
    };
  }

  /** For good: the service stops. */
  endAll(): void {
    this.#closed = true;
    for (const stream of this.#open) this.#end(stream);
  }

  #end(stream: OpenLive): void {
    stream.over = true;
    this.#open.delete(stream);
    stream.bell.ring();
  }

  async *#texts(stream: OpenLive, stillAdmitted: () => Promise<boolean>): AsyncGenerator<string> {
    let askedAt = this.#clock.monotonic();
    const hand = (text: string): string => {
      stream.handedAt = this.#clock.monotonic();
      return text;
    };
    yield hand(`retry: ${RETRY_MS}\n\n`);
    while (!stream.over) {
      stream.handedAt = undefined;
      if (this.#clock.monotonic() - askedAt >= HEARTBEAT_MS) {
        if (!(await stillAdmitted())) return;
        askedAt = this.#clock.monotonic();
        if (stream.kinds.size === 0) yield hand(': heartbeat\n\n');
      }
      if (stream.kinds.size > 0) yield hand(this.#tell(stream));
      stream.handedAt = undefined;
      if (stream.kinds.size === 0) await stream.bell.wait(HEARTBEAT_MS);
    }
  }

  #tell(stream: OpenLive): string {
    const kinds = liveKinds.filter((kind) => stream.kinds.has(kind));
    stream.kinds.clear();
    const news = { kinds, at: new Date(this.#clock.now()).toISOString() };
    return `event: changed\ndata: ${JSON.stringify(news)}\n\n`;
  }

  async #look(): Promise<void> {
    this.#looking = true;
    while (this.#open.size > 0) {
      const changed = await this.#ask();
      const now = this.#clock.monotonic();
      for (const stream of this.#open) {
        if (now - (stream.handedAt ?? now) >= STUCK_MS) stream.stuck.abort();
        for (const kind of changed) stream.kinds.add(kind);
        if (changed.length > 0) stream.bell.ring();
      }
      await new Promise<void>((resolve) => this.#clock.timer(LOOK_MS, resolve));
    }
    this.#looking = false;
    this.#marks = undefined;
  }

  async #ask(): Promise<LiveKind[]> {
    const since = new Date(this.#clock.now() - NODE_GONE_MS).toISOString();
    try {
      const marks = await transact(this.#db, SYSTEM, (tx) => readMarks(tx, since));
      const before = this.#marks;
      this.#marks = marks;
      return liveKinds.filter((kind) => marks[kind] !== before?.[kind]);
    } catch (error) {
      if (!(error instanceof Outage)) this.#log.error({ err: error }, 'consoles are told of no news');
      return [];
    }
  }
}
