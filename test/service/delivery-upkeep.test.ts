import { createHmac, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type KeptAttempt, shownAttempt } from '../../src/domain/diagnosis.ts';
import { answered, openPostOffice } from '../support/post-office.ts';

const DAY = 24 * 3_600_000;

describe('retention', () => {
  it('removes what is older than 30 days, whatever became of it, and nothing else', async () => {
    const office = await openPostOffice();
    await office.addWebhook();
    const paused = await office.addWebhook();
    await office.rows("UPDATE webhooks SET status = 'paused' WHERE no = $1", [paused]);
    await office.publish({ id: 'a' }, { id: 'b' });
    await office.engine.drain();
    office.clock.advance(15 * DAY);
    await office.publish({ id: 'a' }, { id: 'a' });
    await office.engine.drain();
    office.clock.advance(15 * DAY);
    expect(await office.engine.clear()).toBe(0);

    office.clock.advance(1);
    expect(await office.engine.clear()).toBe(2 + 4);
    expect(await office.engine.clear()).toBe(0);
    const rows = await office.rows(
      'SELECT webhook_no = $1 AS paused, sequence, state FROM deliveries ORDER BY 1, 2',
      [paused],
    );
    expect(rows).toEqual([
      { paused: false, sequence: '3', state: 'delivered' },
      { paused: false, sequence: '4', state: 'delivered' },
      { paused: true, sequence: '3', state: 'due' },
      { paused: true, sequence: '4', state: 'due' },
    ]);
    office.letters.length = 0;
    await office.rows("UPDATE webhooks SET status = 'active'");
    await office.engine.drain();
    expect(office.letters.map(({ sequence }) => sequence)).toEqual([3, 4]);
  });

  it('what waited for one that went is due in its place', async () => {
    const office = await openPostOffice();
    await office.addWebhook();
    office.answerWith(() => 500);
    await office.publish({ id: 'a' });
    await office.engine.drain();
    // Put off for longer than any retry would be, by a webhook that is well otherwise.
    await office.rows("UPDATE deliveries SET retry_at = retry_at + interval '100 days'");
    await office.rows('UPDATE webhook_lanes SET failing_since = NULL');
    office.clock.advance(15 * DAY);
    await office.publish({ id: 'a' }, { id: 'a' });
    await office.engine.drain();
    const states = () => office.rows('SELECT sequence, state FROM deliveries ORDER BY sequence');
    expect(await states()).toEqual([
      { sequence: '1', state: 'due' },
      { sequence: '2', state: 'waiting' },
      { sequence: '3', state: 'waiting' },
    ]);
    // What is open stays 14 days longer.
    office.clock.advance(29 * DAY + 1);
    expect(await office.engine.clear()).toBe(2);
    expect(await states()).toEqual([
      { sequence: '2', state: 'due' },
      { sequence: '3', state: 'waiting' },
    ]);
    office.answerWith(() => 200);
    await office.engine.drain();
    expect(office.letters.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
  });

  it('what waited for several that went together is due in their place', async () => {
    const office = await openPostOffice();
    await office.addWebhook();
    office.answerWith(() => 500);
    await office.publish({ id: 'a' }, { id: 'a' });
    await office.engine.drain();
    await office.rows("UPDATE deliveries SET retry_at = retry_at + interval '100 days'");
    await office.rows('UPDATE webhook_lanes SET failing_since = NULL');
    office.clock.advance(15 * DAY);
    await office.publish({ id: 'a' });
    await office.engine.drain();
    // What is open stays 14 days longer.
    office.clock.advance(29 * DAY + 1);
    expect(await office.engine.clear()).toBe(4);
    expect(await office.rows('SELECT sequence, state FROM deliveries')).toEqual([
      { sequence: '3', state: 'due' },
    ]);
  });

  it('what waits for a new one is not woken because an older one went', async () => {
    const office = await openPostOffice();
    await office.addWebhook();
    await office.rows("UPDATE webhooks SET status = 'paused'");
    await office.publish({ id: 'a' });
    office.clock.advance(15 * DAY);
    await office.publish({ id: 'a' }, { id: 'a' });
    await office.engine.drain();
    // The first was set aside, the second is new again since its worker died, the third was put back to wait for it.
    await office.rows("UPDATE deliveries SET retry_at = '2100-01-01' WHERE sequence = 1");
    await office.rows("UPDATE deliveries SET state = 'waiting', retry_at = 'infinity' WHERE sequence = 3");
    office.clock.advance(15 * DAY + 1);
    expect(await office.engine.clear()).toBe(2);
    expect(await office.rows('SELECT sequence, state FROM deliveries ORDER BY 1')).toEqual([
      { sequence: '2', state: 'due' },
      { sequence: '3', state: 'waiting' },
    ]);
  });

  it('removes test events of one webhook too, which are never fanned out', async () => {
    const office = await openPostOffice();
    const no = await office.addWebhook();
    await office.publish({ id: 'a' });
    await office.rows('UPDATE events SET only_webhook_no = $1', [no]);
    office.clock.advance(30 * DAY + 1);
    expect(await office.engine.clear()).toBe(1);
  });

  it('never removes an event that was not fanned out yet', async () => {
    const office = await openPostOffice();
    await office.addWebhook();
    await office.publish({ id: 'a' });
    office.clock.advance(40 * DAY);
    expect(await office.engine.clear()).toBe(0);
    await office.engine.drain();
    expect(office.letters).toHaveLength(1);
  });

  it('goes on through more rows than one transaction takes, and clears away deleted webhooks', async () => {
    const office = await openPostOffice();
    const no = await office.addWebhook();
    await office.publish(...Array.from({ length: 2_500 }, (_, n) => ({ id: `a-${n}` })));
    await office.engine.drain();
    await office.rows('UPDATE webhooks SET deleted_at = now() WHERE no = $1', [no]);
    await office.engine.clear();
    expect(await office.rows('SELECT FROM deliveries')).toEqual([]);
    expect(await office.rows('SELECT FROM webhooks')).toEqual([]);
    office.clock.advance(31 * DAY);
    expect(await office.engine.clear()).toBe(2_500);
    expect(await office.rows('SELECT FROM events')).toEqual([]);
    expect(await office.rows('SELECT FROM feed')).toEqual([]);
  });
});

describe('signing', () => {
  it('uses every secret that is alive at that moment', async () => {
    const office = await openPostOffice();
    const no = await office.addWebhook();
    const [old, expired] = [randomBytes(32), randomBytes(32)];
    const until = (ms: number) => new Date(office.clock.now() + ms).toISOString();
    await office.rows(
      "INSERT INTO webhook_secrets (webhook_no, sealed, key_id, created_at, expires_at) VALUES ($1, $2, 'k', now(), $3), ($1, $4, 'k', now(), $5)",
      [no, old, until(DAY), expired, until(0)],
    );
    const signatures = async () => {
      await office.publish({ id: 'a' });
      await office.engine.drain();
      return office.letters.at(-1);
    };
    const letter = await signatures();
    const signed = `${letter?.id}.${letter?.headers['webhook-timestamp']}.${letter?.body}`;
    const sign = (secret: Buffer) => `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`;
    const all = letter?.headers['webhook-signature']?.split(' ') ?? [];
    expect(all).toHaveLength(2);
    expect(all).toContain(sign(old));
    expect(all).not.toContain(sign(expired));
    office.clock.advance(DAY);
    expect((await signatures())?.headers['webhook-signature']?.split(' ')).toHaveLength(1);
  });
});

describe('metrics', () => {
  it('tell the depth and age of the queue, outcomes, latencies and who keeps failing', async () => {
    const office = await openPostOffice();
    await office.addWebhook();
    const failing = await office.addWebhook();
    office.answerWith(({ url }) => (url.includes('receiver-1') ? 204 : 503));
    await office.publish({ id: 'a' }, { id: 'a' });
    await office.engine.drain();
    office.clock.advance(4_000);
    const [{ id } = { id: '' }] = await office.rows<{ id: string }>('SELECT id FROM webhooks WHERE no = $1', [
      failing,
    ]);
    const text = await office.engine.metrics();
    for (const line of [
      'porter_delivery_queue{state="new"} 0',
      'porter_delivery_queue{state="due"} 1',
      'porter_delivery_queue{state="waiting"} 1',
      'porter_delivery_oldest_seconds 4',
      'porter_delivery_attempts_total{outcome="2xx"} 2',
      'porter_delivery_attempts_total{outcome="5xx"} 1',
      'porter_delivery_seconds_count 2',
      'porter_events_fanned_out_total 2',
      'porter_delivery_leases_expired_total 0',
      `porter_webhook_failing_attempts{webhook_id="${id}"} 1`,
    ])
      expect(text).toContain(line);

    // What waits for a paused webhook waits on purpose: it is counted, and not called late.
    await office.rows("UPDATE webhooks SET status = 'paused' WHERE no = $1", [failing]);
    office.clock.advance(10_000);
    const later = await office.engine.metrics();
    expect(later).toContain('porter_delivery_queue{state="due"} 1');
    expect(later).toContain('porter_delivery_oldest_seconds 0');
  });
});

describe('the log of a delivery', () => {
  it('holds every attempt with time, status, phase, duration, answer and a diagnosis', async () => {
    const office = await openPostOffice();
    await office.addWebhook();
    const failure = { phase: 'answer', code: 'answer_timeout', detail: '' } as const;
    const outcomes = [
      answered(0, { status: undefined, failure, durationMs: 15_000 }),
      answered(500, { answer: 'oops \u{1F600}' }),
      answered(200),
    ];
    office.answerWith(() => outcomes.shift() ?? 500);
    await office.publish({ id: 'a' });
    for (let n = 0; n < 3; n++) {
      await office.engine.drain();
      await office.toNextDue();
    }
    const [row] = await office.rows<{ attempts: KeptAttempt[]; state: string; tries: number }>(
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

  it('keeps the last 50 attempts of a letter that is replayed again and again', async () => {
    const office = await openPostOffice();
    const no = await office.addWebhook();
    await office.publish({ id: 'a' });
    for (let n = 0; n < 53; n++) {
      await office.engine.drain();
      await office.rows('SELECT replay_deliveries($1, $2, (SELECT array_agg(no) FROM events))', [
        new Date(office.clock.now()).toISOString(),
        no,
      ]);
    }
    expect(office.letters).toHaveLength(53);
    const [row] = await office.rows('SELECT json_array_length(attempts) AS kept FROM deliveries');
    expect(row).toEqual({ kept: 50 });
  });
});
