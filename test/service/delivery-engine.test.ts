import { describe, expect, it } from 'vitest';
import { fanOut } from '../../src/store/deliveries.ts';
import { type Result, recordResults } from '../../src/store/deliveries-record.ts';
import { answered, openPostOffice, type PostOffice } from '../support/post-office.ts';

const HOUR = 3_600_000;

describe('an event', () => {
  it('reaches every webhook that wants it, once, with its exact body', async () => {
    const office = await openPostOffice();
    await office.addWebhook();
    await office.addWebhook({ eventTypes: ['prescription.issued'] });
    await office.addWebhook({ group: 'other-group' });
    await office.publish({ id: 'a' }, { id: 'b' });
    await office.engine.drain();
    await office.engine.drain();
    expect(office.letters.map(({ url, body, sequence }) => [url, body, sequence])).toEqual([
      [
        'https://receiver-1.example/hook',
        '{"object":"Appointment","id":"a","practice_group_id":"group","event":"appointment.confirmed"}',
        1,
      ],
      [
        'https://receiver-1.example/hook',
        '{"object":"Appointment","id":"b","practice_group_id":"group","event":"appointment.confirmed"}',
        2,
      ],
    ]);
  });

  it('goes to nobody whose key was revoked, or whose network was dissolved, when it is fanned out', async () => {
    const office = await openPostOffice();
    await office.addWebhook();
    await office.rows("UPDATE api_keys SET revoked_at = now() WHERE practice_group_id = 'group'");
    await office.publish({ id: 'without a key' });
    await office.engine.drain();
    expect(office.letters).toEqual([]);

    await office.rows("INSERT INTO networks VALUES ('n', 'n', now(), now())");
    await office.rows("INSERT INTO network_members VALUES ('n', 'group'), ('n', 'other-group')");
    await office.publish({ id: 'through the network' });
    await office.engine.drain();
    expect(office.letters.map(({ payload }) => payload.id)).toEqual(['through the network']);

    await office.rows('DELETE FROM network_members');
    await office.publish({ id: 'after it was dissolved' });
    await office.rows("UPDATE api_keys SET revoked_at = NULL, expires_at = '2026-01-01'");
    await office.publish({ id: 'with an expired key' });
    await office.engine.drain();
    await office.rows("UPDATE api_keys SET expires_at = NULL; UPDATE partners SET status = 'suspended'");
    await office.publish({ id: 'of a suspended partner' });
    await office.engine.drain();
    expect(office.letters).toHaveLength(1);
  });

  it('goes to nobody because of a key of another partner, or of one in the network that no longer works', async () => {
    const office = await openPostOffice();
    await office.addWebhook();
    await office.rows("INSERT INTO networks VALUES ('n', 'n', now(), now())");
    await office.rows("INSERT INTO network_members VALUES ('n', 'group'), ('n', 'other-group')");
    await office.rows(
      `INSERT INTO partners (id, name, contact_email, status, created_at, updated_at)
       VALUES ('rival', 'Rival', 'dev@rival.example', 'verified', now(), now())`,
    );
    const publishWith = async (keys: string) => {
      await office.rows(`UPDATE api_keys SET ${keys}`);
      await office.publish({ id: keys });
      await office.engine.drain();
    };
    await publishWith("partner_id = 'rival'");
    await publishWith("partner_id = 'partner', revoked_at = now()");
    await publishWith("revoked_at = NULL, expires_at = '2026-01-01'");
    await publishWith('expires_at = NULL');
    expect(office.letters.map(({ payload }) => payload.id)).toEqual(['expires_at = NULL']);
  });

  it('waits for a webhook that is paused, and goes when it is active again', async () => {
    const office = await openPostOffice();
    const no = await office.addWebhook();
    await office.rows("UPDATE webhooks SET status = 'paused'");
    await office.publish({ id: 'a' }, { id: 'a' });
    await office.engine.drain();
    expect(office.letters).toEqual([]);
    await office.rows("UPDATE webhooks SET status = 'active' WHERE no = $1", [no]);
    await office.engine.drain();
    expect(office.letters.map(({ sequence }) => sequence)).toEqual([1, 2]);
  });
});

