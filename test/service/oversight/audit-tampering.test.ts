import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { SYSTEM } from '../../../src/domain/access/principal.ts';
import { type AuditRecord, auditAppendSql, auditText } from '../../../src/store/audit-append.ts';
import { transact } from '../../../src/store/database.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { makeWorld, serviceForTests, startHarness } from '../../support/service.ts';

/** A superuser who has switched the triggers off can do anything; what he did must still come out. */

const { house, db } = await serviceForTests();
let length: number;

beforeAll(async () => {
  ({ entries: length } = await verify());
  await db.query('ALTER TABLE audit_entries DISABLE TRIGGER USER');
  await db.query('CREATE TABLE true_entries AS TABLE audit_entries');
  await db.query('CREATE TABLE true_head AS TABLE audit_head');
});

const restore = () =>
  db.query(`BEGIN;
    DELETE FROM audit_entries; INSERT INTO audit_entries TABLE true_entries;
    DELETE FROM audit_head; INSERT INTO audit_head TABLE true_head;
    COMMIT`);
afterEach(restore);

interface Verdict {
  ok: boolean;
  entries: number;
  first_bad?: number;
}

const verify = (): Promise<Verdict> => house.operator('GET', '/audit/verify');

describe('GET /operator/v1/audit/verify', () => {
  it('finds nothing wrong with an untouched chain', async () => {
    expect(await verify()).toEqual({ ok: true, entries: length });
    expect(length).toBeGreaterThan(8);
  });

  it.each([
    [
      'the body of the first entry',
      1,
      `UPDATE audit_entries SET body = replace(body, 'admin', 'viewer') WHERE seq = 1`,
    ],
    ['the body of an entry in the middle', 4, `UPDATE audit_entries SET body = body || ' ' WHERE seq = 4`],
    ['a body that is no longer JSON', 4, `UPDATE audit_entries SET body = 'gone' WHERE seq = 4`],
    ['a body that is empty', 4, `UPDATE audit_entries SET body = '' WHERE seq = 4`],
    [
      'the time of an entry, by a microsecond',
      5,
      `UPDATE audit_entries SET at = at + interval '1 microsecond' WHERE seq = 5`,
    ],
    ['the time of an entry, to no time at all', 5, `UPDATE audit_entries SET at = 'infinity' WHERE seq = 5`],
    ['the actor of an entry', 5, `UPDATE audit_entries SET actor_id = 'somebody' WHERE seq = 5`],
    ['the action of an entry', 5, `UPDATE audit_entries SET action = 'form.put.' WHERE seq = 5`],
    ['the subject of an entry', 5, `UPDATE audit_entries SET subject_id = 'other' WHERE seq = 5`],
    ['the practice group of an entry', 5, `UPDATE audit_entries SET practice_group_id = NULL WHERE seq = 5`],
    ['the hash of an entry', 6, `UPDATE audit_entries SET hash = sha256(hash) WHERE seq = 6`],
    [
      'the hash of an entry, cut short',
      6,
      `UPDATE audit_entries SET hash = substr(hash, 1, 31) WHERE seq = 6`,
    ],
  ])('finds an alteration of %s', async (_what, at, sql) => {
    await db.query(sql);
    expect(await verify()).toEqual({ ok: false, entries: length, first_bad: at });
  });

  it('finds nothing wrong with what one transaction wrote, however long that took', async () => {
    const record = (later: number): AuditRecord => ({
      at: new Date(house.clock.now() + later).toISOString(),
      principal: SYSTEM,
      action: 'form.put',
      subject: { type: 'form', id: `form-${later}` },
      requestId: null,
      before: null,
      after: null,
    });
    const { app } = house.service;
    await transact(app.db, SYSTEM, async (tx) => tx.audit(record(0), record(3), record(7)));
    const { rows } = await db.query(
      `SELECT count(DISTINCT at)::integer AS times, count(DISTINCT body::json ->> 'at')::integer AS told FROM audit_entries WHERE seq > $1`,
      [length],
    );
    expect(rows).toEqual([{ times: 1, told: 1 }]);
    expect(await verify()).toEqual({ ok: true, entries: length + 3 });
  });

  it('finds nothing wrong with entries of one transaction that each tell a time of their own, and what is altered in them', async () => {
    const [first, second, third] = [0, 4, 9].map((later) =>
      auditText({
        at: new Date(house.clock.now() + later).toISOString(),
        principal: SYSTEM,
        action: 'form.put',
        subject: { type: 'form', id: 'form' },
        requestId: null,
        before: null,
        after: null,
      }),
    ) as [string, string, string];
    const at = new Date(house.clock.now()).toISOString();
    const of = (text: string) => Array.from({ length: 3 }, () => text);
    await transact(house.service.app.db, SYSTEM, async (tx) => {
      void auditAppendSql(tx.deferred, {
        at,
        actor_ids: of('porter'),
        actions: of('form.put'),
        subject_ids: of('form'),
        group_ids: [null, null, null],
        bodies: [first, second, third],
      });
    });
    expect(await verify()).toEqual({ ok: true, entries: length + 3 });
    for (const by of ['1 microsecond', '-1 hour', '-1 day']) {
      await db.query(`UPDATE audit_entries SET at = at + interval '${by}' WHERE seq = $1`, [length + 2]);
      expect(await verify(), by).toEqual({ ok: false, entries: length + 3, first_bad: length + 2 });
      await db.query('UPDATE audit_entries SET at = $2 WHERE seq = $1', [length + 2, at]);
    }
  });

  it('finds a removed first entry, one in the middle, several, and a cut-off tail', async () => {
    for (const [where, at] of [
      ['seq = 1', 1],
      ['seq = 5', 5],
      ['seq IN (3, 7)', 3],
      ['seq = (SELECT max(seq) FROM audit_entries)', length],
      ['seq > 4', 5],
      ['true', 1],
    ] as const) {
      await db.query(`DELETE FROM audit_entries WHERE ${where}`);
      expect(await verify()).toEqual({ ok: false, entries: length, first_bad: at });
      await restore();
    }
  });

  it('finds a removed entry whose followers moved up', async () => {
    await db.query('DELETE FROM audit_entries WHERE seq = 3');
    await db.query('UPDATE audit_entries SET seq = -seq WHERE seq > 3');
    await db.query('UPDATE audit_entries SET seq = -seq - 1 WHERE seq < 0');
    expect(await verify()).toMatchObject({ ok: false, first_bad: 3 });
    await db.query('UPDATE audit_head SET seq = seq - 1');
    expect(await verify()).toMatchObject({ ok: false, first_bad: 3 });
  });

  it('finds swapped entries', async () => {
    await db.query('UPDATE audit_entries SET seq = 1000 WHERE seq = 4');
    await db.query('UPDATE audit_entries SET seq = 4 WHERE seq = 7');
    await db.query('UPDATE audit_entries SET seq = 7 WHERE seq = 1000');
    expect(await verify()).toEqual({ ok: false, entries: length, first_bad: 4 });
  });

  it('finds an inserted entry in the middle, with a hash that continues the chain before it', async () => {
    await db.query('UPDATE audit_entries SET seq = -seq WHERE seq >= 5');
    await db.query('UPDATE audit_entries SET seq = 1 - seq WHERE seq < 0');
    await db.query(
      `INSERT INTO audit_entries (seq, at, actor_id, action, subject_id, practice_group_id, body, hash)
       SELECT 5, at, actor_id, action, subject_id, practice_group_id, body,
              sha256(hash || convert_to('5:' || body, 'UTF8')) FROM audit_entries WHERE seq = 4`,
    );
    await db.query('UPDATE audit_head SET seq = seq + 1');
    expect(await verify()).toMatchObject({ ok: false, first_bad: 6 });
  });

  it.each([
    ['after the last', 'max(seq) + 1'],
    ['far after the last', 'max(seq) + 100'],
    ['before the first', 'min(seq) - 1'],
    ['far before the first', 'min(seq) - 8'],
  ])('finds an entry that was put %s, which lists would show', async (_where, seq) => {
    await db.query(
      `INSERT INTO audit_entries (seq, at, actor_id, action, subject_id, practice_group_id, body, hash)
       SELECT (SELECT ${seq} FROM audit_entries), at, actor_id, action, subject_id, practice_group_id, body, hash
         FROM audit_entries WHERE seq = 4`,
    );
    expect(await verify()).toMatchObject({ ok: false, first_bad: expect.any(Number) });
  });

  it('finds an altered, moved or removed head', async () => {
    for (const sql of [
      'UPDATE audit_head SET hash = sha256(hash)',
      'UPDATE audit_head SET seq = seq + 1',
      'UPDATE audit_head SET seq = seq - 1',
      `UPDATE audit_head SET seq = 0, hash = sha256('porter')`,
      'UPDATE audit_head SET seq = 4, hash = (SELECT hash FROM audit_entries e WHERE e.seq = 4)',
      'UPDATE audit_head SET seq = -3',
      'DELETE FROM audit_head',
    ]) {
      await db.query(sql);
      expect(await verify(), sql).toMatchObject({ ok: false, first_bad: expect.any(Number) });
      await restore();
    }
  });

  it('finds nonsense whose hashes are right: a whole new tail, columns and body at odds', async () => {
    for (const body of ['nonsense', '{}', 'null', '{"at":1,"actor":null}']) {
      const { rows } = await db.query('SELECT hash FROM audit_entries WHERE seq = $1', [length - 1]);
      const hash = createHash('sha256').update(rows[0].hash).update(`${length}:${body}`).digest();
      await db.query('UPDATE audit_entries SET body = $1, hash = $2 WHERE seq = $3', [body, hash, length]);
      await db.query('UPDATE audit_head SET hash = $1', [hash]);
      expect(await verify()).toEqual({ ok: false, entries: length, first_bad: length });
    }
  });

  it('property: whatever is done to the entries, the verdict names the first place that is not as it was', async () => {
    const seq = fc.integer({ min: 1, max: length });
    const column = fc.constantFrom('actor_id', 'action', 'subject_id', 'practice_group_id', 'body');
    const tampering = fc.oneof(
      fc.record({ seq, column, text: fc.string({ maxLength: 20 }) }).map(({ seq, column, text }) => ({
        sql: `UPDATE audit_entries SET ${column} = $2 WHERE seq = $1`,
        values: [seq, text.replaceAll('\0', '')],
      })),
      fc.record({ seq, at: fc.nat(300) }).map(({ seq, at }) => ({
        // One character of the body becomes another one, or the same.
        sql: `UPDATE audit_entries SET body = overlay(body PLACING 'x' FROM $2 + 1 FOR 1) WHERE seq = $1`,
        values: [seq, at],
      })),
      fc.record({ seq, micros: fc.integer({ min: -2_000, max: 2_000 }) }).map(({ seq, micros }) => ({
        sql: `UPDATE audit_entries SET at = at + $2 * interval '1 microsecond' WHERE seq = $1`,
        values: [seq, micros],
      })),
      fc.record({ seq, byte: fc.nat(31), value: fc.nat(255) }).map(({ seq, byte, value }) => ({
        sql: 'UPDATE audit_entries SET hash = set_byte(hash, $2, $3) WHERE seq = $1',
        values: [seq, byte, value],
      })),
      seq.map((one) => ({ sql: 'DELETE FROM audit_entries WHERE seq = $1', values: [one] })),
      fc.tuple(seq, seq).map((pair) => ({
        sql: `UPDATE audit_entries e SET at = o.at, actor_id = o.actor_id, action = o.action,
                subject_id = o.subject_id, practice_group_id = o.practice_group_id, body = o.body, hash = o.hash
                FROM audit_entries o WHERE e.seq IN ($1, $2) AND o.seq IN ($1, $2) AND e.seq <> o.seq`,
        values: pair,
      })),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(tampering, { minLength: 1, maxLength: 4 }), async (done) => {
        try {
          for (const { sql, values } of done) await db.query(sql, values);
          const { rows } = await db.query<{ seq: string | null }>(
            `SELECT min(t.seq) AS seq FROM true_entries t LEFT JOIN audit_entries e USING (seq)
              WHERE (t.*)::text IS DISTINCT FROM (e.*)::text`,
          );
          const first = rows[0]?.seq;
          expect(await verify()).toEqual(
            first ? { ok: false, entries: length, first_bad: Number(first) } : { ok: true, entries: length },
          );
        } finally {
          await restore();
        }
      }),
      { numRuns: 150 },
    );
  });
});

