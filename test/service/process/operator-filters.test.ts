import { describe, expect, it } from 'vitest';
import { expectInvalid } from '../../support/answers.ts';
import { fanOutAll, HOOK, newPartner, publish, startPost } from '../../support/post.ts';
import { type Loose, OPERATOR_TOKEN } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

const HOUR = 3_600_000;
const house = await startPost();
const db = await superuser(house.databaseUrl);
const one = await newPartner(house);
const other = await newPartner(house, one.groupId);
const hook = (await one.call('POST', '/v1/webhooks', { url: HOOK })).id;
const otherHook = (await other.call('POST', '/v1/webhooks', { url: HOOK })).id;

const iso = (ms: number) => new Date(ms).toISOString();
/** An event in each of six hours. */
const start = house.clock.now();
const events: string[] = [];
for (let hour = 0; hour < 6; hour++) {
  events.push(...(await publish(house, one.groupId, 'appointment.confirmed')));
  await fanOutAll(house);
  house.clock.advance(HOUR);
}
const at = (hour: number) => iso(start + hour * HOUR);

/** All of a list, page by page. */
async function all(path: string, query: string, size = 2): Promise<Loose[]> {
  const found: Loose[] = [];
  let cursor = '';
  do {
    const page = await house.operator('GET', `${path}?${query}&page_size=${size}${cursor}`);
    found.push(...page.data);
    cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`;
  } while (cursor);
  return found;
}
const between = (from: number, to: number) => `since=${at(from)}&until=${at(to)}`;
const wanted = (from: number, to: number) => events.slice(from, to).toReversed();

describe('GET /operator/v1/events', () => {
  it('200: within a span of time, of all and of a practice group', async () => {
    for (const group of ['', `&practice_group_id=${one.groupId}`])
      for (const [from, to] of [
        [0, 6],
        [1, 3],
        [2, 2],
        [5, 9],
      ] as const) {
        const found = await all('/events', `${between(from, to)}${group}`);
        expect(
          found.map(({ id }) => id),
          `${from} ${to} ${group}`,
        ).toEqual(wanted(from, to));
      }
    expect(await all('/events', `since=${at(9)}`)).toEqual([]);
    expect(await all('/events', `until=${at(0)}&practice_group_id=${one.groupId}`)).toEqual([]);
    expect((await all('/events', 'since=0000-01-01T00:00:00Z')).length).toBe(6);
  });
});

describe('GET /operator/v1/deliveries', () => {
  it('200: of a partner, and within a span of time, on every way through', async () => {
    for (const way of ['', `webhook_id=${hook}`, `practice_group_id=${one.groupId}`]) {
      const found = await all('/deliveries', `${way}&partner_id=${one.partnerId}&${between(1, 4)}`);
      expect(
        found.map(({ event_id }) => event_id),
        way,
      ).toEqual(wanted(1, 4));
    }
    const both = await all('/deliveries', between(2, 3));
    expect(both.map(({ webhook_id }) => webhook_id).sort()).toEqual([hook, otherHook].sort());
    expect(await all('/deliveries', `webhook_id=${hook}&partner_id=${other.partnerId}`)).toEqual([]);
    expect(await all('/deliveries', `event_id=${events[0]}&${between(1, 4)}`)).toEqual([]);
  });

  it('200: what was replayed long after counts by its event', async () => {
    const late = (await one.call('POST', '/v1/webhooks', { url: HOOK })).id;
    await house.operator('POST', `/webhooks/${late}/replay`, { event_ids: [events[1]] });
    const found = await all('/deliveries', `webhook_id=${late}&${between(1, 2)}`);
    expect(found.map(({ event_id }) => event_id)).toEqual([events[1]]);
  });

  it('200: the first page of an early hour is found at once among 300,000', async () => {
    const { groupId } = await newPartner(house);
    await db.query(
      `WITH made AS (
         INSERT INTO events (id, practice_group_id, event, object_id, object_hash, payload, source, accepted_at)
         SELECT 'evt_many' || n, $1, 'appointment.confirmed', 'o', n, '{}', 'x', $3::timestamptz + n * interval '100 milliseconds'
           FROM generate_series(1, 300000) AS n RETURNING no, accepted_at)
       INSERT INTO deliveries (webhook_no, sequence, event_no, object_hash, state, created_at)
       SELECT (SELECT no FROM webhooks WHERE id = $2), row_number() OVER (ORDER BY no) + 100, no, no, 'delivered', accepted_at FROM made`,
      [groupId, otherHook, iso(house.clock.now())],
    );
    const early = house.clock.now() + 1_000_000;
    const query = `partner_id=${other.partnerId}&since=${iso(early)}&until=${iso(early + 10_000)}&page_size=100`;
    const page = await house.operator('GET', `/deliveries?${query}`);
    expect([page.count, page.next_cursor]).toEqual([100, null]);
    await db.query(
      "DELETE FROM deliveries WHERE sequence > 100; DELETE FROM events WHERE id LIKE 'evt_many%'",
    );
  });

  it('400: what is no moment', async () => {
    const answer = await house.send('GET', '/operator/v1/deliveries?since=today', { token: OPERATOR_TOKEN });
    expectInvalid(answer, [{ path: ['since'] }]);
  });
});

describe('GET /operator/v1/requests', () => {
  it('200: by key, status, error and time', async () => {
    const second = await house.operator('POST', '/keys', {
      partner_id: one.partnerId,
      practice_group_id: one.groupId,
      scopes: ['webhooks:read'],
    });
    const began = house.clock.now();
    const paths: string[] = [];
    for (let hour = 0; hour < 4; hour++) {
      paths.push(`/v1/webhooks/none-${hour}`);
      await one.send('GET', paths.at(-1) as string);
      await house.service.app.refusals.flush();
      house.clock.advance(HOUR);
    }
    await house.send('POST', '/v1/webhooks', { key: second.key, group: one.groupId, body: {} });
    await one.send('POST', '/v1/webhooks', { url: 1 });
    const found = async (query: string) => (await all('/requests', query)).map(({ path }) => path);
    expect(await found(`key_id=${one.keyId}&status=404`)).toEqual(paths.toReversed());
    expect(await found(`key_id=${second.id}`)).toEqual(['/v1/webhooks']);
    expect(await found(`key_id=none&status=404`)).toEqual([]);
    expect((await all('/requests', 'error=insufficient_permissions')).map(({ key_id }) => key_id)).toEqual([
      second.id,
    ]);
    expect((await all('/requests', 'error=validation_error')).map(({ status }) => status)).toEqual([400]);
    expect((await all('/requests', 'status=403')).length).toBe(1);
    const span = `since=${iso(began + HOUR)}&until=${iso(began + 3 * HOUR)}`;
    expect(await found(span)).toEqual([paths[2], paths[1]]);
    expect(await found(`${span}&partner_id=${one.partnerId}`)).toEqual([paths[2], paths[1]]);
    expect(await found(`${span}&partner_id=${other.partnerId}`)).toEqual([]);
    for (const query of ['status=200', 'status=x', 'error=none', 'until=x'])
      expectInvalid(await house.send('GET', `/operator/v1/requests?${query}`, { token: OPERATOR_TOKEN }), [
        { path: [query.split('=')[0] as string] },
      ]);
  });
});

describe('GET /operator/v1/keys', () => {
  it('200: by status', async () => {
    const { partnerId, groupId, keyId } = await newPartner(house);
    const issue = (more: object = {}) =>
      house.operator('POST', '/keys', {
        partner_id: partnerId,
        practice_group_id: groupId,
        scopes: ['events:read'],
        ...more,
      });
    const [over, revoked] = [await issue({ expires_at: iso(house.clock.now() + 1_000) }), await issue()];
    await house.operator('POST', `/keys/${revoked.id}/revoke`);
    house.clock.advance(2_000);
    const found = async (status: string) =>
      (await all('/keys', `partner_id=${partnerId}&status=${status}`)).map(({ id }) => id);
    expect([await found('active'), await found('expired'), await found('revoked')]).toEqual([
      [keyId],
      [over.id],
      [revoked.id],
    ]);
  });
});
