import { describe, expect, it } from 'vitest';
import { formatKey } from '../../../src/domain/access/api-key.ts';
import { expectProblem, withoutRequestId } from '../../support/answers.ts';
import { porter } from '../../support/cli.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import {
  type Harness,
  type Loose,
  makeKey,
  makeWorld,
  OPERATOR_TOKEN,
  startHarness,
} from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

/** When and from where a key was used, where from it may be, and what is kept of the calls that were refused. */

/** Timers of a minute wait for the test; the others take the time that they take. */
class MinuteClock extends ManualClock {
  readonly #waiting = new Set<() => void>();

  override timer(milliseconds: number, fire: () => void): () => void {
    if (milliseconds !== 60_000) return super.timer(milliseconds, fire);
    this.#waiting.add(fire);
    return () => this.#waiting.delete(fire);
  }

  minute(): void {
    this.advance(60_000);
    for (const fire of this.#waiting) {
      this.#waiting.delete(fire);
      fire();
    }
  }
}

const clock = new MinuteClock();
const PROXY = { PORTER_TRUST_PROXY: '127.0.0.1', PORTER_ROLE: 'api' };
const house = await startHarness({ clock, env: PROXY });
const world = await makeWorld(house);
const db = await superuser(house.databaseUrl);

const PATH = '/v1/practice-groups';
/** As a proxy on this machine forwards it. */
const from = (address: string) => ({ 'x-forwarded-for': address, 'x-forwarded-proto': 'https' });
const call = (key: string, address = '198.51.100.7', node: Harness = house, id = 'some-call') =>
  node.send('GET', PATH, {
    key,
    group: world.groupId,
    headers: { ...from(address), 'x-request-id': id },
  });
const shown = (keyId: string, node: Harness = house) => node.operator('GET', `/keys/${keyId}`);
const iso = () => new Date(clock.now()).toISOString();

