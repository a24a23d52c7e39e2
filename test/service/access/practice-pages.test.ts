import { beforeAll, describe, expect, it } from 'vitest';
import { encodeCursor } from '../../../src/contract/page.ts';
import { SYSTEM } from '../../../src/domain/access/principal.ts';
import { transact } from '../../../src/store/database.ts';
import { fanOutToOperators } from '../../../src/store/events/operator-events.ts';
import { appendAccessLog } from '../../../src/store/oversight/access-log.ts';
import { expectInvalid, expectProblem } from '../../support/answers.ts';
import { signIn, type Visitor } from '../../support/console-session.ts';
import { newPartner, type Partner, partnerWith, publish } from '../../support/post.ts';
import { enterPartner, enterPractice } from '../../support/practice-guest.ts';
import { ok, startReceiver } from '../../support/receiver.ts';
import {
  type Answer,
  type Loose,
  makeKey,
  makeWorld,
  OPERATOR_TOKEN,
  startHarness,
} from '../../support/service.ts';

/** What people of a practice see: of their own practice, and nothing of another, nor of what a partner does there. */

const house = await startHarness();
const receiver = await startReceiver();
await receiver.setBehaviour(ok);
/** Has a key for the surgery, and works for another practice with one of that. */
let acme: Partner;
let elsewhere: Partner;
/** Has a key of the hub alone, and reaches the surgery through the network. */
let hub: Partner;
let manager: Visitor;
let networkId: string;
const SURGERY = 'the-surgery';

beforeAll(async () => {
  await makeWorld(house, SURGERY);
  await makeWorld(house, 'the-hub');
  await makeWorld(house, 'secret-practice');
  acme = await newPartner(house, SURGERY);
  await house.operator('PATCH', `/partners/${acme.partnerId}`, { name: 'Acme Booking' });
  const issued = await house.operator('POST', '/keys', {
    partner_id: acme.partnerId,
    practice_group_id: 'secret-practice',
    label: 'Secret label',
    scopes: ['events:read', 'submission-types:write', 'webhooks:write', 'practice-groups:read'],
  });
  elsewhere = partnerWith(house, 'secret-practice', { ...acme, key: issued.key, keyId: issued.id });
  hub = await newPartner(house, 'the-hub');
  await house.operator('PATCH', `/partners/${hub.partnerId}`, { name: 'Zeta Health' });
  const network = await house.operator('POST', '/networks', {
    name: 'River valley',
    practice_group_ids: [SURGERY, 'the-hub'],
    scopes: ['practice-groups:read', 'events:read'],
    partner_ids: [hub.partnerId],
  });
  networkId = network.id;
  manager = await enterPractice(house, SURGERY);
});

const get = (path: string, by = manager): Promise<Answer> => by.send('GET', `/practice/v1${path}`);
const read = async (path: string, by = manager): Promise<Loose> => {
  const { status, text, body } = await get(path, by);
  if (status !== 200) throw new Error(`${status} ${text}`);
  return body;
};
const activity = (of: Partner, query = ''): Promise<Loose> =>
  read(`/partners/${of.partnerId}/activity?page_size=100${query}`);

describe('GET /practice/v1/partners', () => {
  it('200: by name, with the ways in, what each grants, and since when; no other practice is named', async () => {
    const { data } = await read('/partners');
    const named = data.filter(({ partner }: Loose) => partner.name !== 'Partner');
    expect(named).toEqual([
      {
        partner: { id: acme.partnerId, name: 'Acme Booking' },
        ways: [{ network: null, scopes: expect.arrayContaining(['events:read']), since: expect.any(String) }],
        last_call_at: null,
        stop: null,
      },
      {
        partner: { id: hub.partnerId, name: 'Zeta Health' },
        ways: [
          {
            network: { id: networkId, name: 'River valley' },
            scopes: ['events:read', 'practice-groups:read'],
            since: expect.any(String),
          },
        ],
        last_call_at: null,
        stop: null,
      },
    ]);
    expect(JSON.stringify(data)).not.toMatch(/the-hub|secret/i);
  });

  it('200: a page after the other', async () => {
    const names: string[] = [];
    for (let cursor = ''; ; ) {
      const page = await read(`/partners?page_size=1${cursor}`);
      names.push(...page.data.map(({ partner }: Loose) => partner.name));
      if (page.next_cursor === null) break;
      cursor = `&cursor=${page.next_cursor}`;
    }
    expect(names).toEqual((await read('/partners')).data.map(({ partner }: Loose) => partner.name));
    expectInvalid(await get('/partners?cursor=WzFd'), [{ path: ['cursor'] }]);
  });

  it('200: the last call is the last for this practice, whatever the partner does elsewhere', async () => {
    const lastCall = async () =>
      (await read('/partners')).data.find(({ partner }: Loose) => partner.id === acme.partnerId).last_call_at;
    await elsewhere.call('GET', '/v1/practice-groups');
    expect(await lastCall()).toBeNull();
    await acme.call('GET', '/v1/practice-groups');
    const at = new Date(house.clock.now()).toISOString();
    house.clock.advance(60_000);
    await elsewhere.call('GET', '/v1/practice-groups');
    expect(await lastCall()).toBe(at);
  });

  it('200: one whose key has ended stays, without a way; one that is suspended, too', async () => {
    const former = await newPartner(house, SURGERY);
    const wayOf = async () =>
      (await read('/partners')).data.find(({ partner }: Loose) => partner.id === former.partnerId).ways
        .length;
    expect(await wayOf()).toBe(1);
    await house.operator('POST', `/partners/${former.partnerId}/suspend`);
    expect(await wayOf()).toBe(0);
    await house.operator('POST', `/partners/${former.partnerId}/verify`);
    await house.operator('POST', `/keys/${former.keyId}/revoke`);
    expect(await wayOf()).toBe(0);
  });
});

