import { generateKeyPairSync } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { expectProblem } from '../../support/answers.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { resumePartner, stopPartner } from '../../support/practice-guest.ts';
import { type Answer, type Harness, makeKey, makeWorld, startHarness } from '../../support/service.ts';

/**
 * Two nodes on one database that share nothing else but the passing of time: what the first node's operator takes
 * away must be gone on the second when the call has answered, without either hearing of the other.
 */
const first = await startHarness();
const second = await startHarness({ databaseUrl: first.databaseUrl, clock: first.clock });
let home: Awaited<ReturnType<typeof makeWorld>>;
let hub: Awaited<ReturnType<typeof makeWorld>>;
let network: { id: string };
let visitor: { id: string; token: string };
beforeEach(async () => {
  home = await makeWorld(first);
  // So that calling without pause never meets the rate limit.
  Object.assign(home, await makeKey(first, home.groupId, { rate_limit_per_minute: 100_000 }));
  hub = await makeWorld(first);
  network = await first.operator('POST', '/networks', {
    name: 'Shared',
    practice_group_ids: [home.groupId, hub.groupId],
  });
  visitor = await first.operator('POST', '/operators', { name: 'Visitor', role: 'viewer' });
});

/** A clock of its own that shows the same time: only a change of time itself is no news to such a node. */
const sameTime = () => new ManualClock(new Date(first.clock.now()).toISOString());
const own = (node: Harness, key = home.key): Promise<Answer> =>
  node.send('GET', '/v1/practice-groups', { key, group: home.groupId });
const across = (node: Harness): Promise<Answer> =>
  node.send('GET', '/v1/practice-groups', { key: home.key, group: hub.groupId });
const asOperator = (node: Harness): Promise<Answer> =>
  node.send('GET', '/operator/v1/networks', { token: visitor.token });

const { n, e } = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' });
const jwks = { keys: [{ kty: 'RSA', kid: 'one', n, e }] };

const takings: Record<
  string,
  { take: () => Promise<unknown>; call: typeof own; status: number; code: string }
> = {
  'a revoked key': {
    take: () => first.operator('POST', `/keys/${home.keyId}/revoke`),
    call: own,
    status: 401,
    code: 'invalid_credentials',
  },
  'a key rotated without overlap': {
    take: () => first.operator('POST', `/keys/${home.keyId}/rotate`, { overlap_seconds: 0 }),
    call: own,
    status: 401,
    code: 'invalid_credentials',
  },
  'a key that was reported as leaked': {
    take: () => first.operator('POST', '/leaked-keys', { key: home.key }),
    call: own,
    status: 401,
    code: 'invalid_credentials',
  },
  'a key that may be used from elsewhere only': {
    take: () => first.operator('PATCH', `/keys/${home.keyId}`, { allowed_addresses: ['203.0.113.1'] }),
    call: own,
    status: 401,
    code: 'invalid_credentials',
  },
  'a key that needs more than itself from now on': {
    take: () => first.operator('PATCH', `/keys/${home.keyId}`, { proof: 'private_key_jwt', jwks }),
    call: own,
    status: 401,
    code: 'invalid_credentials',
  },
  "a suspended partner's key": {
    take: () => first.operator('POST', `/partners/${home.partnerId}/suspend`),
    call: own,
    status: 401,
    code: 'invalid_credentials',
  },
  "a revoked operator's token": {
    take: () => first.operator('POST', `/operators/${visitor.id}/revoke`),
    call: asOperator,
    status: 401,
    code: 'invalid_credentials',
  },
  'a partner that the practice of its key has stopped': {
    take: () => stopPartner(first, home),
    call: own,
    status: 403,
    code: 'forbidden',
  },
  'a partner that a practice of its network has stopped': {
    take: () => stopPartner(first, { ...home, groupId: hub.groupId }),
    call: across,
    status: 403,
    code: 'forbidden',
  },
  'a target that was taken out of the network': {
    take: () => first.operator('DELETE', `/networks/${network.id}/members/${hub.groupId}`),
    call: across,
    status: 403,
    code: 'forbidden',
  },
  "the key's own group taken out of the network": {
    take: () => first.operator('DELETE', `/networks/${network.id}/members/${home.groupId}`),
    call: across,
    status: 403,
    code: 'forbidden',
  },
  'a network that was dissolved': {
    take: () => first.operator('DELETE', `/networks/${network.id}`),
    call: across,
    status: 403,
    code: 'forbidden',
  },
};