describe('the last use of a key', () => {
  it('is told with its address, in the key, the list and the command line', async () => {
    const { key, keyId } = await makeKey(house, world.groupId, { label: 'Booking' });
    expect(await shown(keyId)).toMatchObject({ last_used_at: null, last_used_from: null, label: 'Booking' });
    await call(key);
    const at = iso();
    clock.minute();
    await expect.poll(() => shown(keyId)).toMatchObject({ last_used_at: at, last_used_from: '198.51.100.7' });
    const { data } = await house.operator('GET', `/keys?practice_group_id=${world.groupId}`);
    expect(data.find((one: Loose) => one.id === keyId)).toMatchObject({ last_used_at: at });
    const env = { PORTER_URL: house.url, PORTER_OPERATOR_TOKEN: OPERATOR_TOKEN };
    const { stdout } = await porter('keys list', { env });
    const [header, ...lines] = stdout.split('\n');
    expect(header).toMatch(/LABEL .*LAST USED +FROM/);
    expect(lines.find((line) => line.startsWith(keyId))).toMatch(new RegExp(`Booking .*${at} +198.51.100.7`));
  });

  it('is written once a minute however often it is used, with that of all other keys', async () => {
    const keys = await Promise.all([1, 2, 3].map(() => makeKey(house, world.groupId)));
    await db.query(`CREATE TABLE written (of_key text);
      CREATE FUNCTION count_writes() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
        $$ BEGIN INSERT INTO written VALUES (NEW.key_id); RETURN NEW; END $$;
      CREATE TRIGGER count_writes AFTER INSERT OR UPDATE ON key_uses FOR EACH ROW EXECUTE FUNCTION count_writes()`);
    for (let n = 0; n < 20; n++) for (const { key } of keys) await call(key, `203.0.113.${n}`);
    const of = async () =>
      (await db.query('SELECT of_key FROM written ORDER BY of_key')).rows.map((row) => row.of_key);
    expect(await of()).toEqual([]);
    const ids = keys.map(({ keyId }) => keyId).sort();
    clock.minute();
    await expect.poll(of).toEqual(ids);
    expect(await shown(ids[0] as string)).toMatchObject({ last_used_from: '203.0.113.19' });
    // Nothing happened since: nothing is written.
    clock.minute();
    await call(keys[0]?.key as string);
    clock.minute();
    await expect.poll(async () => (await of()).length).toBe(4);
    await db.query('DROP TABLE written; DROP FUNCTION count_writes CASCADE');
  });

  it('survives a stop that comes before the minute is over', async () => {
    const { key, keyId } = await makeKey(house, world.groupId);
    const node = await startHarness({ databaseUrl: house.databaseUrl, clock, env: PROXY });
    await call(key, '2001:db8::7', node);
    const at = iso();
    await node.stop();
    await expect.poll(() => shown(keyId)).toMatchObject({ last_used_at: at, last_used_from: '2001:db8::7' });
  });

  it('of two nodes the later one holds, in whatever order they write', async () => {
    const { key, keyId } = await makeKey(house, world.groupId);
    const [early, late] = await Promise.all(
      [1, 2].map(() => startHarness({ databaseUrl: house.databaseUrl, clock, env: PROXY })),
    );
    await call(key, '203.0.113.1', early);
    clock.advance(10);
    await call(key, '203.0.113.2', late);
    const at = iso();
    await late?.service.app.keyUses.close();
    await early?.service.app.keyUses.close();
    expect(await shown(keyId)).toMatchObject({ last_used_at: at, last_used_from: '203.0.113.2' });
  });

  it('waits while the database is out of reach', async () => {
    const { key, keyId } = await makeKey(house, world.groupId);
    await call(key);
    const at = iso();
    // A sequence goes on counting although the transaction is undone.
    await db.query(`CREATE SEQUENCE tried MINVALUE 0 START 1;
      CREATE FUNCTION away() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
        $$ BEGIN PERFORM nextval('tried'); RAISE EXCEPTION 'not now' USING ERRCODE = '57P03'; END $$;
      CREATE TRIGGER away BEFORE INSERT ON key_uses FOR EACH ROW EXECUTE FUNCTION away()`);
    clock.minute();
    await expect
      .poll(async () => (await db.query('SELECT is_called FROM tried')).rows)
      .toEqual([{ is_called: true }]);
    await db.query('DROP FUNCTION away CASCADE; DROP SEQUENCE tried');
    expect(await shown(keyId)).toMatchObject({ last_used_at: null });
    await expect
      .poll(() => {
        clock.minute();
        return shown(keyId);
      })
      .toMatchObject({ last_used_at: at });
  });

  it('is none of a call that was refused', async () => {
    const { key, keyId } = await makeKey(house, world.groupId, { allowed_addresses: ['203.0.113.0/24'] });
    await call(key);
    clock.minute();
    expect(await shown(keyId)).toMatchObject({ last_used_at: null });
  });
});

describe('allowed addresses', () => {
  it('200 from within, 401 from elsewhere, IPv4 and IPv6', async () => {
    const { key } = await makeKey(house, world.groupId, {
      allowed_addresses: ['203.0.113.0/24', '192.0.2.77', '2001:db8:40::/48'],
    });
    for (const inside of [
      '203.0.113.1',
      '203.0.113.255',
      '192.0.2.77',
      '2001:db8:40:1::9',
      '::ffff:203.0.113.5',
    ])
      expect((await call(key, inside)).status, inside).toBe(200);
    for (const outside of ['203.0.114.1', '192.0.2.78', '2001:db8:41::9', '::1', '198.51.100.7'])
      expectProblem(await call(key, outside), 401, 'invalid_credentials');
  });

  it('a caller cannot choose its address: only a trusted proxy tells it', async () => {
    const direct = await startHarness({ databaseUrl: house.databaseUrl, clock });
    const { key } = await makeKey(house, world.groupId, { allowed_addresses: ['203.0.113.0/24'] });
    const forged = await direct.send('GET', PATH, {
      key,
      group: world.groupId,
      headers: { 'x-forwarded-for': '203.0.113.1', forwarded: 'for=203.0.113.1', 'x-real-ip': '203.0.113.1' },
    });
    expectProblem(forged, 403, 'https_required');
    const bare = await direct.send('GET', PATH, { key, group: world.groupId });
    expectProblem(bare, 401, 'invalid_credentials');
  });

  it('the refusal is that of an unknown key, byte for byte', async () => {
    const { key } = await makeKey(house, world.groupId, { allowed_addresses: ['203.0.113.0/24'] });
    const unknown = await call(formatKey('staging', 'b'.repeat(32)));
    expect(withoutRequestId(await call(key))).toEqual(withoutRequestId(unknown));
  });
});

