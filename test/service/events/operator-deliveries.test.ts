import { beforeAll, describe, expect, it } from 'vitest';
import { expectProblem } from '../../support/answers.ts';
import { fanOutAll, HOOK, newPartner, publish, startPost } from '../../support/post.ts';
import { type Loose, OPERATOR_TOKEN } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

const house = await startPost();
const db = await superuser(house.databaseUrl);
const one = await newPartner(house);
const neighbour = await newPartner(house, one.groupId);
const other = await newPartner(house);
/** A webhook of each. */
const hooks: Record<'one' | 'neighbour' | 'other', string> = { one: '', neighbour: '', other: '' };
let events: string[];
let elsewhere: string[];

beforeAll(async () => {
  for (const [name, partner] of [
    ['one', one],
    ['neighbour', neighbour],
    ['other', other],
  ] as const)
    hooks[name] = (await partner.call('POST', '/v1/webhooks', { url: HOOK })).id;
  events = await publish(house, one.groupId, 'appointment.confirmed', 'prescription.issued');
  elsewhere = await publish(house, other.groupId, 'prescription.issued');
  await fanOutAll(house);
});

const list = (query: string): Promise<Loose> => house.operator('GET', `/deliveries?${query}`);
const named = async (query: string) =>
  (await list(query)).data.map(({ event_id, webhook_id }: Loose) => [event_id, webhook_id]);
const retry = (id: string, token = OPERATOR_TOKEN) =>
  house.send('POST', `/operator/v1/deliveries/${id}/retry`, { token });

describe('GET /operator/v1/webhooks', () => {
  it('200: those of every partner, without a secret, by partner, group and status', async () => {
    const all = await house.operator('GET', '/webhooks');
    expect(all.data.map(({ id }: Loose) => id).sort()).toEqual(Object.values(hooks).sort());
    expect(JSON.stringify(all)).not.toContain('whsec_');
    const ids = async (query: string) =>
      (await house.operator('GET', `/webhooks?${query}`)).data.map(({ id }: Loose) => id);
    expect(await ids(`partner_id=${one.partnerId}`)).toEqual([hooks.one]);
    expect((await ids(`practice_group_id=${one.groupId}`)).sort()).toEqual(
      [hooks.one, hooks.neighbour].sort(),
    );
    expect(await ids('status=disabled')).toEqual([]);
    expect(await house.operator('GET', `/webhooks/${hooks.one}`)).toEqual({
      ...(await one.call('GET', `/v1/webhooks/${hooks.one}`)),
      partner_id: one.partnerId,
      partner_name: 'Partner',
      practice_group_name: `Practice ${one.groupId}`,
      oldest_queued_at: new Date(house.clock.now()).toISOString(),
    });
  });
});

