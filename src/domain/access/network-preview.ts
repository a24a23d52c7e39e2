import type { Scope } from '../../contract/access.ts';
import { PREVIEW_GROUPS_MAX } from '../../contract/operator/access/network-preview.ts';

/**
 * Who would gain and who would lose reach if a network were another: by the rule of the door, that a key acts for its own practice group and for those that
 * share a network with it which lets its partner through, within what the network grants, unless their practices have stopped it (domain/access/access.ts).
 */

export interface NetworkShape {
  groupIds: ReadonlySet<string>;
  /** null: all. */
  scopes: readonly Scope[] | null;
  partnerIds: readonly string[] | null;
}

export interface WorkingKey {
  id: string;
  partnerId: string;
  homeId: string;
  scopes: readonly Scope[];
}

/** Where something differs: the first few practice groups, with what is gained or lost there, and how many there are. */
export interface Differences {
  groups: { id: string; scopes: readonly Scope[] }[];
  count: number;
}

export const NO_NETWORK: NetworkShape = { groupIds: new Set(), scopes: null, partnerIds: null };

/** Whether a network grants a partner a scope at all, between any two of its members. */
const grants = ({ scopes, partnerIds }: NetworkShape, partnerId: string, scope: Scope): boolean =>
  (partnerIds === null || partnerIds.includes(partnerId)) && (scopes === null || scopes.includes(scope));

export class NetworkPreview {
  readonly #before: NetworkShape;
  readonly #after: NetworkShape;
  /** The other networks, by their members. */
  readonly #others = new Map<string, NetworkShape[]>();
  /** Members before and after, those that leave, and those that join. */
  readonly #staying: readonly string[];
  readonly #leaving: readonly string[];
  readonly #joining: readonly string[];
  /** Of partners, by `pairOf`. */
  #stopped: ReadonlySet<string> = new Set();

  constructor(before: NetworkShape, after: NetworkShape, others: readonly NetworkShape[]) {
    this.#before = before;
    this.#after = after;
    for (const other of others)
      for (const id of other.groupIds) this.#others.set(id, [...(this.#others.get(id) ?? []), other]);
    this.#staying = [...before.groupIds].filter((id) => after.groupIds.has(id)).sort();
    this.#leaving = [...before.groupIds].filter((id) => !after.groupIds.has(id)).sort();
    this.#joining = [...after.groupIds].filter((id) => !before.groupIds.has(id)).sort();
  }

  /** The groups whose keys, and whose reach, may differ. */
  get groupIds(): readonly string[] {
    return [...this.#staying, ...this.#leaving, ...this.#joining];
  }

  /** These practices have stopped these partners, whatever becomes of the network. */
  setStopped(stopped: readonly { partnerId: string; groupId: string }[]): void {
    this.#stopped = new Set(stopped.map(({ partnerId, groupId }) => pairOf(partnerId, groupId)));
  }

  /** What a network grants does not depend on which members they are: whole lists of them differ alike, but for what other networks grant. */
  differencesOf(key: WorkingKey): { gains: Differences; losses: Differences } {
    const [before, after] = [this.#before, this.#after].map((network) =>
      network.groupIds.has(key.homeId)
        ? key.scopes.filter((scope) => grants(network, key.partnerId, scope))
        : [],
    ) as [Scope[], Scope[]];
    const gains: Differences = { groups: [], count: 0 };
    const losses: Differences = { groups: [], count: 0 };
    this.#collect(key, this.#joining, after, gains);
    this.#collect(key, this.#staying, without(after, before), gains);
    this.#collect(key, this.#leaving, before, losses);
    this.#collect(key, this.#staying, without(before, after), losses);
    return { gains, losses };
  }

  #collect(key: WorkingKey, ids: readonly string[], scopes: readonly Scope[], found: Differences): void {
    if (scopes.length === 0) return;
    const others = this.#others.get(key.homeId) ?? [];
    for (const id of ids) {
      if (id === key.homeId || this.#stopped.has(pairOf(key.partnerId, id))) continue;
      const otherwise = others.filter(({ groupIds }) => groupIds.has(id));
      const differing =
        otherwise.length === 0
          ? scopes
          : scopes.filter((scope) => !otherwise.some((network) => grants(network, key.partnerId, scope)));
      if (differing.length === 0) continue;
      found.count++;
      if (found.groups.length < PREVIEW_GROUPS_MAX) found.groups.push({ id, scopes: differing });
    }
  }

  /** The groups whose events a partner with such keys would receive through this network and did not, or the other way round. */
  receivedOf(partnerId: string, homeIds: readonly string[]): { groupId: string; isGain: boolean }[] {
    const through = (network: NetworkShape) => {
      const homes = new Set(homeIds.filter((id) => network.groupIds.has(id)));
      const isGranted = grants(network, partnerId, 'events:read');
      return (id: string) => isGranted && network.groupIds.has(id) && homes.size > (homes.has(id) ? 1 : 0);
    };
    const [before, after] = [through(this.#before), through(this.#after)];
    return this.groupIds
      .filter((id) => before(id) !== after(id) && !this.#stopped.has(pairOf(partnerId, id)))
      .map((groupId) => ({ groupId, isGain: after(groupId) }));
  }
}

const pairOf = (partnerId: string, groupId: string) => `${partnerId}\n${groupId}`;

const without = (scopes: readonly Scope[], others: readonly Scope[]): Scope[] =>
  scopes.filter((scope) => !others.includes(scope));
