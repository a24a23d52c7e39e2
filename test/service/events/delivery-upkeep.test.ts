import { createHmac, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type KeptAttempt, shownAttempt } from '../../../src/domain/events/diagnosis.ts';
import { queueMetrics } from '../../../src/runtime/events/queue-metrics.ts';
import { freeLanes } from '../../../src/store/events/deliveries.ts';
import { answered, openDeliveryHarness } from '../../support/delivery-harness.ts';
import { clearOldStep, eventNos, on, replayStep } from '../../support/steps.ts';
import { waiter } from '../../support/waiting.ts';

const DAY = 24 * 3_600_000;

describe('retention', () => {
  it('removes what is older than 30 days, whatever became of it, and nothing else', async () => {
    const harness = await openDeliveryHarness();
    await harness.addWebhook();
    const paused = await harness.addWebhook();
    await harness.rows("UPDATE webhooks SET status = 'paused' WHERE no = $1", [paused]);
    await harness.publish({ id: 'a' }, { id: 'b' });
    await harness.engine.drain();
    harness.clock.advance(15 * DAY);
    await harness.publish({ id: 'a' }, { id: 'a' });
    await harness.engine.drain();
    harness.clock.advance(15 * DAY);
    expect(await harness.engine.clear()).toBe(0);

    harness.clock.advance(1);
    expect(await harness.engine.clear()).toBe(2 + 4);
    expect(await harness.engine.clear()).toBe(0);
    const rows = await harness.rows(
      'SELECT webhook_no = $1 AS paused, sequence, state FROM deliveries ORDER BY 1, 2',
      [paused],
    );
    expect(rows).toEqual([
      { paused: false, sequence: '3', state: 'delivered' },
      { paused: false, sequence: '4', state: 'delivered' },
      { paused: true, sequence: '3', state: 'due' },
      { paused: true, sequence: '4', state: 'due' },
    ]);
    harness.sent.length = 0;
    await harness.rows("UPDATE webhooks SET status = 'active'");
    await harness.engine.drain();
    expect(harness.sent.map(({ sequence }) => sequence)).toEqual([3, 4]);
  });

  it('ends soon when the worker stops: what was begun is done, and no other kind has its turn', async () => {
    const harness = await openDeliveryHarness();
    await harness.rows(
      `INSERT INTO notifications (id, email, subject, body_text, body_html, created_at) VALUES ('sent', 'a@b.example', '', '', '', '2020-01-01')`,
    );
    await harness.admin.query('BEGIN; LOCK TABLE form_submissions');
    const cleared = harness.engine.clear();
    await waiter(harness.admin);
    const stopped = harness.engine.stop();
    await harness.admin.query('COMMIT');
    await stopped;
    expect(await cleared).toBe(0);
    expect(await harness.rows('SELECT id FROM notifications')).toEqual([{ id: 'sent' }]);
  });

  it('lanes that are given back are not waited for by others of the worker', async () => {
    const harness = await openDeliveryHarness();
    const [one, two] = [await harness.addWebhook(), await harness.addWebhook()];
    await harness.rows("UPDATE webhook_lanes SET holder = 7, held_until = '2100-01-01'");
    await harness.admin.query(`BEGIN; SELECT FROM webhook_lanes WHERE webhook_no = ${two} FOR UPDATE`);
    await freeLanes(harness.db, 7, [one]);
    expect(await harness.rows('SELECT holder FROM webhook_lanes ORDER BY webhook_no')).toEqual([
      { holder: null },
      { holder: '7' },
    ]);
    await harness.admin.query('COMMIT');
  });

  it('what waited for one that went is due in its place', async () => {
    const harness = await openDeliveryHarness();
    await harness.addWebhook();
    harness.answerWith(() => 500);
    await harness.publish({ id: 'a' });
    await harness.engine.drain();
    // Put off for longer than any retry would be, by a webhook that is well otherwise.
    await harness.rows("UPDATE deliveries SET retry_at = retry_at + interval '100 days'");
    await harness.rows('UPDATE webhook_lanes SET failing_since = NULL');
    harness.clock.advance(15 * DAY);
    await harness.publish({ id: 'a' }, { id: 'a' });
    await harness.engine.drain();
    const states = () => harness.rows('SELECT sequence, state FROM deliveries ORDER BY sequence');
    expect(await states()).toEqual([
      { sequence: '1', state: 'due' },
      { sequence: '2', state: 'waiting' },
      { sequence: '3', state: 'waiting' },
    ]);
    // What is open stays 14 days longer.
    harness.clock.advance(29 * DAY + 1);
    expect(await harness.engine.clear()).toBe(2);
    expect(await states()).toEqual([
      { sequence: '2', state: 'due' },
      { sequence: '3', state: 'waiting' },
    ]);
    harness.answerWith(() => 200);
    await harness.engine.drain();
    expect(harness.sent.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
  });

  it('what waited for several that went together is due in their place', async () => {
    const harness = await openDeliveryHarness();
    await harness.addWebhook();
    harness.answerWith(() => 500);
    await harness.publish({ id: 'a' }, { id: 'a' });
    await harness.engine.drain();
    await harness.rows("UPDATE deliveries SET retry_at = retry_at + interval '100 days'");
    await harness.rows('UPDATE webhook_lanes SET failing_since = NULL');
    harness.clock.advance(15 * DAY);
    await harness.publish({ id: 'a' });
    await harness.engine.drain();
    // What is open stays 14 days longer.
    harness.clock.advance(29 * DAY + 1);
    expect(await harness.engine.clear()).toBe(4);
    expect(await harness.rows('SELECT sequence, state FROM deliveries')).toEqual([
      { sequence: '3', state: 'due' },
    ]);
  });

  it('what waits for a new one is not woken because an older one went', async () => {
    const harness = await openDeliveryHarness();
    await harness.addWebhook();
    await harness.rows("UPDATE webhooks SET status = 'paused'");
    await harness.publish({ id: 'a' });
    harness.clock.advance(15 * DAY);
    await harness.publish({ id: 'a' }, { id: 'a' });
    await harness.engine.drain();
    // The first was set aside, the second is new again since its worker died, the third was put back to wait for it.
    await harness.rows("UPDATE deliveries SET retry_at = '2100-01-01' WHERE sequence = 1");
    await harness.rows("UPDATE deliveries SET state = 'waiting', retry_at = 'infinity' WHERE sequence = 3");
    harness.clock.advance(15 * DAY + 1);
    expect(await harness.engine.clear()).toBe(2);
    expect(await harness.rows('SELECT sequence, state FROM deliveries ORDER BY 1')).toEqual([
      { sequence: '2', state: 'due' },
      { sequence: '3', state: 'waiting' },
    ]);
  });

  it('removes test events of one webhook too, which are never fanned out', async () => {
    const harness = await openDeliveryHarness();
    const no = await harness.addWebhook();
    await harness.publish({ id: 'a' });
    await harness.rows('UPDATE events SET only_webhook_no = $1', [no]);
    harness.clock.advance(30 * DAY + 1);
    expect(await harness.engine.clear()).toBe(1);
  });

  it('never removes an event that was not fanned out yet', async () => {
    const harness = await openDeliveryHarness();
    await harness.addWebhook();
    await harness.publish({ id: 'a' });
    harness.clock.advance(40 * DAY);
    expect(await harness.engine.clear()).toBe(0);
    await harness.engine.drain();
    expect(harness.sent).toHaveLength(1);
  });

  it('goes on behind more events than it looks at in one go that are still on their way to a slow webhook', async () => {
    const harness = await openDeliveryHarness();
    const slow = await harness.addWebhook({ url: 'https://slow.example/hook' });
    await harness.publish(...Array.from({ length: 501 }, (_, n) => ({ id: `slow-${n}` })));
    await harness.publish({ id: 'of-nobody', practice_group_id: 'other-group' });
    await harness.engine.drain();
    harness.clock.advance(29 * DAY);
    // Its partner has all of it sent again, and the receiver fails.
    harness.answerWith(() => 503);
    const again = await eventNos(harness.admin, "SELECT no FROM events WHERE practice_group_id = 'group'");
    await replayStep(slow, again, new Date(harness.clock.now()).toISOString())(on(harness.admin));
    harness.clock.advance(2 * DAY);
    expect(await harness.engine.clear()).toBe(1);
    expect(await harness.rows("SELECT FROM events WHERE practice_group_id = 'other-group'")).toEqual([]);
  });

  it('takes few events of many webhooks at a time, and each of them whole', async () => {
    const harness = await openDeliveryHarness();
    for (let n = 0; n < 20; n++) await harness.addWebhook();
    await harness.publish(...Array.from({ length: 12 }, (_, n) => ({ id: `a-${n}` })));
    await harness.engine.drain();
    harness.clock.advance(1);
    const at = new Date(harness.clock.now()).toISOString();
    const clear = clearOldStep({ at, keptDays: 0, openKeptDays: 0, rowsMax: 5 });
    const left: unknown[] = [];
    for (let step = 0; step < 4; step++) {
      await clear(on(harness.admin));
      left.push(
        ...(await harness.rows(
          'SELECT (SELECT count(*)::int FROM events) AS events, (SELECT count(*)::int FROM deliveries) AS deliveries',
        )),
      );
    }
    expect(left).toEqual([9, 6, 3, 0].map((events) => ({ events, deliveries: 20 * events })));
  });

  it('goes on through more rows than one transaction takes, and clears away deleted webhooks', async () => {
    const harness = await openDeliveryHarness();
    const no = await harness.addWebhook();
    await harness.publish(...Array.from({ length: 2_500 }, (_, n) => ({ id: `a-${n}` })));
    await harness.engine.drain();
    await harness.rows('UPDATE webhooks SET deleted_at = now() WHERE no = $1', [no]);
    await harness.engine.clear();
    expect(await harness.rows('SELECT FROM deliveries')).toEqual([]);
    expect(await harness.rows('SELECT FROM webhooks')).toEqual([]);
    harness.clock.advance(31 * DAY);
    expect(await harness.engine.clear()).toBe(2_500);
    expect(await harness.rows('SELECT FROM events')).toEqual([]);
    expect(await harness.rows('SELECT FROM feed')).toEqual([]);
  });
});

describe('signing', () => {
  it('uses every secret that is alive at that moment', async () => {
    const harness = await openDeliveryHarness();
    const no = await harness.addWebhook();
    const [old, expired] = [randomBytes(32), randomBytes(32)];
    const until = (ms: number) => new Date(harness.clock.now() + ms).toISOString();
    await harness.rows(
      "INSERT INTO webhook_secrets (webhook_no, sealed, key_id, created_at, expires_at) VALUES ($1, $2, 'k', now(), $3), ($1, $4, 'k', now(), $5)",
      [no, old, until(DAY), expired, until(0)],
    );
    const signatures = async () => {
      await harness.publish({ id: 'a' });
      await harness.engine.drain();
      return harness.sent.at(-1);
    };
    const delivery = await signatures();
    const signed = `${delivery?.id}.${delivery?.headers['webhook-timestamp']}.${delivery?.body}`;
    const sign = (secret: Buffer) => `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`;
    const all = delivery?.headers['webhook-signature']?.split(' ') ?? [];
    expect(all).toHaveLength(2);
    expect(all).toContain(sign(old));
    expect(all).not.toContain(sign(expired));
    harness.clock.advance(DAY);
    expect((await signatures())?.headers['webhook-signature']?.split(' ')).toHaveLength(1);
  });
});

describe('metrics', () => {
  it('tell the depth and age of the queue, outcomes, latencies and who keeps failing', async () => {
    const harness = await openDeliveryHarness();
    await harness.addWebhook();
    const failing = await harness.addWebhook();
    harness.answerWith(({ url }) => (url.includes('receiver-1') ? 204 : 503));
    await harness.publish({ id: 'a' }, { id: 'a' });
    await harness.engine.drain();
    harness.clock.advance(4_000);
    const [{ id } = { id: '' }] = await harness.rows<{ id: string }>(
      'SELECT id FROM webhooks WHERE no = $1',
      [failing],
    );
    const queue = queueMetrics(harness.db, harness.clock);
    const text = (await harness.engine.metrics()) + (await queue());
    for (const line of [
      'porter_delivery_queue{state="new"} 0',
      'porter_delivery_queue{state="due"} 1',
      'porter_delivery_queue{state="waiting"} 1',
      'porter_delivery_queue{state="held"} 0',
      'porter_delivery_oldest_seconds 4',
      'porter_delivery_attempts_total{outcome="2xx"} 2',
      'porter_delivery_attempts_total{outcome="5xx"} 1',
      'porter_delivery_seconds_count 2',
      'porter_events_fanned_out_total 2',
      'porter_delivery_leases_expired_total 0',
      `porter_webhook_failing_attempts{webhook_id="${id}"} 1`,
    ])
      expect(text).toContain(line);

    // What waits for a paused webhook waits on purpose: it is counted apart, and not called late.
    await harness.rows("UPDATE webhooks SET status = 'paused' WHERE no = $1", [failing]);
    harness.clock.advance(10_000);
    const later = await queue();
    for (const [state, count] of Object.entries({ due: 0, waiting: 0, held: 2 }))
      expect(later).toContain(`porter_delivery_queue{state="${state}"} ${count}\n`);
    expect(later).toContain('porter_delivery_oldest_seconds 0');

    // So does what is new for it.
    await harness.publish({ id: 'b' });
    await harness.engine.drain();
    harness.clock.advance(10_000);
    expect(await queue()).toContain('porter_delivery_queue{state="held"} 3\n');
  });
});

describe('the log of a delivery', () => {
  it('holds every attempt with time, status, phase, duration, answer and a diagnosis', async () => {
    const harness = await openDeliveryHarness();
    await harness.addWebhook();
    const failure = { phase: 'answer', code: 'answer_timeout', detail: '' } as const;
    const outcomes = [
      answered(0, { status: undefined, failure, durationMs: 15_000 }),
      answered(500, { answer: 'oops \u{1F600}' }),
      answered(200),
    ];
    harness.answerWith(() => outcomes.shift() ?? 500);
    await harness.publish({ id: 'a' });
    for (let n = 0; n < 3; n++) {
      await harness.engine.drain();
      await harness.toNextDue();
    }
    const [row] = await harness.rows<{ attempts: KeptAttempt[]; state: string; tries: number }>(
      'SELECT * FROM deliveries',
    );
    expect(row).toMatchObject({ state: 'delivered', tries: 3 });
    expect(row?.attempts.map(shownAttempt)).toMatchObject([
      {
        outcome: 'failed',
        status: null,
        phase: 'answer',
        code: 'answer_timeout',
        duration_ms: 15_000,
        answer: null,
      },
      { outcome: 'failed', status: 500, phase: null, answer: 'oops \u{1F600}' },
      { outcome: 'delivered', status: 200, diagnosis: 'Received: 200' },
    ]);
  });

  it('keeps the last 50 attempts of a delivery that is replayed again and again', async () => {
    const harness = await openDeliveryHarness();
    const no = await harness.addWebhook();
    await harness.publish({ id: 'a' });
    for (let n = 0; n < 53; n++) {
      await harness.engine.drain();
      const at = new Date(harness.clock.now()).toISOString();
      await replayStep(no, await eventNos(harness.admin), at)(on(harness.admin));
    }
    expect(harness.sent).toHaveLength(53);
    const [row] = await harness.rows('SELECT json_array_length(attempts) AS kept FROM deliveries');
    expect(row).toEqual({ kept: 50 });
  });
});
