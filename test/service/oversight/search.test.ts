import { describe, expect, it } from 'vitest';
import { fanOutToOperators } from '../../../src/store/events/operator-events.ts';
import { expectInvalid, expectProblem } from '../../support/answers.ts';
import { fanOutAll, newPartner, publish, startPost } from '../../support/post.ts';
import { type Loose, OPERATOR_TOKEN } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

const house = await startPost();
const db = await superuser(house.databaseUrl);
const own = await newPartner(house);
await house.operator('PATCH', `/partners/${own.partnerId}`, {
  name: 'Brightwater Software',
  contact_email: 'ada@brightwater.example',
});
await house.operator('PATCH', `/practice-groups/${own.groupId}`, {
  name: 'Larkhill Medical Centre',
  ods_code: 'Z99001',
});
const hook = (await own.call('POST', '/v1/webhooks', { url: 'https://hooks.brightwater.example/in/Porter' }))
  .id;
const network = await house.operator('POST', '/networks', {
  name: 'Plain Primary Care',
  practice_group_ids: [own.groupId],
});

const find = async (q: string): Promise<Loose> => house.operator('GET', `/search?q=${encodeURIComponent(q)}`);
const hits = async (q: string) => (await find(q)).data.map(({ kind, id }: Loose) => [kind, id]);

