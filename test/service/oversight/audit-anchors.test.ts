import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { OPERATOR_RATE_LIMIT } from '../../../src/contract/access.ts';
import type { Clock } from '../../../src/platform/clock.ts';
import { AuditVerification } from '../../../src/runtime/oversight/audit-verification.ts';
import { appendAudit } from '../../../src/store/audit-append.ts';
import { transact } from '../../../src/store/database.ts';
import { temporaryFolder } from '../../support/afterwards.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { startReceiver, status } from '../../support/receiver.ts';
import { type Harness, type Loose, makeWorld, OPERATOR_TOKEN, startHarness } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

const env = { PORTER_ROLE: 'api' };

const verify = (house: Harness, anchor?: string): Promise<Loose> =>
  house.operator(
    'GET',
    `/audit/verify${anchor === undefined ? '' : `?anchor=${encodeURIComponent(anchor)}`}`,
  );

const anchorOf = (house: Harness): Promise<Loose> => house.operator('GET', '/audit/anchor');

async function withHistory() {
  const house = await startHarness({ env });
  await makeWorld(house);
  return { house, db: await superuser(house.databaseUrl) };
}

/** As somebody who owns the database and knows the code: the chain that is left is whole. */
async function cutTo(db: Awaited<ReturnType<typeof superuser>>, seq: number): Promise<void> {
  await db.query('SET session_replication_role = replica');
  await db.query('DELETE FROM audit_entries WHERE seq > $1', [seq]);
  await db.query('UPDATE audit_head SET (seq, hash) = (SELECT seq, hash FROM audit_entries WHERE seq = $1)', [
    seq,
  ]);
}