describe('a failure', () => {
  it('is retried on schedule, ten attempts in all under one name, then given up', async () => {
    const office = await openPostOffice();
    office.answerWith(() => 500);
    await office.addWebhook();
    await office.publish({ id: 'a' }, { id: 'a' });
    do await office.engine.drain();
    while (await office.toNextDue());

    const first = office.letters.filter(({ sequence }) => sequence === 1);
    const gaps = first.slice(1).map(({ at }, index) => at - (first[index]?.at ?? 0));
    const expected = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400].map((s) => s * 1_000);
    expect(gaps).toHaveLength(9);
    gaps.forEach((gap, index) => {
      expect(gap).toBeGreaterThanOrEqual((expected[index] ?? 0) * 0.9);
      expect(gap).toBeLessThanOrEqual((expected[index] ?? 0) * 1.1 + 1);
    });
    expect(new Set(first.map(({ id }) => id)).size).toBe(1);
    // The second one about the same object begins when the first is given up.
    expect(office.letters.findIndex(({ sequence }) => sequence === 2)).toBe(10);
  });

  it('honours Retry-After on 429 and 503, in seconds or as a date, up to a day', async () => {
    const office = await openPostOffice();
    await office.addWebhook();
    const start = office.clock.now();
    const waits = ['120', new Date(start + 120_000 + HOUR).toUTCString(), '9999999', 'soon'];
    office.answerWith(({ at }) =>
      answered(at % 2 ? 429 : 503, { retryAfter: waits[office.letters.length - 1] }),
    );
    await office.publish({ id: 'a' });
    for (let round = 0; round < 5; round++) {
      await office.engine.drain();
      await office.toNextDue();
    }
    const [a = 0, b = 0, c = 0, d = 0, e = 0] = office.letters.map(({ at }) => at - start);
    expect([a, b]).toEqual([0, 120_000]);
    expect(Math.abs(c - 120_000 - HOUR)).toBeLessThan(1_001);
    expect(d - c).toBe(24 * HOUR);
    expect(e - d).toBeGreaterThan(1.7 * HOUR);
    expect(e - d).toBeLessThan(2.3 * HOUR);
  });

  it('disables the webhook at once on 410, and keeps what is queued', async () => {
    const office = await openPostOffice();
    const no = await office.addWebhook();
    office.answerWith(() => 410);
    await office.publish({ id: 'a' }, { id: 'b' });
    await office.engine.drain();
    const [webhook] = await office.rows<{ status: string; status_reason: string }>('SELECT * FROM webhooks');
    expect(webhook).toMatchObject({ status: 'disabled', status_reason: expect.stringContaining('410') });
    const [entry] = await office.rows('SELECT * FROM audit_entries');
    expect(entry).toMatchObject({ action: 'webhook.disable', actor_id: 'porter' });

    office.answerWith(() => 200);
    office.clock.advance(24 * HOUR);
    office.letters.length = 0;
    await office.engine.drain();
    expect(office.letters).toEqual([]);
    await office.rows("UPDATE webhooks SET status = 'active', version = version + 1 WHERE no = $1", [no]);
    await office.engine.drain();
    expect(office.letters.map(({ sequence }) => sequence).sort()).toEqual([1, 2]);
  });

  it('does not disable a webhook that its owner has paused meanwhile', async () => {
    const office = await openPostOffice();
    await office.addWebhook();
    office.answerWith(async () => {
      await office.rows("UPDATE webhooks SET status = 'paused', version = version + 1");
      return 410;
    });
    await office.publish({ id: 'a' });
    await office.engine.drain();
    expect(await office.rows('SELECT status, status_reason FROM webhooks')).toEqual([
      { status: 'paused', status_reason: null },
    ]);
    expect(await office.rows('SELECT FROM audit_entries')).toEqual([]);
  });

  it('disables the webhook after five days without one success, and not before', async () => {
    const office = await openPostOffice();
    await office.addWebhook();
    office.answerWith(() => 500);
    const start = office.clock.now();
    let status = 'active';
    for (let day = 0; status === 'active' && day < 10; day++) {
      await office.publish({ id: `of day ${day}` });
      await office.engine.drain();
      office.clock.set(new Date(start + (day + 1) * 24 * HOUR - 60_000).toISOString());
      await office.engine.drain();
      office.clock.set(new Date(start + (day + 1) * 24 * HOUR).toISOString());
      await office.engine.drain();
      [{ status } = { status }] = await office.rows<{ status: string }>('SELECT status FROM webhooks');
      if (day < 4) expect(status).toBe('active');
    }
    expect(status).toBe('disabled');
    expect(office.clock.now() - start).toBeLessThanOrEqual(6 * 24 * HOUR);
  });

  it('of one webhook is no concern of another', async () => {
    const office = await openPostOffice();
    await office.addWebhook();
    await office.addWebhook();
    let release = () => {};
    const hanging = new Promise<number>((resolve) => {
      release = () => resolve(500);
    });
    office.answerWith(({ url }) => (url.includes('receiver-1') ? hanging : 200));
    const events = Array.from({ length: 300 }, (_, n) => ({ id: `appointment-${n}` }));
    await office.publish(...events);
    office.engine.start();
    await until(() => office.letters.filter(({ url }) => url.includes('receiver-2')).length === 300);
    expect(office.letters.filter(({ url }) => url.includes('receiver-1')).length).toBeLessThanOrEqual(4);
    release();
  });
});

