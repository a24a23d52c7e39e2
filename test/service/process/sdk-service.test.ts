import { expect, it } from 'vitest';
import {
  type EventName,
  Porter,
  PorterApiError,
  type PorterOptions,
} from '../../../packages/sdk/src/index.ts';
import { fanOutAll, newPartner, type Partner, publish, startPost } from '../../support/post.ts';
import { makeKey } from '../../support/service.ts';

/** The client library against the service itself, where its answers matter more than its types. */

const house = await startPost();
const partner = await newPartner(house);

const clientFor = (
  { key, groupId }: Pick<Partner, 'key' | 'groupId'>,
  options: Partial<PorterOptions> = {},
) => new Porter({ baseUrl: house.url, apiKey: key, practiceGroupId: groupId, ...options });

async function happen(...names: Parameters<typeof publish>[2][]): Promise<string[]> {
  const ids = await publish(house, partner.groupId, ...names);
  await fanOutAll(house);
  return ids;
}

it('a rate that is used up is waited for, as long as the service says and no longer', async () => {
  const limited = await makeKey(house, partner.groupId, { rate_limit_per_minute: 5 });
  const waits: number[] = [];
  const runtime = {
    now: () => house.clock.now(),
    random: () => 0,
    sleep: async (milliseconds: number) => {
      waits.push(milliseconds);
      house.clock.advance(milliseconds);
    },
  };
  const porter = clientFor({ ...limited, groupId: partner.groupId }, { runtime });
  for (let call = 0; call < 8; call++) expect((await porter.practiceGroups.list()).count).toBe(1);
  expect(waits).toEqual([60_000]);
});

it('a change that somebody else has overtaken is refused, and the service tells why', async () => {
  const porter = clientFor(partner);
  const { etag } = await porter.submissionTypes.get('type-1').withResponse();
  await porter.submissionTypes.update('type-1', { daily_limit: 3 }, { ifMatch: etag });
  const late = porter.submissionTypes.update('type-1', { daily_limit: null }, { ifMatch: etag });
  const error = await late.catch((error: unknown) => error);
  if (!(error instanceof PorterApiError)) throw error;
  expect(error.problem.error).toBe('precondition_failed');
  expect(error.docUrl).toBe(`${house.url}/docs/errors/precondition_failed`);
  expect(await porter.requests.get(error.requestId ?? '')).toMatchObject({
    status: 412,
    answer: error.problem,
  });
  expect((await porter.submissionTypes.get('type-1')).daily_limit).toBe(3);
});

it('problems are typed as the service sends them', async () => {
  const problemOf = async (call: PromiseLike<unknown>) => {
    const error = await Promise.resolve(call).catch((error: unknown) => error);
    if (error instanceof PorterApiError) return error.problem;
    throw error;
  };
  const porter = clientFor(partner);
  const invalid = { daily_limit: -1, title: 7 as unknown as string };
  expect(await problemOf(porter.submissionTypes.update('type-1', invalid))).toMatchObject({
    error: true,
    message: [{ path: ['title'] }, { path: ['daily_limit'] }],
  });
  expect(await problemOf(porter.submissionTypes.update('type-1', { form_id: 'none' }))).toMatchObject({
    error: 'business_rule_violation',
    rule: 'form_unknown',
    path: ['form_id'],
  });
  expect(await problemOf(porter.actingFor('nowhere').webhooks.list())).toMatchObject({ error: 'forbidden' });
  const { key } = await makeKey(house, partner.groupId, { scopes: ['events:read'] });
  expect(await problemOf(clientFor({ ...partner, key }).webhooks.list())).toMatchObject({
    error: 'insufficient_permissions',
    required_scopes: ['webhooks:read'],
  });
  expect(await problemOf(clientFor({ ...partner, key: 'ptr_test_none' }).webhooks.list())).toMatchObject({
    error: 'invalid_credentials',
  });
});

