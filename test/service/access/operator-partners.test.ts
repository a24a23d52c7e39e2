import { describe, expect, it } from 'vitest';
import { lastEntry } from '../../support/audit.ts';
import { fresh } from '../../support/operator-calls.ts';
import { OPERATOR_TOKEN, startHarness } from '../../support/service.ts';

const house = await startHarness();
const groupId = fresh('group');
await house.operator('POST', '/practice-groups', { id: groupId, name: 'Practice' });

const steps = ['sign-agreement', 'verify', 'suspend'] as const;
type Step = (typeof steps)[number];

async function partnerAfter(...taken: Step[]): Promise<string> {
  const { id } = await house.operator('POST', '/partners', { name: 'P', contact_email: 'p@p.example' });
  for (const step of taken) await house.operator('POST', `/partners/${id}/${step}`);
  return id;
}

const take = (id: string, step: Step, body?: unknown) =>
  house.send('POST', `/operator/v1/partners/${id}/${step}`, { token: OPERATOR_TOKEN, body });

const issue = (partner_id: string, more: object = {}) =>
  house.send('POST', '/operator/v1/keys', {
    token: OPERATOR_TOKEN,
    body: { partner_id, practice_group_id: groupId, scopes: ['practice-groups:read'], ...more },
  });

const call = (key: string) => house.send('GET', '/v1/practice-groups', { key, group: groupId });

