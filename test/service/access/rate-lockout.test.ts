import { beforeEach, describe, expect, it } from 'vitest';
import { formatKey } from '../../../src/domain/access/api-key.ts';
import { cookieOf, signIn, visitor } from '../../support/console-session.ts';
import { invited } from '../../support/guest-session.ts';
import { startMailbox } from '../../support/mailbox.ts';
import { HastyClock } from '../../support/manual-clock.ts';
import {
  type Answer,
  makeKey,
  makeWorld,
  OPERATOR_TOKEN,
  type Send,
  startHarness,
} from '../../support/service.ts';

/** One IP address sends noise. Each valid credential from the same address is let in all the same. */
const mailbox = await startMailbox();
const house = await startHarness({
  clock: new HastyClock(),
  env: {
    PORTER_ROLE: 'api',
    PORTER_TRUST_PROXY: '127.0.0.1',
    PORTER_SMTP_URL: mailbox.url,
    PORTER_MAIL_FROM: 'Porter <p@porter.example>',
  },
});
// Requests that no proxy forwarded stay below the limit of their own address.
const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '192.0.2.77' };
const busy = {
  send: (method: string, path: string, options: Send = {}): Promise<Answer> =>
    house.send(method, path, { ...options, headers: { ...headers, ...options.headers } }),
};
const { partnerId, groupId: group, key } = await makeWorld(house);
const call = (key: string) => busy.send('GET', '/v1/practice-groups', { key, group });

let guesses = 0;
/** Unknown credentials of every kind. The checksum of the keys is valid, so that each is looked up. */
function noise(requests: number): Promise<Answer[]> {
  return Promise.all(
    Array.from({ length: requests }, () => {
      const unknown = String(++guesses).padStart(32, 'x');
      switch (guesses % 4) {
        case 0:
          return busy.send('GET', '/operator/v1/partners', { token: `pto_${unknown}` });
        case 1:
          return visitor(busy, `__Host-porter-session=pts_${unknown}`).send('GET', '/console/me');
        case 2:
          return busy.send('POST', '/console/enter', { body: { token: `pti_${unknown}` } });
        default:
          return call(formatKey('staging', unknown));
      }
    }),
  );
}

const revokeAnyKey = async () => {
  const { keyId } = await makeKey(house, group);
  await house.operator('POST', `/keys/${keyId}/revoke`);
};

beforeEach(async () => {
  house.clock.advance(60_000);
  await noise(400);
});

describe('an IP address that is over its limit', () => {
  it('does not lock out a key that was used before, when any key is revoked', async () => {
    expect((await call(key)).status).toBe(200);
    await noise(100);
    await revokeAnyKey();
    expect((await call(key)).status).toBe(200);
  });

  it('does not lock out a key that was never used, while noise with valid checksums goes on', async () => {
    const { key: fresh } = await makeKey(house, group);
    const [during, answer] = await Promise.all([noise(100), call(fresh)]);
    expect(new Set(during.map(({ status }) => status))).toEqual(new Set([429]));
    expect(answer.status).toBe(200);
  });

  it('does not lock out an operator: neither a new token, nor a sign-in, nor a session after a revocation', async () => {
    const { token } = await house.operator('POST', '/operators', { name: 'Ann', role: 'admin' });
    const [, answer] = await Promise.all([noise(100), busy.send('GET', '/operator/v1/partners', { token })]);
    expect(answer.status).toBe(200);
    const [, session] = await Promise.all([noise(100), signIn(busy, OPERATOR_TOKEN)]);
    expect((await session.send('GET', '/console/me')).status).toBe(200);
    await revokeAnyKey();
    await noise(100);
    expect((await session.send('GET', '/console/me')).status).toBe(200);
    expect((await busy.send('GET', '/operator/v1/partners', { token })).status).toBe(200);
  });

  it('does not lock out an invited person', async () => {
    const ada = { name: 'Ada Marsh', email: 'ada@partner.example' };
    const { token } = await invited(house, mailbox, { partner: partnerId }, ada);
    const [, answer] = await Promise.all([
      noise(100),
      busy.send('POST', '/console/enter', { body: { token } }),
    ]);
    expect(answer.status).toBe(204);
    const me = await visitor(busy, cookieOf(answer) ?? '').send('GET', '/portal/v1/keys');
    expect(me.status).toBe(200);
  });
});
