import { secretHash } from '../../domain/access/api-key.ts';
import { SYSTEM } from '../../domain/access/principal.ts';
import { idleAfterUse, isRotationDue, OVERLAP_MS, type SessionLimits } from '../../domain/access/session.ts';
import type { Clock } from '../../platform/clock.ts';
import {
  findSessionHolders,
  findSessionsById,
  markSessionsUsed,
  markTokensTaken,
  rotateSessionToken,
  type SessionHolder,
} from '../../store/access/sessions.ts';
import { type Database, transact } from '../../store/database.ts';
import { Batcher } from '../batcher.ts';
import type { BriefCache } from '../brief-cache.ts';
import { Lookups, type Turn } from './lookups.ts';

export type { SessionHolder };

const LOOKUPS_MAX = 100;

/**
 * Who is signed in, as the door remembers it: for a second, like keys, so that a session that was ended is over on every node when the call
 * that ended it has answered. With each look at the database it is written down, now and then, that the session is used.
 */
export class Sessions {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #limits: SessionLimits;
  readonly #holders: BriefCache<SessionHolder>;
  readonly #principals: BriefCache<SessionHolder['principal']>;
  readonly #lookups: Lookups<SessionHolder | undefined>;
  readonly #lookupsById: Batcher<string, SessionHolder['principal'] | undefined>;

  constructor(db: Database, clock: Clock, limits: SessionLimits, cache: <T>() => BriefCache<T>) {
    this.#db = db;
    this.#clock = clock;
    this.#limits = limits;
    this.#holders = cache();
    this.#principals = cache();
    this.#lookups = new Lookups(async (hashes) => {
      const found = await transact(db, SYSTEM, (tx) => findSessionHolders(tx, hashes));
      return (await this.#noteUse(found))
        ? transact(db, SYSTEM, (tx) => findSessionHolders(tx, hashes))
        : found;
    });
    this.#lookupsById = new Batcher(LOOKUPS_MAX, (ids) =>
      transact(db, SYSTEM, (tx) => findSessionsById(tx, ids)),
    );
  }

  get limits(): SessionLimits {
    return this.#limits;
  }

  /** Whether it has ended by time is to be asked of its principal, as of every other. */
  holderOf(token: string, turn: Turn): SessionHolder | undefined | Promise<SessionHolder | undefined> {
    return this.#holders.get(token, (wasKnown) => this.#lookups.ask(token, turn, wasKnown));
  }

  /** By the session and not by its token, which may have changed: for an answer that goes on. Looking it up does not count as using the session. */
  principalOf(
    sessionId: string,
  ): SessionHolder['principal'] | undefined | Promise<SessionHolder['principal'] | undefined> {
    return this.#principals.get(sessionId, () => this.#lookupsById.submit(sessionId));
  }

  /** The token that takes the place of the one that was shown, if it is time. While nothing can be written, none does. */
  async rotate(holder: SessionHolder, newToken: () => string): Promise<string | undefined> {
    const now = this.#clock.now();
    if (!isRotationDue(holder.times, now)) return undefined;
    const token = newToken();
    const rotated = transact(this.#db, SYSTEM, (tx) =>
      rotateSessionToken(tx, holder, secretHash(token), new Date(now).toISOString()),
    );
    const isDone = await rotated.catch(() => false);
    this.#holders.clear();
    return isDone ? token : undefined;
  }

  forget(): void {
    this.#holders.clear();
    this.#principals.clear();
  }

  /** Tells whether anything was written: then what was read is old. */
  async #noteUse(found: readonly (SessionHolder | undefined)[]): Promise<boolean> {
    const now = this.#clock.now();
    const used = found.flatMap((holder) => {
      const idleExpiresAt = holder && idleAfterUse(holder.times, now, this.#limits);
      return holder && idleExpiresAt !== undefined
        ? { id: holder.principal.sessionId, idleExpiresAt: new Date(idleExpiresAt).toISOString() }
        : [];
    });
    const taken = found.flatMap((holder) => (holder?.isFirstUse ? holder.tokenHash : []));
    if (used.length + taken.length === 0) return false;
    const noted = transact(this.#db, SYSTEM, async (tx) => {
      if (used.length > 0) markSessionsUsed(tx, used, new Date(now).toISOString());
      if (taken.length > 0) markTokensTaken(tx, taken, new Date(now + OVERLAP_MS).toISOString());
    });
    return noted.then(
      () => true,
      () => false,
    );
  }
}
