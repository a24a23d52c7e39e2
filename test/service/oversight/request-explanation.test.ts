import { describe, expect, it } from 'vitest';
import { expectProblem } from '../../support/answers.ts';
import { newPartner, type Partner, partnerWith, startPost } from '../../support/post.ts';
import { type Answer, type Loose, makeKey, OPERATOR_TOKEN } from '../../support/service.ts';

const house = await startPost();
const own = await newPartner(house);
const far = await newPartner(house);

const CHECKS = ['transport', 'size', 'key', 'rate', 'scope', 'network', 'validation', 'operation'];
const explain = (answer: Answer): Promise<Loose> =>
  house.operator(
    'GET',
    `/requests/${encodeURIComponent(String(answer.headers['x-request-id']))}/explanation`,
  );
/** The check that refused it, with all before it passed and none after it reached. */
async function refusal(answer: Answer): Promise<Loose> {
  const { checks } = await explain(answer);
  expect(checks.map(({ check }: Loose) => check)).toEqual(CHECKS);
  const at = checks.findIndex(({ outcome }: Loose) => outcome === 'refused');
  checks.forEach(({ outcome, found, needed }: Loose, place: number) => {
    expect(outcome).toBe(place < at ? 'passed' : place === at ? 'refused' : 'not_reached');
    if (place > at) expect([found, needed]).toEqual([null, null]);
    else expect(found.length).toBeGreaterThan(5);
    if (place !== at) expect(needed).toBeNull();
  });
  return checks[at];
}
const withKey = async (options: object): Promise<Partner> =>
  partnerWith(house, own.groupId, await makeKey(house, own.groupId, options as Record<string, unknown>));

describe('GET /operator/v1/requests/{request_id}/explanation', () => {
  it('200: the call, whose it is, and the check that refused it', async () => {
    const answer = await own.send('GET', '/v1/webhooks/none');
    expect(await explain(answer)).toMatchObject({
      request: {
        request_id: answer.headers['x-request-id'],
        status: 404,
        error: 'not_found',
        operation: 'getWebhook',
        answer: answer.body,
      },
      partner: { id: own.partnerId, name: 'Partner' },
      key: { id: own.keyId, name: expect.stringContaining('…') },
      practice_group: { id: own.groupId },
    });
    expect(await refusal(answer)).toMatchObject({ check: 'operation', found: answer.body.message });
  });

  it('200: a key that is revoked, and one that is used from elsewhere', async () => {
    const revoked = await withKey({});
    await house.operator('POST', `/keys/${revoked.keyId}/revoke`);
    expect(await refusal(await revoked.send('GET', '/v1/webhooks'))).toMatchObject({
      check: 'key',
      found: 'The key was revoked, or rotated without an overlap.',
      needed: expect.stringContaining('ask support'),
    });
    const elsewhere = await withKey({ allowed_addresses: ['203.0.113.0/24'] });
    expect(await refusal(await elsewhere.send('GET', '/v1/webhooks'))).toMatchObject({
      check: 'key',
      needed: 'A call from 203.0.113.0/24; it came from 127.0.0.1.',
    });
  });

  it('200: too large, too often, without the scope', async () => {
    const large = await own.send('PATCH', '/v1/care-nav/submission-types/type-1', {
      title: 'x'.repeat(70_000),
    });
    expect(large.status).toBe(413);
    // A body that is too large is refused before anybody knows whose it is, and is in nobody's list.
    const hasty = await withKey({ rate_limit_per_minute: 1 });
    await hasty.call('GET', '/v1/webhooks');
    expect(await refusal(await hasty.send('GET', '/v1/webhooks'))).toMatchObject({
      check: 'rate',
      needed: 'At most 1 calls in any 60 seconds.',
    });
    const reader = await withKey({ scopes: ['webhooks:read'] });
    expect(await refusal(await reader.send('POST', '/v1/webhooks', {}))).toMatchObject({
      check: 'scope',
      found: 'The key has webhooks:read.',
      needed: 'A key with webhooks:write, events:read.',
    });
  });

  it('200: out of reach, in a network that does not grant it, and for a practice that is not there', async () => {
    const call = (group: string) => house.send('GET', '/v1/webhooks', { key: own.key, group });
    expect(await refusal(await call(far.groupId))).toMatchObject({
      check: 'network',
      found: `The key is tied to ${own.groupId}, and no network that holds ${far.groupId} too lets its partner through.`,
    });
    const { id } = await house.operator('POST', '/networks', {
      name: 'Readers',
      practice_group_ids: [own.groupId, far.groupId],
      scopes: ['events:read'],
    });
    expect(await refusal(await call(far.groupId))).toMatchObject({
      check: 'network',
      found: `It reaches ${far.groupId} through Readers (events:read).`,
      needed: 'A network with both that grants webhooks:read.',
    });
    await house.operator('DELETE', `/networks/${id}`);
    expect(await refusal(await call('nowhere'))).toMatchObject({
      check: 'network',
      found: 'There is no practice group nowhere.',
    });
  });

  it('200: what is not valid, a rule that is broken, and an address that is not there', async () => {
    const patch = (body: object) => own.send('PATCH', '/v1/care-nav/submission-types/type-1', body);
    expect(await refusal(await patch({ daily_limit: 'many', unknown: 1 }))).toMatchObject({
      check: 'validation',
      found: expect.stringMatching(/daily_limit: .+unknown: /),
    });
    const broken = await patch({ form_id: 'none' });
    expect(broken.status).toBe(422);
    expect(await refusal(broken)).toMatchObject({ check: 'operation', found: broken.body.message });
    expect(await refusal(await own.send('GET', '/v1/none'))).toMatchObject({ check: 'operation' });
  });

  it('200: the last of several with one ID; text of strangers comes back as it was sent', async () => {
    const hostile = '<script>alert(1)</script>';
    const headers = { 'x-request-id': 'mine-1' };
    await own.send('GET', '/v1/webhooks/none', undefined, headers);
    await house.send('GET', '/v1/webhooks', { key: own.key, group: hostile, headers });
    const { checks } = await house.operator('GET', '/requests/mine-1/explanation');
    expect(checks[5].found).toBe(`There is no practice group ${hostile}.`);
  });

  it('404: a call that was not refused; 403: a source', async () => {
    const ask = (id: string, token = OPERATOR_TOKEN) =>
      house.send('GET', `/operator/v1/requests/${id}/explanation`, { token });
    const fine = await own.send('GET', '/v1/webhooks');
    expectProblem(await ask(String(fine.headers['x-request-id'])), 404, 'not_found');
    const { token } = await house.operator('POST', '/operators', { name: 'Source', role: 'source' });
    expect((await ask('mine-1', token)).status).toBe(403);
  });
});
