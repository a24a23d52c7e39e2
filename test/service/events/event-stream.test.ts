import { beforeEach, describe, expect, inject, it } from 'vitest';
import { eventNames } from '../../../src/contract/event-payloads.ts';
import { HEARTBEAT_SECONDS } from '../../../src/contract/partner/events.ts';
import { SYSTEM } from '../../../src/domain/access/principal.ts';
import { createLogger } from '../../../src/platform/logger.ts';
import { Outage } from '../../../src/platform/outage.ts';
import { OpenStreams } from '../../../src/runtime/events/event-streams.ts';
import { openDatabase, transact } from '../../../src/store/database.ts';
import { appendEvents } from '../../../src/store/events/events.ts';
import { expectInvalid } from '../../support/answers.ts';
import { openStream } from '../../support/event-stream.ts';
import { fanOutAll, newPartner, type Partner, publish, startPost } from '../../support/post.ts';
import { makeKey } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

const house = await startPost();
let own: Partner;
beforeEach(async () => {
  own = await newPartner(house);
});

async function happen(...names: Parameters<typeof publish>[2][]): Promise<string[]> {
  const ids = await publish(house, own.groupId, ...names);
  await fanOutAll(house);
  return ids;
}

const streamCount = () => house.service.app.streams.count;

describe('GET /v1/events/stream', () => {
  it('200: tells of what happens from now on, as the feed tells it', async () => {
    await happen('prescription.issued');
    const stream = await openStream(house, own);
    expect(stream.status).toBe(200);
    expect(stream.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      ratelimit: expect.any(String),
      'x-request-id': expect.any(String),
    });
    expect(await stream.next()).toEqual({ retry: '2000', id: expect.any(String) });

    const ids = await happen(['appointment.confirmed', 'a'], 'prescription.issued');
    const first = await stream.event();
    const second = await stream.event();
    expect([first.data.id, second.data.id]).toEqual(ids);
    expect([first.name, second.name]).toEqual(['appointment.confirmed', 'prescription.issued']);
    const { data } = await own.call('GET', '/v1/events');
    expect([first.data, second.data]).toEqual(data.slice(1));
  });

  it('a reader that was cut off goes on after the last ID that it saw, and misses nothing', async () => {
    const before = await openStream(house, own);
    const start = await before.next();
    before.close();
    const ids = await happen(...eventNames);
    const seen: string[] = [];
    let last = start?.id ?? '';
    while (seen.length < ids.length) {
      const stream = await openStream(house, own, { headers: { 'last-event-id': last } });
      for (const _ of Array(Math.min(3, ids.length - seen.length))) {
        const { cursor, data } = await stream.event();
        seen.push(data.id);
        last = cursor;
      }
      stream.close();
    }
    expect(seen).toEqual(ids);
  });

  it('IDs and the cursors of the feed are one and the same; Last-Event-ID goes before cursor', async () => {
    const [, second, third] = await happen(
      'prescription.issued',
      'prescription.issued',
      'prescription.issued',
    );
    const { next_cursor } = await own.call('GET', '/v1/events?page_size=1');
    const stream = await openStream(house, own, { query: `cursor=${next_cursor}` });
    const { cursor, data } = await stream.event();
    expect(data.id).toBe(second);
    const rest = await own.call('GET', `/v1/events?cursor=${cursor}`);
    expect(rest.data).toMatchObject([{ id: third }]);

    const headers = { 'last-event-id': cursor };
    const resumed = await openStream(house, own, { query: `cursor=${next_cursor}`, headers });
    expect((await resumed.event()).data.id).toBe(third);
  });

  it('only the events that were asked for, also in a long stretch of others', async () => {
    const stream = await openStream(house, own, {
      query: 'event_types=prescription.issued,patient.added-to-sequence',
    });
    await happen('appointment.confirmed', 'prescription.issued', 'appointment.cancelled');
    await happen('patient.added-to-sequence');
    expect((await stream.event()).name).toBe('prescription.issued');
    expect((await stream.event()).name).toBe('patient.added-to-sequence');
  });

  it('nothing of another practice group, whatever happens there', async () => {
    const other = await newPartner(house);
    const stream = await openStream(house, own);
    await publish(house, other.groupId, 'prescription.issued');
    const [id] = await happen('prescription.issued');
    expect((await stream.event()).data.id).toBe(id);
  });

  it('a heartbeat when nothing has come for 15 seconds, with the place to go on from', async () => {
    const stream = await openStream(house, own, { query: 'event_types=prescription.issued' });
    const start = await stream.next();
    await happen('appointment.confirmed');
    const beat = async () => {
      house.clock.advance(15_000);
      const heartbeat = await stream.next();
      expect(heartbeat).toEqual({ comment: 'heartbeat', id: expect.any(String) });
      return heartbeat;
    };
    // A look that was under way when that happened may be told of, once.
    const first = await beat();
    const heartbeat = first?.id === start?.id ? await beat() : first;
    expect(heartbeat?.id).not.toBe(start?.id);
    const [id] = await happen('prescription.issued');
    const resumed = await openStream(house, own, { headers: { 'last-event-id': heartbeat?.id ?? '' } });
    expect((await resumed.event()).data.id).toBe(id);
  });

  it('409: a sixth stream with the same key; another key has its own five', async () => {
    const streams = await Promise.all(Array.from({ length: 5 }, () => openStream(house, own)));
    const sixth = await own.send('GET', '/v1/events/stream');
    expect(sixth).toMatchObject({ status: 409, body: { error: 'conflict' } });
    expect(sixth.body.message).toContain('5 streams');
    const colleague = { ...own, ...(await makeKey(house, own.groupId)) };
    expect((await openStream(house, colleague)).status).toBe(200);

    streams[0]?.close();
    await expect.poll(async () => (await openStream(house, own)).status).toBe(200);
  });

  it('400: a Last-Event-ID or a cursor that is none, and names that are none', async () => {
    const invalid = async (query: string, headers = {}) =>
      own.send('GET', `/v1/events/stream?${query}`, undefined, headers);
    expectInvalid(await invalid('cursor=nonsense'), [{ path: ['cursor'] }]);
    expectInvalid(await invalid('', { 'last-event-id': 'nonsense' }), [{ path: ['last-event-id'] }]);
    expectInvalid(await invalid('event_types=nonsense'), [{ path: ['event_types', 0] }]);
    expect(streamCount()).toBe(0);
  });

  it('HEAD answers the headers and opens nothing', async () => {
    const answer = await own.send('HEAD', '/v1/events/stream');
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    await expect.poll(streamCount).toBe(0);
  });

  it('a reader that leaves is forgotten', async () => {
    const stream = await openStream(house, own);
    await stream.next();
    expect(streamCount()).toBe(1);
    stream.close();
    await expect.poll(streamCount).toBe(0);
  });
});

