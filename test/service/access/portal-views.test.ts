import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createTryAddress } from '../../../src/platform/egress/try-address.ts';
import { guestOf } from '../../support/guest-session.ts';
import { startMailbox } from '../../support/mailbox.ts';
import { fanOutAll, newPartner, publish } from '../../support/post.ts';
import { stopPartner } from '../../support/practice-guest.ts';
import { ok, startReceiver } from '../../support/receiver.ts';
import { type Loose, startHarness } from '../../support/service.ts';

/** What people of a partner are told across its keys. */

const mailbox = await startMailbox();
const house = await startHarness({
  env: { PORTER_ROLE: 'api', PORTER_SMTP_URL: mailbox.url, PORTER_MAIL_FROM: 'Porter <p@porter.example>' },
});
const partner = await newPartner(house);
const guest = await guestOf(house, mailbox, { partner: partner.partnerId });
const get = async (path: string) => {
  const answer = await guest.send('GET', `/portal/v1${path}`);
  expect([path, answer.status]).toEqual([path, 200]);
  return answer.body;
};
const today = new Date(house.clock.now()).toISOString().slice(0, 10);

describe('home and keys', () => {
  it('tell what was called and refused, and what works', async () => {
    await partner.call('GET', '/v1/practice-groups');
    await partner.send('PATCH', '/v1/care-nav/submission-types/none', { title: 'x' });
    const home = await get('/home');
    expect(home).toMatchObject({
      partner: { id: partner.partnerId, status: 'verified' },
      keys: { active: 1, ending: 0 },
      webhooks: { active: 0, failing: 0 },
      alerts_open: 0,
    });
    expect(home.days).toHaveLength(14);
    expect(home.days.at(-1)).toEqual({ day: today, ok: 1, refused: 1, rate_limited: 0, failed: 0 });
    const { data } = await get('/keys');
    expect(data).toEqual([
      expect.objectContaining({
        id: partner.keyId,
        status: 'active',
        practice_group: { id: partner.groupId, name: `Practice ${partner.groupId}` },
        rate_limit_per_minute: 100_000,
        today: { day: today, ok: 1, refused: 1, rate_limited: 0, failed: 0 },
      }),
    ]);
    expect((await get(`/keys/${partner.keyId}`)).days.at(-1).ok).toBe(1);
    expect(JSON.stringify(data)).not.toContain(partner.key);
  });

  it('count the alerts that the partner is told of, and none that is for the operator', async () => {
    const stopped = await newPartner(house);
    const person = await guestOf(house, mailbox, { partner: stopped.partnerId });
    await stopPartner(house, stopped);
    house.clock.advance(60_000);
    await house.service.alerts.look();
    const { data } = await house.operator('GET', `/alerts?open=true&partner_id=${stopped.partnerId}`);
    expect(data.map(({ kind }: Loose) => kind)).toEqual(['partner_stopped']);
    expect((await person.send('GET', '/portal/v1/alerts')).body.data).toEqual([]);
    expect((await person.send('GET', '/portal/v1/home')).body.alerts_open).toBe(0);
  });

  it('404: a key of another partner', async () => {
    const other = await newPartner(house);
    expect((await guest.send('GET', `/portal/v1/keys/${other.keyId}`)).status).toBe(404);
  });
});

describe('practices and webhooks', () => {
  it('come with a key that reaches them, as the door would let it', async () => {
    const near = await newPartner(house);
    const { id: network } = await house.operator('POST', '/networks', {
      name: 'Valley',
      scopes: ['events:read'],
      practice_group_ids: [partner.groupId, near.groupId],
    });
    const { data } = await get('/practices');
    const of = (id: string) => data.find((one: { id: string }) => one.id === id)?.ways;
    expect(of(partner.groupId)).toEqual([expect.objectContaining({ key_id: partner.keyId, through: null })]);
    expect(of(near.groupId)).toEqual([
      expect.objectContaining({
        key_id: partner.keyId,
        practice_group_id: near.groupId,
        scopes: ['events:read'],
        through: { id: network, name: 'Valley' },
      }),
    ]);
    await house.operator('PATCH', `/networks/${network}`, { partner_ids: [near.partnerId] });
    expect((await get('/practices')).data.map(({ id }: { id: string }) => id)).toEqual([partner.groupId]);
  });

  it('a webhook names the key that looks after it, and none once no key works', async () => {
    const own = await newPartner(house);
    const person = await guestOf(house, mailbox, { partner: own.partnerId });
    const hook = await own.call('POST', '/v1/webhooks', { url: 'https://receiver.partner.example/' });
    const all = await own.call('POST', '/v1/webhooks', {
      url: 'https://receiver.partner.example/all',
      practice_groups: 'all',
    });
    for (const { id } of [hook, all]) {
      const { body } = await person.send('GET', `/portal/v1/webhooks/${id}`);
      expect(body.way).toMatchObject({
        key_id: own.keyId,
        practice_group_id: own.groupId,
        demands: 'nothing',
      });
    }
    await house.operator('POST', `/keys/${own.keyId}/revoke`);
    const { body } = await person.send('GET', '/portal/v1/webhooks');
    expect(body.data.map(({ way }: { way: unknown }) => way)).toEqual([null, null]);
  });
});

