import { expect, it } from 'vitest';
import { makeKey, makeWorld, startHarness } from '../support/service.ts';

it('429: a key has one limit over all nodes, not one on each', async () => {
  const first = await startHarness();
  const second = await startHarness({ databaseUrl: first.databaseUrl, clock: first.clock });
  const { groupId } = await makeWorld(first);
  const { key } = await makeKey(first, groupId, { rate_limit_per_minute: 10 });
  const statuses: number[] = [];
  for (let i = 0; i < 20; i++) {
    const node = i % 2 ? first : second;
    statuses.push((await node.send('GET', '/v1/practice-groups', { key, group: groupId })).status);
  }
  expect(statuses.filter((status) => status === 200)).toHaveLength(10);
  expect(statuses.slice(10)).toEqual(Array.from({ length: 10 }, () => 429));
});
