import type { Stream } from '../../contract/endpoint.ts';
import {
  LIVE_HEARTBEAT_SECONDS,
  LIVE_STREAMS_MAX,
  LIVE_STREAMS_OF_GUEST_MAX,
  LIVE_STREAMS_OF_OPERATOR_MAX,
} from '../../contract/live.ts';
import { Problem } from '../../contract/problems.ts';
import { SYSTEM } from '../../domain/access/principal.ts';
import { Bell } from '../../platform/bell.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import { Outage } from '../../platform/outage.ts';
import { type Database, type Transaction, transact } from '../../store/database.ts';
import { type Marks, readMarks, readPartnerMarks, readPracticeMarks } from '../../store/oversight/live.ts';
import { AccessWatch } from '../access/access-watch.ts';
import { NODE_GONE_MS } from './nodes.ts';

/** One question so often, for all streams of the node together. */
const LOOK_MS = 2_000;
/** A reader that has not taken what it was given for so long takes nothing any more. */
const STUCK_MS = 60_000;
/** How soon a reader that was cut off comes back. */
const RETRY_MS = 2_000;
const HEARTBEAT_MS = LIVE_HEARTBEAT_SECONDS * 1000;

/** An operator receives news of the deployment, an invited person news of their partner or practice. `person` is the ID of the operator or invitation. */
type Whose = { person: string } & ({ kind: 'operator' } | { kind: 'partner' | 'practice'; id: string });

const roomOf = (whose: Whose): string =>
  whose.kind === 'operator' ? whose.kind : `${whose.kind} ${whose.id}`;

interface OpenLive {
  whose: Whose;
  bell: Bell;
  /** What it is to be told of. */
  kinds: Set<string>;
  /** Since when its reader has something to take; undefined when it has taken all. */
  handedAt: number | undefined;
  stuck: AbortController;
  stillAdmitted(): Promise<boolean>;
  over: boolean;
}

/**
 * Tells consoles what has changed. While any is open on this node, it asks the database every two seconds, with one statement for the operators and one
 * for all partners or practices of which somebody looks, whether anything has; a thousand cost it what one costs.
 */
export class Live {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #open = new Set<OpenLive>();
  readonly #watch: AccessWatch<OpenLive>;
  /** The marks of the last look, for each room that was asked about. A reader with none to compare is told that everything may have changed. */
  #marks = new Map<string, Marks>();
  #looking = false;
  #closed = false;

  constructor(db: Database, clock: Clock, log: Logger) {
    this.#db = db;
    this.#clock = clock;
    this.#log = log;
    this.#watch = new AccessWatch(clock, log, this.#open, (stream) => this.#end(stream));
  }

  get count(): number {
    return this.#open.size;
  }

  follow(whose: Whose, stillAdmitted: () => Promise<boolean>): Stream {
    if (this.#closed) throw new Outage('the service stops');
    this.#refuseTooMany(whose);
    const stream: OpenLive = {
      whose,
      bell: new Bell(this.#clock),
      kinds: new Set(Object.keys(this.#marks.get(roomOf(whose)) ?? {})),
      handedAt: undefined,
      stuck: new AbortController(),
      stillAdmitted,
      over: false,
    };
    this.#open.add(stream);
    if (!this.#looking) void this.#look();
    this.#watch.begin();
    return {
      text: this.#texts(stream),
      close: () => this.#end(stream),
      stuck: stream.stuck.signal,
    };
  }

  /** Invited people and operators have limits of their own, and so has each person. */
  #refuseTooMany(whose: Whose): void {
    const isGuest = whose.kind !== 'operator';
    const alike = [...this.#open].filter((one) => (one.whose.kind !== 'operator') === isGuest);
    if (alike.length >= LIVE_STREAMS_MAX) throw new Outage('too many streams are open');
    const ownMax = isGuest ? LIVE_STREAMS_OF_GUEST_MAX : LIVE_STREAMS_OF_OPERATOR_MAX;
    if (alike.filter((one) => one.whose.person === whose.person).length >= ownMax)
      throw new Problem('conflict', {
        message: `You have ${ownMax} pages open that receive news, which is the limit. Close a page.`,
      });
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

  async *#texts(stream: OpenLive): AsyncGenerator<string> {
    let quietSince = this.#clock.monotonic();
    const hand = (text: string): string => {
      stream.handedAt = this.#clock.monotonic();
      return text;
    };
    yield hand(`retry: ${RETRY_MS}\n\n`);
    while (!stream.over) {
      stream.handedAt = undefined;
      if (this.#clock.monotonic() - quietSince >= HEARTBEAT_MS) {
        quietSince = this.#clock.monotonic();
        if (stream.kinds.size === 0) yield hand(': heartbeat\n\n');
      }
      if (stream.kinds.size > 0) yield hand(this.#tell(stream));
      stream.handedAt = undefined;
      if (stream.kinds.size === 0) await stream.bell.wait(HEARTBEAT_MS);
    }
  }

  #tell(stream: OpenLive): string {
    const kinds = [...stream.kinds];
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
        const kinds = changed.get(roomOf(stream.whose)) ?? [];
        for (const kind of kinds) stream.kinds.add(kind);
        if (kinds.length > 0) stream.bell.ring();
      }
      await new Promise<void>((resolve) => this.#clock.timer(LOOK_MS, resolve));
    }
    this.#looking = false;
    this.#marks.clear();
  }

  /** What has changed, of whom. */
  async #ask(): Promise<Map<string, string[]>> {
    try {
      const before = this.#marks;
      this.#marks = await transact(this.#db, SYSTEM, (tx) => this.#read(tx));
      return new Map(
        [...this.#marks].map(([room, marks]) => {
          const known = before.get(room);
          return [room, Object.keys(marks).filter((kind) => marks[kind] !== known?.[kind])];
        }),
      );
    } catch (error) {
      if (!(error instanceof Outage)) this.#log.error({ err: error }, 'consoles are told of no news');
      return new Map();
    }
  }

  async #read(tx: Transaction): Promise<Map<string, Marks>> {
    const since = new Date(this.#clock.now() - NODE_GONE_MS).toISOString();
    const idsOf = (kind: 'partner' | 'practice') => [
      ...new Set([...this.#open].flatMap(({ whose }) => (whose.kind === kind ? whose.id : []))),
    ];
    const [partners, practices] = [idsOf('partner'), idsOf('practice')];
    const isOperator = [...this.#open].some(({ whose }) => whose.kind === 'operator');
    const [all, ofPartners, ofPractices] = await Promise.all([
      isOperator ? readMarks(tx, since) : undefined,
      partners.length > 0 ? readPartnerMarks(tx, partners) : [],
      practices.length > 0 ? readPracticeMarks(tx, practices) : [],
    ]);
    return new Map<string, Marks>([
      ...(all ? [['operator', all] as const] : []),
      ...ofPartners.map(({ id, ...marks }) => [`partner ${id}`, marks] as const),
      ...ofPractices.map(({ id, ...marks }) => [`practice ${id}`, marks] as const),
    ]);
  }
}
