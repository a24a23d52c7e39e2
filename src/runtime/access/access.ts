import type { Environment, Scope } from '../../contract/access.ts';
import type { PracticeGroup } from '../../contract/partner/practice-groups.ts';
import {
  type FoundGroup,
  hasExpired,
  holderOf,
  isReached,
  type RefusedKey,
  refusedKey,
  type StoppedGroup,
} from '../../domain/access/access.ts';
import { isWellFormedKey } from '../../domain/access/api-key.ts';
import { type KeyHolder, type OperatorPrincipal, SYSTEM } from '../../domain/access/principal.ts';
import type { SessionLimits } from '../../domain/access/session.ts';
import type { Clock } from '../../platform/clock.ts';
import { findUnusedLinks } from '../../store/access/invitations.ts';
import { findKeysByHash, findKeysById } from '../../store/access/keys.ts';
import { findTokenHolders, markTokensUsed, type TokenHolder } from '../../store/access/operators.ts';
import { type Database, transact } from '../../store/database.ts';
import { findReachableGroups, type Reach } from '../../store/practices/practice-groups.ts';
import { Batcher } from '../batcher.ts';
import { BriefCache } from '../brief-cache.ts';
import { atOnce, Lookups, type Turn } from './lookups.ts';
import { Sessions } from './sessions.ts';

/**
 * The door's memory. Who holds a key and what it can reach is asked of the database about once a second for each
 * key, and no answer is used for longer than a second, counted from before the question was asked.
 *
 * So a node that hears of no change still obeys it a second after it committed: whoever takes access away waits out
 * that second (`settle`) before saying that it is done, and no protocol between nodes is needed. Only permissions are
 * remembered, never refusals: what is granted works at once, on every node.
 */
export interface Access {
  /**
   * The holder of a key. If the key is known and does not work, the result names its former holder and the reason. Undefined: unknown. `turn` says
   * when the service looks up a key that was not known a moment ago.
   */
  holderOf(key: string, turn?: Turn): FoundKey | Promise<FoundKey>;
  /** The same by the ID of the key: for people who act with it and do not hold it. */
  holderOfId(keyId: string): FoundKey | Promise<FoundKey>;
  operatorOf(
    token: string,
    turn?: Turn,
  ): OperatorPrincipal | undefined | Promise<OperatorPrincipal | undefined>;
  /** Of people who are signed in. */
  sessions: Sessions;
  /**
   * The group, if the key may act for it (with a scope, where it is not the key's own: if a network grants that scope there), or the fact that its
   * practice has stopped the partner.
   */
  reach(holder: KeyHolder, groupId: string, scope?: Scope): FoundGroup | Promise<FoundGroup>;
  /** Whether this is the link of an invitation that is unused. */
  isInvitation(link: string, turn: Turn): Promise<boolean>;
  /** Forgets all permissions on this node: what changed here holds here at once. The fact that a credential worked stays. */
  forget(): void;
  /** Forgets here, and returns when every other node has forgotten too. */
  settle(): Promise<void>;
  /** Returns when every node has renewed its knowledge of permissions and of webhooks (`staleness` in delivery/known-webhooks.ts). */
  waitForNodes(): Promise<void>;
}

export type FoundKey = KeyHolder | RefusedKey | undefined;

export function isHolder(found: FoundKey): found is KeyHolder {
  return found !== undefined && !('reason' in found);
}

const REMEMBERED_MS = 1_000;
/** By so much a timer may fire before its time; measured, it is less than one. */
const TIMERS_EARLY_MS = 10;
const REMEMBERED_MAX = 20_000;
const LOOKUPS_MAX = 100;

export function createAccess(
  db: Database,
  clock: Clock,
  environment: Environment,
  sessionLimits: SessionLimits,
): Access {
  const cache = <T>() => new BriefCache<T>(clock, REMEMBERED_MS, REMEMBERED_MAX);
  const holders = new BriefCache<KeyHolder | RefusedKey>(clock, REMEMBERED_MS, REMEMBERED_MAX, isHolder);
  const named = new BriefCache<KeyHolder | RefusedKey>(clock, REMEMBERED_MS, REMEMBERED_MAX, isHolder);
  const operators = cache<OperatorPrincipal>();
  const groups = new BriefCache<PracticeGroup | StoppedGroup>(
    clock,
    REMEMBERED_MS,
    REMEMBERED_MAX,
    isReached,
  );
  const sessions = new Sessions(db, clock, sessionLimits, cache);

  // A thousand keys in use are a thousand questions a second, and strangers ask with a new token each time: those of the same
  // moment are asked together.
  const lookups = new Lookups<FoundKey>(async (hashes) => {
    const keys = await transact(db, SYSTEM, (tx) => findKeysByHash(tx, hashes));
    return keys.map((key) => key && (holderOf(key) ?? refusedKey(key)));
  });
  const lookupsById = new Batcher<string, FoundKey>(LOOKUPS_MAX, async (ids) => {
    const keys = await transact(db, SYSTEM, (tx) => findKeysById(tx, ids));
    return keys.map((key) => key && (holderOf(key) ?? refusedKey(key)));
  });
  const tokens = new Lookups<OperatorPrincipal | undefined>(async (hashes) => {
    const found = await transact(db, SYSTEM, (tx) => findTokenHolders(tx, hashes));
    await noteUse(db, clock.now(), found);
    return found.map((holder) => holder?.principal);
  });
  const invitations = new Lookups<boolean>((hashes) =>
    transact(db, SYSTEM, (tx) => findUnusedLinks(tx, hashes)),
  );
  const reaches = new Batcher<Reach, FoundGroup>(LOOKUPS_MAX, (asked) =>
    transact(db, SYSTEM, (tx) => findReachableGroups(tx, asked)),
  );

  const forget = () => {
    holders.clear();
    named.clear();
    operators.clear();
    groups.clear();
    sessions.forget();
  };

  const waitForNodes = () => clock.sleep(REMEMBERED_MS + TIMERS_EARLY_MS);

  return {
    sessions,
    holderOf(key, turn = atOnce) {
      // Checking and hashing were the dearest steps of the door (5 % of a GET), so they are left for when a key is looked up.
      return holders.get(key, (wasKnown) =>
        isWellFormedKey(environment, key) ? lookups.ask(key, turn, wasKnown) : undefined,
      );
    },
    holderOfId: (keyId) => named.get(keyId, () => lookupsById.submit(keyId)),
    operatorOf: (token, turn = atOnce) =>
      operators.get(token, (wasKnown) => tokens.ask(token, turn, wasKnown)),
    isInvitation: (link, turn) => invitations.ask(link, turn),
    reach({ homeGroupId, partnerId }, groupId, scope) {
      // Of the key's own group no network has a say. No header holds a line break.
      const question =
        groupId === homeGroupId
          ? `${partnerId}\n${groupId}`
          : `${partnerId}\n${homeGroupId}\n${groupId}\n${scope ?? ''}`;
      return groups.get(question, () => reaches.submit({ homeGroupId, groupId, partnerId, scope }));
    },
    forget,
    settle() {
      forget();
      return waitForNodes();
    },
    waitForNodes,
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