describe('what a partner did', () => {
  it('200: read, changed and received, newest first, of this practice alone', async () => {
    for (const partner of [acme, elsewhere]) {
      await partner.call('POST', '/v1/webhooks', { url: `${receiver.url}/${partner.groupId}` });
      await publish(house, partner.groupId, ['appointment.confirmed', `visit-of-${partner.groupId}`]);
      await expect
        .poll(() => receiver.received.filter(({ path }) => path.endsWith(`/${partner.groupId}`)).length)
        .toBe(1);
      const description = `Changed for ${partner.groupId}`;
      await partner.call('PATCH', '/v1/care-nav/submission-types/type-1', { description });
      house.clock.advance(1_000);
      await partner.call('GET', '/v1/practice-groups');
      await partner.call('GET', '/v1/events');
    }
    const { db } = house.service.app;
    await expect
      .poll(async () => {
        await fanOutToOperators(db, new Date(house.clock.now()).toISOString(), 0, 1_000);
        return (await activity(acme, '&kind=changed')).count;
      })
      .toBe(1);
    // What was received is written down a moment later.
    await expect.poll(async () => (await activity(acme, '&kind=received')).count).toBe(1);
    const { data, next_cursor } = await activity(acme);
    expect(next_cursor).toBeNull();
    expect(new Set(data.map(({ kind }: Loose) => kind))).toEqual(new Set(['read', 'changed', 'received']));
    expect(data.find(({ kind }: Loose) => kind === 'changed')).toMatchObject({
      title: 'Type one',
      before: { description: null },
      after: { description: `Changed for ${SURGERY}` },
      state: 'pending',
    });
    expect(data.find(({ kind }: Loose) => kind === 'received')).toMatchObject({
      event: 'appointment.confirmed',
      object: 'Appointment',
      object_id: `visit-of-${SURGERY}`,
      count: 1,
    });
    const reads = data.filter(({ kind }: Loose) => kind === 'read').map(({ operation }: Loose) => operation);
    expect(reads).toEqual(expect.arrayContaining(['listEvents', 'listPracticeGroups']));
    expect(JSON.stringify(data)).not.toMatch(/secret/);

    // The same in pages of one, each exactly once.
    const paged: string[] = [];
    for (let cursor = ''; ; ) {
      const page = await read(`/partners/${acme.partnerId}/activity?page_size=1${cursor}`);
      expect(page.count).toBeLessThanOrEqual(1);
      paged.push(...page.data.map(({ id }: Loose) => id));
      if (page.next_cursor === null) break;
      cursor = `&cursor=${page.next_cursor}`;
    }
    expect(paged).toEqual(data.map(({ id }: Loose) => id));
    for (const kind of ['read', 'changed', 'received'] as const)
      expect((await activity(acme, `&kind=${kind}`)).data).toEqual(
        data.filter((one: Loose) => one.kind === kind),
      );

    const detail = await read(`/partners/${acme.partnerId}`);
    expect(detail).toMatchObject({ receivers: 1, deliveries_waiting: 0, stops: [] });
    expect(detail.calls_last_day).toBe(
      data.reduce((sum: number, one: Loose) => sum + (one.kind === 'received' ? 0 : one.count), 0),
    );
  });

  it('200: by time, whenever it was written down, and within a moment by number', async () => {
    const late = await newPartner(house, SURGERY);
    const now = house.clock.now();
    const DAY_MS = 24 * 3600 * 1000;
    const wrote = (daysAgo: number) => ({
      actor: { type: 'partner' as const, id: late.keyId, partner_id: late.partnerId },
      operation: 'listEvents',
      practiceGroupId: SURGERY,
      count: daysAgo,
      firstAt: now - daysAgo * DAY_MS - 1_000,
      lastAt: now - daysAgo * DAY_MS,
    });
    const at = new Date(now).toISOString();
    await transact(house.service.app.db, SYSTEM, (tx) =>
      appendAccessLog(tx, at, [1, 40, 3, 2, 2, 30].map(wrote), () => 'salt'),
    );
    const { data } = await activity(late);
    expect(data.map(({ count }: Loose) => count)).toEqual([1, 2, 2, 3, 30, 40]);
    expect(data.map((one: Loose) => one.at)).toEqual(data.map((one: Loose) => one.last_at));
    const paged: string[] = [];
    for (let cursor = ''; ; ) {
      const page = await read(`/partners/${late.partnerId}/activity?page_size=1${cursor}`);
      paged.push(...page.data.map(({ id }: Loose) => id));
      if (page.next_cursor === null) break;
      cursor = `&cursor=${page.next_cursor}`;
    }
    expect(paged).toEqual(data.map(({ id }: Loose) => id));
  });

  it('400 for a cursor whose moment nobody can write; 200 for any other, wherever it leads', async () => {
    const goOn = (...key: number[]) =>
      get(`/partners/${acme.partnerId}/activity?cursor=${encodeCursor(key)}`);
    for (const ms of [-1, -1e14, -9e15, 253_402_300_800_000, 8.64e15])
      expectInvalid(await goOn(ms, 1, 1, 1, 1), [{ path: ['cursor'] }]);
    const all = Number.MAX_SAFE_INTEGER;
    for (const ms of [0, 1, 253_402_300_799_999, all])
      for (const place of [-all, 1, all])
        expect((await goOn(ms, place, place, place, place)).status).toBe(200);
  });

  it('200: what waits is counted of this practice alone, also of a webhook for all', async () => {
    const both = await newPartner(house, SURGERY);
    const { id } = await house.operator('POST', '/networks', {
      name: 'Both',
      practice_group_ids: [SURGERY, 'secret-practice'],
      partner_ids: [both.partnerId],
    });
    await receiver.setBehaviour('refuse');
    await both.call('POST', '/v1/webhooks', { url: `${receiver.url}/both`, practice_groups: 'all' });
    await publish(house, SURGERY, 'prescription.issued', 'prescription.issued');
    await publish(house, 'secret-practice', 'prescription.issued');
    await expect.poll(async () => (await read(`/partners/${both.partnerId}`)).deliveries_waiting).toBe(2);
    await receiver.setBehaviour(ok);
    await house.operator('DELETE', `/networks/${id}`);
  });
});

