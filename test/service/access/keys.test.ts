import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { expectProblem } from '../../support/answers.ts';
import { type Answer, type Harness, makeKey, serviceForTests, startHarness } from '../../support/service.ts';

const PATH = '/v1/practice-groups';
const { house, world } = await serviceForTests();

const call = (key: string, node: Harness = house): Promise<Answer> =>
  node.send('GET', PATH, { key, group: world.groupId });
const inSeconds = (seconds: number) => new Date(house.clock.now() + seconds * 1000).toISOString();

describe('the format of a key', () => {
  it('is ptr_test_, 32 characters and a CRC-32 that anybody can check offline', () => {
    expect(world.key).toMatch(/^ptr_test_[0-9A-Za-z]{38}$/);
    const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
    const told = [...world.key.slice(-6)].reduce((sum, letter) => sum * 62 + digits.indexOf(letter), 0);
    expect(told).toBe(crc32(world.key.slice(0, -6)));
  });

  it('401: a typo at any place, or two letters swapped', async () => {
    for (let at = 0; at < world.key.length; at++) {
      const typo = world.key.slice(0, at) + (world.key[at] === 'x' ? 'y' : 'x') + world.key.slice(at + 1);
      expectProblem(await call(typo), 401, 'invalid_credentials');
    }
    const letters = [...world.key];
    const at = letters.findIndex((letter, i) => i > 9 && letter !== letters[i + 1]);
    letters.splice(at, 2, letters[at + 1] as string, letters[at] as string);
    expectProblem(await call(letters.join('')), 401, 'invalid_credentials');
    expect((await call(world.key)).status).toBe(200);
  });
});

describe('a key is a secret', () => {
  it('is shown once, and afterwards told by prefix and last four', async () => {
    const listed = await house.operator('GET', `/keys?practice_group_id=${world.groupId}`);
    const read = await house.operator('GET', `/keys/${world.keyId}`);
    for (const shown of [read, ...listed.data]) {
      expect(shown).not.toHaveProperty('key');
      expect(JSON.stringify(shown)).not.toContain(world.key.slice(9, 20));
    }
    expect(read).toMatchObject({ prefix: 'ptr_test_', last_four: world.key.slice(-4) });
  });

  it('is stored as its SHA-256, and nowhere as it is: not in a table, not in the audit, not in the log', async () => {
    await house.send('GET', `${PATH}?key=${world.key}`, { key: world.key, group: world.key });
    await house.send('PATCH', `/v1/care-nav/submission-types/${world.key}`, {
      key: world.key,
      group: world.groupId,
      raw: world.key,
    });
    const client = new pg.Client({ connectionString: house.databaseUrl });
    await client.connect();
    const stored = await client.query('SELECT key_hash FROM api_keys WHERE id = $1', [world.keyId]);
    const tables = await client.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
    for (const { tablename } of tables.rows) {
      const { rows } = await client.query(`SELECT t::text AS row FROM "${tablename}" t`);
      expect(JSON.stringify(rows), tablename).not.toContain(world.key.slice(9, 41));
    }
    await client.end();
    expect(stored.rows[0].key_hash).toEqual(createHash('sha256').update(world.key).digest());
    const log = JSON.stringify(house.logLines());
    expect(log).toContain('ptr_test_[redacted]');
    expect(log).not.toContain(world.key.slice(9, 20));
  });
});

describe('environments', () => {
  it('401: a key of the other environment, even on the same database', async () => {
    const production = await startHarness({
      databaseUrl: house.databaseUrl,
      clock: house.clock,
      env: { PORTER_ENVIRONMENT: 'production', PORTER_TRUST_PROXY: '127.0.0.1' },
    });
    const over = { headers: { 'x-forwarded-proto': 'https' }, group: world.groupId };
    const issued = await production.send('POST', '/operator/v1/keys', {
      token: 'pto_kQ9vXr2LwZ8nBf4YcHd7GmUa3SpJe6RtVi5Wo0Nx',
      body: {
        partner_id: world.partnerId,
        practice_group_id: world.groupId,
        scopes: ['practice-groups:read'],
      },
      headers: over.headers,
    });
    const liveKey = issued.body.key;
    expect(liveKey).toMatch(/^ptr_live_[0-9A-Za-z]{38}$/);
    expect((await production.send('GET', PATH, { ...over, key: liveKey })).status).toBe(200);
    expectProblem(
      await production.send('GET', PATH, { ...over, key: world.key }),
      401,
      'invalid_credentials',
    );
    expectProblem(await call(liveKey), 401, 'invalid_credentials');
    expect((await call(world.key)).status).toBe(200);
  });
});

