import type { Environment, Scope } from '../contract/access.ts';
import type { PracticeGroup } from '../contract/partner/practice-groups.ts';
import { hasExpired, holderOf, type RefusedKey, refusedKey } from '../domain/access.ts';
import { isWellFormedKey, secretHash } from '../domain/api-key.ts';
import { type KeyHolder, type OperatorPrincipal, SYSTEM } from '../domain/principal.ts';
import type { Clock } from '../platform/clock.ts';
import { Outage } from '../platform/outage.ts';
import { type Database, transact } from '../store/database.ts';
import { findKeysByHash } from '../store/keys.ts';
import { findTokenHolders, markTokensUsed, type TokenHolder } from '../store/operators.ts';
import { findReachableGroups, type Reach } from '../store/practice-groups.ts';
import { Batcher } from './batcher.ts';

/**
 * The door's memory. Who holds a key and what it can reach is asked of the database about once a second for each
 * key, and no answer is used for longer than a second, counted from before the question was asked.
 *
 * So a node that hears of no change still obeys it a second after it committed: whoever takes access away waits out
 * that second (`settle`) before saying that it is done, and no protocol between nodes is needed. Only permissions are
 * remembered, never refusals: what is granted works at once, on every node.
 */
export interface Access {
  /** Who holds a key; of one that is known and that nobody holds any more, whose it was and why. Undefined: unknown. */
  /** `mayAsk`: whether the database is asked about a key that was not known a moment ago; otherwise it is nobody's. */
  holderOf(key: string, mayAsk?: MayAsk): FoundKey | Promise<FoundKey>;
  operatorOf(
    token: string,
    mayAsk?: MayAsk,
  ): OperatorPrincipal | undefined | Promise<OperatorPrincipal | undefined>;
  /** The group, if the key may act for it; with a scope, if it may do that there as far as networks have a say. */
  reach(
    holder: KeyHolder,
    groupId: string,
    scope?: Scope,
  ): PracticeGroup | undefined | Promise<PracticeGroup | undefined>;
  /** Forgets everything on this node: what changed here holds here at once. */
  forget(): void;
  /** Forgets here, and returns when every other node has forgotten too. */
  settle(): Promise<void>;
}

export type FoundKey = KeyHolder | RefusedKey | undefined;

export function isHolder(found: FoundKey): found is KeyHolder {
  return found !== undefined && !('reason' in found);
}
type MayAsk = () => boolean;
const always: MayAsk = () => true;

const REMEMBERED_MS = 1_000;
/** By so much a timer may fire before its time; measured, it is less than one. */
const TIMERS_EARLY_MS = 10;
const REMEMBERED_MAX = 20_000;
const LOOKUPS_MAX = 100;

export function createAccess(db: Database, clock: Clock, environment: Environment): Access {
  const cache = <T>() => new BriefCache<T>(clock, REMEMBERED_MS, REMEMBERED_MAX);
  const holders = new BriefCache<KeyHolder | RefusedKey>(clock, REMEMBERED_MS, REMEMBERED_MAX, isHolder);
  const operators = cache<OperatorPrincipal>();
  const groups = cache<PracticeGroup>();

  // A thousand keys in use are a thousand questions a second, and strangers ask with a new token each time: those of the same
  // moment are asked together.
  const lookups = new Batcher<Buffer, FoundKey>(LOOKUPS_MAX, async (hashes) => {
    const keys = await transact(db, SYSTEM, (tx) => findKeysByHash(tx, hashes));
    return keys.map((key) => key && (holderOf(key) ?? refusedKey(key)));
  });
  const tokens = new Batcher<Buffer, OperatorPrincipal | undefined>(LOOKUPS_MAX, async (hashes) => {
    const found = await transact(db, SYSTEM, (tx) => findTokenHolders(tx, hashes));
    await noteUse(db, clock.now(), found);
    return found.map((holder) => holder?.principal);
  });
  const reaches = new Batcher<Reach, PracticeGroup | undefined>(LOOKUPS_MAX, (asked) =>
    transact(db, SYSTEM, (tx) => findReachableGroups(tx, asked)),
  );

  const forget = () => {
    holders.clear();
    operators.clear();
    groups.clear();
  };

  return {
    holderOf(key, mayAsk = always) {
      // Checking and hashing were the dearest steps of the door (5 % of a GET), so they are left for when a key is looked up.
      return holders.get(key, (wasKnown) =>
        isWellFormedKey(environment, key) && (wasKnown || mayAsk())
          ? lookups.submit(secretHash(key))
          : undefined,
      );
    },
    operatorOf(token, mayAsk = always) {
      return operators.get(token, (wasKnown) =>
        wasKnown || mayAsk() ? tokens.submit(secretHash(token)) : undefined,
      );
    },
    reach({ homeGroupId, partnerId }, groupId, scope) {
      // Most calls act for the key's own group, and need no text put together. No header holds a line break.
      const question =
        groupId === homeGroupId ? groupId : `${partnerId}\n${homeGroupId}\n${groupId}\n${scope ?? ''}`;
      return groups.get(question, () => reaches.submit({ homeGroupId, groupId, partnerId, scope }));
    },
    forget,
    async settle() {
      forget();
      await clock.sleep(REMEMBERED_MS + TIMERS_EARLY_MS);
    },
  };
}

