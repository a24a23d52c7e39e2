import { beforeEach, describe, expect, it, vi } from 'vitest';
import { expectInvalid, expectProblem } from '../../support/answers.ts';
import { fanOutAll, HOOK, newPartner, type Partner, publish, startPost } from '../../support/post.ts';
import type { Loose } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

const house = await startPost();
const db = await superuser(house.databaseUrl);
let own: Partner;
beforeEach(async () => {
  own = await newPartner(house);
  house.clock.advance(60_000);
});

const now = () => new Date(house.clock.now()).toISOString();
const newWebhook = async (body: object = {}): Promise<string> =>
  (await own.call('POST', '/v1/webhooks', { url: HOOK, ...body })).id;
const replay = (id: string, body: object) => own.send('POST', `/v1/webhooks/${id}/replay`, body);
const log = async (id: string): Promise<Loose[]> =>
  (await own.call('GET', `/v1/webhooks/${id}/deliveries?page_size=100`)).data.reverse();
const statuses = async (id: string) => (await log(id)).map(({ event_id, status }) => [event_id, status]);
const finish = (state: string, id: string) =>
  db.query(
    `UPDATE deliveries SET state = $1, tries = 10, retry_at = NULL, finished_at = now()
      WHERE webhook_no = (SELECT no FROM webhooks WHERE id = $2)`,
    [state, id],
  );

