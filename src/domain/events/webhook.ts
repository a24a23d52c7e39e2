import { eventNames } from '../../contract/event-payloads.ts';
import type { EventName } from '../../contract/events.ts';
import type { Webhook, WebhookPatch } from '../../contract/partner/webhooks.ts';

/** A webhook as it is stored: `version` counts its changes and is its ETag. */
export type StoredWebhook = Webhook & { no: number; partner_id: string; version: number };

export type WebhookChange =
  | { outcome: 'unchanged' }
  | {
      outcome: 'changed';
      next: StoredWebhook;
      before: Partial<StoredWebhook>;
      after: Partial<StoredWebhook>;
      /** Earlier failures say nothing of what is to come: the address is new, or its owner says that it works. */
      startsAnew: boolean;
    };

/** Applies a merge patch: what it leaves out stays. One that changes no value changes nothing at all. */
export function applyWebhookPatch(
  current: StoredWebhook,
  patch: WebhookPatch,
  now: string,
  /** Why its status is what the patch says, if that needs to be said. */
  reason: string | null = null,
): WebhookChange {
  const { headers, ...settings } = patch;
  const next: StoredWebhook = {
    ...current,
    ...(settings as Partial<StoredWebhook>),
    header_names: headers === undefined ? current.header_names : namesOf(headers),
    event_types: patch.event_types ? inOrder(patch.event_types) : current.event_types,
    status_reason: patch.status === undefined ? current.status_reason : reason,
    version: current.version + 1,
    updated_at: now,
  };
  const changed = auditedFields.filter(
    (field) => JSON.stringify(current[field]) !== JSON.stringify(next[field]),
  );
  // Of headers the names are known, and not whether their values are the same.
  if (headers !== undefined && !changed.includes('header_names')) changed.push('header_names');
  if (changed.length === 0) return { outcome: 'unchanged' };
  const startsAnew = next.url !== current.url || (next.status === 'active' && current.status !== 'active');
  const health = startsAnew ? { ...next.health, failures: 0, failing_since: null } : next.health;
  return {
    outcome: 'changed',
    next: { ...next, health },
    before: auditable(current, changed),
    after: auditable(next, changed),
    startsAnew,
  };
}

/** In lower case, as they are sent. */
export function namesOf(headers: Record<string, string> | null): string[] {
  return Object.keys(headers ?? {})
    .map((name) => name.toLowerCase())
    .sort();
}

/** As the catalogue lists them, so that the same set is always the same list. */
export function inOrder(names: readonly EventName[]): EventName[] {
  return eventNames.filter((name) => names.includes(name));
}

const auditedFields = [
  'url',
  'description',
  'event_types',
  'practice_groups',
  'practice_group_ids',
  'signature',
  'header_names',
  'status',
  'status_reason',
] as const;

/** What the audit trail may hold of a webhook: a query may carry its receiver's password. */
export function auditable(
  webhook: StoredWebhook,
  fields: readonly (typeof auditedFields)[number][] = auditedFields,
): Partial<StoredWebhook> {
  const shown = { ...webhook, url: webhook.url.replace(/\?.*$/s, '?[redacted]') };
  return Object.fromEntries(fields.map((field) => [field, shown[field]]));
}