describe('GET /operator/v1/search', () => {
  it('200: a name or a part of it, in any case, with what to open', async () => {
    expect((await find('BRIGHTW')).data).toEqual([
      {
        kind: 'partner',
        id: own.partnerId,
        title: 'Brightwater Software',
        subtitle: 'verified',
        matched: 'name',
        exact: false,
        open: { kind: 'partner', id: own.partnerId },
        partner_id: own.partnerId,
        practice_group_id: null,
      },
      {
        kind: 'webhook',
        id: hook,
        title: 'https://hooks.brightwater.example/in/Porter',
        subtitle: 'Brightwater Software · active',
        matched: 'url',
        exact: false,
        open: { kind: 'webhook', id: hook },
        partner_id: own.partnerId,
        practice_group_id: own.groupId,
      },
      {
        kind: 'contact',
        id: own.partnerId,
        title: 'ada@brightwater.example',
        subtitle: 'ada@brightwater.example · Brightwater Software',
        matched: 'email',
        exact: false,
        open: { kind: 'partner', id: own.partnerId },
        partner_id: own.partnerId,
        practice_group_id: null,
      },
    ]);
    expect(await hits('medical cen')).toEqual([['practice_group', own.groupId]]);
    expect(await hits('primary')).toEqual([['network', network.id]]);
    expect(await hits('in/porter')).toEqual([['webhook', hook]]);
    expect(await hits('  ada@brightwater.example ')).toEqual([['contact', own.partnerId]]);
  });

  it('200: an ODS code, and what is the whole of it first', async () => {
    expect((await find('z99001')).data).toMatchObject([
      { kind: 'practice_group', id: own.groupId, matched: 'ods_code', exact: true },
    ]);
    const longer = await house.operator('POST', '/practice-groups', {
      name: 'A Longer',
      ods_code: 'Z990012',
    });
    expect(await hits('Z99001')).toEqual([
      ['practice_group', own.groupId],
      ['practice_group', longer.id],
    ]);
  });

  it('200: every ID as a whole, and no part of one', async () => {
    const [event] = await publish(house, own.groupId, 'appointment.confirmed');
    await fanOutAll(house);
    const [delivery] = (await house.operator('GET', `/deliveries?event_id=${event}`)).data;
    const { id: operatorId } = await house.operator('POST', '/operators', { name: 'Vera', role: 'viewer' });
    const { id: jobId } = await house.operator('POST', '/write-to-record-jobs', {
      practice_group_id: own.groupId,
      resource: 'Letter',
      resource_id: 'l-1',
    });
    const { id: subscription } = await house.operator('POST', '/subscriptions', {
      url: 'https://practice-software.example/hook',
      topics: ['changes'],
    });
    const [agreement] = (await house.operator('GET', `/partners/${own.partnerId}/agreements`)).data;
    for (const [kind, id] of [
      ['partner', own.partnerId],
      ['practice_group', own.groupId],
      ['network', network.id],
      ['key', own.keyId],
      ['webhook', hook],
      ['event', event],
      ['delivery', delivery.id],
      ['write_to_record_job', jobId],
      ['operator', operatorId],
      ['subscription', subscription],
      ['agreement', agreement.id],
    ]) {
      expect((await find(id as string)).data, id).toMatchObject([{ kind, id, matched: 'id', exact: true }]);
      if (kind !== 'practice_group') expect(await hits((id as string).slice(0, -1)), kind).toEqual([]);
    }
    expect((await find('type-1')).data).toMatchObject([{ kind: 'submission_type', id: 'type-1' }]);
  });

  it('200: the last four of a key, as they are written, and none but working ones first', async () => {
    const ending = own.key.slice(-4);
    expect((await find(ending)).data).toMatchObject([{ kind: 'key', id: own.keyId, matched: 'last_four' }]);
    expect(await hits(own.key.slice(-5))).toEqual([]);
  });

  it('200: a request ID, right after the refusal', async () => {
    const answer = await own.send('GET', '/v1/webhooks/none');
    const id = String(answer.headers['x-request-id']);
    expect((await find(id)).data).toMatchObject([
      { kind: 'refused_request', id, title: 'GET /v1/webhooks/none', partner_id: own.partnerId },
    ]);
  });

  it('200: a change by its ID', async () => {
    await own.call('PATCH', '/v1/care-nav/submission-types/type-1', { title: 'Renamed' });
    await fanOutToOperators(house.service.app.db, new Date(house.clock.now()).toISOString(), 0, 1_000);
    const { data } = await house.operator('GET', `/changes?practice_group_id=${own.groupId}`);
    expect(await hits(data[0].id)).toEqual([['change', data[0].id]]);
  });

  it('200: at most eight of a kind, and which there are more of', async () => {
    for (let n = 0; n < 9; n++) await house.operator('POST', '/practice-groups', { name: `Meadow ${n}` });
    const found = await find('meadow');
    expect([found.count, found.data.length, found.more]).toEqual([8, 8, ['practice_group']]);
    expect(found.data[0].title).toBe('Meadow 0');
  });

  it('nothing of a patient is found by a part, and letters that mean something to a pattern mean themselves', async () => {
    await publish(house, own.groupId, ['appointment.confirmed', 'apt-of-a-patient']);
    expect(await hits('apt-of-a-patient')).toEqual([]);
    expect(await hits('apt-of')).toEqual([]);
    for (const text of ['%%', '__', "'; --", '\\\\']) expect(await hits(text), text).toEqual([]);
  });

  it('is noted in the access log when it shows an event', async () => {
    const [event] = await publish(house, own.groupId, 'appointment.confirmed');
    await find(event as string);
    await house.service.app.accessLog.flush();
    const { data } = await house.operator('GET', '/access-log?page_size=100');
    expect(data).toContainEqual(
      expect.objectContaining({ operation: 'search', event_id: event, practice_group_id: own.groupId }),
    );
  });

  it('400: less than two characters, or more than 255; 403 for a source', async () => {
    for (const q of ['', 'a', '%20%20', '%20a%20', 'x'.repeat(256)])
      expectInvalid(await house.send('GET', `/operator/v1/search?q=${q}`, { token: OPERATOR_TOKEN }), [
        { path: ['q'] },
      ]);
    expectInvalid(await house.send('GET', '/operator/v1/search', { token: OPERATOR_TOKEN }), [
      { path: ['q'] },
    ]);
    const { token } = await house.operator('POST', '/operators', { name: 'Source', role: 'source' });
    expectProblem(
      await house.send('GET', '/operator/v1/search?q=bright', { token }),
      403,
      'insufficient_permissions',
      { required_roles: ['admin', 'support', 'viewer'] },
    );
  });

  it('among 20,000 practices, 20,000 webhooks and 100,000 keys and events, reads what is found by an index alone', async () => {
    await db.query(`
      INSERT INTO practice_groups (id, name, timezone, opening_hours, created_at, updated_at)
      SELECT 'many-' || n, 'Practice number ' || n, 'Europe/London', '{}', now(), now() FROM generate_series(1, 20000) AS n`);
    await db.query(
      `INSERT INTO webhooks (id, partner_id, practice_group_id, url, event_types, status, created_at, updated_at)
       SELECT 'wh_many' || n, $1, 'many-' || n, 'https://hooks.many.example/' || n, '{}', 'active', now(), now()
         FROM generate_series(1, 20000) AS n`,
      [own.partnerId],
    );
    await db.query(
      `INSERT INTO api_keys (id, partner_id, practice_group_id, key_hash, prefix, last_four, scopes, created_at)
       SELECT 'key_many' || n, $1, 'many-' || (n % 20000 + 1), sha256(n::text::bytea), 'ptr_test_', lpad((n % 9999)::text, 4, '0'), '{}', now()
         FROM generate_series(1, 100000) AS n`,
      [own.partnerId],
    );
    await db.query(
      `INSERT INTO events (id, practice_group_id, event, object_id, object_hash, payload, source, accepted_at)
       SELECT 'evt_many' || n, $1, 'appointment.confirmed', 'o', 0, '{}', 'x', now() FROM generate_series(1, 100000) AS n`,
      [own.groupId],
    );
    await db.query('ANALYZE practice_groups, webhooks, api_keys, events');
    const scans = async () => {
      await db.query('SELECT pg_stat_force_next_flush()');
      const { rows } = await db.query(
        `SELECT relname, seq_scan::integer FROM pg_stat_user_tables WHERE relname IN ('events', 'api_keys', 'deliveries', 'refused_requests')
          ORDER BY relname`,
      );
      return rows;
    };
    const before = await scans();
    expect(await hits('evt_many77777')).toEqual([['event', 'evt_many77777']]);
    expect((await find('0042')).data.filter(({ kind }: Loose) => kind === 'key')).toHaveLength(8);
    expect(await hits('number 19999')).toEqual([['practice_group', 'many-19999']]);
    expect(await scans()).toEqual(before);
  });
});