/** The first letter is not answered until the returned function is called; the others are well. */
function holdFirst(office: PostOffice): (status: number) => void {
  const held = Promise.withResolvers<number>();
  office.answerWith(({ sequence }) => (sequence === 1 ? held.promise : 200));
  return held.resolve;
}

describe('events about one object', () => {
  it('wait for the first of them, however many; those about others do not wait for any', async () => {
    const office = await openPostOffice();
    await office.addWebhook();
    const answerFirst = holdFirst(office);
    await office.publish(...Array.from({ length: 100 }, () => ({ id: 'a' })), { id: 'b' }, { id: 'c' });
    await office.publish({ id: 'd' }, { id: 'a' }, { id: 'e' });
    const drained = office.engine.drain();
    await until(() => office.letters.length === 1);
    office.answerWith(() => 200);
    answerFirst(503);
    await drained;
    const received = office.letters.map(({ payload }) => payload.id);
    expect(received.toSorted()).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(
      await office.rows('SELECT state, count(*)::integer FROM deliveries GROUP BY state ORDER BY state'),
    ).toEqual([
      { state: 'delivered', count: 4 },
      { state: 'due', count: 1 },
      { state: 'waiting', count: 100 },
    ]);

    await office.toNextDue();
    await office.engine.drain();
    const sequences = office.letters.flatMap(({ payload, sequence }) => (payload.id === 'a' ? sequence : []));
    expect(sequences).toEqual([1, ...Array.from({ length: 100 }, (_, n) => n + 1), 104]);
  });

  it('are not held up while the first is under way, if they are about another', async () => {
    const office = await openPostOffice();
    await office.addWebhook();
    const answerFirst = holdFirst(office);
    office.engine.start();
    await office.publish(...Array.from({ length: 100 }, () => ({ id: 'a' })), { id: 'b' });
    await until(() => office.letters.some(({ payload }) => payload.id === 'b'));
    answerFirst(200);
    await until(() => office.letters.length === 101);
  });
});

