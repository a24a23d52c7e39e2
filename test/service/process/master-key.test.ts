import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { secretBytes } from '../../../src/domain/events/signature.ts';
import { createSealer } from '../../../src/platform/sealing.ts';
import { expectProblem } from '../../support/answers.ts';
import { HOOK, newPartner } from '../../support/post.ts';
import { sealedForNobody } from '../../support/sealed-for-nobody.ts';
import {
  createUpToDateDatabase,
  type Harness,
  makeWorld,
  OPERATOR_TOKEN,
  startHarness,
} from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

const newKey = () => randomBytes(32);
const text = (key: Buffer) => key.toString('base64');

function start(databaseUrl: string, env: Record<string, string>): Promise<Harness> {
  return startHarness({ databaseUrl, env: { PORTER_ROLE: 'api', ...env } });
}

async function makeSecrets(house: Harness, count: number): Promise<Buffer[]> {
  const partner = await newPartner(house);
  const secrets = [];
  for (let n = 0; n < count; n++)
    secrets.push((await partner.call('POST', '/v1/webhooks', { url: HOOK })).secret);
  return secrets.map((secret) => Buffer.from(secretBytes(secret)));
}

async function sealed(databaseUrl: string) {
  const client = await superuser(databaseUrl);
  const { rows } = await client.query<{ sealed: Buffer; keyId: string; owner: string }>(
    `SELECT sealed, key_id AS "keyId", 'webhook_secrets ' || id AS owner
       FROM webhook_secrets s JOIN webhooks w ON w.no = s.webhook_no ORDER BY s.webhook_no, s.no`,
  );
  await client.end();
  return rows;
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'porter-master-key-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

describe('a new master key', () => {
  it('seals anew at the start what the previous ones sealed, and the previous ones are no longer needed', async () => {
    const databaseUrl = await createUpToDateDatabase();
    const [oldest, old, current] = [newKey(), newKey(), newKey()];
    const first = await start(databaseUrl, { PORTER_MASTER_KEY: text(oldest) });
    const secrets = await makeSecrets(first, 3);
    await first.stop();
    const second = await start(databaseUrl, {
      PORTER_MASTER_KEY: old.toString('hex'),
      PORTER_MASTER_KEY_PREVIOUS: text(oldest),
    });
    secrets.push(...(await makeSecrets(second, 2)));
    await second.stop();
    const third = await start(databaseUrl, {
      PORTER_MASTER_KEY: text(current),
      PORTER_MASTER_KEY_PREVIOUS: `${text(old)}, ${text(oldest)}`,
    });
    expect(third.logLines()).toContainEqual(
      expect.objectContaining({ msg: 'webhook secrets sealed anew', resealed: 5 }),
    );
    await third.stop();

    const sealer = createSealer({ current, previous: [] });
    const rows = await sealed(databaseUrl);
    expect(rows.map((row) => sealer.open(row, row.owner))).toEqual(secrets);
    const alone = await start(databaseUrl, { PORTER_MASTER_KEY: text(current) });
    expect(JSON.stringify(alone.logLines())).not.toContain('sealed anew');
  });

  it('several nodes may start with it at once, and more than one batch is no trouble', async () => {
    const databaseUrl = await createUpToDateDatabase();
    const [old, current] = [newKey(), newKey()];
    const first = await start(databaseUrl, { PORTER_MASTER_KEY: text(old) });
    const [secret] = await makeSecrets(first, 1);
    const client = await superuser(databaseUrl);
    await client.query(
      `INSERT INTO webhook_secrets (webhook_no, sealed, key_id, created_at)
       SELECT webhook_no, sealed, key_id, created_at FROM webhook_secrets, generate_series(1, 1200)`,
    );
    await client.end();
    const env = { PORTER_MASTER_KEY: text(current), PORTER_MASTER_KEY_PREVIOUS: text(old) };
    await Promise.all([start(databaseUrl, env), start(databaseUrl, env), start(databaseUrl, env)]);
    const sealer = createSealer({ current, previous: [] });
    const rows = await sealed(databaseUrl);
    expect(rows).toHaveLength(1_201);
    expect(rows.every((row) => secret?.equals(sealer.open(row, row.owner)))).toBe(true);
  });

  it('a secret from before secrets had owners is sealed anew for its webhook, and signs as before', async () => {
    const databaseUrl = await createUpToDateDatabase();
    const current = newKey();
    const first = await start(databaseUrl, { PORTER_MASTER_KEY: text(current) });
    const [secret = Buffer.alloc(0)] = await makeSecrets(first, 1);
    await first.stop();
    const client = await superuser(databaseUrl);
    await client.query('UPDATE webhook_secrets SET sealed = $1, is_bound = false', [
      sealedForNobody(current, secret).sealed,
    ]);
    await client.end();
    const second = await start(databaseUrl, { PORTER_MASTER_KEY: text(current) });
    expect(second.logLines()).toContainEqual(
      expect.objectContaining({ msg: 'webhook secrets sealed anew', resealed: 1 }),
    );
    const sealer = createSealer({ current, previous: [] });
    const rows = await sealed(databaseUrl);
    expect(rows.map((row) => sealer.open(row, row.owner))).toEqual([secret]);
  });

  it('a secret that was moved to another webhook is not used, and the start says so', async () => {
    const databaseUrl = await createUpToDateDatabase();
    const env = { PORTER_MASTER_KEY: text(newKey()) };
    const first = await start(databaseUrl, env);
    await makeSecrets(first, 2);
    await first.stop();
    const client = await superuser(databaseUrl);
    await client.query(
      `UPDATE webhook_secrets SET is_bound = false, sealed = (SELECT sealed FROM webhook_secrets ORDER BY webhook_no LIMIT 1)`,
    );
    await client.end();
    await expect(start(databaseUrl, env)).rejects.toThrow(/belongs to something else/);
  });

  it('the service does not start without the key of a secret, and says in one sentence which one it is', async () => {
    const databaseUrl = await createUpToDateDatabase();
    const old = newKey();
    const first = await start(databaseUrl, { PORTER_MASTER_KEY: text(old) });
    await makeSecrets(first, 1);
    const { keyId } = first.service.app.sealer;
    await first.stop();
    await expect(start(databaseUrl, { PORTER_MASTER_KEY: text(newKey()) })).rejects.toThrow(
      `The secrets of some webhooks are sealed under the master key ${keyId}, which is not configured: add it to PORTER_MASTER_KEY_PREVIOUS, or set PORTER_MASTER_KEY to it.`,
    );
    await start(databaseUrl, { PORTER_MASTER_KEY: text(old) });
  });

  it('a secret that has expired keeps nobody from starting, and goes', async () => {
    const databaseUrl = await createUpToDateDatabase();
    const first = await start(databaseUrl, { PORTER_MASTER_KEY: text(newKey()) });
    await makeSecrets(first, 1);
    await first.stop();
    const client = await superuser(databaseUrl);
    await client.query("UPDATE webhook_secrets SET expires_at = '2026-01-01T00:00:00Z'");
    await client.end();
    await start(databaseUrl, { PORTER_MASTER_KEY: text(newKey()) });
    expect(await sealed(databaseUrl)).toEqual([]);
  });
});

describe('an answer that was sealed under a master key from before', () => {
  const replayed = (house: Harness, id: string) =>
    house.send('POST', '/operator/v1/partners', {
      token: OPERATOR_TOKEN,
      body: { name: 'Once', contact_email: 'dev@partner.example' },
      headers: { 'idempotency-key': id },
    });

  it('is told again as long as that key is in place; then 409 says what to do, and nothing is done twice', async () => {
    const databaseUrl = await createUpToDateDatabase();
    const [old, current] = [newKey(), newKey()];
    const first = await start(databaseUrl, { PORTER_MASTER_KEY: text(old) });
    const told = await replayed(first, 'once');
    expect(told.status).toBe(201);
    const both = await start(databaseUrl, {
      PORTER_MASTER_KEY: text(current),
      PORTER_MASTER_KEY_PREVIOUS: text(old),
    });
    expect((await replayed(both, 'once')).text).toBe(told.text);
    const alone = await start(databaseUrl, { PORTER_MASTER_KEY: text(current) });
    const lost = await replayed(alone, 'once');
    expectProblem(lost, 409, 'conflict');
    expect(lost.body.message).toMatch(/another master key since.*send a new Idempotency-Key/);
    expect((await alone.operator('GET', '/partners')).count).toBe(1);
    expect((await replayed(alone, 'twice')).status).toBe(201);
  });

  it('409 to who gathers calls, and to who collects what was approved, until that key is back', async () => {
    const databaseUrl = await createUpToDateDatabase();
    const [old, current] = [newKey(), newKey()];
    const free = await start(databaseUrl, { PORTER_MASTER_KEY: text(old) });
    const world = await makeWorld(free);
    const submit = (house: Harness) =>
      house.send('POST', `/operator/v1/practice-groups/${world.groupId}/form-submissions`, {
        token: OPERATOR_TOKEN,
        body: { submission_type_id: 'type-1' },
        headers: { 'idempotency-key': 'form' },
      });
    expect((await submit(free)).status).toBe(201);
    const approvals = { PORTER_APPROVALS: 'keys' };
    const asking = await start(databaseUrl, { PORTER_MASTER_KEY: text(old), ...approvals });
    const second = await free.operator('POST', '/operators', { name: 'Second', role: 'admin' });
    // An operator approves nothing that is as old as it is.
    asking.clock.advance(1);
    const { id } = await asking.operator('POST', `/keys/${world.keyId}/rotate`);
    const token = second.token;
    expect((await asking.send('POST', `/operator/v1/approvals/${id}/approve`, { token })).status).toBe(200);

    const alone = await start(databaseUrl, { PORTER_MASTER_KEY: text(current), ...approvals });
    expectProblem(await submit(alone), 409, 'conflict');
    const collect = (house: Harness) =>
      house.send('POST', `/operator/v1/approvals/${id}/collect`, { token: OPERATOR_TOKEN });
    const lost = await collect(alone);
    expectProblem(lost, 409, 'conflict');
    expect(lost.body.message).toMatch(/PORTER_MASTER_KEY_PREVIOUS/);
    expect((await collect(asking)).body.answer.key).toMatch(/^ptr_test_/);
  });
});

describe('without PORTER_MASTER_KEY, in staging', () => {
  it('one is made in the data folder that only its owner can read, and used again', async () => {
    const databaseUrl = await createUpToDateDatabase();
    const env = { PORTER_MASTER_KEY: '', PORTER_DATA_DIR: join(folder(), 'data') };
    const first = await start(databaseUrl, env);
    const file = join(env.PORTER_DATA_DIR, 'master-key');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(env.PORTER_DATA_DIR).mode & 0o777).toBe(0o700);
    const key = readFileSync(file, 'utf8');
    expect(Buffer.from(key, 'base64')).toHaveLength(32);
    const secrets = await makeSecrets(first, 1);
    await first.stop();
    const second = await start(databaseUrl, env);
    expect(readFileSync(file, 'utf8')).toBe(key);
    const rows = await sealed(databaseUrl);
    expect(rows.map((row) => second.service.app.sealer.open(row, row.owner))).toEqual(secrets);
  });

  it('several that start at once in one folder agree on one', async () => {
    const data = folder();
    const databaseUrl = await createUpToDateDatabase();
    const env = { PORTER_MASTER_KEY: '', PORTER_DATA_DIR: data };
    const houses = await Promise.all([1, 2, 3].map(() => start(databaseUrl, env)));
    expect(new Set(houses.map(({ service }) => service.app.sealer.keyId)).size).toBe(1);
    expect(readdirSync(data)).toEqual(['master-key']);
  });

  it('one that is there is never written over, and one that is no key is told', async () => {
    const data = folder();
    const databaseUrl = await createUpToDateDatabase();
    const file = join(data, 'master-key');
    writeFileSync(file, 'damaged\n');
    await expect(start(databaseUrl, { PORTER_MASTER_KEY: '', PORTER_DATA_DIR: data })).rejects.toThrow(
      `The master key in ${file} cannot be used: it must be 32 random bytes, written in base64 or hex.`,
    );
    expect(readFileSync(file, 'utf8')).toBe('damaged\n');
  });

  it('a configured key needs no file', async () => {
    const data = join(folder(), 'data');
    mkdirSync(data);
    chmodSync(data, 0o700);
    await start(await createUpToDateDatabase(), { PORTER_MASTER_KEY: text(newKey()), PORTER_DATA_DIR: data });
    expect(readdirSync(data)).toEqual([]);
  });
});
