import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { reachOf } from '../../../packages/console/src/screens/access/network-reach.ts';
import { type Scope, scopeNames } from '../../../src/contract/access.ts';
import { expectProblem } from '../../support/answers.ts';
import { HOOK, newPartner, type Partner, partnerWith, startPost } from '../../support/post.ts';
import { stopPartner } from '../../support/practice-guest.ts';
import { type Loose, OPERATOR_TOKEN } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

const house = await startPost();
const db = await superuser(house.databaseUrl);
const [one, two, three] = [await newPartner(house), await newPartner(house), await newPartner(house)];
const groupIds = [one.groupId, two.groupId, three.groupId];
/** A second key of the first partner, in the second practice. */
const issued = await house.operator('POST', '/keys', {
  partner_id: one.partnerId,
  practice_group_id: two.groupId,
  scopes: ['events:read'],
  rate_limit_per_minute: 100_000,
});
const second = partnerWith(house, two.groupId, {
  partnerId: one.partnerId,
  keyId: issued.id,
  key: issued.key,
});
const holders: Partner[] = [one, two, three, second];

const isOfHolder = ({ id }: Loose) => holders.some(({ keyId }) => keyId === id);
const preview = (body: object): Promise<Loose> => house.operator('POST', '/networks/preview', body);

/** What each key may do where, by what the door tells its holder. */
async function reach(): Promise<Map<string, Scope[]>> {
  const found = new Map<string, Scope[]>();
  for (const { keyId, call } of holders)
    for (const { id, scopes } of (await call('GET', '/v1/me')).practice_groups)
      found.set(`${keyId} ${id}`, scopes);
  return found;
}

/** The same by what the console shows, which works it out from keys and networks. */
async function shownReach(): Promise<Map<string, Scope[]>> {
  const networks = (await house.operator('GET', '/networks?page_size=100')).data;
  const found = new Map<string, Scope[]>();
  for (const partnerId of new Set(holders.map((holder) => holder.partnerId))) {
    const keys = (await house.operator('GET', `/keys?page_size=100&partner_id=${partnerId}`)).data;
    const stops = (await house.operator('GET', `/stops?in_force=true&partner_id=${partnerId}`)).data;
    for (const [groupId, ways] of reachOf(partnerId, keys, networks, stops))
      for (const { key, scopes } of ways) {
        const name = `${key.id} ${groupId}`;
        found.set(name, [...new Set([...(found.get(name) ?? []), ...scopes])]);
      }
  }
  return found;
}

/** Where nothing is granted, nothing is reached. */
const sorted = (reached: Map<string, Scope[]>) =>
  [...reached]
    .filter(([, scopes]) => scopes.length > 0)
    .map(([name, scopes]) => `${name} ${scopes.toSorted().join()}`)
    .sort();

const more = (from: Map<string, Scope[]>, to: Map<string, Scope[]>) =>
  [...to].flatMap(([name, scopes]) => {
    const gained = scopes.filter((scope) => !from.get(name)?.includes(scope));
    return gained.length > 0 ? [[name, gained.sort()]] : [];
  });
/** Of these keys: each practice has another one. */
const told = ({ keys }: Loose) =>
  keys
    .filter(isOfHolder)
    .flatMap(({ id, practice_groups }: Loose) =>
      practice_groups.map((group: Loose) => [`${id} ${group.id}`, group.scopes.sort()]),
    );

const caps = fc.record(
  {
    scopes: fc.option(fc.subarray([...scopeNames], { minLength: 1 })),
    partner_ids: fc.option(fc.subarray([one.partnerId, two.partnerId, three.partnerId], { minLength: 1 })),
  },
  { requiredKeys: [] },
);
/** By the practice of a key, which it is reached by whatever the networks are. */
const stops = fc.subarray(holders.map(({ groupId, partnerId }) => ({ groupId, partnerId })));
const network = fc.record({ practice_group_ids: fc.subarray(groupIds), caps });