describe('onboarding', () => {
  it('201: an applicant begins as applied, with nothing agreed', async () => {
    const partner = await house.operator('POST', '/partners', {
      name: 'Ada Ltd',
      contact_email: 'ada@ada.example',
    });
    const now = new Date(house.clock.now()).toISOString();
    expect(partner).toEqual({
      id: expect.stringMatching(/^prt_/),
      name: 'Ada Ltd',
      contact_email: 'ada@ada.example',
      status: 'applied',
      rate_limit_per_minute: null,
      sla: null,
      created_at: now,
      updated_at: now,
    });
    expect(await house.operator('GET', `/partners/${partner.id}`)).toEqual(partner);
  });

  // From → step → to; undefined: no such step.
  const paths: [Step[], Record<Step, string | undefined>][] = [
    [[], { 'sign-agreement': 'agreement_signed', verify: undefined, suspend: 'suspended' }],
    [['sign-agreement'], { 'sign-agreement': undefined, verify: 'verified', suspend: 'suspended' }],
    [['sign-agreement', 'verify'], { 'sign-agreement': undefined, verify: undefined, suspend: 'suspended' }],
    [
      ['sign-agreement', 'verify', 'suspend'],
      { 'sign-agreement': undefined, verify: 'verified', suspend: undefined },
    ],
    [['sign-agreement', 'suspend'], { 'sign-agreement': undefined, verify: 'verified', suspend: undefined }],
    // Lifting a suspension must not verify somebody who never signed.
    [['suspend'], { 'sign-agreement': undefined, verify: 'applied', suspend: undefined }],
  ];

  it.each(paths.flatMap(([taken, next]) => steps.map((step) => [taken, step, next[step]] as const)))(
    'after %j the step %s leads to %s (undefined: 409)',
    async (taken, step, to) => {
      const id = await partnerAfter(...taken);
      const before = await house.operator('GET', `/partners/${id}`);
      const last = await lastEntry(house);
      house.clock.advance(5);
      const updated_at = new Date(house.clock.now()).toISOString();
      const answer = await take(id, step);
      const after = await house.operator('GET', `/partners/${id}`);
      if (to === undefined) {
        expect(answer.status).toBe(409);
        expect(answer.body).toMatchObject({ error: 'conflict', statusCode: 409 });
        expect(answer.body.message).toContain(step);
        expect(after).toEqual(before);
        expect(await lastEntry(house)).toBe(last);
      } else {
        expect(answer.status).toBe(200);
        expect(answer.body).toEqual(after);
        expect(after).toEqual({ ...before, status: to, updated_at });
      }
    },
  );

  it('of two equal steps at once one is taken, the other is 409', async () => {
    const id = await partnerAfter();
    const answers = await Promise.all([take(id, 'sign-agreement'), take(id, 'sign-agreement')]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  it('records the terms agreed, and keeps them through later steps', async () => {
    const id = await partnerAfter();
    const signed = await take(id, 'sign-agreement', { rate_limit_per_minute: 7, sla: 'gold, 99.9 %' });
    expect(signed.body).toMatchObject({ rate_limit_per_minute: 7, sla: 'gold, 99.9 %' });
    for (const step of ['verify', 'suspend', 'verify'] as const)
      expect((await take(id, step)).body).toMatchObject({ rate_limit_per_minute: 7, sla: 'gold, 99.9 %' });
  });

  it.each([
    { rate_limit_per_minute: 0 },
    { rate_limit_per_minute: 100_001 },
    { rate_limit_per_minute: 1.5 },
    { rate_limit_per_minute: '300' },
    { sla: '' },
    { sla: 'x'.repeat(256) },
  ])('400: terms such as %j', async (terms) => {
    const id = await partnerAfter();
    expect((await take(id, 'sign-agreement', terms)).status).toBe(400);
    expect((await house.operator('GET', `/partners/${id}`)).status).toBe('applied');
  });
});

describe('keys of partners', () => {
  it.each([[[]], [['sign-agreement']], [['suspend']], [['sign-agreement', 'verify', 'suspend']]] as [
    Step[],
  ][])('422: no key for a partner after %j', async (taken) => {
    const answer = await issue(await partnerAfter(...taken));
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({
      error: 'business_rule_violation',
      rule: 'partner_not_verified',
      path: ['partner_id'],
    });
  });

  it('422: no key for an unknown partner or practice group', async () => {
    const verified = await partnerAfter('sign-agreement', 'verify');
    expect((await issue('prt_nobody')).body).toMatchObject({ statusCode: 422, rule: 'partner_unknown' });
    expect((await issue(verified, { practice_group_id: 'nowhere' })).body).toMatchObject({
      statusCode: 422,
      rule: 'practice_group_unknown',
      path: ['practice_group_id'],
    });
  });

  it('no rotation either while the partner is suspended: 422', async () => {
    const id = await partnerAfter('sign-agreement', 'verify');
    const { body: key } = await issue(id);
    await take(id, 'suspend');
    const answer = await house.send('POST', `/operator/v1/keys/${key.id}/rotate`, { token: OPERATOR_TOKEN });
    expect(answer.body).toMatchObject({ statusCode: 422, rule: 'partner_not_verified' });
  });

  it('a suspension stops the keys from its answer on, and lifting it lets them work again at once', async () => {
    const id = await partnerAfter('sign-agreement', 'verify');
    const { key } = (await issue(id)).body;
    expect((await call(key)).status).toBe(200);
    await take(id, 'suspend');
    expect((await call(key)).status).toBe(401);
    await take(id, 'verify');
    expect((await call(key)).status).toBe(200);
  });

  it('inherit the agreed limit, unless they have one of their own; 300 without any agreement', async () => {
    const agreed = await partnerAfter();
    await take(agreed, 'sign-agreement', { rate_limit_per_minute: 2 });
    await take(agreed, 'verify');
    const policy = async (partner: string, more: object = {}) => {
      const issued = (await issue(partner, more)).body;
      const answer = await call(issued.key);
      expect(answer.status).toBe(200);
      return answer.headers['ratelimit-policy'];
    };
    expect(await policy(agreed)).toBe('"default";q=2;w=60');
    expect(await policy(agreed, { rate_limit_per_minute: null })).toBe('"default";q=2;w=60');
    expect(await policy(agreed, { rate_limit_per_minute: 9 })).toBe('"default";q=9;w=60');
    expect(await policy(await partnerAfter('sign-agreement', 'verify'))).toBe('"default";q=300;w=60');
  });

  it('are held to the inherited limit', async () => {
    const agreed = await partnerAfter();
    await take(agreed, 'sign-agreement', { rate_limit_per_minute: 2 });
    await take(agreed, 'verify');
    const { key } = (await issue(agreed)).body;
    const statuses = [await call(key), await call(key), await call(key)].map(({ status }) => status);
    expect(statuses).toEqual([200, 200, 429]);
  });
});