describe('POST /v1/webhooks/{id}/replay', () => {
  it('202: since a moment, delivered or given up, under the old names', async () => {
    const id = await newWebhook();
    await publish(house, own.groupId, 'prescription.issued');
    house.clock.advance(1_000);
    const since = now();
    const late = await publish(house, own.groupId, 'prescription.issued', 'appointment.confirmed');
    await fanOutAll(house);
    await finish('delivered', id);
    await db.query(
      `UPDATE deliveries SET state = 'failed' WHERE event_no = (SELECT no FROM events WHERE id = $1)`,
      [late[1]],
    );
    const before = await log(id);
    house.clock.advance(5_000);

    const answer = await replay(id, { since });
    expect([answer.status, answer.body]).toEqual([202, { count: 2 }]);
    expect(await log(id)).toEqual([
      before[0],
      ...before.slice(1).map((one) => ({
        ...one,
        status: 'pending',
        finished_at: null,
        next_attempt_at: now(),
      })),
    ]);
    const { rows } = await db.query('SELECT DISTINCT tries FROM deliveries WHERE state = $1 AND tries > 0', [
      'due',
    ]);
    expect(rows).toEqual([]);
  });

  it('the moment may be written with another offset, and may be long ago', async () => {
    const id = await newWebhook();
    house.clock.advance(1_000);
    const since = new Date(house.clock.now() + 3_600_000).toISOString().replace('Z', '+01:00');
    await publish(house, own.groupId, 'prescription.issued');
    await fanOutAll(house);
    await finish('delivered', id);
    expect((await replay(id, { since })).body).toEqual({ count: 1 });
    await finish('delivered', id);
    expect((await replay(id, { since: '0001-01-01T00:00:00Z' })).body).toEqual({ count: 1 });
  });

  it('202: events that it never got, because they are older than it', async () => {
    const events = await publish(
      house,
      own.groupId,
      ['prescription.issued', 'p'],
      ['prescription.issued', 'p'],
    );
    await fanOutAll(house);
    const id = await newWebhook();
    expect(await log(id)).toEqual([]);
    expect((await replay(id, { since: '2026-01-01T00:00:00Z' })).body).toEqual({ count: 2 });
    expect(await statuses(id)).toEqual([
      [events[0], 'pending'],
      [events[1], 'pending'],
    ]);
  });

  it('only what it subscribes to, by time or by name', async () => {
    const [issued, confirmed] = await publish(
      house,
      own.groupId,
      'prescription.issued',
      'appointment.confirmed',
    );
    await fanOutAll(house);
    const id = await newWebhook({ event_types: ['appointment.confirmed'] });
    expect((await replay(id, { since: '2026-01-01T00:00:00Z' })).body).toEqual({ count: 1 });
    expect((await replay(id, { event_ids: [issued, confirmed, confirmed] })).body).toEqual({ count: 1 });
    expect(await statuses(id)).toEqual([[confirmed, 'pending']]);
  });

  it('not what it got once and does not subscribe to any more', async () => {
    const id = await newWebhook();
    const [issued] = await publish(house, own.groupId, 'prescription.issued');
    await fanOutAll(house);
    await finish('delivered', id);
    await own.call('PATCH', `/v1/webhooks/${id}`, { event_types: ['appointment.confirmed'] });
    expect((await replay(id, { since: '2026-01-01T00:00:00Z' })).body).toEqual({ count: 0 });
    expect((await replay(id, { event_ids: [issued] })).body).toEqual({ count: 0 });
    expect(await statuses(id)).toEqual([[issued, 'delivered']]);
  });

  it('by name also a test event of its own; by time none', async () => {
    const id = await newWebhook();
    const other = await newWebhook();
    const { event_id } = await own.call('POST', `/v1/webhooks/${id}/test`, { event: 'prescription.issued' });
    await finish('delivered', id);
    expect((await replay(id, { since: '2026-01-01T00:00:00Z' })).body).toEqual({ count: 0 });
    expect((await replay(id, { event_ids: [event_id] })).body).toEqual({ count: 1 });
    expectProblem(await replay(other, { event_ids: [event_id] }), 422, 'business_rule_violation', {
      rule: 'event_unknown',
      path: ['event_ids'],
    });
  });

  it('leaves alone what is accepted and not yet fanned out: that is on its way', async () => {
    const id = await newWebhook();
    const [event] = await publish(house, own.groupId, 'prescription.issued');
    expect((await replay(id, { since: '2026-01-01T00:00:00Z' })).body).toEqual({ count: 0 });
    expect((await replay(id, { event_ids: [event] })).body).toEqual({ count: 0 });
    await fanOutAll(house);
    expect(await statuses(id)).toEqual([[event, 'pending']]);
  });

  it('422 event_unknown names the events that this practice group does not have, each once', async () => {
    const id = await newWebhook();
    const elsewhere = await newPartner(house);
    const [foreign] = await publish(house, elsewhere.groupId, 'prescription.issued');
    const [known] = await publish(house, own.groupId, 'prescription.issued');
    await fanOutAll(house);
    const answer = await replay(id, { event_ids: [known, foreign, 'evt_none', foreign] });
    expectProblem(answer, 422, 'business_rule_violation', { rule: 'event_unknown', path: ['event_ids'] });
    expect(answer.body.message).toBe(`This practice group has no event ${foreign}, evt_none.`);
    const many = await replay(id, { event_ids: Array.from({ length: 12 }, (_, n) => `evt_${n}`) });
    expect(many.body.message).toMatch(/evt_9 and 2 more\.$/);
    const { rows } = await db.query(
      `SELECT FROM audit_entries WHERE action = 'webhook.replay' AND subject_id = $1`,
      [id],
    );
    expect(rows).toEqual([]);
  });

  it('in the order of acceptance, more than one batch of them; 422 replay_too_large beyond 100,000', async () => {
    const insert = (from: number, to: number) =>
      db.query(
        `WITH accepted AS (
           INSERT INTO events (id, practice_group_id, event, object_id, object_hash, payload, source, accepted_at)
           SELECT 'evt-' || $1 || n, $1, 'prescription.issued', 'o', 1, '{}', 's', '2026-11-16T10:00:00Z'
             FROM generate_series($2::int, $3::int) AS n
           RETURNING no)
         INSERT INTO feed
         SELECT no, $1, 999999 + $2::int + row_number() OVER (ORDER BY no), 'prescription.issued' FROM accepted`,
        [own.groupId, from, to],
      );
    await insert(1, 2_500);
    const id = await newWebhook();
    expect((await replay(id, { since: '2026-01-01T00:00:00Z' })).body).toEqual({ count: 2_500 });
    const { rows } = await db.query<{ in_order: boolean; due: string }>(
      `SELECT bool_and(d.sequence = e.position - 1000000) AS in_order, count(*) FILTER (WHERE d.state = 'due') AS due
         FROM deliveries d JOIN feed e ON e.event_no = d.event_no
        WHERE d.webhook_no = (SELECT no FROM webhooks WHERE id = $1)`,
      [id],
    );
    expect(rows).toEqual([{ in_order: true, due: '2500' }]);

    await insert(2_501, 100_001);
    expectProblem(await replay(id, { since: '2026-01-01T00:00:00Z' }), 422, 'business_rule_violation', {
      rule: 'replay_too_large',
      path: ['since'],
    });
    expect((await replay(id, { since: '2026-11-16T10:00:00.001Z' })).body).toEqual({ count: 0 });
  });

  it('works while the webhook is paused: everything waits for it', async () => {
    const id = await newWebhook();
    await publish(house, own.groupId, 'prescription.issued');
    await fanOutAll(house);
    await own.call('PATCH', `/v1/webhooks/${id}`, { status: 'paused' });
    expect((await replay(id, { since: '2026-01-01T00:00:00Z' })).status).toBe(202);
  });

  it.each([
    [{}, []],
    [{ since: '2026-01-01T00:00:00Z', event_ids: ['evt_1'] }, []],
    [{ since: 'yesterday' }, ['since']],
    [{ since: '2999-01-01T00:00:00Z' }, ['since']],
    [{ since: null }, ['since']],
    [{ event_ids: [] }, ['event_ids']],
    [{ event_ids: Array.from({ length: 1_001 }, (_, n) => `evt_${n}`) }, ['event_ids']],
    [{ event_ids: [''] }, ['event_ids', 0]],
  ])('400: %j', async (body, path) => {
    expectInvalid(await replay('wh_any', body), [{ path }]);
  });
});

