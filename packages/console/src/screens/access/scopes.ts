import type { ApiKey } from '../../api/generated.ts';
import type { Choice } from '../../parts/form.tsx';

export type Scope = ApiKey['scopes'][number];

/** What each scope lets a key do, for its practice and for those that share a network with it. */
export const scopes: Record<Scope, string> = {
  'practice-groups:read': 'See which practices it may act for, with their addresses and networks.',
  'submission-types:read': 'See the submission types, with their caps and today’s count.',
  'submission-types:write': 'Change submission types: titles, hours, caps, who is assigned.',
  'webhooks:read': 'See its webhooks and what was delivered to them.',
  'webhooks:write': 'Register, change and delete webhooks.',
  'events:read': 'Receive events, by webhook or from the feed.',
};

export const scopeChoices: Choice[] = Object.entries(scopes).map(([value, description]) => ({
  value,
  title: value,
  description,
}));