it('a test event is caused once, with a key of its own or without one, though the first answer was lost', async () => {
  const own = await newPartner(house);
  const { next_cursor: cursor } = await clientFor(own).events.list();
  let isLost = false;
  const losing: typeof fetch = async (url, init) => {
    const response = await fetch(url, init);
    if (isLost || init?.method !== 'POST') return response;
    isLost = true;
    await response.body?.cancel();
    throw new TypeError('The connection was lost.');
  };
  const porter = clientFor(own, { fetch: losing, runtime: { sleep: async () => {} } });
  const trigger = porter.events.trigger({ event: 'prescription.issued' }, { idempotencyKey: 'nightly-7' });
  const { data, headers } = await trigger.withResponse();
  expect(headers.get('idempotent-replayed')).toBe('true');
  await fanOutAll(house);
  const found: string[] = [];
  for await (const { id } of porter.events.list({ cursor })) found.push(id);
  expect(found).toEqual([data.event_id]);

  isLost = false;
  const again = await porter.events.trigger({ event: 'prescription.issued' }).withResponse();
  expect(again.headers.get('idempotent-replayed')).toBe('true');
});

it('the feed is read to its end, and from there on', async () => {
  const porter = clientFor(partner);
  const { next_cursor: cursor } = await porter.events.list();
  const ids = await happen('prescription.issued', 'appointment.confirmed', 'form-submission.created');
  const read = async (event_types?: EventName[]) => {
    const found: string[] = [];
    for await (const { id } of porter.events.list({ cursor, page_size: 2, event_types })) found.push(id);
    return found;
  };
  expect(await read()).toEqual(ids);
  expect(await read(['prescription.issued', 'form-submission.created'])).toEqual([ids[0], ids[2]]);
});

it('the feed is read from a moment to its end, a page at a time', async () => {
  const porter = clientFor(partner);
  house.clock.advance(1_000);
  const since = new Date(house.clock.now()).toISOString();
  const ids = await happen('prescription.issued', 'appointment.confirmed', 'form-submission.created');
  const found: string[] = [];
  for await (const { id } of porter.events.list({ since, page_size: 1 })) found.push(id);
  expect(found).toEqual(ids);
});

it('whoever follows hears of every event once and in order, however often the connection breaks', async () => {
  let connection = new AbortController();
  let connections = 0;
  const breakable: typeof fetch = (url, init) => {
    connections++;
    connection = new AbortController();
    init?.signal?.addEventListener('abort', () => connection.abort());
    return fetch(url, { ...init, signal: connection.signal });
  };
  const { key } = await makeKey(house, partner.groupId);
  const sleep = async () => {};
  const porter = clientFor({ ...partner, key }, { fetch: breakable, runtime: { sleep } });
  const { next_cursor: cursor } = await porter.events.list();
  const expected: string[] = [];
  const heard: string[] = [];
  expected.push(...(await happen('prescription.issued', 'appointment.confirmed')));
  for await (const { id } of porter.events.follow({ cursor })) {
    heard.push(id);
    if (heard.length === 12) break;
    // Two for every one that was heard, half of them while there is no connection.
    expected.push(...(await happen('prescription.issued')));
    connection.abort();
    expected.push(...(await happen('form-submission.created')));
  }
  expect(heard).toEqual(expected.slice(0, 12));
  // Some of them brought several at once.
  expect(connections).toBeGreaterThan(2);
});

it('following ends when the key may no longer listen', async () => {
  const made = await makeKey(house, partner.groupId);
  const porter = clientFor({ ...partner, key: made.key }, { runtime: { sleep: async () => {} } });
  const { next_cursor: cursor } = await porter.events.list();
  const events = porter.events.follow({ cursor });
  const [id] = await happen('prescription.issued');
  expect((await events.next()).value.id).toBe(id);
  const end = events.next();
  await house.operator('POST', `/keys/${made.keyId}/revoke`);
  await Promise.all([
    expect(end).rejects.toMatchObject({ problem: { error: 'invalid_credentials' } }),
    happen('prescription.issued'),
  ]);
});
