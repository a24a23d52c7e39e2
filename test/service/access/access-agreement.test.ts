import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { agreeInWorlds, liveThrough, openStage, type Stage, WORLD } from '../../support/access-agreement.ts';
import { difference, type Key, RULE, type Rule } from '../../support/access-model.ts';
import { seedOf } from '../../support/seed.ts';

/**
 * A webhook receives an event that is accepted now if and only if its partner holds a key that the door lets act for that
 * practice group, with the scope `events:read`, now. The door decides in TypeScript (domain/access/access.ts) and the post in SQL
 * (`receives_until`). A short round;
 * test/faults has the long one.
 */

const SEED = 20_261_117;

const isOver = ({ expiresAt }: Key, now: number) => expiresAt !== null && expiresAt <= now;
/** What would be true if the rule were another one. */
const WRONG: [string, Partial<Rule>][] = [
  [
    'a key that works at the instant of its expiry',
    { isLive: (key, now) => !key.revoked && !isOver(key, now - 1) },
  ],
  ['a key that ends a millisecond early', { isLive: (key, now) => !key.revoked && !isOver(key, now + 1) }],
  ['a key that does not expire', { isLive: ({ revoked }) => !revoked }],
  ['a revoked key', { isLive: (key, now) => !isOver(key, now) }],
  ['a suspended partner', { isVerified: (status) => status === 'verified' || status === 'suspended' }],
  [
    'a partner that signed',
    { isVerified: (status) => status === 'verified' || status === 'agreement_signed' },
  ],
  ['a partner that applied', { isVerified: (status) => status === 'verified' || status === 'applied' }],
  ['the own group alone', { reaches: ({ homeGroupId }, groupId) => homeGroupId === groupId }],
  [
    'a group only if it is in a network',
    {
      reaches: ({ homeGroupId }, groupId, networks) =>
        networks.some(({ members }) => members.has(homeGroupId) && members.has(groupId)),
    },
  ],
  [
    'networks of networks',
    {
      reaches: (key, groupId, networks) =>
        RULE.reaches(key, groupId, networks) ||
        networks.some(
          ({ members: near }) =>
            near.has(key.homeGroupId) &&
            networks.some(
              ({ members: far }) => far.has(groupId) && [...near].some((member) => far.has(member)),
            ),
        ),
    },
  ],
  ['a partner that was stopped', { isStopped: () => false }],
  [
    'a stop that does not hold for the key of the practice itself',
    {
      isStopped: (key, groupId, stops) => key.homeGroupId !== groupId && RULE.isStopped(key, groupId, stops),
    },
  ],
  [
    'a stop that holds for everybody',
    { isStopped: (_key, groupId, stops) => stops.some((stop) => stop.groupId === groupId) },
  ],
  [
    'a stop that holds everywhere',
    { isStopped: ({ partnerId }, _groupId, stops) => stops.some((stop) => stop.partnerId === partnerId) },
  ],
  ['a key without the scope', { hasScope: () => true }],
  ['a key with another scope', { hasScope: ({ scopes }) => scopes.includes('webhooks:write') }],
  [
    'a network that grants everything',
    { reaches: (key, groupId, networks) => RULE.reaches(key, groupId, networks) },
  ],
  [
    'a network for everybody',
    {
      reaches: (key, groupId, networks, scope) =>
        RULE.reaches(
          key,
          groupId,
          networks.map((network) => ({ ...network, partnerIds: null })),
          scope,
        ),
    },
  ],
  [
    'caps on the own group',
    {
      reaches: (key, groupId, networks, scope) =>
        RULE.reaches(key, groupId, networks, scope) &&
        !networks.some(
          ({ members, scopes }) =>
            groupId === key.homeGroupId && members.has(groupId) && scope && scopes && !scopes.includes(scope),
        ),
    },
  ],
];

it('the door and the post agree on who may act and who receives, in 60 random worlds, and contradict every wrong rule', async () => {
  const seen = await agreeInWorlds(60, seedOf('access', SEED));
  const unnoticed = WRONG.filter(([, part]) =>
    seen.every((one) => difference(one, { ...RULE, ...part }) === undefined),
  );
  expect(unnoticed.map(([name]) => name)).toEqual([]);
});

describe('a post that receives', () => {
  let stage: Stage;
  let rightText: string;
  // Those with the most in them first: one that shows a mistake is found sooner.
  const worlds = fc
    .sample(WORLD, { seed: SEED, numRuns: 60 })
    .toSorted((one, other) => JSON.stringify(other).length - JSON.stringify(one).length);
  beforeAll(async () => {
    stage = await openStage();
    const { rows } = await stage.admin.query("SELECT pg_get_functiondef('receives_until'::regproc) AS text");
    rightText = rows[0].text;
  });

  it.each<[string, RegExp, string]>([
    ['at the instant of the expiry', /expires_at > at/g, 'expires_at >= at'],
    ['with a key that expired', /k\.expires_at > at/g, 'true'],
    ['with a revoked key', /k\.revoked_at IS NULL/g, 'true'],
    ['while suspended', /status = 'verified'/, "status IN ('verified', 'suspended')"],
    ['before it is verified', /status = 'verified'/, "status <> 'suspended'"],
    ["with somebody else's key", /k\.partner_id = partner/g, 'true'],
    ['from all networks', /m\.network_id = mine\.network_id/, 'true'],
    ['nothing through a network', /mine\.practice_group_id = group_id/, 'false'],
    ['while its practice has stopped it', /s\.lifted_at IS NULL/, 'false'],
    ['nothing after a stop that was lifted', /s\.lifted_at IS NULL/, 'true'],
    ['nothing while another is stopped', /s\.partner_id = partner/, 'true'],
    ['nothing while it is stopped elsewhere', /s\.practice_group_id = group_id/, 'true'],
    ['without the scope', /'events:read' = ANY \(k\.scopes\)/g, 'true'],
    ['through a network that does not grant it', /'events:read' = ANY \(n\.scopes\)/, 'true'],
    ['through a network that is for others', /partner = ANY \(n\.partner_ids\)/, 'true'],
    [
      'nothing through a network with caps',
      /n\.scopes IS NULL OR 'events:read' = ANY \(n\.scopes\)/,
      'n.scopes IS NULL',
    ],
  ])('%s is noticed', async (_, part, wrong) => {
    expect(rightText).toMatch(part);
    await stage.admin.query(rightText.replace(part, wrong));
    for (const [place, drawn] of worlds.entries())
      for (const seen of await liveThrough(stage, drawn)) {
        const found = difference(seen, RULE);
        if (found === undefined) continue;
        // A world that shows one mistake shows most others, too: the next one is looked for there first.
        worlds.unshift(...worlds.splice(place, 1));
        return expect(found).toMatch(/^The door (lets|does not let) .* act for .* webhook/);
      }
    expect.unreachable('the door and the post agreed in all worlds');
  });
});
