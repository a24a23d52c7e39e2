import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { expectProblem } from '../../support/answers.ts';
import {
  type Answer,
  type Harness,
  makeKey,
  makeWorld,
  type Send,
  startHarness,
} from '../../support/service.ts';

const GROUPS = '/v1/practice-groups';
const TYPES = '/v1/care-nav/submission-types';

describe.each(['memory', 'shared'])('counted: %s', (windows) => {
  let house: Harness;
  let world: Awaited<ReturnType<typeof makeWorld>>;
  beforeAll(async () => {
    house = await startHarness({ env: { PORTER_RATE_WINDOWS: windows } });
  });
  beforeEach(async () => {
    world = await makeWorld(house);
  });

  const call = (key = world.key): Promise<Answer> => house.send('GET', GROUPS, { key, group: world.groupId });
  const limitedTo = async (rate_limit_per_minute: number) =>
    (await makeKey(house, world.groupId, { rate_limit_per_minute })).key;

  function expectLimited(answer: Answer, seconds: number): void {
    expectProblem(answer, 429, 'rate_limit_exceeded', { retry_after: seconds });
    expect(answer.headers['retry-after']).toBe(String(seconds));
    expect(answer.headers.ratelimit).toBe(`"default";r=0;t=${seconds}`);
  }

  describe('300 requests a minute for each key', () => {
    it('200 for 300 at once, 429 for the next, and Retry-After is true to the second', async () => {
      const answers = await Promise.all(Array.from({ length: 300 }, () => call()));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(300);
      const left = answers.map(({ headers }) =>
        Number(/^"default";r=(\d+);t=60$/.exec(String(headers.ratelimit))?.[1]),
      );
      expect(left.sort((a, b) => b - a)).toEqual(Array.from({ length: 300 }, (_, i) => 299 - i));
      for (const { headers } of answers) expect(headers['ratelimit-policy']).toBe('"default";q=300;w=60');

      const refused = await call();
      expectLimited(refused, 60);
      expect(refused.headers['ratelimit-policy']).toBe('"default";q=300;w=60');
      house.clock.advance(59_999);
      expectLimited(await call(), 1);
      house.clock.advance(1);
      expect((await call()).status).toBe(200);
    });

    it('exactly 300 of 400 at once are answered', async () => {
      const answers = await Promise.all(Array.from({ length: 400 }, () => call()));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(300);
      expect(answers.filter(({ status }) => status === 429)).toHaveLength(100);
    });
  });

  describe('the window slides', () => {
    it('429 until the oldest counted call is 60 s old, told rounded up to a whole second', async () => {
      const key = await limitedTo(2);
      expect((await call(key)).headers.ratelimit).toBe('"default";r=1;t=60');
      house.clock.advance(10_500);
      expect((await call(key)).headers.ratelimit).toBe('"default";r=0;t=50');
      house.clock.advance(1);
      // 49.499 s to go: after 49 s it is still refused, after the told 50 s answered.
      expectLimited(await call(key), 50);
      house.clock.advance(49_000);
      expectLimited(await call(key), 1);
      house.clock.advance(498);
      expectLimited(await call(key), 1);
      house.clock.advance(1);
      expect((await call(key)).status).toBe(200);
      expectLimited(await call(key), 11);
      house.clock.advance(11_000);
      expect((await call(key)).status).toBe(200);
    });

    it('never one more than the limit inside any 60 s, and a call made after Retry-After is always answered', async () => {
      const limit = 4;
      const key = await limitedTo(limit);
      const answered: number[] = [];
      let seed = 7;
      for (let i = 0; i < 150; i++) {
        // A fixed sequence of odd pauses, from none to 25 s.
        seed = (seed * 16_807) % 2_147_483_647;
        house.clock.advance(seed % 3 === 0 ? 0 : seed % 25_000);
        const answer = await call(key);
        if (answer.status === 429) {
          const seconds = Number(answer.headers['retry-after']);
          if (seed % 2 === 0) continue;
          house.clock.advance(seconds * 1_000);
          expect((await call(key)).status).toBe(200);
        }
        answered.push(house.clock.now());
      }
      expect(answered.length).toBeGreaterThan(50);
      for (let i = limit; i < answered.length; i++)
        expect((answered[i] as number) - (answered[i - limit] as number)).toBeGreaterThanOrEqual(60_000);
    });

    it('calls that were answered 429 do not count', async () => {
      const key = await limitedTo(1);
      expect((await call(key)).status).toBe(200);
      for (let i = 0; i < 20; i++) {
        house.clock.advance(2_900);
        expect((await call(key)).status).toBe(429);
      }
      house.clock.advance(2_000);
      expect((await call(key)).status).toBe(200);
    });
  });

  describe('what counts', () => {
    it('every endpoint, every answer but 429, and addresses that do not exist: each once, with the headers', async () => {
      const { key } = world;
      const { key: unscoped } = await makeKey(house, world.groupId, { scopes: ['events:read'] });
      const elsewhere = (await makeWorld(house)).groupId;
      const body = { title: 'Counted' };
      const cases: [number, string, string, Send][] = [
        [200, 'GET', GROUPS, {}],
        [200, 'HEAD', GROUPS, {}],
        [200, 'GET', TYPES, {}],
        [200, 'GET', `${TYPES}/type-1`, {}],
        [200, 'PATCH', `${TYPES}/type-1`, { body }],
        [400, 'GET', GROUPS, { group: undefined }],
        [400, 'PATCH', `${TYPES}/type-1`, { raw: '{' }],
        [400, 'PATCH', `${TYPES}/%ff`, { body }],
        [403, 'GET', GROUPS, { group: elsewhere }],
        [404, 'PATCH', `${TYPES}/none`, { body }],
        [404, 'GET', '/v1/nothing', {}],
        [404, 'GET', '/v1', {}],
        [405, 'DELETE', GROUPS, {}],
        [412, 'PATCH', `${TYPES}/type-1`, { body, headers: { 'if-match': '"0"' } }],
        [415, 'PATCH', `${TYPES}/type-1`, { raw: 'x', headers: { 'content-type': 'text/plain' } }],
        [422, 'PATCH', `${TYPES}/type-1`, { body: { form_id: 'none' } }],
      ];
      let left = 300;
      for (const [status, method, path, options] of cases) {
        const answer = await house.send(method, path, { key, group: world.groupId, ...options });
        expect(answer.status, `${method} ${path}`).toBe(status);
        expect(answer.headers['ratelimit-policy']).toBe('"default";q=300;w=60');
        expect(answer.headers.ratelimit, `${method} ${path}`).toBe(`"default";r=${--left};t=60`);
      }
      const refused = await house.send('GET', GROUPS, { key: unscoped, group: world.groupId });
      expect(refused.status).toBe(403);
      expect(refused.headers.ratelimit).toBe('"default";r=299;t=60');
    });

    it('one key at whatever practice group it acts for', async () => {
      const key = await limitedTo(1);
      await house.send('GET', GROUPS, { key, group: 'elsewhere' });
      expect((await call(key)).status).toBe(429);
    });

    it('nothing of one key at another, not even of the same partner', async () => {
      const key = await limitedTo(1);
      await call(key);
      expectLimited(await call(key), 60);
      expect((await call()).headers.ratelimit).toBe('"default";r=299;t=60');
    });

    it('a key that a rotation made has a window of its own', async () => {
      const old = await makeKey(house, world.groupId, { rate_limit_per_minute: 2 });
      await call(old.key);
      await call(old.key);
      expectLimited(await call(old.key), 60);
      const fresh = await house.operator('POST', `/keys/${old.keyId}/rotate`);
      expect((await call(fresh.key)).headers.ratelimit).toBe('"default";r=1;t=60');
      expectLimited(await call(old.key), 60);
    });
  });

  describe('other limits', () => {
    async function partnerWith(terms: Record<string, unknown>): Promise<string> {
      const { operator } = house;
      const partner = await operator('POST', '/partners', { name: 'P', contact_email: 'a@b.example' });
      await operator('POST', `/partners/${partner.id}/sign-agreement`, terms);
      await operator('POST', `/partners/${partner.id}/verify`);
      return partner.id;
    }
    const issue = async (partner_id: string, more: Record<string, unknown> = {}) =>
      (
        await house.operator('POST', '/keys', {
          partner_id,
          practice_group_id: world.groupId,
          scopes: ['practice-groups:read'],
          ...more,
        })
      ).key;

    it('a limit on the key: higher or lower than the usual one', async () => {
      const high = await limitedTo(1_000);
      const answers = await Promise.all(Array.from({ length: 400 }, () => call(high)));
      expect(answers.every(({ status }) => status === 200)).toBe(true);
      expect((await call(high)).headers['ratelimit-policy']).toBe('"default";q=1000;w=60');
      const low = await limitedTo(1);
      expect((await call(low)).headers['ratelimit-policy']).toBe('"default";q=1;w=60');
      expectLimited(await call(low), 60);
    });

    it('a limit that the partner agreed on, for every key that has none of its own', async () => {
      const partner = await partnerWith({ rate_limit_per_minute: 3 });
      const inherits = await issue(partner);
      for (const left of [2, 1, 0])
        expect((await call(inherits)).headers.ratelimit).toBe(`"default";r=${left};t=60`);
      expectLimited(await call(inherits), 60);
      const overrides = await issue(partner, { rate_limit_per_minute: 7 });
      expect((await call(overrides)).headers['ratelimit-policy']).toBe('"default";q=7;w=60');
      const usual = await issue(await partnerWith({}));
      expect((await call(usual)).headers['ratelimit-policy']).toBe('"default";q=300;w=60');
    });
  });
});