describe('expiry', () => {
  it('200 a millisecond before the moment, 401 at the moment itself', async () => {
    const { key } = await makeKey(house, world.groupId, { expires_at: inSeconds(3600) });
    house.clock.advance(3_600_000 - 500);
    expect((await call(key)).status).toBe(200);
    // Well inside the second for which the door remembers a key.
    house.clock.advance(499);
    expect((await call(key)).status).toBe(200);
    house.clock.advance(1);
    expectProblem(await call(key), 401, 'invalid_credentials');
    house.clock.advance(86_400_000);
    expectProblem(await call(key), 401, 'invalid_credentials');
  });

  it('200 years later for a key without one', async () => {
    house.clock.advance(10 * 365 * 86_400_000);
    expect((await call(world.key)).status).toBe(200);
  });
});

describe('rotation', () => {
  const rotate = (id: string, body?: unknown) => house.operator('POST', `/keys/${id}/rotate`, body);

  async function worksUntil(key: string, milliseconds: number): Promise<void> {
    house.clock.advance(milliseconds - 1);
    expect((await call(key)).status).toBe(200);
    house.clock.advance(1);
    expectProblem(await call(key), 401, 'invalid_credentials');
  }

  it('makes another key with the same tie and scopes, which works at once', async () => {
    const old = await makeKey(house, world.groupId, {
      scopes: ['practice-groups:read'],
      rate_limit_per_minute: 77,
    });
    const fresh = await rotate(old.keyId);
    expect(fresh.key).not.toBe(old.key);
    expect(fresh).toMatchObject({
      partner_id: old.partnerId,
      practice_group_id: world.groupId,
      scopes: ['practice-groups:read'],
      rate_limit_per_minute: 77,
    });
    expect((await call(fresh.key)).status).toBe(200);
    expect((await call(old.key)).status).toBe(200);
    const patch = { key: fresh.key, group: world.groupId, body: {} };
    const refused = await house.send('PATCH', '/v1/care-nav/submission-types/type-1', patch);
    expectProblem(refused, 403, 'insufficient_permissions', { required_scopes: ['submission-types:write'] });
  });

  it('leaves the old key 24 hours unless told otherwise', async () => {
    const old = await makeKey(house, world.groupId);
    const fresh = await rotate(old.keyId);
    await worksUntil(old.key, 24 * 3_600_000);
    expect((await call(fresh.key)).status).toBe(200);
  });

  it('leaves the old key the chosen overlap', async () => {
    const old = await makeKey(house, world.groupId);
    await rotate(old.keyId, { overlap_seconds: 90 });
    await worksUntil(old.key, 90_000);
  });

  it('ends the old key at once with an overlap of 0', async () => {
    const old = await makeKey(house, world.groupId);
    expect((await call(old.key)).status).toBe(200);
    const fresh = await rotate(old.keyId, { overlap_seconds: 0 });
    expectProblem(await call(old.key), 401, 'invalid_credentials');
    expect((await call(fresh.key)).status).toBe(200);
  });

  it('does not let an old key live longer than it was to', async () => {
    const old = await makeKey(house, world.groupId, { expires_at: inSeconds(60) });
    await rotate(old.keyId);
    await worksUntil(old.key, 60_000);
  });

  it('can be followed by a revocation of the old key, which leaves the new one alone', async () => {
    const old = await makeKey(house, world.groupId);
    const fresh = await rotate(old.keyId);
    await house.operator('POST', `/keys/${old.keyId}/revoke`);
    expectProblem(await call(old.key), 401, 'invalid_credentials');
    expect((await call(fresh.key)).status).toBe(200);
  });
});
