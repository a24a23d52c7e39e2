import type { PartnerStatus } from '../../src/contract/operator/access/partners.ts';

/**
 * The rule of access as the specification has it, and what the door and the post made of it at one moment. The two are
 * held against each other first, then the door against the rule, so that a difference says who is wrong.
 */

export interface Facts {
  now: number;
  groups: string[];
  partners: { id: string; status: PartnerStatus }[];
  networks: Network[];
  keys: Key[];
  webhooks: Webhook[];
  stops: Stop[];
}

/** A practice has stopped a partner, and not let it go on since. */
export interface Stop {
  groupId: string;
  partnerId: string;
}

/** Null: everything, and everybody. */
interface Network {
  members: Set<string>;
  scopes: string[] | null;
  partnerIds: string[] | null;
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
  /** Null: for every group that the partner may act for, or for those in `onlyGroups`. */
  groupId: string | null;
  onlyGroups: string[] | null;
  eventTypes: string[];
  deleted: boolean;
}

/** Its parts, so that a test can replace one by a wrong one. */
export interface Rule {
  isVerified(status: PartnerStatus): boolean;
  isLive(key: Key, now: number): boolean;
  /** With a scope: and is granted it there. */
  reaches(key: Key, groupId: string, networks: Network[], scope?: string): boolean;
  hasScope(key: Key): boolean;
  isStopped(key: Key, groupId: string, stops: Stop[]): boolean;
}

/** What the door is asked for, and what receiving takes. */
const SCOPE = 'events:read';

export const RULE: Rule = {
  isVerified: (status) => status === 'verified',
  isLive: ({ revoked, expiresAt }, now) => !revoked && (expiresAt === null || now < expiresAt),
  reaches: ({ homeGroupId, partnerId }, groupId, networks, scope) =>
    groupId === homeGroupId ||
    networks.some(
      ({ members, scopes, partnerIds }) =>
        members.has(homeGroupId) &&
        members.has(groupId) &&
        (partnerIds === null || partnerIds.includes(partnerId)) &&
        (scopes === null || scope === undefined || scopes.includes(scope)),
    ),
  hasScope: ({ scopes }) => scopes.includes(SCOPE),
  isStopped: ({ partnerId }, groupId, stops) =>
    stops.some((stop) => stop.partnerId === partnerId && stop.groupId === groupId),
};

const ADMITTED = 'admitted';

/** What the door answers a key that asks for the events of a group. */
function answerOf(rule: Rule, { partners, networks, stops, now }: Facts, key: Key, groupId: string): string {
  const partner = partners.find(({ id }) => id === key.partnerId);
  if (!partner || !rule.isVerified(partner.status) || !rule.isLive(key, now)) return 'invalid_credentials';
  if (!rule.hasScope(key)) return 'insufficient_permissions';
  const reaches = rule.reaches(key, groupId, networks, SCOPE) && !rule.isStopped(key, groupId, stops);
  return reaches ? ADMITTED : 'forbidden';
}

export interface Observation {
  facts: Facts;
  /** What was published in each group. */
  eventTypes: readonly string[];
  /** The door's answers by `pairOf(key, group)`: that it let them in, or the code of its refusal. */
  answers: Map<string, string>;
  /** What fan-out did: `pairOf(pairOf(webhook, group), event type)` of those that were put into a queue. */
  received: Set<string>;
}

export const pairOf = (one: string | number, other: string) => `${one} ${other}`;

/** The first difference, in words; undefined where all agree. */
export function difference({ facts, eventTypes, answers, received }: Observation, rule: Rule) {
  const { keys, groups, webhooks, partners } = facts;
  const told = (what: string, about: Key[]) =>
    `${what} at ${new Date(facts.now).toISOString()}\n${JSON.stringify({ keys: about, partners, stops: facts.stops, networks: facts.networks.map((network) => ({ ...network, members: [...network.members] })) }, null, 1)}`;
  const addressed = webhooks.flatMap(({ groupId, ...webhook }) =>
    (groupId === null ? groups : [groupId]).map((id) => ({ ...webhook, groupId: id })),
  );
  for (const { no, partnerId, groupId, onlyGroups, eventTypes: wanted, deleted } of addressed) {
    const own = keys.filter((key) => key.partnerId === partnerId);
    const mayAct = own.some(({ id }) => answers.get(pairOf(id, groupId)) === ADMITTED);
    for (const type of eventTypes) {
      const hears = received.has(pairOf(pairOf(no, groupId), type));
      const isWanted = wanted.includes(type) && (onlyGroups?.includes(groupId) ?? true);
      if (hears !== (mayAct && !deleted && isWanted))
        return told(
          `The door ${mayAct ? 'lets' : 'does not let'} ${partnerId} act for ${groupId}, and its ${deleted ? 'deleted ' : ''}webhook for ${wanted} ${hears ? 'receives' : 'does not receive'} ${type}`,
          own,
        );
    }
  }
  for (const key of keys)
    for (const groupId of groups) {
      const answer = answers.get(pairOf(key.id, groupId));
      if (answer !== answerOf(rule, facts, key, groupId))
        return told(`The door answers ${key.id}, which wants to act for ${groupId}: ${answer}`, [key]);
    }
  return undefined;
}
