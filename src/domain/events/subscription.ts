import {
  type OperatorEventName,
  type Subscription,
  type Topic,
  topicNames,
  topics,
} from '../../contract/operator/events/subscriptions.ts';

/** A subscription as it is stored: a webhook of the operator. `version` counts its changes and is its ETag. */
export type StoredSubscription = Subscription & { no: number; version: number };

interface SubscriptionPatch {
  url?: string | undefined;
  topics?: Topic[] | undefined;
  description?: string | null | undefined;
  status?: 'active' | 'paused' | undefined;
}

/** In the order of the contract, so that the same set is always the same list. */
export function inOrder(names: readonly Topic[]): Topic[] {
  return topicNames.filter((name) => names.includes(name));
}

export function eventsOf(names: readonly Topic[]): OperatorEventName[] {
  return names.flatMap((name) => topics[name]);
}

/** A topic that has got another event since it was subscribed to is still that topic. */
export function topicsOf(events: readonly string[]): Topic[] {
  return topicNames.filter((name) => topics[name].some((event) => events.includes(event)));
}

type SubscriptionChange =
  | { outcome: 'unchanged' }
  | {
      outcome: 'changed';
      next: StoredSubscription;
      before: Partial<Subscription>;
      after: Partial<Subscription>;
      /** Earlier failures say nothing of what is to come: the address is new, or its owner says that it works. */
      startsAnew: boolean;
    };

/** Applies a merge patch: what it leaves out stays. One that changes no value changes nothing at all. */
export function applySubscriptionPatch(
  current: StoredSubscription,
  patch: SubscriptionPatch,
  now: string,
): SubscriptionChange {
  const next: StoredSubscription = {
    ...current,
    ...(patch as Partial<StoredSubscription>),
    topics: patch.topics ? inOrder(patch.topics) : current.topics,
    status_reason: patch.status === undefined ? current.status_reason : null,
    version: current.version + 1,
    updated_at: now,
  };
  const changed = auditedFields.filter(
    (field) => JSON.stringify(current[field]) !== JSON.stringify(next[field]),
  );
  if (changed.length === 0) return { outcome: 'unchanged' };
  const startsAnew = next.url !== current.url || (next.status === 'active' && current.status !== 'active');
  if (startsAnew) next.health = { ...next.health, failures: 0, failing_since: null };
  const [before, after] = [auditable(current, changed), auditable(next, changed)];
  return { outcome: 'changed', next, before, after, startsAnew };
}

const auditedFields = ['url', 'description', 'topics', 'status', 'status_reason'] as const;

/** What the audit trail may hold of it: a query may carry its receiver's password. */
export function auditable(
  subscription: Omit<StoredSubscription, 'no'>,
  fields: readonly (typeof auditedFields)[number][] = auditedFields,
): Partial<Subscription> {
  const shown = { ...subscription, url: subscription.url.replace(/\?.*$/s, '?[redacted]') };
  return Object.fromEntries(fields.map((field) => [field, shown[field]]));
}
