import { describe, expect, it } from 'vitest';
import { eventNames, eventPayloads } from '../../../src/contract/event-payloads.ts';
import { deliveryId } from '../../../src/domain/ids.ts';
import { expectInvalid, expectProblem } from '../../support/answers.ts';
import { fanOutAll, HOOK, newPartner, publish, startPost } from '../../support/post.ts';
import type { Loose } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

const house = await startPost();
const db = await superuser(house.databaseUrl);
const own = await newPartner(house);

const newWebhook = async (partner = own): Promise<string> =>
  (await partner.call('POST', '/v1/webhooks', { url: HOOK })).id;
const deliveries = (id: string, query = '', partner = own): Promise<Loose> =>
  partner.call('GET', `/v1/webhooks/${id}/deliveries?${query}`);

describe('POST /v1/webhooks/{id}/test', () => {
  it.each(eventNames)(
    '202: queues a %s with example values and exactly the specified fields',
    async (event) => {
      const partner = await newPartner(house);
      const id = await newWebhook(partner);
      const answer = await partner.send('POST', `/v1/webhooks/${id}/test`, { event });
      expect(answer.status).toBe(202);
      expect(answer.body).toEqual({
        event_id: expect.stringMatching(/^evt_/),
        delivery_id: deliveryId(id, 1, house.clock.now()),
      });
      const { rows } = await db.query<{ payload: string }>('SELECT payload FROM events WHERE id = $1', [
        answer.body.event_id,
      ]);
      const payload = JSON.parse(rows[0]?.payload ?? '');
      expect(eventPayloads[event].parse(payload)).toEqual(payload);
      expect(payload).toMatchObject({
        id: expect.stringMatching(/^test_/),
        practice_group_id: partner.groupId,
      });
      // All that can be said is said, so that a receiver can try every field.
      expect(Object.keys(payload)).toEqual(Object.keys(eventPayloads[event].shape));

      const now = new Date(house.clock.now()).toISOString();
      const read = await partner.call('GET', `/v1/webhooks/${id}/deliveries/${answer.body.delivery_id}`);
      expect(read).toEqual({
        id: answer.body.delivery_id,
        event_id: answer.body.event_id,
        event,
        object_id: payload.id,
        sequence: 1,
        status: 'pending',
        withheld_reason: null,
        attempts: [],
        next_attempt_at: now,
        created_at: now,
        finished_at: null,
      });
    },
  );

  it('goes to this webhook alone, whatever it subscribes to, and not into the feed', async () => {
    const partner = await newPartner(house);
    const id = await newWebhook(partner);
    const other = await newWebhook(partner);
    await partner.call('PATCH', `/v1/webhooks/${id}`, { event_types: ['prescription.issued'] });
    await partner.call('POST', `/v1/webhooks/${id}/test`, { event: 'appointment.confirmed' });
    await fanOutAll(house);
    expect((await deliveries(id, '', partner)).count).toBe(1);
    expect((await deliveries(other, '', partner)).count).toBe(0);
    expect((await partner.call('GET', '/v1/events')).data).toEqual([]);
  });

  it.each(['paused', 'disabled'])('409 while it is %s, and says what to do', async (status) => {
    const id = await newWebhook();
    await db.query('UPDATE webhooks SET status = $2 WHERE id = $1', [id, status]);
    const answer = await own.send('POST', `/v1/webhooks/${id}/test`, { event: 'prescription.issued' });
    expectProblem(answer, 409, 'conflict');
    expect(answer.body.message).toBe(`The webhook is ${status}: set its status to active first.`);
  });

  it('400: an event that there is not', async () => {
    const id = await newWebhook();
    for (const body of [{}, { event: 'appointment.lost' }, { event: null }])
      expectInvalid(await own.send('POST', `/v1/webhooks/${id}/test`, body), [{ path: ['event'] }]);
  });

  it('tells the workers', async () => {
    const id = await newWebhook();
    const heard: string[] = [];
    db.on('notification', ({ channel }) => heard.push(channel));
    await db.query('LISTEN porter_deliveries');
    await own.call('POST', `/v1/webhooks/${id}/test`, { event: 'prescription.issued' });
    await db.query('SELECT 1');
    expect(heard).toEqual(['porter_deliveries']);
    await db.query('UNLISTEN porter_deliveries');
  });
});