describe('a stream ends', () => {
  it('before the first event after its key was revoked', async () => {
    const stream = await openStream(house, own);
    await house.operator('POST', `/keys/${own.keyId}/revoke`);
    await happen('prescription.issued');
    await stream.ended;
    expect(await stream.next()).toMatchObject({ retry: '2000' });
    expect(await stream.next()).toBeUndefined();
    expect((await own.send('GET', '/v1/events/stream')).status).toBe(401);
  });

  it('when its key is revoked, without an event and without a heartbeat', async () => {
    const partner = await newPartner(house);
    const stream = await openStream(house, partner);
    const before = house.clock.now();
    await house.operator('POST', `/keys/${partner.keyId}/revoke`);
    await stream.ended;
    expect(house.clock.now() - before).toBeLessThan(2_000);
  });

  it('when its key is revoked while its reader takes nothing: the connection is closed', async () => {
    const partner = await newPartner(house);
    const stream = await openStream(house, partner);
    await stream.next();
    const open = streamCount();
    stream.pause();
    await transact(house.service.app.db, SYSTEM, async (tx) =>
      appendEvents(
        tx,
        { sourceId: 'test', acceptedAt: new Date().toISOString() },
        largeEvents(partner.groupId),
      ),
    );
    await fanOutAll(house);
    await house.operator('POST', `/keys/${partner.keyId}/revoke`);
    await expect.poll(streamCount).toBe(open - 1);
  });

  it('when its key expires', async () => {
    const expires_at = new Date(house.clock.now() + 10_000).toISOString();
    const brief = { ...own, ...(await makeKey(house, own.groupId, { expires_at })) };
    const stream = await openStream(house, brief);
    house.clock.advance(10_000);
    await stream.ended;
  });

  it('when the network that let it in is no more', async () => {
    const hub = await newPartner(house);
    const { id } = await house.operator('POST', '/networks', {
      name: 'Network',
      practice_group_ids: [own.groupId, hub.groupId],
    });
    const stream = await openStream(house, { key: own.key, groupId: hub.groupId });
    await publish(house, hub.groupId, 'prescription.issued');
    await fanOutAll(house);
    await stream.event();
    await house.operator('DELETE', `/networks/${id}/members/${hub.groupId}`);
    await publish(house, hub.groupId, 'prescription.issued');
    await fanOutAll(house);
    await expect(stream.event()).rejects.toThrow('over');
  });

  it('when the service stops, at once', async () => {
    const node = await startPost();
    const partner = await newPartner(node);
    const stream = await openStream(node, partner);
    await stream.next();
    await node.stop();
    await stream.ended;
    expect(await stream.next()).toBeUndefined();
  });

  it('when its reader takes nothing any more; nothing is read ahead for it', async () => {
    const stream = await openStream(house, own);
    await stream.next();
    stream.pause();
    await transact(house.service.app.db, SYSTEM, async (tx) =>
      appendEvents(tx, { sourceId: 'test', acceptedAt: new Date().toISOString() }, largeEvents(own.groupId)),
    );
    await fanOutAll(house);
    const countLater = () => {
      house.clock.advance(60_000);
      return streamCount();
    };
    await expect.poll(countLater).toBe(0);
  });

  it('when the database is out of reach; its reader comes again, and nobody calls it a bug', async () => {
    const node = await startPost();
    const partner = await newPartner(node);
    const stream = await openStream(node, partner);
    await stream.next();
    const admin = await superuser(inject('postgresUrl'));
    const name = new URL(node.databaseUrl).pathname.slice(1);
    await admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
    await admin.query('SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1', [
      name,
    ]);
    node.clock.advance(15_000);
    await stream.ended;
    expect(node.logLines().filter(({ level }) => level === 'error')).toEqual([]);
    await admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
    expect((await openStream(node, partner)).status).toBe(200);
  });

  it('and none begins any more when the service stops', async () => {
    const node = await startPost();
    const partner = await newPartner(node);
    node.service.app.streams.endAll();
    expect((await partner.send('GET', '/v1/events/stream')).status).toBe(503);
  });
});