describe('an anchor of the audit', () => {
  it('is the head of the chain in one signed line, and holds for good', async () => {
    const { house } = await withHistory();
    const { data } = await house.operator('GET', '/audit?page_size=1');
    const anchor = await anchorOf(house);
    expect(anchor).toMatchObject({ seq: data[0].seq, hash: data[0].hash });
    expect(anchor.line).toMatch(
      new RegExp(
        `^porter-audit-anchor-v1 seq=${anchor.seq} hash=${anchor.hash} at=\\S+ key=${anchor.key} signature=\\S+$`,
      ),
    );
    await makeWorld(house);
    expect(await verify(house, anchor.line)).toMatchObject({
      ok: true,
      anchor: { seq: anchor.seq, at: anchor.at, key_known: true },
    });
  });

  it('shows that the tail was cut, which the chain itself does not', async () => {
    const { house, db } = await withHistory();
    const { line, seq } = await anchorOf(house);
    await cutTo(db, seq - 2);
    expect(await verify(house)).toMatchObject({ ok: true, entries: seq - 2 });
    expect(await verify(house, line)).toMatchObject({ ok: false, anchor: { seq, problem: 'cut' } });
  });

  it('shows that the chain was written anew, which the chain itself does not', async () => {
    const { house, db } = await withHistory();
    const { line, seq } = await anchorOf(house);
    await cutTo(db, seq - 2);
    await makeWorld(house);
    expect(await verify(house)).toMatchObject({ ok: true });
    expect(await verify(house, line)).toMatchObject({ ok: false, anchor: { seq, problem: 'rewritten' } });
  });

  it('that was altered is not genuine, and what is none is refused', async () => {
    const { house } = await withHistory();
    const { line, seq } = await anchorOf(house);
    for (const altered of [
      line.replace(`seq=${seq}`, `seq=${seq - 1}`),
      line.replace(/hash=.{4}/, 'hash=0000'),
      line.replace(/at=2026/, 'at=2025'),
      line.replace(/signature=.{4}/, 'signature=AAAA'),
    ])
      expect(await verify(house, altered)).toMatchObject({ ok: false, anchor: { problem: 'not_genuine' } });
    for (const none of ['', 'x', `${line} x`, line.replace('key=', 'key='.repeat(2))]) {
      const answer = await house.send('GET', `/operator/v1/audit/verify?anchor=${encodeURIComponent(none)}`, {
        token: OPERATOR_TOKEN,
      });
      expect([answer.status, answer.body.message?.[0]?.path]).toEqual([400, ['anchor']]);
    }
  });

  it('is signed by a key that comes from the master key: another one does not know it, unless it is named as the previous', async () => {
    const { house } = await withHistory();
    const { line, key } = await anchorOf(house);
    const { databaseUrl } = house;
    await house.stop();
    const other = Buffer.alloc(32, 'other').toString('base64');
    const known = async (keys: Record<string, string>) => {
      const next = await startHarness({ databaseUrl, env: { ...env, ...keys } });
      const { anchor, ok } = await verify(next, line);
      expect((await anchorOf(next)).key === key).toBe(keys.PORTER_MASTER_KEY === undefined);
      await next.stop();
      return [ok, anchor.key_known];
    };
    expect(await known({})).toEqual([true, true]);
    expect(await known({ PORTER_MASTER_KEY: other })).toEqual([true, false]);
  });

  it('is given out to a file, an address and an object store, again when the chain has grown', async () => {
    const receiver = await startReceiver({ behaviour: status(204) });
    const file = join(temporaryFolder(), 'anchors');
    const lines = () => readFileSync(file, { encoding: 'utf8', flag: 'a+' }).split('\n').slice(0, -1);
    const places = { PORTER_AUDIT_ANCHOR_FILE: file, PORTER_AUDIT_ANCHOR_URL: `${receiver.url}/anchors` };
    const house = await startHarness({ env: { ...env, ...places } });
    await expect.poll(() => [lines().length, receiver.received.length]).toEqual([1, 1]);
    expect(receiver.received[0]).toMatchObject({ method: 'POST', body: `${lines()[0]}\n` });
    await makeWorld(house);
    await house.stop();
    const { databaseUrl } = house;
    const store = { ...places, PORTER_AUDIT_ANCHOR_URL: `${receiver.url}/store/{seq}` };
    const again = await startHarness({ databaseUrl, env: { ...env, ...store } });
    await expect.poll(() => [lines().length, receiver.received.length]).toEqual([2, 2]);
    const { seq } = await anchorOf(again);
    expect(receiver.received[1]).toMatchObject({
      method: 'PUT',
      path: expect.stringMatching(`/store/${seq}$`),
    });
    for (const line of lines()) expect(await verify(again, line)).toMatchObject({ ok: true });
  });

  it('that cannot be given out is told in the log, and keeps nobody from serving', async () => {
    const receiver = await startReceiver({ behaviour: status(500) });
    const places = { PORTER_AUDIT_ANCHOR_FILE: '/proc/anchors', PORTER_AUDIT_ANCHOR_URL: receiver.url };
    const house = await startHarness({ env: { ...env, ...places } });
    const told = () =>
      house.logLines().filter(({ msg }) => msg === 'an anchor of the audit could not be given out');
    await expect.poll(() => told().length).toBe(2);
    expect(JSON.stringify(told())).toMatch(/ENOENT.*it answered 500/);
    expect(await verify(house)).toMatchObject({ ok: true });
  });
});