/** Written so seldom that it costs nobody anything, and known well enough to tell a token that nobody needs any more. */
const USE_NOTED_MS = 5 * 60_000;

/** That a token was used is worth no call: while nothing can be written, it is not noted. */
async function noteUse(
  db: Database,
  now: number,
  holders: readonly (TokenHolder | undefined)[],
): Promise<void> {
  const ids = holders.flatMap((holder) =>
    holder && !hasExpired(holder.principal, now) && now - holder.lastUsedAt >= USE_NOTED_MS
      ? holder.principal.operatorId
      : [],
  );
  if (ids.length === 0) return;
  const noted = transact(db, SYSTEM, async (tx) => markTokensUsed(tx, ids, new Date(now).toISOString()));
  await noted.catch(() => {});
}

interface Entry<T> {
  value: T;
  /** Monotonic milliseconds from which on it is asked for again by whoever uses it. */
  renewFrom: number;
  /** From here on it must not be used. */
  until: number;
}

/** `wasKnown`: an answer is there that is too old to be used. */
type Load<T> = (wasKnown: boolean) => Promise<T | undefined> | undefined;

/** How often a question is asked again when its answer took so long that it was stale on arrival. */
const TRIES_MAX = 3;
const RENEW_FROM = 0.75;

/**
 * A cache whose answers live for a moment that begins before the question is asked. Whoever asks while the same question is
 * under way shares its answer (single flight). "No" (undefined, or what `isYes` says is none) is never remembered. What is in use is asked for again while it may still
 * be used, so that nobody waits for it.
 */
export class BriefCache<T> {
  readonly #clock: Clock;
  readonly #lifetimeMs: number;
  readonly #entriesMax: number;
  readonly #isYes: (value: T) => boolean;
  readonly #entries = new Map<string, Entry<T>>();
  readonly #underWay = new Map<string, Promise<T | undefined>>();
  /** Counts the clearings: an answer to a question asked before one is not kept. */
  #generation = 0;

  constructor(
    clock: Clock,
    lifetimeMs: number,
    entriesMax: number,
    isYes: (value: T) => boolean = () => true,
  ) {
    this.#clock = clock;
    this.#lifetimeMs = lifetimeMs;
    this.#entriesMax = entriesMax;
    this.#isYes = isYes;
  }

  /** Answers at once, without a promise, when it remembers: the hot path stays synchronous. */
  get(key: string, load: Load<T>): T | undefined | Promise<T | undefined> {
    const entry = this.#entries.get(key);
    const now = entry ? this.#clock.monotonic() : 0;
    if (entry && now < entry.until) {
      if (now >= entry.renewFrom) this.#renew(key, load);
      return entry.value;
    }
    const underWay = this.#underWay.get(key);
    if (!underWay) return this.#begin(key, load);
    // A "no" that others asked for may be older than what was granted since. What is asked after it was asked after all who
    // waited for it had come, so once is enough for them: each in turn, a thousand strangers with one key waited for a
    // thousand questions, and woke each other half a million times.
    return underWay.then(
      (value) => this.#yes(value) ?? this.#recall(key) ?? this.#underWay.get(key) ?? this.#begin(key, load),
    );
  }

  clear(): void {
    this.#generation++;
    this.#entries.clear();
    // Questions under way may have been asked before the change: nobody else shares their answers.
    this.#underWay.clear();
  }

  #yes(value: T | undefined): T | undefined {
    return value !== undefined && this.#isYes(value) ? value : undefined;
  }

  #recall(key: string): T | undefined {
    const entry = this.#entries.get(key);
    return entry && this.#clock.monotonic() < entry.until ? entry.value : undefined;
  }

  /** Should it fail, whoever comes when the entry is over asks again, and is told. */
  #renew(key: string, load: Load<T>): void {
    if (!this.#underWay.has(key)) this.#begin(key, load).catch(() => {});
  }

  #begin(key: string, load: Load<T>): Promise<T | undefined> {
    const asked = this.#ask(key, load);
    this.#underWay.set(key, asked);
    const done = () => {
      if (this.#underWay.get(key) === asked) this.#underWay.delete(key);
    };
    asked.then(done, done);
    return asked;
  }

  async #ask(key: string, load: Load<T>): Promise<T | undefined> {
    for (let attempt = 0; attempt < TRIES_MAX; attempt++) {
      const generation = this.#generation;
      const asked = this.#clock.monotonic();
      const until = asked + this.#lifetimeMs;
      const value = await load(this.#entries.has(key));
      if (value === undefined || !this.#isYes(value)) {
        if (generation === this.#generation) this.#entries.delete(key);
        return value;
      }
      if (this.#clock.monotonic() >= until) continue;
      if (generation === this.#generation)
        this.#keep(key, { value, renewFrom: asked + RENEW_FROM * this.#lifetimeMs, until });
      return value;
    }
    throw new Outage('the database answers too slowly to tell who may come in');
  }

  #keep(key: string, entry: Entry<T>): void {
    // Delete first, so that the map's order is the order of age and the first key is the oldest.
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    if (this.#entries.size > this.#entriesMax) {
      const oldest = this.#entries.keys().next();
      if (!oldest.done) this.#entries.delete(oldest.value);
    }
  }
}
