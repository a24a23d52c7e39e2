import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Scope, scopeNames } from '../../../src/contract/access.ts';
import { makeKey, serviceForTests } from '../../support/service.ts';

/** Who is asking, what it may do, and where. */

const { house, world } = await serviceForTests({ env: { PORTER_ROLE: 'api' } });

const me = async (key: string) => (await house.send('GET', '/v1/me', { key })).body;

describe('GET /v1/me', () => {
  it('200 with the key alone: the partner, the key and its own practice group', async () => {
    const { key, keyId, partnerId } = await makeKey(house, world.groupId, {
      label: 'Booking',
      scopes: ['events:read'],
      expires_at: '2027-01-01T00:00:00Z',
    });
    expect(await me(key)).toEqual({
      partner: { id: partnerId, name: 'Partner' },
      key: {
        id: keyId,
        label: 'Booking',
        scopes: ['events:read'],
        rate_limit_per_minute: 300,
        expires_at: '2027-01-01T00:00:00.000Z',
      },
      practice_groups: [
        { id: world.groupId, name: `Practice ${world.groupId}`, scopes: ['events:read'], through: null },
      ],
    });
  });

  it('tells the limit that holds: of the key, or of what was agreed', async () => {
    const own = await makeKey(house, world.groupId, { rate_limit_per_minute: 7 });
    expect((await me(own.key)).key.rate_limit_per_minute).toBe(7);
    const other = await makeKey(house, world.groupId);
    await house.operator('PATCH', `/partners/${other.partnerId}`, { rate_limit_per_minute: 900 });
    expect((await me(other.key)).key.rate_limit_per_minute).toBe(900);
    await house.operator('PATCH', `/keys/${other.keyId}`, { rate_limit_per_minute: 50, label: 'New' });
    expect((await me(other.key)).key).toMatchObject({ rate_limit_per_minute: 50, label: 'New' });
  });
});

/** One endpoint for each scope that has one of reading; what needs none is asked of a call that is not known. */
const PROBES: [Scope | undefined, string][] = [
  [undefined, '/v1/requests/none'],
  ['practice-groups:read', '/v1/practice-groups'],
  ['submission-types:read', '/v1/care-nav/submission-types'],
  ['webhooks:read', '/v1/webhooks'],
  ['events:read', '/v1/events'],
];

describe('the practice groups of /v1/me', () => {
  const NAMES = ['me-a', 'me-b', 'me-c', 'me-d'];
  const capped = fc.record({
    members: fc.subarray(NAMES, { minLength: 1 }),
    scopes: fc.option(fc.subarray(scopeNames, { minLength: 1 })),
    partners: fc.option(fc.subarray([0, 1], { minLength: 1 }), { nil: undefined }),
  });
  const keys = fc.array(
    fc.record({
      partner: fc.constantFrom(0, 1),
      home: fc.constantFrom(...NAMES),
      scopes: fc.subarray(scopeNames, { minLength: 1 }),
    }),
    { minLength: 1, maxLength: 3 },
  );

  it('are exactly those for which a call is let in, each with exactly the scopes that are', async () => {
    for (const id of NAMES) await house.operator('POST', '/practice-groups', { id, name: id });
    const partners = [await makeKey(house, 'me-a'), await makeKey(house, 'me-a')].map((one) => one.partnerId);
    const worlds = fc.record({ networks: fc.array(capped, { maxLength: 3 }), keys });
    await fc.assert(
      fc.asyncProperty(worlds, async (drawn) => {
        const made: { id: string; name: string }[] = [];
        for (const [at, { members, scopes, partners: to }] of drawn.networks.entries())
          made.push(
            await house.operator('POST', '/networks', {
              name: `Network ${at}`,
              practice_group_ids: members,
              scopes,
              partner_ids: to?.map((one) => partners[one]),
            }),
          );
        for (const { partner, home, scopes } of drawn.keys) {
          const { key } = await house.operator('POST', '/keys', {
            partner_id: partners[partner],
            practice_group_id: home,
            scopes,
            rate_limit_per_minute: 100_000,
          });
          const told = new Map<string, { scopes: string[]; through: { id: string } | null }>(
            (await me(key)).practice_groups.map((group: { id: string }) => [group.id, group]),
          );
          for (const group of [...NAMES, world.groupId])
            for (const [scope, path] of PROBES) {
              const { status } = await house.send('GET', path, { key, group });
              const isListed = scope ? told.get(group)?.scopes.includes(scope) : told.has(group);
              expect([group, scope, isListed ?? false]).toEqual([group, scope, status !== 403]);
            }
          expect(told.get(home)?.through).toBeNull();
          for (const [id, { through }] of told)
            if (id !== home) expect(made.map((network) => network.id)).toContain(through?.id);
        }
        for (const { id } of made) await house.operator('DELETE', `/networks/${id}`);
      }),
      { numRuns: 15 },
    );
  });
});
