import fc from 'fast-check';
import { scopeNames } from '../../src/contract/access.ts';

/** What may happen; numbers stand for whatever exists when the step comes. */

type Pick = number;
export interface Asked {
  operation: 'groups' | 'network' | 'list' | 'read' | 'patch';
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
] as const;
export type Change = (typeof changes)[number];
export type Step =
  | { calls: Asked[] }
  | { change: Change; a: Pick; b: Pick; scopes: string[]; seconds: number };

const pick = fc.nat(1_000);
const asked: fc.Arbitrary<Asked> = fc.record({
  operation: fc.constantFrom('groups', 'network', 'list', 'read', 'patch', 'patch'),
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