describe('a worker that dies', () => {
  it('with letters under way is taken over at once; they are sent again under the same name', async () => {
    const office = await openPostOffice();
    await office.addWebhook();
    await office.publish({ id: 'a' }, { id: 'b' });
    const doomed = await office.workerThat(() => new Promise(() => {}));
    void doomed.engine.drain();
    await until(() => office.letters.length === 2);
    await office.engine.drain();
    expect(office.letters).toHaveLength(2);

    await doomed.die();
    await office.engine.drain();
    expect(office.letters).toHaveLength(4);
    expect(office.letters.slice(2).map(({ id }) => id)).toEqual(
      office.letters.slice(0, 2).map(({ id }) => id),
    );
    expect(await office.engine.metrics()).toContain('porter_delivery_leases_expired_total 1');
  });

  it('in good order keeps its lanes until what it has under way is answered', async () => {
    const office = await openPostOffice();
    await office.addWebhook();
    await office.publish({ id: 'a' });
    const held = Promise.withResolvers<number>();
    const ending = await office.workerThat(() => held.promise);
    ending.engine.start();
    await until(() => office.letters.length === 1);
    const ended = ending.engine.stop();
    await office.publish({ id: 'b' });
    await office.engine.drain();
    expect(office.letters).toHaveLength(1);
    held.resolve(200);
    await ended;
    await office.engine.drain();
    expect(office.letters.map(({ payload }) => payload.id)).toEqual(['a', 'b']);
    // It has given them back: nobody had to find out that it is gone.
    expect(office.logLines).toEqual([]);
    expect(await office.engine.metrics()).toContain('porter_delivery_leases_expired_total 0');
  });

  it('in all but name keeps its lanes until the lease runs out', async () => {
    const office = await openPostOffice();
    await office.addWebhook();
    await office.publish({ id: 'a' });
    const stuck = await office.workerThat(() => new Promise(() => {}));
    void stuck.engine.drain();
    await until(() => office.letters.length === 1);
    office.clock.advance(19_999);
    await office.engine.drain();
    expect(office.letters).toHaveLength(1);
    office.clock.advance(1);
    await office.engine.drain();
    expect(office.letters).toHaveLength(2);
    await stuck.die();
  });

  it('after another took over may still say that a letter arrived, but not that it failed', async () => {
    const office = await openPostOffice();
    await office.addWebhook();
    await office.publish({ id: 'a' }, { id: 'b' });
    const answers = new Map<string, (status: number) => void>();
    const slow = await office.workerThat(
      ({ payload }) => new Promise((resolve) => answers.set(payload.id, resolve)),
    );
    const slowly = slow.engine.drain();
    await until(() => answers.size === 2);
    office.clock.advance(20_000);
    office.answerWith(() => 500);
    await office.engine.drain();
    answers.get('a')?.(200);
    answers.get('b')?.(500);
    await slowly;
    const rows = await office.rows('SELECT state, tries FROM deliveries ORDER BY sequence');
    expect(rows).toEqual([
      { state: 'delivered', tries: 2 },
      { state: 'due', tries: 1 },
    ]);
  });

  it('in the eyes of others cannot set aside what the one that took over has under way', async () => {
    const office = await openPostOffice();
    await office.addWebhook();
    await office.publish({ id: 'a' });
    const slow = Promise.withResolvers<number>();
    const behind = await office.workerThat(() => slow.promise);
    const slowly = behind.engine.drain();
    await until(() => office.letters.length === 1);
    office.clock.advance(20_000);
    const quick = Promise.withResolvers<number>();
    office.answerWith(() => quick.promise);
    const quickly = office.engine.drain();
    await until(() => office.letters.length === 2);
    slow.resolve(500);
    await slowly;
    // It is still new, and is still looked for where it lies.
    expect(
      await office.rows(
        'SELECT state, tries, retry_at, open_from::integer FROM deliveries NATURAL JOIN webhook_lanes',
      ),
    ).toEqual([{ state: 'due', tries: 0, retry_at: null, open_from: 1 }]);
    quick.resolve(500);
    await quickly;
    expect(await office.rows('SELECT state, tries FROM deliveries')).toEqual([{ state: 'due', tries: 1 }]);
  });
});

it('what another worker left behind and turns out to be finished is not looked through again', async () => {
  const office = await openPostOffice();
  await office.addWebhook();
  await office.publish({ id: 'a' }, { id: 'b' });
  await office.rows('SELECT * FROM fan_out(now(), 1, 100)');
  await office.rows("UPDATE deliveries SET state = 'delivered'");
  await office.engine.drain();
  expect(await office.rows('SELECT open_from::integer, has_new FROM webhook_lanes')).toEqual([
    { open_from: 3, has_new: false },
  ]);
  // To lease a lane of one's own anew is no takeover.
  office.clock.advance(20_000);
  await office.publish({ id: 'c' });
  await office.engine.drain();
  expect(office.letters).toHaveLength(1);
  expect(await office.engine.metrics()).toContain('porter_delivery_leases_expired_total 0');
});