it('that there is no news to be had is told in the log, unless the database is away', async () => {
  const node = await startPost();
  const partner = await newPartner(node);
  const stream = await openStream(node, partner);
  await stream.next();
  // With its heartbeat it has read what there is, and waits: what goes wrong from here on is the news alone.
  node.clock.advance(HEARTBEAT_SECONDS * 1000);
  await stream.next();
  const admin = await superuser(node.databaseUrl);
  await admin.query('ALTER TABLE feed_head RENAME TO feed_head_gone');
  const told = () => node.logLines().some(({ msg }) => msg === 'the streams are told of no news');
  await expect.poll(told).toBe(true);
  node.service.app.streams.endAll();
  await stream.ended;
});

it('a stream that could not be opened is none of the five that a key may have', async () => {
  const gone = openDatabase({ url: 'postgres://nobody@127.0.0.1:1/none', connectionsMax: 1 });
  const streams = new OpenStreams(
    gone,
    house.clock,
    createLogger(() => {}),
    house.service.app.accessLog,
  );
  const who = { keyId: 'key', groupId: 'group', stillAdmitted: async () => true };
  for (let n = 0; n < 6; n++) await expect(streams.open(who)).rejects.toBeInstanceOf(Outage);
  expect(streams.count).toBe(0);
});

it('streams that are far behind read a few at a time, and keys take turns', async () => {
  const { streams } = house.service.app;
  const of = (keyId: string) => ({ keyId }) as Parameters<typeof streams.read>[0];
  let atOnce = 0;
  let most = 0;
  const order: string[] = [];
  const read = (name: string) =>
    streams.read(of(name.slice(0, 1)), async () => {
      most = Math.max(most, ++atOnce);
      order.push(name);
      await new Promise(setImmediate);
      atOnce--;
    });
  await Promise.all(['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'b1', 'b2'].map(read));
  expect(most).toBe(3);
  expect(order).toEqual(['a1', 'a2', 'a3', 'a4', 'b1', 'a5', 'b2', 'a6']);
  await expect(streams.read(of('a'), () => Promise.reject(new Error('odd')))).rejects.toThrow('odd');
  expect(await streams.read(of('a'), async () => 'goes on')).toBe('goes on');
});

/** More than any socket buffers. */
const LARGE_EVENTS = 8_000;

function largeEvents(practice_group_id: string) {
  return Array.from({ length: LARGE_EVENTS }, (_, n) => ({
    id: `evt_large_${practice_group_id}_${n}`,
    payload: {
      object: 'Appointment' as const,
      id: `a-${n}`,
      practice_group_id,
      event: 'appointment.booking-failed' as const,
      failure_reason: 'x'.repeat(2_000),
    },
  }));
}

it('a slow reader gets everything', async () => {
  const node = await startPost();
  const partner = await newPartner(node);
  const { next_cursor } = await partner.call('GET', '/v1/events');
  await transact(node.service.app.db, SYSTEM, async (tx) =>
    appendEvents(
      tx,
      { sourceId: 'test', acceptedAt: new Date().toISOString() },
      largeEvents(partner.groupId),
    ),
  );
  await fanOutAll(node);
  const stream = await openStream(node, partner, { query: `cursor=${next_cursor}` });
  for (let n = 0; n < LARGE_EVENTS; n++) expect((await stream.event()).data.data.id).toBe(`a-${n}`);
});

it('counts its streams for whoever watches', async () => {
  await openStream(house, own);
  const { text } = await house.send('GET', '/metrics');
  expect(text).toMatch(/^porter_event_streams [1-9]/m);
});