it('404, byte for byte alike, for a partner of another practice and for none', async () => {
  const { partnerId } = await makeKey(house, 'secret-practice');
  for (const path of ['', '/activity']) {
    const foreign = await get(`/partners/${partnerId}${path}`);
    const none = await get(`/partners/prt_none${path}`);
    expectProblem(foreign, 404, 'not_found');
    const without = ({ request_id: _, ...body }: Loose) => body;
    expect(without(foreign.body)).toEqual(without(none.body));
  }
});

it('each practice sees its own of the same partner, and no byte of the other', async () => {
  const other = await enterPractice(house, 'secret-practice');
  const [here, there] = await Promise.all(
    [manager, other].map(async (by) => ({
      detail: await read(`/partners/${acme.partnerId}`, by),
      did: await read(`/partners/${acme.partnerId}/activity?page_size=100`, by),
    })),
  );
  expect(JSON.stringify(here)).not.toMatch(/secret/);
  expect(JSON.stringify(there)).not.toContain(SURGERY);
  const ids = ({ did }: Loose): string[] => did.data.map(({ id }: Loose) => id);
  expect(ids(here).filter((id) => ids(there).includes(id))).toEqual([]);
  // A stop of one is not in the pages of the other.
  await manager.send('PUT', `/practice/v1/partners/${acme.partnerId}/stop`, { body: { reason: 'Ours' } });
  expect((await read(`/partners/${acme.partnerId}`, other)).stop).toBeNull();
  expect((await elsewhere.send('GET', '/v1/events')).status).toBe(200);
  await manager.send('DELETE', `/practice/v1/partners/${acme.partnerId}/stop`);
});

it('401 and 403 for everybody else: operators, partners, strangers', async () => {
  for (const path of [
    '/partners',
    `/partners/${acme.partnerId}`,
    `/partners/${acme.partnerId}/activity`,
    '/nothing',
  ]) {
    const url = `/practice/v1${path}`;
    expectProblem(await house.send('GET', url), 401, 'invalid_credentials');
    expectProblem(await house.send('GET', url, { token: OPERATOR_TOKEN }), 401, 'invalid_credentials');
    expectProblem(
      await house.send('GET', url, { key: acme.key, group: SURGERY }),
      401,
      'invalid_credentials',
    );
    for (const other of [await signIn(house), await enterPartner(house, acme.partnerId)])
      expectProblem(await other.send('GET', url), 403, 'insufficient_permissions');
  }
  // And what is another's is refused to them.
  for (const path of ['/partners', '/nothing'])
    expectProblem(await manager.send('GET', `/operator/v1${path}`), 401, 'invalid_credentials', {
      message:
        'This is for operators, and you were invited as one of a practice. Yours is what is below /practice/v1.',
    });
  expectProblem(await get('/nothing'), 404, 'not_found');
});