describe('an honest chain', () => {
  it('stays right when time passes between two entries of one change', async () => {
    class TickingClock extends ManualClock {
      override now(): number {
        this.advance(1);
        return super.now();
      }
    }
    const ticking = await startHarness({ clock: new TickingClock() });
    const { keyId } = await makeWorld(ticking);
    await ticking.operator('POST', `/keys/${keyId}/rotate`);
    expect(await ticking.operator('GET', '/audit/verify')).toMatchObject({ ok: true });
  });
});

describe('the database itself', () => {
  it.each([
    'UPDATE audit_entries SET body = body',
    'UPDATE audit_entries SET at = now() WHERE seq = 1',
    'DELETE FROM audit_entries',
    'DELETE FROM audit_entries WHERE seq = 1',
    'TRUNCATE audit_entries',
    `INSERT INTO audit_entries SELECT * FROM audit_entries WHERE seq = 1 ON CONFLICT (seq) DO UPDATE SET body = ''`,
  ])('refuses "%s", even to a superuser', async (sql) => {
    await db.query('ALTER TABLE audit_entries ENABLE TRIGGER USER');
    try {
      await expect(db.query(sql)).rejects.toThrow('audit entries are never changed or removed');
    } finally {
      await db.query('ALTER TABLE audit_entries DISABLE TRIGGER USER');
    }
    expect(await verify()).toEqual({ ok: true, entries: length });
  });
});
