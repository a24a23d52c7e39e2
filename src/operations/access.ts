import { hash } from 'node:crypto';
import type { Environment } from '../contract/access.ts';
import type { PracticeGroup } from '../contract/partner/practice-groups.ts';
import { holderOf } from '../domain/access.ts';
import { isWellFormedKey } from '../domain/api-key.ts';
import { type KeyHolder, type OperatorPrincipal, SYSTEM } from '../domain/principal.ts';
import type { Clock } from '../platform/clock.ts';
import { type Database, transact } from '../store/database.ts';
import { findKeysByHash } from '../store/keys.ts';
import { findTokenHolders } from '../store/operators.ts';
import { findReachableGroups, type Reach } from '../store/practice-groups.ts';
import { BriefCache } from './brief-cache.ts';
import { Gatherer } from './gather.ts';

/**
 * The door's memory. Who holds a key and what it can reach is asked of the database about once a second for each
 * key, and no answer is used for longer than a second, counted from before the question was asked.
 *
 * So a node that hears of no change still obeys it a second after it committed: whoever takes access away waits out
 * that second (`settle`) before saying that it is done, and no protocol between nodes is needed. Only permissions are
 * remembered, never refusals: what is granted works at once, on every node.
 */
export interface Access {
  holderOf(key: string): KeyHolder | undefined | Promise<KeyHolder | undefined>;
  operatorOf(token: string): OperatorPrincipal | undefined | Promise<OperatorPrincipal | undefined>;
  reach(holder: KeyHolder, groupId: string): PracticeGroup | undefined | Promise<PracticeGroup | undefined>;
  /** Forgets everything on this node: what changed here holds here at once. */
  forget(): void;
  /** Forgets here, and returns when every other node has forgotten too. */
  settle(): Promise<void>;
}

const REMEMBERED_MS = 1_000;
/** By so much a timer may fire before its time; measured, it is less than one. */
const TIMERS_EARLY_MS = 10;
const REMEMBERED_MAX = 20_000;
const LOOKUPS_MAX = 100;

export function createAccess(db: Database, clock: Clock, environment: Environment): Access {
  const cache = <T>() => new BriefCache<T>(clock, REMEMBERED_MS, REMEMBERED_MAX);
  const holders = cache<KeyHolder>();
  const operators = cache<OperatorPrincipal>();
  const groups = cache<PracticeGroup>();

  // A thousand keys in use are a thousand questions a second, and strangers ask with a new token each time: those of the same
  // moment are asked together.
  const lookups = new Gatherer<Buffer, KeyHolder | undefined>(LOOKUPS_MAX, (hashes) =>
    transact(db, SYSTEM, async (tx) => {
      const keys = await findKeysByHash(tx, hashes);
      return keys.map((key) => key && holderOf(key));
    }),
  );
  const tokens = new Gatherer<Buffer, OperatorPrincipal | undefined>(LOOKUPS_MAX, (hashes) =>
    transact(db, SYSTEM, (tx) => findTokenHolders(tx, hashes)),
  );
  const reaches = new Gatherer<Reach, PracticeGroup | undefined>(LOOKUPS_MAX, (asked) =>
    transact(db, SYSTEM, (tx) => findReachableGroups(tx, asked)),
  );

  const forget = () => {
    holders.clear();
    operators.clear();
    groups.clear();
  };

  return {
    holderOf(key) {
      // Checking and hashing were the dearest steps of the door (5 % of a GET), so they are left for when a key is looked up.
      return holders.get(key, () =>
        isWellFormedKey(environment, key) ? lookups.submit(secretHash(key)) : undefined,
      );
    },
    operatorOf(token) {
      return operators.get(token, () => tokens.submit(secretHash(token)));
    },
    reach({ homeGroupId }, groupId) {
      // Most calls act for the key's own group, and need no text put together. No header holds a line break.
      const question = groupId === homeGroupId ? groupId : `${homeGroupId}\n${groupId}`;
      return groups.get(question, () => reaches.submit({ homeGroupId, groupId }));
    },
    forget,
    async settle() {
      forget();
      await clock.sleep(REMEMBERED_MS + TIMERS_EARLY_MS);
    },
  };
}

/** Keys and tokens that are made here have 190 random bits and more, so a plain hash keeps them; a slow one would only slow the door. */
export function secretHash(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}
