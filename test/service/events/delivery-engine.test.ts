import { describe, expect, it } from 'vitest';
import { fanOut } from '../../../src/store/events/deliveries.ts';
import { type Result, recordResults } from '../../../src/store/events/deliveries-record.ts';
import { answered, type DeliveryHarness, openDeliveryHarness } from '../../support/delivery-harness.ts';
import { fanOutStep, on } from '../../support/steps.ts';

const HOUR = 3_600_000;

describe('an event', () => {
  it('reaches every webhook that wants it, once, with its exact body', async () => {
    const harness = await openDeliveryHarness();
    await harness.addWebhook();
    await harness.addWebhook({ eventTypes: ['prescription.issued'] });
    await harness.addWebhook({ group: 'other-group' });
    await harness.publish({ id: 'a' }, { id: 'b' });
    await harness.engine.drain();
    await harness.engine.drain();
    expect(harness.sent.map(({ url, body, sequence }) => [url, body, sequence])).toEqual([
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
    const harness = await openDeliveryHarness();
    await harness.addWebhook();
    await harness.rows("UPDATE api_keys SET revoked_at = now() WHERE practice_group_id = 'group'");
    await harness.publish({ id: 'without a key' });
    await harness.engine.drain();
    expect(harness.sent).toEqual([]);

    await harness.rows("INSERT INTO networks VALUES ('n', 'n', now(), now())");
    await harness.rows("INSERT INTO network_members VALUES ('n', 'group'), ('n', 'other-group')");
    await harness.publish({ id: 'through the network' });
    await harness.engine.drain();
    expect(harness.sent.map(({ payload }) => payload.id)).toEqual(['through the network']);

    await harness.rows('DELETE FROM network_members');
    await harness.publish({ id: 'after it was dissolved' });
    await harness.rows("UPDATE api_keys SET revoked_at = NULL, expires_at = '2026-01-01'");
    await harness.publish({ id: 'with an expired key' });
    await harness.engine.drain();
    await harness.rows("UPDATE api_keys SET expires_at = NULL; UPDATE partners SET status = 'suspended'");
    await harness.publish({ id: 'of a suspended partner' });
    await harness.engine.drain();
    expect(harness.sent).toHaveLength(1);
  });

  it('goes to nobody because of a key of another partner, or of one in the network that no longer works', async () => {
    const harness = await openDeliveryHarness();
    await harness.addWebhook();
    await harness.rows("INSERT INTO networks VALUES ('n', 'n', now(), now())");
    await harness.rows("INSERT INTO network_members VALUES ('n', 'group'), ('n', 'other-group')");
    await harness.rows(
      `INSERT INTO partners (id, name, contact_email, status, created_at, updated_at)
       VALUES ('rival', 'Rival', 'dev@rival.example', 'verified', now(), now())`,
    );
    const publishWith = async (keys: string) => {
      await harness.rows(`UPDATE api_keys SET ${keys}`);
      await harness.publish({ id: keys });
      await harness.engine.drain();
    };
    await publishWith("partner_id = 'rival'");
    await publishWith("partner_id = 'partner', revoked_at = now()");
    await publishWith("revoked_at = NULL, expires_at = '2026-01-01'");
    await publishWith('expires_at = NULL');
    expect(harness.sent.map(({ payload }) => payload.id)).toEqual(['expires_at = NULL']);
  });

  it('waits for a webhook that is paused, and goes when it is active again', async () => {
    const harness = await openDeliveryHarness();
    const no = await harness.addWebhook();
    await harness.rows("UPDATE webhooks SET status = 'paused'");
    await harness.publish({ id: 'a' }, { id: 'a' });
    await harness.engine.drain();
    expect(harness.sent).toEqual([]);
    await harness.rows("UPDATE webhooks SET status = 'active' WHERE no = $1", [no]);
    await harness.engine.drain();
    expect(harness.sent.map(({ sequence }) => sequence)).toEqual([1, 2]);
  });
});

describe('a failure', () => {
  it('is retried on schedule, ten attempts in all under one name, then given up', async () => {
    const harness = await openDeliveryHarness();
    harness.answerWith(() => 500);
    await harness.addWebhook();
    await harness.publish({ id: 'a' }, { id: 'a' });
    do await harness.engine.drain();
    while (await harness.toNextDue());

    const first = harness.sent.filter(({ sequence }) => sequence === 1);
    const gaps = first.slice(1).map(({ at }, index) => at - (first[index]?.at ?? 0));
    const expected = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400].map((s) => s * 1_000);
    expect(gaps).toHaveLength(9);
    gaps.forEach((gap, index) => {
      expect(gap).toBeGreaterThanOrEqual((expected[index] ?? 0) * 0.9);
      expect(gap).toBeLessThanOrEqual((expected[index] ?? 0) * 1.1 + 1);
    });
    expect(new Set(first.map(({ id }) => id)).size).toBe(1);
    // The second one about the same object begins when the first is given up.
    expect(harness.sent.findIndex(({ sequence }) => sequence === 2)).toBe(10);
  });

  it('honours Retry-After on 429 and 503, in seconds or as a date, up to a day', async () => {
    const harness = await openDeliveryHarness();
    await harness.addWebhook();
    const start = harness.clock.now();
    const waits = ['120', new Date(start + 120_000 + HOUR).toUTCString(), '9999999', 'soon'];
    harness.answerWith(({ at }) =>
      answered(at % 2 ? 429 : 503, { retryAfter: waits[harness.sent.length - 1] }),
    );
    await harness.publish({ id: 'a' });
    for (let round = 0; round < 5; round++) {
      await harness.engine.drain();
      await harness.toNextDue();
    }
    const [a = 0, b = 0, c = 0, d = 0, e = 0] = harness.sent.map(({ at }) => at - start);
    expect([a, b]).toEqual([0, 120_000]);
    expect(Math.abs(c - 120_000 - HOUR)).toBeLessThan(1_001);
    expect(d - c).toBe(24 * HOUR);
    expect(e - d).toBeGreaterThan(1.7 * HOUR);
    expect(e - d).toBeLessThan(2.3 * HOUR);
  });

  it('disables the webhook at once on 410, and keeps what is queued', async () => {
    const harness = await openDeliveryHarness();
    const no = await harness.addWebhook();
    harness.answerWith(() => 410);
    await harness.publish({ id: 'a' }, { id: 'b' });
    await harness.engine.drain();
    const [webhook] = await harness.rows<{ status: string; status_reason: string }>('SELECT * FROM webhooks');
    expect(webhook).toMatchObject({ status: 'disabled', status_reason: expect.stringContaining('410') });
    const [entry] = await harness.rows('SELECT * FROM audit_entries');
    expect(entry).toMatchObject({ action: 'webhook.disable', actor_id: 'porter' });

    harness.answerWith(() => 200);
    harness.clock.advance(24 * HOUR);
    harness.sent.length = 0;
    await harness.engine.drain();
    expect(harness.sent).toEqual([]);
    await harness.rows("UPDATE webhooks SET status = 'active', version = version + 1 WHERE no = $1", [no]);
    await harness.engine.drain();
    expect(harness.sent.map(({ sequence }) => sequence).sort()).toEqual([1, 2]);
  });

  it('does not disable a webhook that its owner has paused meanwhile', async () => {
    const harness = await openDeliveryHarness();
    await harness.addWebhook();
    harness.answerWith(async () => {
      await harness.rows("UPDATE webhooks SET status = 'paused', version = version + 1");
      return 410;
    });
    await harness.publish({ id: 'a' });
    await harness.engine.drain();
    expect(await harness.rows('SELECT status, status_reason FROM webhooks')).toEqual([
      { status: 'paused', status_reason: null },
    ]);
    expect(await harness.rows('SELECT FROM audit_entries')).toEqual([]);
  });

  it('disables the webhook after five days without one success, and not before', async () => {
    const harness = await openDeliveryHarness();
    await harness.addWebhook();
    harness.answerWith(() => 500);
    const start = harness.clock.now();
    let status = 'active';
    for (let day = 0; status === 'active' && day < 10; day++) {
      await harness.publish({ id: `of day ${day}` });
      await harness.engine.drain();
      harness.clock.set(new Date(start + (day + 1) * 24 * HOUR - 60_000).toISOString());
      await harness.engine.drain();
      harness.clock.set(new Date(start + (day + 1) * 24 * HOUR).toISOString());
      await harness.engine.drain();
      [{ status } = { status }] = await harness.rows<{ status: string }>('SELECT status FROM webhooks');
      if (day < 4) expect(status).toBe('active');
    }
    expect(status).toBe('disabled');
    expect(harness.clock.now() - start).toBeLessThanOrEqual(6 * 24 * HOUR);
  });

  it('of one webhook is no concern of another', async () => {
    const harness = await openDeliveryHarness();
    await harness.addWebhook();
    await harness.addWebhook();
    let release = () => {};
    const hanging = new Promise<number>((resolve) => {
      release = () => resolve(500);
    });
    harness.answerWith(({ url }) => (url.includes('receiver-1') ? hanging : 200));
    const events = Array.from({ length: 300 }, (_, n) => ({ id: `appointment-${n}` }));
    await harness.publish(...events);
    harness.engine.start();
    await until(() => harness.sent.filter(({ url }) => url.includes('receiver-2')).length === 300);
    expect(harness.sent.filter(({ url }) => url.includes('receiver-1')).length).toBeLessThanOrEqual(4);
    release();
  });
});

/** The first delivery is not answered until the returned function is called; the others are well. */
function holdFirst(harness: DeliveryHarness): (status: number) => void {
  const held = Promise.withResolvers<number>();
  harness.answerWith(({ sequence }) => (sequence === 1 ? held.promise : 200));
  return held.resolve;
}

describe('events about one object', () => {
  it('wait for the first of them, however many; those about others do not wait for any', async () => {
    const harness = await openDeliveryHarness();
    await harness.addWebhook();
    const answerFirst = holdFirst(harness);
    await harness.publish(...Array.from({ length: 100 }, () => ({ id: 'a' })), { id: 'b' }, { id: 'c' });
    await harness.publish({ id: 'd' }, { id: 'a' }, { id: 'e' });
    const drained = harness.engine.drain();
    await until(() => harness.sent.length === 1);
    harness.answerWith(() => 200);
    answerFirst(503);
    await drained;
    const received = harness.sent.map(({ payload }) => payload.id);
    expect(received.toSorted()).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(
      await harness.rows('SELECT state, count(*)::integer FROM deliveries GROUP BY state ORDER BY state'),
    ).toEqual([
      { state: 'delivered', count: 4 },
      { state: 'due', count: 1 },
      { state: 'waiting', count: 100 },
    ]);

    await harness.toNextDue();
    await harness.engine.drain();
    const sequences = harness.sent.flatMap(({ payload, sequence }) => (payload.id === 'a' ? sequence : []));
    expect(sequences).toEqual([1, ...Array.from({ length: 100 }, (_, n) => n + 1), 104]);
  });

  it('are not held up while the first is under way, if they are about another', async () => {
    const harness = await openDeliveryHarness();
    await harness.addWebhook();
    const answerFirst = holdFirst(harness);
    harness.engine.start();
    await harness.publish(...Array.from({ length: 100 }, () => ({ id: 'a' })), { id: 'b' });
    await until(() => harness.sent.some(({ payload }) => payload.id === 'b'));
    answerFirst(200);
    await until(() => harness.sent.length === 101);
  });
});

describe('a worker that dies', () => {
  it('with deliveries under way is taken over at once; they are sent again under the same name', async () => {
    const harness = await openDeliveryHarness();
    await harness.addWebhook();
    await harness.publish({ id: 'a' }, { id: 'b' });
    const doomed = await harness.workerThat(() => new Promise(() => {}));
    void doomed.engine.drain();
    await until(() => harness.sent.length === 2);
    await harness.engine.drain();
    expect(harness.sent).toHaveLength(2);

    await doomed.die();
    await harness.engine.drain();
    expect(harness.sent).toHaveLength(4);
    expect(harness.sent.slice(2).map(({ id }) => id)).toEqual(harness.sent.slice(0, 2).map(({ id }) => id));
    expect(await harness.engine.metrics()).toContain('porter_delivery_leases_expired_total 1');
  });

  it('in good order keeps its lanes until what it has under way is answered', async () => {
    const harness = await openDeliveryHarness();
    await harness.addWebhook();
    await harness.publish({ id: 'a' });
    const held = Promise.withResolvers<number>();
    const ending = await harness.workerThat(() => held.promise);
    ending.engine.start();
    await until(() => harness.sent.length === 1);
    const ended = ending.engine.stop();
    await harness.publish({ id: 'b' });
    await harness.engine.drain();
    expect(harness.sent).toHaveLength(1);
    held.resolve(200);
    await ended;
    await harness.engine.drain();
    expect(harness.sent.map(({ payload }) => payload.id)).toEqual(['a', 'b']);
    // It has given them back: nobody had to find out that it is gone.
    expect(harness.logLines).toEqual([]);
    expect(await harness.engine.metrics()).toContain('porter_delivery_leases_expired_total 0');
  });

  it('in all but name keeps its lanes until the lease runs out', async () => {
    const harness = await openDeliveryHarness();
    await harness.addWebhook();
    await harness.publish({ id: 'a' });
    const stuck = await harness.workerThat(() => new Promise(() => {}));
    void stuck.engine.drain();
    await until(() => harness.sent.length === 1);
    harness.clock.advance(19_999);
    await harness.engine.drain();
    expect(harness.sent).toHaveLength(1);
    harness.clock.advance(1);
    await harness.engine.drain();
    expect(harness.sent).toHaveLength(2);
    await stuck.die();
  });

  it('after another took over may still say that a delivery arrived, but not that it failed', async () => {
    const harness = await openDeliveryHarness();
    await harness.addWebhook();
    await harness.publish({ id: 'a' }, { id: 'b' });
    const answers = new Map<string, (status: number) => void>();
    const slow = await harness.workerThat(
      ({ payload }) => new Promise((resolve) => answers.set(payload.id, resolve)),
    );
    const slowly = slow.engine.drain();
    await until(() => answers.size === 2);
    harness.clock.advance(20_000);
    harness.answerWith(() => 500);
    await harness.engine.drain();
    answers.get('a')?.(200);
    answers.get('b')?.(500);
    await slowly;
    const rows = await harness.rows('SELECT state, tries FROM deliveries ORDER BY sequence');
    expect(rows).toEqual([
      { state: 'delivered', tries: 2 },
      { state: 'due', tries: 1 },
    ]);
  });

  it('in the eyes of others cannot set aside what the one that took over has under way', async () => {
    const harness = await openDeliveryHarness();
    await harness.addWebhook();
    await harness.publish({ id: 'a' });
    const slow = Promise.withResolvers<number>();
    const behind = await harness.workerThat(() => slow.promise);
    const slowly = behind.engine.drain();
    await until(() => harness.sent.length === 1);
    harness.clock.advance(20_000);
    const quick = Promise.withResolvers<number>();
    harness.answerWith(() => quick.promise);
    const quickly = harness.engine.drain();
    await until(() => harness.sent.length === 2);
    slow.resolve(500);
    await slowly;
    // It is still new, and is still looked for where it lies.
    expect(
      await harness.rows(
        'SELECT state, tries, retry_at, open_from::integer FROM deliveries NATURAL JOIN webhook_lanes',
      ),
    ).toEqual([{ state: 'due', tries: 0, retry_at: null, open_from: 1 }]);
    quick.resolve(500);
    await quickly;
    expect(await harness.rows('SELECT state, tries FROM deliveries')).toEqual([{ state: 'due', tries: 1 }]);
  });
});

it('what another worker left behind and turns out to be finished is not looked through again', async () => {
  const harness = await openDeliveryHarness();
  await harness.addWebhook();
  await harness.publish({ id: 'a' }, { id: 'b' });
  await fanOutStep()(on(harness.admin));
  await harness.rows("UPDATE deliveries SET state = 'delivered'");
  await harness.engine.drain();
  expect(await harness.rows('SELECT open_from::integer, has_new FROM webhook_lanes')).toEqual([
    { open_from: 3, has_new: false },
  ]);
  // To lease a lane of one's own anew is no takeover.
  harness.clock.advance(20_000);
  await harness.publish({ id: 'c' });
  await harness.engine.drain();
  expect(harness.sent).toHaveLength(1);
  expect(await harness.engine.metrics()).toContain('porter_delivery_leases_expired_total 0');
});

describe('a mishap', () => {
  it('with the secret of one webhook, which cannot be opened here, does not hold up the others', async () => {
    const harness = await openDeliveryHarness();
    const [bad] = [await harness.addWebhook(), await harness.addWebhook()];
    await harness.rows("UPDATE webhook_secrets SET key_id = 'unknown' WHERE webhook_no = $1", [bad]);
    await harness.publish({ id: 'a' });
    await harness.engine.drain();
    expect(harness.sent.map(({ url }) => url)).toEqual(['https://receiver-2.example/hook']);
    expect(harness.logLines).toMatchObject([{ msg: 'the secret of a webhook cannot be opened' }]);
    // A node that can open it may have it at once; this one looks again after a while.
    expect(await harness.rows('SELECT holder FROM webhook_lanes WHERE webhook_no = $1', [bad])).toEqual([
      { holder: null },
    ]);
    await harness.rows("UPDATE webhook_secrets SET key_id = 'k'");
    harness.clock.advance(30_000);
    await harness.engine.drain();
    expect(harness.sent).toHaveLength(2);
  });

  it('with a secret that can be opened no more: nothing goes to the address that was known before', async () => {
    const harness = await openDeliveryHarness();
    await harness.addWebhook();
    await harness.publish({ id: 'a' });
    await harness.engine.drain();
    await harness.rows("UPDATE webhook_secrets SET key_id = 'unknown'");
    await harness.rows("UPDATE webhooks SET url = 'https://new.example/', version = version + 1");
    await harness.publish({ id: 'b' });
    await harness.engine.drain();
    expect(harness.sent).toHaveLength(1);
  });

  it('in writing many results in time: they are written in parts', async () => {
    const harness = await openDeliveryHarness();
    for (let n = 0; n < 60; n++) await harness.addWebhook();
    // As if the database could not write more than 150 before it is told to stop.
    await harness.rows(`
      CREATE FUNCTION too_long() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF (SELECT count(*) FROM changed) > 150 THEN RAISE EXCEPTION USING ERRCODE = '57014'; END IF;
        RETURN NULL;
      END $$;
      CREATE TRIGGER too_long AFTER UPDATE ON deliveries REFERENCING NEW TABLE AS changed
        FOR EACH STATEMENT EXECUTE FUNCTION too_long();`);
    await harness.publish(...Array.from({ length: 5 }, (_, n) => ({ id: `a-${n}` })));
    await harness.engine.drain();
    expect(harness.sent).toHaveLength(300);
    expect(await harness.rows('SELECT state, count(*)::integer FROM deliveries GROUP BY state')).toEqual([
      { state: 'delivered', count: 300 },
    ]);
  });

  it('of our own, a delivery that is broken off because the service ends, is no failure of the receiver', async () => {
    const harness = await openDeliveryHarness();
    await harness.addWebhook();
    harness.answerWith(() =>
      answered(0, { status: undefined, failure: { phase: 'answer', code: 'stopped', detail: '' } }),
    );
    await harness.publish({ id: 'a' });
    await harness.engine.drain();
    expect(harness.sent).toHaveLength(1);
    expect(
      await harness.rows(
        'SELECT state, tries, attempts, failures FROM deliveries NATURAL JOIN webhook_lanes',
      ),
    ).toEqual([{ state: 'due', tries: 0, attempts: [], failures: 0 }]);
  });

  it('after results were written, so that they are written again, changes nothing', async () => {
    const harness = await openDeliveryHarness();
    const no = await harness.addWebhook();
    await harness.publish({ id: 'a' });
    const at = new Date(harness.clock.now()).toISOString();
    await fanOut(harness.db, at, 7, 100);
    await harness.rows('UPDATE webhook_lanes SET holder = 7');
    const retryAt = new Date(harness.clock.now() + 5_000).toISOString();
    const failed = {
      webhookNo: no,
      sequence: 1,
      objectHash: '',
      triesBefore: 0,
      state: 'due',
      retryDelayMs: 5_000,
      answeredAt: 0,
      delayMs: 0,
      cause: '',
      after: 0,
    } as const;
    const write = (more: Partial<Result> = {}, low = 2) =>
      recordResults(
        harness.db,
        { at, moment: 0 },
        7,
        [{ ...failed, attempt: '[{"n":1}]', gone: undefined, ...more }],
        [{ no, low }],
      );
    const once = await write();
    expect(once).toMatchObject([{ failures: 1, held: true }]);
    expect(await write()).toEqual(once);
    // Nor is one that was set aside put back to wait.
    await write({ state: 'waiting', retryDelayMs: undefined, attempt: '' }, 0);
    const rows = () =>
      harness.rows(
        `SELECT state, tries, attempts, retry_at, finished_at, open_from::integer
           FROM deliveries NATURAL JOIN webhook_lanes`,
      );
    const attempts = [{ n: 1 }];
    expect(await rows()).toEqual([
      { state: 'due', tries: 1, attempts, retry_at: new Date(retryAt), finished_at: null, open_from: 2 },
    ]);
    for (let times = 0; times < 2; times++)
      await write({ state: 'delivered', triesBefore: 1, retryDelayMs: undefined });
    expect(await rows()).toMatchObject([{ state: 'delivered', tries: 2, attempts: [...attempts, { n: 1 }] }]);
  });

  it('in storing how an attempt looked does not keep its result from being written', async () => {
    const harness = await openDeliveryHarness();
    await harness.addWebhook();
    await harness.rows(`ALTER TABLE deliveries ADD CHECK (attempts::text NOT LIKE '%poison%')`);
    harness.answerWith(() => answered(500, { answer: 'poison' }));
    await harness.publish({ id: 'a' });
    await harness.engine.drain();
    expect(harness.sent).toHaveLength(1);
    expect(await harness.rows('SELECT state, tries, attempts FROM deliveries')).toEqual([
      { state: 'due', tries: 1, attempts: [] },
    ]);
  });
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(setImmediate);
}