describe('verifying', () => {
  it('is done once for all who ask at a time', async () => {
    const { house } = await withHistory();
    const { auditVerification } = house.service.app;
    const { verify: verifyFor } = auditVerification;
    const everybody = Promise.withResolvers<void>();
    let asked = 0;
    // Whoever comes after a walk has ended makes another one: so all of them ask at the same moment.
    vi.spyOn(auditVerification, 'verify').mockImplementation(async (signal) => {
      if (++asked === 40) everybody.resolve();
      await everybody.promise;
      return verifyFor.call(auditVerification, signal);
    });
    const query = vi.spyOn(pg.Client.prototype, 'query');
    onTestFinished(() => query.mockRestore());
    const verdicts = await Promise.all(Array.from({ length: 40 }, () => verify(house)));
    expect(new Set(verdicts.map(({ ok }) => ok))).toEqual(new Set([true]));
    const walked = query.mock.calls.filter(([sent]) =>
      JSON.stringify(sent).includes('actor_id, action, subject_id'),
    );
    expect(walked).toHaveLength(1);
  });

  it('rests between stretches, and stops when nobody listens any more; one who stays has the verdict', async () => {
    const { house } = await withHistory();
    const { db } = house.service.app;
    const at = new Date(house.clock.now()).toISOString();
    const record = {
      at,
      principal: { kind: 'system' } as const,
      action: 'event.test' as const,
      subject: { type: 'x', id: 'x' },
    };
    await transact(db, { kind: 'system' }, async (tx) => {
      const one = { ...record, requestId: null, before: null, after: null };
      appendAudit(tx.deferred, [one, ...Array.from({ length: 2_000 }, () => one)]);
    });
    let time = 0;
    const rests: { ms: number; wake: () => void }[] = [];
    const clock: Clock = Object.assign(new ManualClock(), {
      monotonic: () => (time += 5),
      sleep: (ms: number) => new Promise<void>((wake) => void rests.push({ ms, wake })),
    });
    const verification = new AuditVerification(db, clock);
    const [first, second] = [new AbortController(), new AbortController()];
    const leaves = verification.verify(first.signal).catch((error: Error) => error.message);
    const leavesToo = verification.verify(second.signal).catch((error: Error) => error.message);
    await expect.poll(() => rests.length).toBe(1);
    expect(rests[0]?.ms).toBe(15);
    first.abort();
    rests[0]?.wake();
    await expect.poll(() => rests.length).toBe(2);
    second.abort();
    rests[1]?.wake();
    expect(await Promise.all([leaves, leavesToo])).toEqual(
      Array(2).fill('nobody waits for the verdict any more'),
    );
    expect(rests).toHaveLength(2);

    const verdict = verification.verify(new AbortController().signal);
    for (let rest = 2; rest < 7; rest++) {
      await expect.poll(() => rests.length).toBe(rest + 1);
      rests[rest]?.wake();
    }
    expect(await verdict).toMatchObject({ ok: true });
  });

  it('goes on for nobody who has hung up', async () => {
    const { house } = await withHistory();
    const { auditVerification } = house.service.app;
    let gone: AbortSignal | undefined;
    vi.spyOn(auditVerification, 'verify').mockImplementation(async (signal) => {
      gone = signal;
      return new Promise(() => {});
    });
    const leaving = new AbortController();
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
    const call = fetch(`${house.url}/operator/v1/audit/verify`, { headers, signal: leaving.signal });
    call.catch(() => {});
    await expect.poll(() => gone?.aborted).toBe(false);
    leaving.abort();
    await expect.poll(() => gone?.aborted).toBe(true);
  });
});

it('an operator has a limit, except for what says what happened', async () => {
  const { house } = await withHistory();
  const { operators } = house.service.app.limits;
  const { groupId } = await makeWorld(house);
  for (let call = 0; call < OPERATOR_RATE_LIMIT; call++) operators.take('opr_first', OPERATOR_RATE_LIMIT);
  const get = () => house.send('GET', '/operator/v1/partners', { token: OPERATOR_TOKEN });
  const refused = await get();
  expect(refused.status).toBe(429);
  expect(refused.headers).toMatchObject({
    'ratelimit-policy': '"operator";q=6000;w=60',
    'retry-after': '60',
  });
  const event = {
    object: 'Appointment',
    id: 'apt_1',
    practice_group_id: groupId,
    event: 'appointment.confirmed',
  };
  const published = await house.send('POST', '/operator/v1/events', { token: OPERATOR_TOKEN, body: event });
  expect(published.status).toBe(202);
  house.clock.advance(60_000);
  expect((await get()).status).toBe(200);
});