describe('GET /operator/v1/deliveries', () => {
  it('200: newest events first, of everybody or by webhook, event and practice group', async () => {
    const [first, second] = events;
    const [third] = elsewhere;
    expect(await named('')).toEqual([
      [third, hooks.other],
      [second, hooks.neighbour],
      [second, hooks.one],
      [first, hooks.neighbour],
      [first, hooks.one],
    ]);
    expect(await named(`webhook_id=${hooks.one}`)).toEqual([
      [second, hooks.one],
      [first, hooks.one],
    ]);
    expect(await named(`event_id=${first}`)).toEqual([
      [first, hooks.neighbour],
      [first, hooks.one],
    ]);
    expect(await named(`practice_group_id=${other.groupId}`)).toEqual([[third, hooks.other]]);
    expect(await named(`event_id=${first}&webhook_id=${hooks.one}`)).toEqual([[first, hooks.one]]);
    expect(await named(`webhook_id=${hooks.one}&practice_group_id=${other.groupId}`)).toEqual([]);
    expect(await named(`event_id=${third}&practice_group_id=${one.groupId}`)).toEqual([]);
    for (const nothing of ['webhook_id=none', 'event_id=none', 'practice_group_id=none', 'status=failed'])
      expect(await named(nothing)).toEqual([]);
  });

  it('200: with what the partner sees, and whose it is', async () => {
    const { data } = await list(`webhook_id=${hooks.one}&page_size=1`);
    expect(data[0]).toEqual({
      ...(await one.call('GET', `/v1/webhooks/${hooks.one}/deliveries/${data[0].id}`)),
      webhook_id: hooks.one,
      partner_id: one.partnerId,
      practice_group_id: one.groupId,
    });
    expect(await house.operator('GET', `/deliveries/${data[0].id}`)).toEqual(data[0]);
  });

  it('pages of every size hold each entry once, on every way through', async () => {
    await publish(
      house,
      one.groupId,
      ...Array.from({ length: 5 }, () => 'patient.added-to-sequence' as const),
    );
    await fanOutAll(house);
    for (const filter of [
      '',
      `webhook_id=${hooks.one}`,
      `practice_group_id=${one.groupId}`,
      `event_id=${events[0]}`,
    ]) {
      for (const status of ['', '&status=pending']) {
        const query = filter + status;
        const whole = (await list(`${query}&page_size=100`)).data.map(({ id }: Loose) => id);
        expect(whole.length).toBeGreaterThanOrEqual(2);
        for (const size of [1, 3]) {
          const seen: string[] = [];
          let cursor = '';
          do {
            const page = await list(`${query}&page_size=${size}${cursor}`);
            seen.push(...page.data.map(({ id }: Loose) => id));
            cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`;
          } while (cursor);
          expect(seen, query).toEqual(whole);
        }
      }
    }
  });
});

describe('POST /operator/v1/deliveries/{id}/retry', () => {
  it('202: what was given up goes out again, under its old name', async () => {
    const [given] = (await list(`event_id=${events[0]}&webhook_id=${hooks.one}`)).data;
    await db.query(
      `UPDATE deliveries SET state = 'failed', finished_at = now(), tries = 10
        WHERE webhook_no = (SELECT no FROM webhooks WHERE id = $1) AND sequence = $2`,
      [hooks.one, given.sequence],
    );
    house.clock.advance(1_000);
    const now = new Date(house.clock.now()).toISOString();
    const answer = await retry(given.id);
    expect([answer.status, answer.body]).toEqual([
      202,
      { ...given, status: 'pending', next_attempt_at: now },
    ]);
    expect(await house.operator('GET', `/deliveries/${given.id}`)).toEqual(answer.body);
    const { data } = await house.operator('GET', `/audit?action=delivery.retry&subject_id=${given.id}`);
    expect(data).toMatchObject([
      {
        actor: { type: 'operator', id: 'opr_first' },
        practice_group_id: one.groupId,
        before: { status: 'failed', next_attempt_at: null },
        after: { status: 'pending', next_attempt_at: now },
      },
    ]);
  });

  it('202: one that waits for its next attempt is due now; the workers are told', async () => {
    const [given] = (await list(`event_id=${events[1]}&webhook_id=${hooks.one}`)).data;
    await db.query(`UPDATE deliveries SET retry_at = created_at + interval '1 day' WHERE sequence = $1`, [
      given.sequence,
    ]);
    const heard: string[] = [];
    db.on('notification', ({ channel }) => heard.push(channel));
    await db.query('LISTEN porter_deliveries');
    const { body } = await retry(given.id);
    await db.query('SELECT 1');
    expect(heard).toEqual(['porter_deliveries']);
    await db.query('UNLISTEN porter_deliveries');
    expect(body.next_attempt_at).toBe(new Date(house.clock.now()).toISOString());
  });

  it('403 for a viewer, 202 for support, 404 for what is no delivery', async () => {
    const [given] = (await list(`event_id=${events[1]}&webhook_id=${hooks.one}`)).data;
    const token = async (role: string) =>
      (await house.operator('POST', '/operators', { name: role, role })).token;
    expect((await retry(given.id, await token('viewer'))).status).toBe(403);
    expect((await retry(given.id, await token('support'))).status).toBe(202);
    expectProblem(await retry('dlv_none_1'), 404, 'not_found');
    expectProblem(await retry(hooks.one), 404, 'not_found');
  });

  it('409: not to a partner that may no longer hear of the practice group', async () => {
    const [given] = (await list(`webhook_id=${hooks.neighbour}&page_size=1`)).data;
    await house.operator('POST', `/keys/${neighbour.keyId}/revoke`);
    expectProblem(await retry(given.id), 409, 'conflict');
    expect(await house.operator('GET', `/deliveries/${given.id}`)).toEqual(given);
  });
});

describe('with very many deliveries', () => {
  it('reads a bounded number of rows for a page, on every way through', async () => {
    await db.query(
      `WITH accepted AS (
         INSERT INTO events (id, practice_group_id, event, object_id, object_hash, payload, source, accepted_at)
         SELECT 'bulk-' || n, 'bulk-' || n % 50, 'prescription.issued', 'o', n, '{}', 's', now()
           FROM generate_series(1, 150000) AS n
         RETURNING no, practice_group_id, object_hash)
       INSERT INTO feed SELECT no, practice_group_id, 1000000 + object_hash, 'prescription.issued' FROM accepted`,
    );
    await db.query(
      `INSERT INTO deliveries (webhook_no, sequence, event_no, object_hash, state, created_at)
       SELECT (SELECT no FROM webhooks WHERE id = $1), 1000000 + object_hash, no, object_hash, 'delivered', now()
         FROM events WHERE id LIKE 'bulk-%'`,
      [hooks.other],
    );
    await db.query('ANALYZE events, feed, deliveries');
    const reads = async () => {
      const { rows } = await db.query<{ read: string }>(
        `SELECT sum(seq_tup_read + idx_tup_fetch) AS read FROM pg_stat_user_tables WHERE relname IN ('events', 'deliveries')`,
      );
      return Number(rows[0]?.read ?? 0);
    };
    const before = await reads();
    for (const filter of [
      'page_size=100',
      'status=failed',
      `webhook_id=${hooks.other}&status=failed`,
      `webhook_id=${hooks.other}`,
      'practice_group_id=bulk-7&status=failed',
      'event_id=bulk-7',
    ]) {
      const page = await list(filter);
      if (filter === 'status=failed') expect([page.count, page.next_cursor === null]).toEqual([0, false]);
    }
    await house.stop();
    // Its connections are closed, so all that they read is counted. A page that looks at everything reads 300,000.
    expect((await reads()) - before).toBeLessThan(250_000);
  });
});