describe.each(Object.entries(takings))('%s', (_name, { take, call, status, code }) => {
  it('is refused by both nodes as soon as the operator has the answer', async () => {
    expect((await call(first)).status).toBe(200);
    expect((await call(second)).status).toBe(200);
    const before = first.clock.now();
    await take();
    // The call waits out the second for which another node may remember; that is why nobody has to be told.
    expect(first.clock.now() - before).toBeGreaterThanOrEqual(1_000);
    expectProblem(await call(second), status, code);
    expectProblem(await call(first), status, code);
  });

  it('is refused by a node that hears of nothing, a second after it asked last', async () => {
    const deaf = await startHarness({ databaseUrl: first.databaseUrl, clock: sameTime() });
    expect((await call(deaf)).status).toBe(200);
    await take();
    deaf.clock.advance(1_000);
    expectProblem(await call(deaf), status, code);
    await deaf.stop();
  });

  it('is refused under load: no call that begins after the answer gets through', async () => {
    let answered = false;
    let sent = 0;
    const late: number[] = [];
    const caller = async (node: Harness) => {
      // Each goes on until it has called a few times after the answer.
      for (let after = 0; after < 3 && sent < 2_000; ) {
        sent++;
        const afterwards = answered;
        const { status: got } = await call(node);
        if (afterwards) {
          late.push(got);
          after++;
        }
      }
    };
    const callers = [first, second, second, second].map(caller);
    await take();
    answered = true;
    await Promise.all(callers);
    expect(late).toHaveLength(12);
    expect(new Set(late)).toEqual(new Set([status]));
  });
});

it('a key rotated without overlap is refused by a node whose clock is behind', async () => {
  const clock = new ManualClock(new Date(first.clock.now() - 3_600_000).toISOString());
  const behind = await startHarness({ databaseUrl: first.databaseUrl, clock });
  expect((await own(behind)).status).toBe(200);
  await first.operator('POST', `/keys/${home.keyId}/rotate`, { overlap_seconds: 0 });
  clock.advance(1_000);
  expectProblem(await own(behind), 401, 'invalid_credentials');
});

describe('what is granted', () => {
  it('200 on the other node with the next call: a new key', async () => {
    const { key } = await makeKey(first, home.groupId);
    expect((await own(second, key)).status).toBe(200);
  });

  it('200 on both nodes with the next call: a suspension that was lifted', async () => {
    await first.operator('POST', `/partners/${home.partnerId}/suspend`);
    expectProblem(await own(first), 401, 'invalid_credentials');
    expectProblem(await own(second), 401, 'invalid_credentials');
    await first.operator('POST', `/partners/${home.partnerId}/verify`);
    expect((await own(first)).status).toBe(200);
    expect((await own(second)).status).toBe(200);
  });

  it('200 on both nodes with the next call: a partner that may go on', async () => {
    await stopPartner(first, home);
    for (const node of [first, second]) expectProblem(await own(node), 403, 'forbidden');
    await resumePartner(first, home);
    for (const node of [second, first]) expect((await own(node)).status).toBe(200);
  });

  it('200 on both nodes with the next call: a member and a network', async () => {
    await first.operator('DELETE', `/networks/${network.id}/members/${hub.groupId}`);
    expectProblem(await across(first), 403, 'forbidden');
    expectProblem(await across(second), 403, 'forbidden');
    await first.operator('PUT', `/networks/${network.id}/members/${hub.groupId}`);
    expect((await across(second)).status).toBe(200);
    expect((await across(first)).status).toBe(200);

    await first.operator('DELETE', `/networks/${network.id}`);
    expectProblem(await across(second), 403, 'forbidden');
    await first.operator('POST', '/networks', {
      name: 'Again',
      practice_group_ids: [home.groupId, hub.groupId],
    });
    expect((await across(second)).status).toBe(200);
  });
});

describe('what is taken is only what was meant', () => {
  it("200: the partner's other keys after one was revoked", async () => {
    const other = await first.operator('POST', '/keys', {
      partner_id: home.partnerId,
      practice_group_id: home.groupId,
      scopes: ['practice-groups:read'],
    });
    await first.operator('POST', `/keys/${home.keyId}/revoke`);
    expect((await own(second, other.key)).status).toBe(200);
  });

  it('200: across, when another network still holds both', async () => {
    await first.operator('POST', '/networks', {
      name: 'Second',
      practice_group_ids: [home.groupId, hub.groupId],
    });
    await first.operator('DELETE', `/networks/${network.id}`);
    expect((await across(second)).status).toBe(200);
  });

  it('200: the own group, after every network is gone', async () => {
    await first.operator('DELETE', `/networks/${network.id}`);
    expect((await own(second)).status).toBe(200);
  });

  it('401: every key of a suspended partner, and none of another partner', async () => {
    const other = await makeKey(first, home.groupId);
    const sister = await first.operator('POST', '/keys', {
      partner_id: home.partnerId,
      practice_group_id: hub.groupId,
      scopes: ['practice-groups:read'],
    });
    await first.operator('POST', `/partners/${home.partnerId}/suspend`);
    expectProblem(await own(second), 401, 'invalid_credentials');
    expectProblem(await own(second, sister.key), 401, 'invalid_credentials');
    expect((await own(second, other.key)).status).toBe(200);
  });

  it('200: revoking again is no error, and waits again', async () => {
    await first.operator('POST', `/keys/${home.keyId}/revoke`);
    const before = first.clock.now();
    await first.operator('POST', `/keys/${home.keyId}/revoke`);
    expect(first.clock.now() - before).toBeGreaterThanOrEqual(1_000);
  });
});
