import { beforeEach, describe, expect, it } from 'vitest';
import { formatKey } from '../../../src/domain/access/api-key.ts';
import { expectProblem } from '../../support/answers.ts';
import { HastyClock } from '../../support/manual-clock.ts';
import { type Answer, type Send, serviceForTests, startHarness } from '../../support/service.ts';

const PATH = '/v1/practice-groups';
// The test is the proxy: it says over what and for whom it calls.
const { house, world } = await serviceForTests({
  // Strangers who are past their limit are held for a second each.
  clock: new HastyClock(),
  env: { PORTER_TRUST_PROXY: '127.0.0.1, 10.0.0.0/8' },
});
beforeEach(() => house.clock.advance(60_000));

const from = (address: string, options: Send = {}): Promise<Answer> =>
  house.send('GET', PATH, {
    ...options,
    headers: { 'x-forwarded-proto': 'https', 'x-forwarded-for': address },
  });

async function useUp(address: string): Promise<void> {
  const answers = await Promise.all(Array.from({ length: 300 }, () => from(address)));
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(300);
}

const isLimited = (answer: Answer) =>
  expectProblem(answer, 429, 'rate_limit_exceeded', { retry_after: expect.any(Number) });

describe('calls without a valid key', () => {
  it('401 for 300 a minute from one address, then 429 with a true Retry-After', async () => {
    const first = await from('192.0.2.1');
    expectProblem(first, 401, 'invalid_credentials');
    expect(first.headers['ratelimit-policy']).toBe('"address";q=300;w=60');
    expect(first.headers.ratelimit).toBe('"address";r=299;t=60');
    for (let i = 0; i < 299; i++) await from('192.0.2.1', { key: formatKey('staging', 'x'.repeat(32)) });
    const refused = await from('192.0.2.1');
    isLimited(refused);
    expect(refused.headers['retry-after']).toBe('60');
    house.clock.advance(59_999);
    isLimited(await from('192.0.2.1'));
    house.clock.advance(1);
    expect((await from('192.0.2.1')).status).toBe(401);
  });

  it('200: a valid key from an address that is used up, and nothing of the guessing is charged to it', async () => {
    await useUp('192.0.2.2');
    isLimited(await from('192.0.2.2'));
    const answer = await from('192.0.2.2', { key: world.key, group: world.groupId });
    expect(answer.status).toBe(200);
    expect(answer.headers.ratelimit).toBe('"default";r=299;t=60');
  });

  it("401: what a valid key calls is not charged to its address, not even beyond the key's limit", async () => {
    const key = { key: world.key, group: world.groupId };
    await Promise.all(Array.from({ length: 305 }, () => from('192.0.2.3', key)));
    isLimited(await from('192.0.2.3', key));
    expect((await from('192.0.2.3')).headers.ratelimit).toBe('"address";r=299;t=60');
  });

  it('400: what is no token at all is counted as a wrong one is, on every way in', async () => {
    for (const [path, address] of [
      ['/console/sign-in', '192.0.2.71'],
      ['/console/enter', '192.0.2.72'],
    ] as const) {
      const send = () =>
        house.send('POST', path, {
          body: {},
          headers: { 'x-forwarded-proto': 'https', 'x-forwarded-for': address },
        });
      const answers = await Promise.all(Array.from({ length: 300 }, send));
      expect(answers.filter(({ status }) => status === 400)).toHaveLength(300);
      isLimited(await send());
    }
  });

  it('401: another address has a window of its own', async () => {
    await useUp('192.0.2.4');
    isLimited(await from('192.0.2.4'));
    expect((await from('192.0.2.5')).status).toBe(401);
  });

  it('operators who guess share the window of their address, and a good token is let through', async () => {
    await useUp('192.0.2.6');
    const operator = (token: string) =>
      house.send('GET', '/operator/v1/keys', {
        token,
        headers: { 'x-forwarded-proto': 'https', 'x-forwarded-for': '192.0.2.6' },
      });
    isLimited(await operator('wrong'));
    expect((await operator('pto_kQ9vXr2LwZ8nBf4YcHd7GmUa3SpJe6RtVi5Wo0Nx')).status).toBe(200);
  });
});

describe('whose address it is', () => {
  it('the last one that no trusted proxy wrote: what a caller puts in front does not help', async () => {
    await useUp('198.51.100.7');
    for (const chain of [
      '203.0.113.1, 198.51.100.7',
      '203.0.113.2,198.51.100.7',
      'unknown, 198.51.100.7',
      '203.0.113.3, 198.51.100.7, 10.1.2.3',
      '203.0.113.3, 198.51.100.7, 10.1.2.3, 10.200.0.1',
      '::ffff:198.51.100.7',
    ])
      isLimited(await from(chain));
    expect((await from('198.51.100.7, 203.0.113.9')).status).toBe(401);
  });

  it('a whole /64 for IPv6, since one subscriber holds that many', async () => {
    await useUp('2001:db8:1:2::1');
    isLimited(await from('2001:db8:1:2:ffff:ffff:ffff:ffff'));
    isLimited(await from('2001:db8:1:2:0:0:0:9'));
    expect((await from('2001:db8:1:3::1')).status).toBe(401);
  });

  it('the peer itself when it is no trusted proxy, whatever it claims', async () => {
    const direct = await startHarness();
    const claim = (address: string) => direct.send('GET', PATH, { headers: { 'x-forwarded-for': address } });
    // A forwarded call is not from this machine, and staging takes plain HTTP from this machine only.
    expectProblem(await claim('192.0.2.1'), 403, 'https_required');
    const left = async () => (await direct.send('GET', PATH)).headers.ratelimit;
    expect(await left()).toBe('"address";r=299;t=60');
    await claim('192.0.2.2');
    expect(await left()).toBe('"address";r=298;t=60');
  });
});
