import { expect, test } from 'vitest';
import { actions } from '../../packages/console/src/screens/oversight/audit-words.ts';
import { auditActions } from '../../src/contract/audit-actions.ts';

test('the console has words for every action of the audit, and for no other', () => {
  expect(Object.keys(actions)).toEqual([...auditActions]);
});
