import { beforeEach, describe, expect, it } from 'vitest';
import { eventNames } from '../../../src/contract/event-payloads.ts';
import { expectInvalid } from '../../support/answers.ts';
import { fanOutAll, newPartner, type Partner, publish, startPost } from '../../support/post.ts';
import type { Loose } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

const house = await startPost();
const db = await superuser(house.databaseUrl);
let own: Partner;
beforeEach(async () => {
  own = await newPartner(house);
});

const feed = (query = ''): Promise<Loose> => own.call('GET', `/v1/events?${query}`);
const ids = ({ data }: Loose) => data.map(({ id }: Loose) => id);

describe('GET /v1/events', () => {
  it('200: the events of the practice group, oldest first, as they were published', async () => {
    const elsewhere = await newPartner(house);
    const published = await publish(
      house,
      own.groupId,
      ['appointment.confirmed', 'a'],
      'prescription.issued',
    );
    await publish(house, elsewhere.groupId, 'prescription.issued');
    await fanOutAll(house);
    const page = await feed();
    expect(page).toEqual({
      data: [expect.anything(), expect.anything()],
      count: 2,
      next_cursor: expect.any(String),
      has_more: false,
    });
    expect(ids(page)).toEqual(published);
    expect(page.data[0]).toEqual({
      id: published[0],
      created_at: new Date(house.clock.now()).toISOString(),
      data: {
        object: 'Appointment',
        id: 'a',
        practice_group_id: own.groupId,
        event: 'appointment.confirmed',
      },
    });
  });

  it('payloads go out byte for byte as they are stored', async () => {
    const payload = `{"object":"Patient",  "id":"é\\u00e9 \\"x\\"","practice_group_id":"${own.groupId}","event" : "patient.added-to-\\u0073equence" }`;
    await publish(house, own.groupId, 'patient.added-to-sequence');
    await db.query('UPDATE events SET payload = $2 WHERE practice_group_id = $1', [own.groupId, payload]);
    await fanOutAll(house);
    const { text, body, headers } = await own.send('GET', '/v1/events');
    expect(text).toContain(`"data":${payload}}`);
    expect(body.data[0].data.id).toBe('éé "x"');
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
  });

  it('a stored text that is not what the contract declares does not leave', async () => {
    await publish(house, own.groupId, 'patient.added-to-sequence');
    await db.query(`UPDATE events SET payload = '{"secret":"of somebody"}' WHERE practice_group_id = $1`, [
      own.groupId,
    ]);
    await fanOutAll(house);
    const { status, text } = await own.send('GET', '/v1/events');
    expect(status).toBe(500);
    expect(text).not.toContain('secret');
  });

  it('an event is there once it has its place, not before', async () => {
    const [event] = await publish(house, own.groupId, 'prescription.issued');
    const before = await feed();
    expect(before).toMatchObject({ data: [], count: 0, has_more: false });
    await fanOutAll(house);
    expect(ids(await feed(`cursor=${before.next_cursor}`))).toEqual([event]);
  });

  it('a reader that goes on from next_cursor sees each event once, also from the end of the feed', async () => {
    const first = await publish(house, own.groupId, ...eventNames);
    await fanOutAll(house);
    for (const size of [1, 5, 13, 100]) {
      const seen: string[] = [];
      let page: Loose;
      let cursor = '';
      do {
        page = await feed(`page_size=${size}${cursor}`);
        seen.push(...ids(page));
        cursor = `&cursor=${page.next_cursor}`;
      } while (page.has_more);
      expect(seen).toEqual(first);
    }
    const end = await feed('page_size=100');
    const still = await feed(`cursor=${end.next_cursor}`);
    expect(still).toEqual({ data: [], count: 0, next_cursor: end.next_cursor, has_more: false });
    const later = await publish(house, own.groupId, 'prescription.issued');
    await fanOutAll(house);
    expect(ids(await feed(`cursor=${still.next_cursor}`))).toEqual(later);
  });

  it('event_types: only those, and the cursor moves past the others', async () => {
    const [issued, , confirmed] = await publish(
      house,
      own.groupId,
      'prescription.issued',
      'appointment.cancelled',
      'appointment.confirmed',
      'appointment.cancelled',
    );
    await fanOutAll(house);
    const page = await feed('event_types=prescription.issued,appointment.confirmed');
    expect(ids(page)).toEqual([issued, confirmed]);
    expect(await feed(`cursor=${page.next_cursor}`)).toMatchObject({ data: [], has_more: false });
    const one = await feed('event_types=prescription.issued,appointment.confirmed&page_size=1');
    expect([ids(one), one.has_more]).toEqual([[issued], true]);
    const rest = `event_types=appointment.confirmed&cursor=${one.next_cursor}`;
    expect(ids(await feed(rest))).toEqual([confirmed]);
  });

  it('a rare event far ahead is found stretch by stretch', async () => {
    await db.query(
      `WITH accepted AS (
         INSERT INTO events (id, practice_group_id, event, object_id, object_hash, payload, source, accepted_at)
         SELECT 'rare-' || n, $1, CASE n WHEN 20005 THEN 'prescription.issued' ELSE 'appointment.confirmed' END, 'o', n,
                '{"object":"Prescription","id":"o","practice_group_id":"g","event":"prescription.issued"}', 's', now() FROM generate_series(1, 20005) AS n
         RETURNING no, object_hash, event)
       INSERT INTO feed SELECT no, $1, 5000000 + object_hash, event FROM accepted`,
      [own.groupId],
    );
    await db.query('UPDATE feed_head SET position = 5020005');
    const pages: unknown[] = [];
    let page: Loose;
    let cursor = '';
    do {
      page = await feed(`event_types=prescription.issued${cursor}`);
      pages.push([ids(page), page.has_more]);
      cursor = `&cursor=${page.next_cursor}`;
    } while (page.has_more);
    expect(pages).toEqual([
      [[], true],
      [[], true],
      [['rare-20005'], false],
    ]);
  });

  it('a cursor whose events are gone goes on with the oldest that is left', async () => {
    await publish(house, own.groupId, 'prescription.issued', 'prescription.issued');
    await fanOutAll(house);
    const old = await feed('page_size=1');
    await db.query('DELETE FROM events WHERE practice_group_id = $1', [own.groupId]);
    expect(await feed(`cursor=${old.next_cursor}`)).toMatchObject({ data: [], has_more: false });
    const left = await publish(house, own.groupId, 'prescription.issued');
    await fanOutAll(house);
    expect(ids(await feed(`cursor=${old.next_cursor}`))).toEqual(left);
  });

  it('since: the events that were accepted at that moment or later, and the cursor goes on from there', async () => {
    const [old] = await publish(house, own.groupId, 'prescription.issued');
    house.clock.advance(1_000);
    const since = new Date(house.clock.now()).toISOString();
    const [at] = await publish(house, own.groupId, 'prescription.issued');
    house.clock.advance(1_000);
    const [later] = await publish(house, own.groupId, 'appointment.confirmed');
    await fanOutAll(house);
    expect(ids(await feed())).toEqual([old, at, later]);
    expect(ids(await feed(`since=${since}`))).toEqual([at, later]);
    expect(ids(await feed(`since=${since}&event_types=appointment.confirmed`))).toEqual([later]);
    const page = await feed(`since=${since}&page_size=1`);
    expect([ids(page), page.has_more]).toEqual([[at], true]);
    expect(ids(await feed(`cursor=${page.next_cursor}`))).toEqual([later]);

    const ahead = await feed(`since=${new Date(house.clock.now() + 1_000).toISOString()}`);
    expect(ahead).toMatchObject({ data: [], has_more: false });
    const next = await publish(house, own.groupId, 'prescription.issued');
    await fanOutAll(house);
    expect(ids(await feed(`cursor=${ahead.next_cursor}`))).toEqual(next);
  });

  it('since: whatever the order of acceptance is within the feed, no event is missed', async () => {
    // The places in the feed of events that were accepted at the seconds 0 to 29.
    const places = Array.from({ length: 30 }, (_, second) => 3 * (second ^ 3) + 7_000_000);
    await db.query(
      `WITH given AS (SELECT place, ordinality - 1 AS second FROM unnest($2::bigint[]) WITH ORDINALITY AS g (place, ordinality)),
       accepted AS (
         INSERT INTO events (id, practice_group_id, event, object_id, object_hash, payload, source, accepted_at)
         SELECT $1 || '-' || second, $1, 'prescription.issued', 'o', second,
                '{"object":"Prescription","id":"o","practice_group_id":"g","event":"prescription.issued"}', 's',
                '2026-01-01T00:00:00Z'::timestamptz + second * interval '1 second' FROM given
         RETURNING no, object_hash)
       INSERT INTO feed SELECT no, $1, place, 'prescription.issued' FROM accepted JOIN given ON second = object_hash`,
      [own.groupId, places],
    );
    await db.query('UPDATE feed_head SET position = greatest(position, 8000000)');
    const moment = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
    for (let second = 0; second <= 30; second++) {
      const expected = [...places.keys()].filter((one) => one >= second);
      const byPlace = expected.toSorted((one, other) => (places[one] ?? 0) - (places[other] ?? 0));
      const page = await feed(`since=${moment(second)}&page_size=100`);
      expect(ids(page)).toEqual(byPlace.map((one) => `${own.groupId}-${one}`));
    }
  });

  it('400: since and cursor together', async () => {
    const { next_cursor } = await feed();
    const answer = await own.send('GET', `/v1/events?since=2026-01-01T00:00:00Z&cursor=${next_cursor}`);
    const message = 'Give either since or cursor, not both.';
    expectInvalid(answer, [{ code: 'invalid_value', path: ['since'], message }]);
  });

  it.each([
    ['event_types=appointment.lost', ['event_types', 0]],
    ['event_types=prescription.issued,', ['event_types', 1]],
    ['event_types=', ['event_types']],
    ['page_size=101', ['page_size']],
    ['cursor=nonsense', ['cursor']],
    ['since=yesterday', ['since']],
    ['until=2026-01-01T00:00:00Z', ['until']],
  ])('400: %s', async (query, path) => {
    expectInvalid(await own.send('GET', `/v1/events?${query}`), [{ path }]);
  });

  it('another partner of the same practice group reads the same feed', async () => {
    const events = await publish(house, own.groupId, 'prescription.issued');
    await fanOutAll(house);
    const neighbour = await newPartner(house, own.groupId);
    expect(ids(await neighbour.call('GET', '/v1/events'))).toEqual(events);
  });
});
