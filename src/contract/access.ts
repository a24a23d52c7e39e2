import { z } from 'zod';

/** What a partner's key may be allowed to do. A partner endpoint names one at most. */
export const scopes = {
  'practice-groups:read': 'Read the practice group acted for.',
  'submission-types:read': 'Read submission types.',
  'submission-types:write': 'Update submission types.',
  'webhooks:read': 'Read webhooks and their deliveries.',
  'webhooks:write': 'Create, update and delete webhooks.',
  'events:read': 'Read the event feed.',
} as const;

export type Scope = keyof typeof scopes;
export const scopeNames = Object.keys(scopes) as [Scope, ...Scope[]];

/** What an operator's token may be allowed to do. Every operator endpoint lists the roles that it lets in. */
export const roles = {
  admin: 'Everything.',
  support:
    'Reads everything; manages partners and keys, retries deliveries, and says what became of changes where the practice software does not.',
  source:
    'Only publishes what happened: events, EHR health, form submissions, write-to-record jobs; asks which submission types may be offered; reads changes and says what became of them.',
  viewer: 'Reads everything.',
} as const;

export type Role = keyof typeof roles;
export const roleNames = Object.keys(roles) as [Role, ...Role[]];

export const readers = ['admin', 'support', 'viewer'] as const satisfies Role[];
export const admins = ['admin'] as const satisfies Role[];
export const support = ['admin', 'support'] as const satisfies Role[];
export const sources = ['admin', 'source'] as const satisfies Role[];

export type Environment = 'staging' | 'production';

export const scopeList = () => z.array(z.enum(scopeNames)).min(1).max(scopeNames.length);

/** Requests a minute for a key whose partner agreed on no other figure. */
export const DEFAULT_RATE_LIMIT = 300;
/** Calls a minute without a valid key, for each address. */
export const ADDRESS_RATE_LIMIT = 300;
/** Calls a minute of an operator, on each node. What says what happened does not count: that is never refused. */
export const OPERATOR_RATE_LIMIT = 6_000;
/** Calls a minute of somebody who was invited, on each node. They are not counted against any key. */
export const GUEST_RATE_LIMIT = 600;
export const RATE_WINDOW_SECONDS = 60;

/** Whom people who were invited into the console are there for. */
export type GuestKind = 'partner' | 'practice';

/** What may be made to wait for a second person. */
export const approvalKinds = ['keys', 'networks', 'operators'] as const;
export type ApprovalKind = (typeof approvalKinds)[number];