describe('the event feed', () => {
  it('is told newest first, page after page, each event once; what belongs to another partner is not in it', async () => {
    const own = await newPartner(house);
    const person = await guestOf(house, mailbox, { partner: own.partnerId });
    const stranger = await newPartner(house, own.groupId);
    await publish(
      house,
      own.groupId,
      'appointment.confirmed',
      'prescription.issued',
      'appointment.confirmed',
    );
    await stranger.call('POST', '/v1/test-events', { event: 'appointment.confirmed' });
    await own.call('POST', '/v1/test-events', { event: 'prescription.issued' });
    await fanOutAll(house);
    const way = { key: own.keyId, group: own.groupId };
    const look = async (query: string) => (await person.act('GET', `/portal/v1/events?${query}`, way)).body;
    const feed = (await own.call('GET', '/v1/events')).data.map(({ id }: Loose) => id);
    expect(feed).toHaveLength(4);
    const read = async (filter: string) => {
      const ids: string[] = [];
      for (let cursor = ''; ; ) {
        const { data, count, next_cursor } = await look(`page_size=1${filter}${cursor}`);
        expect(count).toBe(data.length);
        ids.push(...data.map(({ id }: Loose) => id));
        if (next_cursor === null) return ids;
        cursor = `&cursor=${next_cursor}`;
      }
    };
    expect(await read('')).toEqual(feed.toReversed());
    expect(await read('&event=prescription.issued')).toEqual([feed[3], feed[1]]);
    // A practice finds it in what was read of it, with who read it and with which scope.
    await house.service.app.accessLog.flush();
    const log = await house.operator('GET', `/access-log?practice_group_id=${own.groupId}`);
    expect(log.data.filter(({ operation }: Loose) => operation === 'listPortalEvents')).not.toEqual([]);
  });
});

describe('an address is tried out', () => {
  const tried = async (url: string) =>
    (await guest.send('POST', '/portal/v1/address-checks', { body: { url } })).body;

  it('gets the same answer on this machine whether its port is open or closed, and is not dialled', async () => {
    const connections: unknown[] = [];
    const server = createServer((socket) => connections.push(socket)).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const urls = ['http://127.0.0.1', 'http://localhost', 'https://127.0.0.1', 'http://[::1]'].map(
      (host) => `${host}:${port}/`,
    );
    const open = await Promise.all(urls.map(tried));
    server.close();
    await once(server, 'close');
    const closed = await Promise.all(urls.map(tried));
    const [first] = open;
    expect(first).toMatchObject({ outcome: 'not_tried' });
    expect([...open, ...closed]).toEqual(Array(8).fill(first));
    expect(connections).toEqual([]);
  });

  it('is refused when a webhook may not have it', async () => {
    expect(await tried('https://10.0.0.1/')).toMatchObject({ outcome: 'refused' });
    expect(await tried('ftp://receiver.example/')).toMatchObject({ outcome: 'refused' });
  });

  it('is connected to as a delivery would, without a byte sent', async () => {
    const receiver = await startReceiver({ behaviour: ok });
    const tryAddress = createTryAddress('loopback');
    expect((await tryAddress(receiver.url)).failure).toBeUndefined();
    expect(receiver.received).toEqual([]);
    await receiver.close();
    expect((await tryAddress(receiver.url)).failure).toMatchObject({ phase: 'connect' });
    const refused = await createTryAddress('public')(receiver.url);
    expect(refused.failure).toMatchObject({ phase: 'address' });
  });
});

it('agreements, the SLA, contacts and the status of the service are told', async () => {
  expect((await get('/agreements')).data).toHaveLength(1);
  expect((await get('/sla')).partner.id).toBe(partner.partnerId);
  expect((await get('/status')).days).toHaveLength(30);
  expect((await get('/status')).deliveries).toBe('on_time');
  const { data } = await get('/contacts');
  expect(data).toEqual([expect.objectContaining({ id: 'first', email: 'dev@partner.example' })]);
  const body = { alert_kinds: ['webhook_disabled'] };
  const changed = await guest.send('PATCH', '/portal/v1/contacts/first', { body });
  expect([changed.status, changed.body.alert_kinds]).toEqual([200, ['webhook_disabled']]);
  const audit = await house.operator('GET', '/audit?action=contact.update');
  expect(audit.data[0].actor).toEqual({
    type: 'guest',
    id: guest.invitation.id,
    name: 'Ada Marsh',
    session_id: expect.stringMatching(/^ses_/),
  });
});

it('refused calls are told with what to do, and by key', async () => {
  const { data } = await get(`/requests?key_id=${partner.keyId}`);
  expect(data[0]).toMatchObject({ status: 404, key_id: partner.keyId, explanation: expect.any(String) });
  expect((await get(`/requests?request_id=${data[0].request_id}`)).data).toHaveLength(1);
});
