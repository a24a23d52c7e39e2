import { describe, expect, it } from 'vitest';
import { porter as run, type Surroundings } from '../../support/cli.ts';
import { fanOutAll, HOOK, newPartner, publish, startPost } from '../../support/post.ts';
import { OPERATOR_TOKEN } from '../../support/service.ts';

/** The command line of a partner that has an API key alone. */

const house = await startPost();
const own = await newPartner(house);
const stranger = await newPartner(house);

const porter = (line: string, env: Surroundings['env'] = {}) =>
  run(line, {
    clock: {
      ...house.clock,
      now: () => house.clock.now(),
      monotonic: () => 0,
      sleep: () => new Promise(() => {}),
    },
    env: { PORTER_URL: house.url, PORTER_KEY: own.key, PORTER_GROUP: own.groupId, ...env },
  });
const json = async (line: string) => {
  const { code, json: value, stderr } = await porter(`${line} --json`);
  expect(code, stderr).toBe(0);
  return value;
};

it('webhooks are listed, shown, paused, activated and replayed', async () => {
  expect((await porter('webhooks list')).stderr).toBe('There are none.\n');
  const { id } = await own.call('POST', '/v1/webhooks', { url: HOOK });
  await stranger.call('POST', '/v1/webhooks', { url: HOOK });
  expect((await json('webhooks list')).data).toEqual([await own.call('GET', `/v1/webhooks/${id}`)]);
  expect((await porter('webhooks list')).stdout).toMatch(
    new RegExp(`^ID +STATUS +PRACTICE GROUP +URL .*\n${id} +active +${own.groupId} +${HOOK} `),
  );
  expect(await json(`webhooks pause ${id}`)).toMatchObject({ id, status: 'paused' });
  expect(await json(`webhooks show ${id}`)).toMatchObject({ id, status: 'paused' });
  await publish(house, own.groupId, 'appointment.confirmed');
  await fanOutAll(house);
  expect((await porter(`webhooks replay ${id} --since 2026-01-01T00:00:00Z`)).stdout).toBe(
    `Queued: 1 for ${id}, which is paused. They wait until it is active: porter webhooks activate ${id}\n`,
  );
  expect(await json(`webhooks activate ${id}`)).toMatchObject({ id, status: 'active' });
  expect((await porter('webhooks show wh_none')).stderr).toContain('See `porter webhooks list`.');

  const [delivery] = (await json('deliveries list')).data;
  expect(delivery).toMatchObject({ id: expect.stringMatching(/^dlv_/), event: 'appointment.confirmed' });
  expect((await json(`deliveries list --webhook ${id} --status failed`)).data).toEqual([]);
  expect((await porter('deliveries list')).stdout).toMatch(
    new RegExp(`^ID +STATUS +EVENT +OBJECT +CREATED .*\n${delivery.id} `),
  );
});

it('submission types are listed and shown', async () => {
  const type = await own.call('GET', '/v1/care-nav/submission-types/type-1');
  expect(await json('types show type-1')).toEqual(type);
  expect((await json('types list')).data).toContainEqual(type);
  expect((await porter('types list')).stdout).toMatch(
    /^ID +TITLE +TYPE +PRIORITY +TODAY +DAILY LIMIT +SUSPENDED\n/,
  );
  expect((await porter('types show none')).stderr).toContain('See `porter types list`.');
});

it('events are listed from a moment on, or of the last 24 hours', async () => {
  const [old] = await publish(house, own.groupId, 'prescription.issued');
  await fanOutAll(house);
  house.clock.advance(25 * 3_600_000);
  const ids = await publish(
    house,
    own.groupId,
    ...Array.from({ length: 120 }, () => 'appointment.confirmed' as const),
  );
  await publish(house, stranger.groupId, 'appointment.confirmed');
  await fanOutAll(house);
  const listed = async (options: string) =>
    (await json(`events list ${options}`)).data.map(({ id }: { id: string }) => id);
  expect(await listed('--limit 500')).toEqual(ids);
  expect(await listed('--since 2026-01-01T00:00:00Z --limit 500')).toEqual(
    expect.arrayContaining([old, ...ids]),
  );
  expect(await listed('--since 2026-01-01T00:00:00Z --event prescription.issued')).toContain(old);
  const { stdout, stderr } = await porter('events list --limit 110');
  expect(stdout.split('\n')).toHaveLength(1 + 110 + 1);
  expect(stdout).toMatch(
    new RegExp(`^ACCEPTED +ID +EVENT +OBJECT\n2026-\\S+ +${ids[0]} +appointment.confirmed `),
  );
  expect(stderr).toBe('There are more: see --limit.\n');
  expect((await porter('events list --limit 500')).stderr).toBe('');
});

describe('with the token of an operator', () => {
  it('the same commands see every partner', async () => {
    const { data } = (await porter('webhooks list --json', { PORTER_OPERATOR_TOKEN: OPERATOR_TOKEN })).json;
    const partners = data.map(({ partner_id }: { partner_id: string }) => partner_id);
    expect(partners).toEqual(expect.arrayContaining([own.partnerId, stranger.partnerId]));
    const since = new Date(house.clock.now()).toISOString();
    const events = await porter(`events list --since ${since} --json`, {
      PORTER_OPERATOR_TOKEN: OPERATOR_TOKEN,
    });
    expect(events.json.data.length).toBeGreaterThan(0);
  });

  it.each([
    'webhooks list --status paused',
    'webhooks list --partner prt_1',
    'deliveries list --event evt_1',
  ])('alone: %s', async (line) => {
    const { code, stderr } = await porter(line);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('is for operators, and there is no operator token.'),
    ]);
  });
});
