import type { ApiKey, Network, Stop } from '../../api/generated.ts';

type Scope = ApiKey['scopes'][number];

/** One way in which a key reaches a practice. */
export interface Way {
  key: ApiKey;
  /** Null: the practice is the key's own. */
  network: Network | null;
  scopes: Scope[];
}

/** Of stops in force, what counts here. */
export type StoppedReach = Pick<Stop, 'partner' | 'practice_group'>;

/**
 * Which practices the keys of a partner reach, and through what: their own with all that they may, and those that share a network with it,
 * within what the network grants and to whom; none that has stopped it.
 */
export function reachOf(
  partnerId: string,
  keys: readonly ApiKey[],
  networks: readonly Network[],
  stops: readonly StoppedReach[],
): Map<string, Way[]> {
  const reach = new Map<string, Way[]>();
  const stopped = new Set(
    stops.filter(({ partner }) => partner.id === partnerId).map(({ practice_group }) => practice_group.id),
  );
  const add = (practiceId: string, way: Way) => {
    if (way.scopes.length > 0 && !stopped.has(practiceId))
      reach.set(practiceId, [...(reach.get(practiceId) ?? []), way]);
  };
  for (const key of keys.filter(({ status }) => status === 'active')) {
    add(key.practice_group_id, { key, network: null, scopes: key.scopes });
    for (const network of networks) {
      const { practice_group_ids: members, partner_ids: partners, scopes } = network;
      if (!members.includes(key.practice_group_id) || partners?.includes(partnerId) === false) continue;
      const granted = key.scopes.filter((scope) => scopes?.includes(scope) ?? true);
      for (const id of members) if (id !== key.practice_group_id) add(id, { key, network, scopes: granted });
    }
  }
  return reach;
}