describe('GET /v1/webhooks/{id}/deliveries', () => {
  it('200: newest first, each with how far it has come', async () => {
    const partner = await newPartner(house);
    const id = await newWebhook(partner);
    const [first, second, third] = await publish(
      house,
      partner.groupId,
      ['appointment.confirmed', 'a'],
      ['appointment.cancelled', 'a'],
      ['prescription.issued', 'p'],
    );
    await fanOutAll(house);
    const attempt = {
      at: '2026-11-16T10:00:00.000Z',
      outcome: 'failed',
      status: 500,
      phase: null,
      code: null,
      diagnosis: 'Answered 500.',
      duration_ms: 12,
      answer: 'sorry\n"quoted"',
    };
    await db.query(
      `UPDATE deliveries SET state = 'failed', finished_at = '2026-11-16T11:00:00Z', attempts = $2
        WHERE event_no = (SELECT no FROM events WHERE id = $1)`,
      [third, JSON.stringify([attempt, { ...attempt, status: null, phase: 'dns', code: 'x', answer: null }])],
    );
    await db.query(
      `UPDATE deliveries SET state = 'waiting', retry_at = 'infinity'
        WHERE event_no = (SELECT no FROM events WHERE id = $1)`,
      [second],
    );
    const { data, count, next_cursor } = await deliveries(id, '', partner);
    expect([count, next_cursor]).toEqual([3, null]);
    expect(data).toMatchObject([
      {
        event_id: third,
        sequence: 3,
        status: 'failed',
        next_attempt_at: null,
        finished_at: '2026-11-16T11:00:00.000Z',
        attempts: [attempt, { phase: 'dns' }],
      },
      { event_id: second, sequence: 2, status: 'waiting', next_attempt_at: null, attempts: [] },
      {
        id: expect.stringMatching(`^dlv_${id.slice(3)}_1_`),
        event_id: first,
        event: 'appointment.confirmed',
        object_id: 'a',
        sequence: 1,
        status: 'pending',
        next_attempt_at: expect.any(String),
      },
    ]);
    expect(await partner.call('GET', `/v1/webhooks/${id}/deliveries/${data[0].id}`)).toEqual(data[0]);
  });

  it('pages of every size hold each entry once, filtered or not', async () => {
    const partner = await newPartner(house);
    const id = await newWebhook(partner);
    const names = eventNames.slice(0, 8);
    await publish(house, partner.groupId, ...names, ...names);
    await fanOutAll(house);
    await db.query(`UPDATE deliveries SET state = 'delivered' WHERE sequence % 3 = 0`);
    for (const [query, expected] of [
      ['', [16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]],
      ['status=delivered&', [15, 12, 9, 6, 3]],
      ['status=pending&', [16, 14, 13, 11, 10, 8, 7, 5, 4, 2, 1]],
      ['status=failed&', []],
      [`event=${names[2]}&`, [11, 3]],
      [`event=${names[2]}&status=delivered&`, [3]],
    ] as const) {
      for (const size of [1, 2, 5, 100]) {
        const seen: number[] = [];
        let cursor = '';
        do {
          const page = await deliveries(id, `${query}page_size=${size}${cursor}`, partner);
          expect(page.count).toBe(page.data.length);
          seen.push(...page.data.map(({ sequence }: Loose) => sequence));
          cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`;
        } while (cursor);
        expect(seen, `${query} ${size}`).toEqual(expected);
      }
    }
  });

  it('a filter that matches nothing near leads on, stretch by stretch, and finds what lies far back', async () => {
    const partner = await newPartner(house);
    const id = await newWebhook(partner);
    await db.query(
      `WITH made AS (
         INSERT INTO events (id, practice_group_id, event, object_id, object_hash, payload, source, accepted_at)
         SELECT 'far-' || n, $1, CASE n WHEN 1 THEN 'prescription.issued' ELSE 'appointment.confirmed' END, 'o', n, '{}',
                's', now() FROM generate_series(1, 20005) AS n RETURNING no, id)
       INSERT INTO deliveries (webhook_no, sequence, event_no, object_hash, state, created_at)
       SELECT (SELECT no FROM webhooks WHERE id = $2), substr(id, 5)::bigint, no, 0, 'delivered', now() FROM made`,
      [partner.groupId, id],
    );
    const pages: number[] = [];
    let cursor = '';
    do {
      const page = await deliveries(id, `event=prescription.issued${cursor}`, partner);
      pages.push(page.count);
      cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`;
    } while (cursor);
    expect(pages).toEqual([0, 0, 1]);
  });

  it('400: filters and cursors that make no sense', async () => {
    const id = await newWebhook();
    for (const [query, path] of [
      ['status=due', 'status'],
      ['event=x', 'event'],
      ['cursor=x', 'cursor'],
      ['page_size=101', 'page_size'],
      ['surprise=1', 'surprise'],
    ])
      expectInvalid(await own.send('GET', `/v1/webhooks/${id}/deliveries?${query}`), [
        { path: [path ?? ''] },
      ]);
  });

  it('404: a delivery of another webhook, and names that are none', async () => {
    const id = await newWebhook();
    const { delivery_id } = await own.call('POST', `/v1/webhooks/${id}/test`, {
      event: 'prescription.issued',
    });
    const other = await newWebhook();
    await own.call('POST', `/v1/webhooks/${other}/test`, { event: 'prescription.issued' });
    for (const path of [
      `${other}/deliveries/${delivery_id}`,
      `${id}/deliveries/${delivery_id.replace('_1_', '_2_')}`,
      // The same place in the queue, but of another event: what stood there before a backup was restored.
      `${id}/deliveries/${deliveryId(id, 1, house.clock.now() - 1)}`,
      `${id}/deliveries/${delivery_id.slice(0, -10)}`,
      `${id}/deliveries/${id}`,
      `${id}/deliveries/${delivery_id.replace('_1_', '_01_')}`,
      `${id}/deliveries/${delivery_id.replace('_1_', '_9999999999999999_')}`,
    ])
      expectProblem(await own.send('GET', `/v1/webhooks/${path}`), 404, 'not_found');
  });
});
