import type { PartnerStatus } from '../../src/contract/operator/partners.ts';

/**
 * The rule of access as the specification has it, and what the door and the post made of it at one moment. The two are
 * held against each other first, then the door against the rule, so that a difference says who is wrong.
 */

export interface Facts {
  now: number;
  groups: string[];
  partners: { id: string; status: PartnerStatus }[];
  /** The practice groups of each network. */
  networks: Set<string>[];
  keys: Key[];
  webhooks: Webhook[];
}

export interface Key {
  id: string;
  partnerId: string;
  homeGroupId: string;
  scopes: string[];
  expiresAt: number | null;
  revoked: boolean;
}

export interface Webhook {
  no: number;
  partnerId: string;
  groupId: string;
  eventTypes: string[];
  deleted: boolean;
}

/** Its parts, so that a test can replace one by a wrong one. */
export interface Rule {
  isVerified(status: PartnerStatus): boolean;
  isLive(key: Key, now: number): boolean;
  reaches(key: Key, groupId: string, networks: Set<string>[]): boolean;
}

export const RULE: Rule = {
  isVerified: (status) => status === 'verified',
  isLive: ({ revoked, expiresAt }, now) => !revoked && (expiresAt === null || now < expiresAt),
  reaches: ({ homeGroupId }, groupId, networks) =>
    groupId === homeGroupId || networks.some((members) => members.has(homeGroupId) && members.has(groupId)),
};

/** Whether a key acts for a group. Should one need a scope for that, it is asked here and by `DOOR` of access-agreement.ts. */
function acts(rule: Rule, { partners, networks, now }: Facts, key: Key, groupId: string): boolean {
  const partner = partners.find(({ id }) => id === key.partnerId);
  return (
    partner !== undefined &&
    rule.isVerified(partner.status) &&
    rule.isLive(key, now) &&
    rule.reaches(key, groupId, networks)
  );
}

export interface Observation {
  facts: Facts;
  /** What was published in each group. */
  eventTypes: readonly string[];
  /** The door's answers: `pairOf(key, group)` of those that it let in. */
  admitted: Set<string>;
  /** What fan-out did: `pairOf(webhook, event type)` of those that were put into a queue. */
  received: Set<string>;
}

export const pairOf = (one: string | number, other: string) => `${one} ${other}`;

/** The first difference, in words; undefined where all agree. */
export function difference({ facts, eventTypes, admitted, received }: Observation, rule: Rule) {
  const { keys, groups, webhooks, partners } = facts;
  const told = (what: string, about: Key[]) =>
    `${what} at ${new Date(facts.now).toISOString()}\n${JSON.stringify({ keys: about, partners, networks: facts.networks.map((members) => [...members]) }, null, 1)}`;
  for (const { no, partnerId, groupId, eventTypes: wanted, deleted } of webhooks) {
    const own = keys.filter((key) => key.partnerId === partnerId);
    const mayAct = own.some(({ id }) => admitted.has(pairOf(id, groupId)));
    for (const type of eventTypes) {
      const hears = received.has(pairOf(no, type));
      if (hears !== (mayAct && !deleted && wanted.includes(type)))
        return told(
          `The door ${mayAct ? 'lets' : 'does not let'} ${partnerId} act for ${groupId}, and its ${deleted ? 'deleted ' : ''}webhook for ${wanted} ${hears ? 'receives' : 'does not receive'} ${type}`,
          own,
        );
    }
  }
  for (const key of keys)
    for (const groupId of groups) {
      const isIn = admitted.has(pairOf(key.id, groupId));
      if (isIn !== acts(rule, facts, key, groupId))
        return told(`The door ${isIn ? 'lets' : 'does not let'} ${key.id} act for ${groupId}`, [key]);
    }
  return undefined;
}
