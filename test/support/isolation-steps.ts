import fc from 'fast-check';
import { scopeNames } from '../../src/contract/access.ts';
import { HOOK } from './post.ts';

/** What may happen; numbers stand for whatever exists when the step comes. */

type Pick = number;
export interface Asked {
  operation: 'groups' | 'network' | 'list' | 'read' | 'patch' | 'hook' | 'hooks' | 'hookRead' | 'feed';
  key: Pick;
  group: Pick;
  type: Pick;
  node: Pick;
}
const changes = [
  'network',
  'join',
  'leave',
  'dissolve',
  'issue',
  'revoke',
  'rotate',
  'suspend',
  'verify',
  'wait',
  'type',
  'publish',
] as const;
export type Change = (typeof changes)[number];
export type Step =
  | { calls: Asked[] }
  | { change: Change; a: Pick; b: Pick; scopes: string[]; seconds: number };

const pick = fc.nat(1_000);
const asked: fc.Arbitrary<Asked> = fc.record({
  operation: fc.constantFrom(
    'groups',
    'network',
    'list',
    'read',
    'patch',
    'patch',
    'hook',
    'hooks',
    'hookRead',
    'feed',
  ),
  key: pick,
  group: pick,
  type: pick,
  node: pick,
});
export const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ calls: fc.array(asked, { minLength: 1, maxLength: 6 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      change: fc.constantFrom<Change[]>(...changes, 'join', 'issue', 'verify'),
      a: pick,
      b: pick,
      scopes: fc.subarray([...scopeNames], { minLength: 1 }),
      seconds: fc.constantFrom(0, 0, 1, 30, 300),
    }),
  },
);

export function scopesOf(operation: Asked['operation']): string[] {
  switch (operation) {
    case 'groups':
    case 'network':
      return ['practice-groups:read'];
    case 'patch':
      return ['submission-types:write'];
    case 'hook':
      return ['webhooks:write', 'events:read'];
    case 'hooks':
    case 'hookRead':
      return ['webhooks:read'];
    case 'feed':
      return ['events:read'];
    default:
      return ['submission-types:read'];
  }
}

/** `text` carries the mark of the group that is acted for. */
export function requestOf(
  operation: Asked['operation'],
  typeId: string | undefined,
  hookId: string | undefined,
  text: string,
): { method: string; path: string; body?: unknown } {
  const type = `/v1/care-nav/submission-types/${typeId}`;
  switch (operation) {
    case 'groups':
      return { method: 'GET', path: '/v1/practice-groups' };
    case 'network':
      return { method: 'GET', path: '/v1/practice-groups?include=network' };
    case 'list':
      return { method: 'GET', path: '/v1/care-nav/submission-types' };
    case 'read':
      return { method: 'GET', path: type };
    case 'patch':
      return { method: 'PATCH', path: type, body: { title: text } };
    case 'hook':
      return { method: 'POST', path: '/v1/webhooks', body: { url: HOOK, description: text } };
    case 'hooks':
      return { method: 'GET', path: '/v1/webhooks?page_size=100' };
    case 'hookRead':
      return { method: 'GET', path: `/v1/webhooks/${hookId}` };
    case 'feed':
      return { method: 'GET', path: '/v1/events?page_size=100' };
  }
}