it('leaves connections to other calls, however many replays wait for the queue of a webhook', async () => {
  const id = await newWebhook();
  const [event] = await publish(house, own.groupId, 'prescription.issued');
  await fanOutAll(house);
  await finish('delivered', id);
  await db.query('BEGIN');
  await db.query(
    'SELECT FROM webhook_lanes WHERE webhook_no = (SELECT no FROM webhooks WHERE id = $1) FOR UPDATE',
    [id],
  );
  const replays = Array.from({ length: 20 }, () => replay(id, { event_ids: [event] }));
  await vi.waitFor(
    async () => {
      // Within a transaction PostgreSQL tells the same of the others until it is told to forget it.
      await db.query('SELECT pg_stat_clear_snapshot()');
      const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      expect((await db.query(waiting)).rowCount).toBeGreaterThan(1);
    },
    { timeout: 60_000 },
  );
  const reads = Array.from({ length: 20 }, () => own.send('GET', `/v1/webhooks/${id}`));
  expect(new Set((await Promise.all(reads)).map(({ status }) => status))).toEqual(new Set([200]));
  await db.query('COMMIT');
  for (const answer of await Promise.all(replays))
    expect([answer.status, answer.body.count]).toEqual([202, 1]);
});

it('puts nothing into the queue of a partner that lost its access while the replay waited for its turn', async () => {
  const id = await newWebhook();
  const { replays } = house.service.app;
  const run = vi.spyOn(replays, 'run');
  let free = () => {};
  const busy = new Promise<void>((resolve) => {
    free = resolve;
  });
  const others = ['a', 'b'].map((caller) => replays.run(caller, () => busy));
  const waiting = replay(id, { since: '2026-01-01T00:00:00Z' });
  await expect.poll(() => run.mock.calls.length).toBe(3);

  await house.operator('POST', `/keys/${own.keyId}/revoke`);
  await publish(house, own.groupId, 'prescription.issued');
  await fanOutAll(house);
  free();
  expectProblem(await waiting, 403, 'forbidden');
  const { rows } = await db.query(
    'SELECT FROM deliveries WHERE webhook_no = (SELECT no FROM webhooks WHERE id = $1)',
    [id],
  );
  expect(rows).toEqual([]);
  await Promise.all(others);
});