describe('a mishap', () => {
  it('with the secret of one webhook, which cannot be opened here, does not hold up the others', async () => {
    const office = await openPostOffice();
    const [bad] = [await office.addWebhook(), await office.addWebhook()];
    await office.rows("UPDATE webhook_secrets SET key_id = 'unknown' WHERE webhook_no = $1", [bad]);
    await office.publish({ id: 'a' });
    await office.engine.drain();
    expect(office.letters.map(({ url }) => url)).toEqual(['https://receiver-2.example/hook']);
    expect(office.logLines).toMatchObject([{ msg: 'the secret of a webhook cannot be opened' }]);
    // A node that can open it may have it at once; this one looks again after a while.
    expect(await office.rows('SELECT holder FROM webhook_lanes WHERE webhook_no = $1', [bad])).toEqual([
      { holder: null },
    ]);
    await office.rows("UPDATE webhook_secrets SET key_id = 'k'");
    office.clock.advance(30_000);
    await office.engine.drain();
    expect(office.letters).toHaveLength(2);
  });

  it('with a secret that can be opened no more: nothing goes to the address that was known before', async () => {
    const office = await openPostOffice();
    await office.addWebhook();
    await office.publish({ id: 'a' });
    await office.engine.drain();
    await office.rows("UPDATE webhook_secrets SET key_id = 'unknown'");
    await office.rows("UPDATE webhooks SET url = 'https://new.example/', version = version + 1");
    await office.publish({ id: 'b' });
    await office.engine.drain();
    expect(office.letters).toHaveLength(1);
  });

  it('in writing many results in time: they are written in parts', async () => {
    const office = await openPostOffice();
    for (let n = 0; n < 60; n++) await office.addWebhook();
    // As if the database could not write more than 150 before it is told to stop.
    await office.rows(`
      CREATE FUNCTION too_long() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF (SELECT count(*) FROM changed) > 150 THEN RAISE EXCEPTION USING ERRCODE = '57014'; END IF;
        RETURN NULL;
      END $$;
      CREATE TRIGGER too_long AFTER UPDATE ON deliveries REFERENCING NEW TABLE AS changed
        FOR EACH STATEMENT EXECUTE FUNCTION too_long();`);
    await office.publish(...Array.from({ length: 5 }, (_, n) => ({ id: `a-${n}` })));
    await office.engine.drain();
    expect(office.letters).toHaveLength(300);
    expect(await office.rows('SELECT state, count(*)::integer FROM deliveries GROUP BY state')).toEqual([
      { state: 'delivered', count: 300 },
    ]);
  });

  it('of our own, a letter that is broken off because the service ends, is no failure of the receiver', async () => {
    const office = await openPostOffice();
    await office.addWebhook();
    office.answerWith(() =>
      answered(0, { status: undefined, failure: { phase: 'answer', code: 'stopped', detail: '' } }),
    );
    await office.publish({ id: 'a' });
    await office.engine.drain();
    expect(office.letters).toHaveLength(1);
    expect(
      await office.rows('SELECT state, tries, attempts, failures FROM deliveries NATURAL JOIN webhook_lanes'),
    ).toEqual([{ state: 'due', tries: 0, attempts: [], failures: 0 }]);
  });

  it('after results were written, so that they are written again, changes nothing', async () => {
    const office = await openPostOffice();
    const no = await office.addWebhook();
    await office.publish({ id: 'a' });
    const at = new Date(office.clock.now()).toISOString();
    await fanOut(office.db, at, 7, 100);
    await office.rows('UPDATE webhook_lanes SET holder = 7');
    const retryAt = new Date(office.clock.now() + 5_000).toISOString();
    const failed = {
      webhookNo: no,
      sequence: 1,
      objectHash: '',
      triesBefore: 0,
      state: 'due',
      retryAt,
      after: 0,
    } as const;
    const write = (more: Partial<Result> = {}, low = 2) =>
      recordResults(
        office.db,
        at,
        7,
        [{ ...failed, attempt: '[{"n":1}]', gone: undefined, ...more }],
        [{ no, low }],
      );
    const once = await write();
    expect(once).toMatchObject([{ failures: 1, held: true }]);
    expect(await write()).toEqual(once);
    // Nor is one that was set aside put back to wait.
    await write({ state: 'waiting', retryAt: undefined, attempt: '' }, 0);
    const rows = () =>
      office.rows(
        `SELECT state, tries, attempts, retry_at, finished_at, open_from::integer
           FROM deliveries NATURAL JOIN webhook_lanes`,
      );
    const attempts = [{ n: 1 }];
    expect(await rows()).toEqual([
      { state: 'due', tries: 1, attempts, retry_at: new Date(retryAt), finished_at: null, open_from: 2 },
    ]);
    for (let times = 0; times < 2; times++)
      await write({ state: 'delivered', triesBefore: 1, retryAt: undefined });
    expect(await rows()).toMatchObject([{ state: 'delivered', tries: 2, attempts: [...attempts, { n: 1 }] }]);
  });

  it('in storing how an attempt looked does not keep its result from being written', async () => {
    const office = await openPostOffice();
    await office.addWebhook();
    await office.rows(`ALTER TABLE deliveries ADD CHECK (attempts::text NOT LIKE '%poison%')`);
    office.answerWith(() => answered(500, { answer: 'poison' }));
    await office.publish({ id: 'a' });
    await office.engine.drain();
    expect(office.letters).toHaveLength(1);
    expect(await office.rows('SELECT state, tries, attempts FROM deliveries')).toEqual([
      { state: 'due', tries: 1, attempts: [] },
    ]);
  });
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(setImmediate);
}