describe('POST /operator/v1/networks/preview', () => {
  it('says exactly what the door then does, whatever the network is made into, beside another one', async () => {
    await fc.assert(
      fc.asyncProperty(
        network,
        network,
        fc.option(network),
        stops,
        async (before, after, beside, stopped) => {
          const made: string[] = [];
          for (const pair of stopped) await stopPartner(house, pair);
          const create = async ({ practice_group_ids, caps }: Loose) => {
            const body = { name: 'N', practice_group_ids, ...caps };
            const { id } = await house.operator('POST', '/networks', body);
            made.push(id);
            return id;
          };
          if (beside) await create(beside);
          const id = await create(before);
          const was = await reach();
          // Null lifts a cap that was there; what is left out stays.
          const wanted = { ...after.caps, practice_group_ids: after.practice_group_ids };
          const { gains, losses } = await preview({ id, ...wanted });
          for (const group of before.practice_group_ids)
            if (!after.practice_group_ids.includes(group))
              await house.operator('DELETE', `/networks/${id}/members/${group}`);
          for (const group of after.practice_group_ids)
            await house.operator('PUT', `/networks/${id}/members/${group}`);
          await house.operator('PATCH', `/networks/${id}`, after.caps);
          const is = await reach();
          expect(sorted(await shownReach())).toEqual(sorted(is));
          expect(told(gains).sort()).toEqual(more(was, is).sort());
          expect(told(losses).sort()).toEqual(more(is, was).sort());
          for (const network of made) await house.operator('DELETE', `/networks/${network}`);
          for (const { id } of (await house.operator('GET', '/stops?in_force=true')).data)
            await house.operator('POST', `/stops/${id}/lift`, { reason: 'Next' });
        },
      ),
      { numRuns: 25 },
    );
  });

  it('200: webhooks that would receive more or less, by name, unless the partner receives it anyway', async () => {
    const all = await one.call('POST', '/v1/webhooks', { url: HOOK, practice_groups: 'all' });
    const { gains } = await preview({ practice_group_ids: [one.groupId, three.groupId] });
    expect(gains.webhooks).toEqual([
      {
        id: all.id,
        name: 'partner.example',
        partner: { id: one.partnerId, name: 'Partner' },
        home: null,
        practice_groups: [{ id: three.groupId, name: `Practice ${three.groupId}`, scopes: ['events:read'] }],
        practice_group_count: 1,
      },
    ]);
    // It has a key of its own for the second practice.
    expect((await preview({ practice_group_ids: [one.groupId, two.groupId] })).gains.webhooks).toEqual([]);
    const { id } = await house.operator('POST', '/networks', {
      name: 'N',
      practice_group_ids: [one.groupId, three.groupId],
    });
    const lost = await preview({ id, practice_group_ids: [] });
    expect(lost.losses.webhooks).toMatchObject([{ id: all.id }]);
    expect(lost.losses.keys.filter(isOfHolder)).toHaveLength(2);
    expect((await preview({ id, scopes: ['practice-groups:read'] })).losses.webhooks).toHaveLength(1);
    expect((await preview({ id })).losses.key_count).toBe(0);
    await house.operator('DELETE', `/networks/${id}`);
  });

  it('200: nothing is changed, by a viewer either', async () => {
    const { token } = await house.operator('POST', '/operators', { name: 'Vera', role: 'viewer' });
    /** But for what the log of reads adds by itself. */
    const changes = async () =>
      (await house.operator('GET', '/audit?page_size=20')).data.find(
        ({ action }: Loose) => action !== 'access_log.anchor',
      );
    const before = await changes();
    const answer = await house.send('POST', '/operator/v1/networks/preview', {
      token,
      body: { practice_group_ids: groupIds },
    });
    expect(answer.status).toBe(200);
    expect(await changes()).toEqual(before);
    expect((await house.operator('GET', '/networks')).data).toEqual([]);
  });

  it('404: a network that is not there; 422: practices and partners that are not', async () => {
    const send = (body: object) =>
      house.send('POST', '/operator/v1/networks/preview', { token: OPERATOR_TOKEN, body });
    expectProblem(await send({ id: 'none', practice_group_ids: [] }), 404, 'not_found');
    expect((await send({ practice_group_ids: ['none'] })).body).toMatchObject({ rule: 'members_unknown' });
    expect((await send({ practice_group_ids: [], partner_ids: ['none'] })).body).toMatchObject({
      rule: 'partners_unknown',
    });
  });

  it('of a thousand practices with a key each, names the first and counts all', async () => {
    await db.query(`
      INSERT INTO practice_groups (id, name, timezone, opening_hours, created_at, updated_at)
      SELECT 'many-' || n, 'Many ' || n, 'Europe/London', '{}', now(), now() FROM generate_series(1, 1000) AS n`);
    await db.query(
      `INSERT INTO api_keys (id, partner_id, practice_group_id, key_hash, prefix, last_four, scopes, created_at)
       SELECT 'key_many' || n, $1, 'many-' || n, sha256(n::text::bytea), 'ptr_test_', '0000', '{events:read}', now()
         FROM generate_series(1, 1000) AS n`,
      [three.partnerId],
    );
    const ids = Array.from({ length: 1_000 }, (_, n) => `many-${n + 1}`);
    const { gains } = await preview({ practice_group_ids: ids });
    expect([gains.key_count, gains.keys.length]).toEqual([1_000, 500]);
    expect(gains.keys[0]).toMatchObject({ practice_group_count: 999 });
    expect(gains.keys[0].practice_groups).toHaveLength(20);
  });
});
