import type { Scope } from '../contract/access.ts';

/**
 * Who would gain and who would lose reach if a network were another: by the rule of the door, that a key acts for its own practice group and for those that
 * share a network with it which lets its partner through, within what the network grants (domain/access.ts). Only pairs of groups that
 * the change touches are looked at.
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

export interface Difference {
  key: WorkingKey;
  groups: { id: string; scopes: Scope[] }[];
}

export const NO_NETWORK: NetworkShape = { groupIds: new Set(), scopes: null, partnerIds: null };

/** What a network grants a partner between two different members. */
function grants(
  network: NetworkShape,
  partnerId: string,
  one: string,
  other: string,
): readonly Scope[] | 'all' {
  const { groupIds, scopes, partnerIds } = network;
  if (!groupIds.has(one) || !groupIds.has(other)) return [];
  if (partnerIds && !partnerIds.includes(partnerId)) return [];
  return scopes ?? 'all';
}

const isGranted = (granted: readonly Scope[] | 'all', scope: Scope) =>
  granted === 'all' || granted.includes(scope);

export class NetworkPreview {
  readonly #before: NetworkShape;
  readonly #after: NetworkShape;
  /** The other networks, by their members. */
  readonly #others = new Map<string, NetworkShape[]>();
  readonly #changed: readonly string[];
  readonly #all: readonly string[];

  constructor(before: NetworkShape, after: NetworkShape, others: readonly NetworkShape[]) {
    this.#before = before;
    this.#after = after;
    for (const other of others)
      for (const id of other.groupIds) this.#others.set(id, [...(this.#others.get(id) ?? []), other]);
    this.#all = [...new Set([...before.groupIds, ...after.groupIds])].sort();
    const sameCaps =
      String(before.scopes?.toSorted()) === String(after.scopes?.toSorted()) &&
      String(before.partnerIds?.toSorted()) === String(after.partnerIds?.toSorted());
    this.#changed = sameCaps
      ? this.#all.filter((id) => before.groupIds.has(id) !== after.groupIds.has(id))
      : this.#all;
  }

  /** The groups whose keys, and whose reach, may differ. */
  get groupIds(): readonly string[] {
    return this.#all;
  }

  differencesOf(key: WorkingKey): { gains: Difference['groups']; losses: Difference['groups'] } {
    const isChanged = this.#changed.length === this.#all.length || this.#changed.includes(key.homeId);
    const gains: Difference['groups'] = [];
    const losses: Difference['groups'] = [];
    for (const id of isChanged ? this.#all : this.#changed) {
      if (id === key.homeId) continue;
      const [before, after] = [this.#before, this.#after].map((network) =>
        grants(network, key.partnerId, key.homeId, id),
      ) as [readonly Scope[] | 'all', readonly Scope[] | 'all'];
      const gained = key.scopes.filter((scope) => isGranted(after, scope) && !isGranted(before, scope));
      const lost = key.scopes.filter((scope) => isGranted(before, scope) && !isGranted(after, scope));
      const otherwise = (scope: Scope) => this.#isGrantedOtherwise(key, id, scope);
      const [more, less] = [gained, lost].map((scopes) => scopes.filter((scope) => !otherwise(scope)));
      if (more && more.length > 0) gains.push({ id, scopes: more });
      if (less && less.length > 0) losses.push({ id, scopes: less });
    }
    return { gains, losses };
  }

  #isGrantedOtherwise({ partnerId, homeId }: WorkingKey, groupId: string, scope: Scope): boolean {
    return (this.#others.get(homeId) ?? []).some((network) =>
      isGranted(grants(network, partnerId, homeId, groupId), scope),
    );
  }

  /** Whether a partner with such keys receives the events of a group through this network, before and after. */
  receives(
    partnerId: string,
    homeIds: readonly string[],
    groupId: string,
  ): { before: boolean; after: boolean } {
    const through = (network: NetworkShape) =>
      homeIds.some(
        (homeId) =>
          homeId !== groupId && isGranted(grants(network, partnerId, homeId, groupId), 'events:read'),
      );
    return { before: through(this.#before), after: through(this.#after) };
  }
}