describe('a call with a key that is known but refused', () => {
  const refusals = async (partnerId: string) =>
    (await house.operator('GET', `/requests?partner_id=${partnerId}`)).data;

  const causes: Record<string, (one: Awaited<ReturnType<typeof makeKey>>) => Promise<unknown>> = {
    revoked: ({ keyId }) => house.operator('POST', `/keys/${keyId}/revoke`),
    expired: async ({ keyId }) => {
      const expires_at = new Date(clock.now() + 5_000).toISOString();
      await house.operator('PATCH', `/keys/${keyId}`, { expires_at });
      clock.advance(5_000);
    },
    partner_not_verified: ({ partnerId }) => house.operator('POST', `/partners/${partnerId}/suspend`),
    leaked: ({ key }) => house.operator('POST', '/leaked-keys', { key }),
    address_not_allowed: ({ keyId }) =>
      house.operator('PATCH', `/keys/${keyId}`, { allowed_addresses: ['203.0.113.0/24'] }),
  };

  it.each(Object.entries(causes))('is listed for operators with its reason: %s', async (reason, cause) => {
    const one = await makeKey(house, world.groupId);
    expect((await call(one.key)).status).toBe(200);
    await cause(one);
    const refused = await call(one.key);
    expect(refused.status).toBe(401);
    expect(await refusals(one.partnerId)).toEqual([
      {
        request_id: 'some-call',
        at: iso(),
        method: 'GET',
        path: PATH,
        operation: 'listPracticeGroups',
        status: 401,
        error: 'invalid_credentials',
        reason,
        answer: refused.body,
        explanation: expect.stringMatching(/\.$/),
        partner_id: one.partnerId,
        key_id: one.keyId,
        practice_group_id: world.groupId,
        address: '198.51.100.7',
      },
    ]);
  });

  it('is found by its partner with a key that works, and by nobody else', async () => {
    const one = await makeKey(house, world.groupId);
    const scopes = ['practice-groups:read'];
    const body = { partner_id: one.partnerId, practice_group_id: world.groupId, scopes };
    const spare = await house.operator('POST', '/keys', body);
    await house.operator('POST', `/keys/${one.keyId}/revoke`);
    await call(one.key, '198.51.100.7', house, 'refused-1');
    const ask = (key: string) =>
      house.send('GET', '/v1/requests/refused-1', {
        key,
        group: world.groupId,
        headers: from('198.51.100.7'),
      });
    const told = await ask(spare.key);
    expect(told.body).toMatchObject({
      reason: 'revoked',
      error: 'invalid_credentials',
      request_id: 'refused-1',
    });
    expect(told.body).not.toHaveProperty('address');
    expectProblem(await ask(world.key), 404, 'not_found');
    expectProblem(await ask(one.key), 401, 'invalid_credentials');
  });

  it('a call with a key that works has no reason, whatever it is refused for', async () => {
    const one = await makeKey(house, world.groupId);
    await house.send('GET', '/v1/nothing', { key: one.key, group: world.groupId, headers: from('::1') });
    expect(await refusals(one.partnerId)).toMatchObject([{ status: 404, reason: null, address: '::1' }]);
  });

  it('is charged to the address, never to the key', async () => {
    const one = await makeKey(house, world.groupId, { rate_limit_per_minute: 2 });
    await house.operator('PATCH', `/keys/${one.keyId}`, { allowed_addresses: ['203.0.113.0/24'] });
    for (let n = 0; n < 5; n++)
      expect((await call(one.key, '192.0.2.9')).headers['ratelimit-policy']).toMatch(/^"address"/);
    expect((await call(one.key, '203.0.113.1')).headers.ratelimit).toBe('"default";r=1;t=60');
  });
});
