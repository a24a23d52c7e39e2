import fc from 'fast-check';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { lookAtWebhooks } from '../../../src/store/events/deliveries.ts';
import { claimDeliveries } from '../../../src/store/events/deliveries-claim.ts';
import { sqlFunction } from '../../../src/store/sql-functions.ts';
import { insist } from '../../support/answers.ts';
import { openDeliveryHarness } from '../../support/delivery-harness.ts';
import { fanOutAll, HOOK, newPartner, type Partner, publish, startPost } from '../../support/post.ts';
import { startReceiver } from '../../support/receiver.ts';
import { seedOf } from '../../support/seed.ts';
import { type Harness, type Loose, makeKey, makeWorld, startHarness } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

/** One webhook for all practice groups that a partner may act for: who is sent what, in which order, and what is withheld. */

const CONFIRMED = 'appointment.confirmed';

/** One more practice group for the partner, with a key of its own. */
async function another(house: Harness, { partnerId }: Partner) {
  const { groupId } = await makeWorld(house);
  const { id: keyId, key } = await house.operator('POST', '/keys', {
    partner_id: partnerId,
    practice_group_id: groupId,
    scopes: ['events:read', 'webhooks:read', 'webhooks:write'],
    rate_limit_per_minute: 10_000,
  });
  const send: Partner['send'] = (method, path, body) =>
    house.send(method, path, { key, group: groupId, body });
  return { groupId, keyId, key, send };
}

describe('through HTTP', () => {
  it('hears of every practice group that its partner may act for, now and later, in one sequence without gaps', async () => {
    const house = await startHarness();
    const partner = await newPartner(house);
    const second = await another(house, partner);
    const receiver = await startReceiver();
    const made = await partner.call('POST', '/v1/webhooks', { url: receiver.url, practice_groups: 'all' });
    expect(made).toMatchObject({ practice_group_id: null, practice_groups: 'all', practice_group_ids: null });
    const stranger = await newPartner(house);
    await publish(house, partner.groupId, CONFIRMED);
    await publish(house, second.groupId, CONFIRMED, 'prescription.issued');
    await publish(house, stranger.groupId, CONFIRMED);
    await expect.poll(() => receiver.received.length).toBe(3);
    const later = await another(house, partner);
    await publish(house, later.groupId, CONFIRMED);
    await expect.poll(() => receiver.received.length).toBe(4);
    const heard = receiver.received
      .map(({ headers, body }) => [Number(headers['webhook-sequence']), JSON.parse(body).practice_group_id])
      .toSorted(([a], [b]) => a - b);
    expect(heard.map(([sequence]) => sequence)).toEqual([1, 2, 3, 4]);
    expect(heard.map(([, group]) => group).toSorted()).toEqual(
      [partner.groupId, second.groupId, second.groupId, later.groupId].toSorted(),
    );
    await receiver.close();
  });

  it('hears of practice groups that share a network with one of its keys, for as long as they do', async () => {
    const house = await startPost();
    const partner = await newPartner(house);
    const { groupId: hub } = await makeWorld(house);
    const { id } = await partner.call('POST', '/v1/webhooks', { url: HOOK, practice_groups: 'all' });
    const network = await house.operator('POST', '/networks', {
      name: 'Shared',
      practice_group_ids: [partner.groupId, hub],
    });
    const queued = async () => (await house.operator('GET', `/deliveries?webhook_id=${id}`)).count;
    await publish(house, hub, CONFIRMED);
    await fanOutAll(house);
    expect(await queued()).toBe(1);
    await house.operator('DELETE', `/networks/${network.id}/members/${hub}`);
    await publish(house, hub, CONFIRMED);
    await fanOutAll(house);
    expect(await queued()).toBe(1);
  });

  it('is seen and managed by its partner in every practice group, and by nobody else', async () => {
    const house = await startPost();
    const partner = await newPartner(house);
    const second = await another(house, partner);
    const neighbour = await newPartner(house, partner.groupId);
    const { id } = await partner.call('POST', '/v1/webhooks', { url: HOOK, practice_groups: 'all' });
    for (const { send } of [partner, second]) {
      expect((await send('GET', '/v1/webhooks')).body.data).toMatchObject([{ id, practice_groups: 'all' }]);
      expect((await send('GET', `/v1/webhooks/${id}`)).status).toBe(200);
    }
    expect((await second.send('PATCH', `/v1/webhooks/${id}`, { description: 'mine' })).status).toBe(200);
    expect((await neighbour.send('GET', '/v1/webhooks')).body.count).toBe(0);
    for (const method of ['GET', 'DELETE'])
      expect((await neighbour.send(method, `/v1/webhooks/${id}`)).status).toBe(404);
    expect((await second.send('DELETE', `/v1/webhooks/${id}`)).status).toBe(204);
    expect((await partner.send('GET', `/v1/webhooks/${id}`)).status).toBe(404);
  });

  it('shows, tests and replays what is of the practice group acted for', async () => {
    const house = await startPost();
    const partner = await newPartner(house);
    const second = await another(house, partner);
    const { id } = await partner.call('POST', '/v1/webhooks', { url: HOOK, practice_groups: 'all' });
    const [first] = await publish(house, partner.groupId, CONFIRMED);
    const [other] = await publish(house, second.groupId, CONFIRMED);
    await fanOutAll(house);
    const events = async ({ send }: Pick<Partner, 'send'>) =>
      (await send('GET', `/v1/webhooks/${id}/deliveries`)).body.data.map(
        ({ event_id }: { event_id: string }) => event_id,
      );
    expect(await events(partner)).toEqual([first]);
    expect(await events(second)).toEqual([other]);
    expect((await second.send('POST', `/v1/webhooks/${id}/replay`, { event_ids: [first] })).status).toBe(422);
    const again = await second.send('POST', `/v1/webhooks/${id}/replay`, { since: '2000-01-01T00:00:00Z' });
    expect(again.body).toEqual({ count: 1 });
    const test = await second.send('POST', `/v1/webhooks/${id}/test`, { event: CONFIRMED });
    expect(test.status).toBe(202);
    expect(await events(second)).toEqual([test.body.event_id, other]);
    expect(await events(partner)).toEqual([first]);
  });

  it('can be narrowed to some practice groups, also later, which one for a single group cannot', async () => {
    const house = await startPost();
    const partner = await newPartner(house);
    const second = await another(house, partner);
    const body = { url: HOOK, practice_groups: 'all', practice_group_ids: [second.groupId] };
    const { id } = await partner.call('POST', '/v1/webhooks', body);
    const queued = async () =>
      (await house.operator('GET', `/deliveries?webhook_id=${id}`)).data.map(
        ({ practice_group_id }: { practice_group_id: string }) => practice_group_id,
      );
    const both = async () => {
      await publish(house, partner.groupId, CONFIRMED);
      await publish(house, second.groupId, CONFIRMED);
      await fanOutAll(house);
    };
    await both();
    expect(await queued()).toEqual([second.groupId]);
    expect(
      (await partner.call('POST', `/v1/webhooks/${id}/replay`, { since: '2000-01-01T00:00:00Z' })).count,
    ).toBe(0);
    await partner.call('PATCH', `/v1/webhooks/${id}`, { practice_group_ids: null });
    await both();
    expect((await queued()).toSorted()).toEqual([second.groupId, second.groupId, partner.groupId].toSorted());
    const one = await partner.call('POST', '/v1/webhooks', { url: HOOK });
    const narrowed = await partner.send('PATCH', `/v1/webhooks/${one.id}`, { practice_group_ids: ['x'] });
    expect(narrowed).toMatchObject({ status: 422, body: { rule: 'webhook_of_one_group' } });
    expect(
      (await partner.send('POST', '/v1/webhooks', { url: HOOK, practice_group_ids: ['x'] })).body.message,
    ).toMatchObject([{ path: ['practice_group_ids'] }]);
  });

  it('is not narrowed to what its partner receives nothing of, but keeps what it has lost', async () => {
    const house = await startHarness();
    const partner = await newPartner(house);
    const second = await another(house, partner);
    const foreign = await newPartner(house);
    const body = { url: HOOK, practice_groups: 'all' };
    for (const id of [foreign.groupId, 'nonsense']) {
      const practice_group_ids = [second.groupId, id];
      const refused = await partner.send('POST', '/v1/webhooks', { ...body, practice_group_ids });
      expect(refused).toMatchObject({
        status: 422,
        body: { rule: 'webhook_group_unreached', path: ['practice_group_ids'] },
      });
      expect(refused.body.message).toContain(`no events of ${id}.`);
    }
    const { id } = await partner.call('POST', '/v1/webhooks', {
      ...body,
      practice_group_ids: [partner.groupId, second.groupId],
    });
    const narrow = (...practice_group_ids: string[]) =>
      partner.send('PATCH', `/v1/webhooks/${id}`, { practice_group_ids });
    expect((await narrow(partner.groupId, 'nonsense')).status).toBe(422);
    await house.operator('POST', `/keys/${second.keyId}/revoke`);
    expect((await narrow(second.groupId)).body.practice_group_ids).toEqual([second.groupId]);
    expect((await narrow(partner.groupId)).status).toBe(200);
    expect((await narrow(second.groupId)).status).toBe(422);
  });

  it('422: a practice group without access is not added again by an update that was under way when it was left out', async () => {
    const house = await startHarness();
    const partner = await newPartner(house);
    const second = await another(house, partner);
    const both = [partner.groupId, second.groupId];
    const body = { url: HOOK, practice_groups: 'all', practice_group_ids: both };
    const { id } = await partner.call('POST', '/v1/webhooks', body);
    await house.operator('POST', `/keys/${second.keyId}/revoke`);
    const rival = new pg.Client({ connectionString: house.databaseUrl });
    await rival.connect();
    await rival.query('BEGIN');
    await rival.query('UPDATE webhooks SET only_group_ids = $2, version = version + 1 WHERE id = $1', [
      id,
      [partner.groupId],
    ]);
    const update = partner.send('PATCH', `/v1/webhooks/${id}`, { practice_group_ids: both });
    const { rows } = await rival.query('SELECT pg_backend_pid() AS pid');
    const db = await superuser(house.databaseUrl);
    const waiting = async () =>
      (await db.query('SELECT FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))', [rows[0].pid]))
        .rows.length;
    await expect.poll(waiting).toBe(1);
    await rival.query('COMMIT');
    await rival.end();
    expect((await update).body).toMatchObject({ statusCode: 422, rule: 'webhook_group_unreached' });
  });

  it('a practice group that is lost is withheld with the reason, the others go on, and it goes on when access returns', async () => {
    const house = await startHarness();
    const partner = await newPartner(house);
    const second = await another(house, partner);
    const receiver = await startReceiver();
    await receiver.setBehaviour((response) => response.writeHead(503).end());
    const { id } = await partner.call('POST', '/v1/webhooks', { url: receiver.url, practice_groups: 'all' });
    await publish(house, second.groupId, [CONFIRMED, 'a'], [CONFIRMED, 'a'], [CONFIRMED, 'b']);
    await expect.poll(() => receiver.received.length).toBe(2);
    // That they failed is written down, too: an hour later all of them are due.
    const tried = async () => (await house.operator('GET', `/deliveries?webhook_id=${id}`)).data;
    await expect
      .poll(async () => (await tried()).map(({ attempts }: Loose) => attempts.length))
      .toEqual([1, 0, 1]);
    await house.operator('POST', `/keys/${second.keyId}/revoke`);
    await receiver.setBehaviour((response) => response.writeHead(200).end());
    const before = receiver.received.length;
    await publish(house, partner.groupId, [CONFIRMED, 'a']);
    house.clock.advance(3_600_000);
    await expect.poll(() => receiver.received.length).toBe(before + 1);
    const health = async () => (await house.operator('GET', `/webhooks/${id}`)).health;
    await expect
      .poll(async () => (await health()).withheld_practice_groups)
      .toMatchObject([{ practice_group_id: second.groupId, reason: 'key_revoked' }]);
    await expect
      .poll(async () => (await house.operator('GET', '/deliveries?status=withheld')).data)
      .toMatchObject(
        [3, 2, 1].map((sequence) => ({
          sequence,
          practice_group_id: second.groupId,
          withheld_reason: 'key_revoked',
          next_attempt_at: null,
        })),
      );
    expect(await health()).toMatchObject({ withheld_since: null });
    expect(receiver.received.length).toBe(before + 1);

    await house.operator('POST', '/keys', {
      partner_id: partner.partnerId,
      practice_group_id: second.groupId,
      scopes: ['events:read'],
    });
    await expect.poll(() => receiver.received.length).toBe(before + 4);
    const sequences = receiver.received.slice(before + 1).map(({ headers }) => headers['webhook-sequence']);
    expect(sequences.toSorted()).toEqual(['1', '2', '3']);
    expect(sequences.indexOf('1')).toBeLessThan(sequences.indexOf('2'));
    await expect.poll(async () => (await health()).withheld_practice_groups).toEqual([]);
    await receiver.close();
  });

  it('no attempt for a practice group begins after its revocation has answered, with thousands queued of two', async () => {
    const house = await startHarness();
    const partner = await newPartner(house);
    const second = await another(house, partner);
    const receiver = await startReceiver();
    await receiver.setBehaviour((response) => setTimeout(() => response.writeHead(200).end(), 20));
    await partner.call('POST', '/v1/webhooks', { url: receiver.url, practice_groups: 'all' });
    const many = Array.from({ length: 1_000 }, () => CONFIRMED as typeof CONFIRMED);
    for (let n = 0; n < 2; n++)
      for (const { groupId } of [partner, second]) await publish(house, groupId, ...many);
    const heardOf = (groupId: string) =>
      receiver.received.filter(({ body }) => JSON.parse(body).practice_group_id === groupId).length;
    await expect.poll(() => heardOf(second.groupId)).toBeGreaterThan(100);
    await house.operator('POST', `/keys/${second.keyId}/revoke`);
    // What began before the answer may still arrive, and does so before hundreds of others.
    const others = Math.min(heardOf(partner.groupId) + 500, 1_999);
    await expect.poll(() => heardOf(partner.groupId)).toBeGreaterThan(others);
    const heard = heardOf(second.groupId);
    await expect.poll(() => heardOf(partner.groupId)).toBe(2_000);
    expect(heardOf(second.groupId)).toBe(heard);
    expect(heard).toBeLessThan(2_000);
    await receiver.close();
  });

  it('has a limit of its own', async () => {
    const house = await startPost();
    const partner = await newPartner(house);
    const answers = await Promise.all(
      Array.from({ length: 22 }, () =>
        insist(() => partner.send('POST', '/v1/webhooks', { url: HOOK, practice_groups: 'all' })),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(20);
    expect(answers.filter(({ body }) => body.rule === 'webhooks_max')).toHaveLength(2);
    expect((await partner.send('POST', '/v1/webhooks', { url: HOOK })).status).toBe(201);
  });
});

describe('the engine', () => {
  const revoke = (group: string) =>
    `UPDATE api_keys SET revoked_at = now() WHERE practice_group_id = '${group}'`;
  const restore = (group: string) =>
    `UPDATE api_keys SET revoked_at = NULL WHERE practice_group_id = '${group}'`;

  it('takes objects of two practice groups for two, whatever their IDs', async () => {
    const harness = await openDeliveryHarness();
    await harness.addWebhook({ group: null });
    harness.answerWith(({ payload }) => (payload.practice_group_id === 'group' ? 503 : 200));
    await harness.publish({}, { practice_group_id: 'other-group' }, { practice_group_id: 'other-group' });
    await harness.engine.drain();
    expect(harness.sent.map(({ sequence }) => sequence).toSorted()).toEqual([1, 2, 3]);
  });

  it('clears what is withheld when its time is over, with the note', async () => {
    const harness = await openDeliveryHarness();
    await harness.addWebhook({ group: null });
    await harness.rows(`UPDATE webhooks SET status = 'paused'`);
    await harness.publish({});
    await harness.engine.drain();
    await harness.rows(revoke('group'));
    await harness.rows(`UPDATE webhooks SET status = 'active'`);
    await harness.engine.drain();
    expect(await harness.rows('SELECT reason FROM withheld_groups')).toEqual([{ reason: 'key_revoked' }]);
    harness.clock.advance(32 * 24 * 3_600_000);
    await harness.engine.clear();
    expect(await harness.rows('SELECT FROM withheld_groups')).toEqual([]);
    expect(await harness.rows('SELECT FROM deliveries')).toEqual([]);
  });

  it('withholds the whole webhook of a partner that is suspended', async () => {
    const harness = await openDeliveryHarness();
    await harness.addWebhook({ group: null });
    harness.answerWith(() => 503);
    await harness.publish({});
    await harness.engine.drain();
    await harness.rows(`UPDATE partners SET status = 'suspended'`);
    harness.clock.advance(3_600_000);
    await harness.engine.drain();
    expect(await harness.rows('SELECT withheld_reason FROM webhooks')).toEqual([
      { withheld_reason: 'partner_not_verified' },
    ]);
    expect(harness.sent).toHaveLength(1);
    await harness.rows(`UPDATE partners SET status = 'verified'`);
    harness.answerWith(() => 200);
    await harness.engine.drain();
    expect(harness.sent).toHaveLength(2);
  });

  it('has failed for as long as it has, whichever practice group is lost and regained meanwhile', async () => {
    const harness = await openDeliveryHarness();
    await harness.addWebhook({ group: null });
    harness.answerWith(() => 503);
    await harness.publish({}, { practice_group_id: 'other-group' });
    await harness.engine.drain();
    const [since] = await harness.rows('SELECT failing_since FROM webhook_lanes');
    for (let n = 0; n < 3; n++) {
      await harness.rows(revoke('other-group'));
      harness.clock.advance(24 * 3_600_000);
      await harness.engine.drain();
      expect(await harness.rows('SELECT FROM withheld_groups')).toHaveLength(1);
      await harness.rows(restore('other-group'));
      await harness.engine.drain();
      expect(await harness.rows('SELECT FROM withheld_groups')).toEqual([]);
    }
    expect(harness.sent.length).toBeGreaterThan(6);
    expect(await harness.rows('SELECT failing_since FROM webhook_lanes')).toEqual([since]);
  });

  it('of a node of the version before passes over it', async () => {
    const harness = await openDeliveryHarness();
    const wide = await harness.addWebhook({ group: null });
    const usual = await harness.addWebhook();
    await harness.rows(`UPDATE webhooks SET status = 'paused'`);
    await harness.publish({});
    await harness.engine.drain();
    await harness.rows(`UPDATE webhooks SET status = 'active'`);
    const claimOfBefore = sqlFunction('claim_deliveries', {
      at: 'timestamptz',
      lease_ms: 'integer',
      me: 'bigint',
      after_no: 'integer',
      deliveries_max: 'integer',
      usual_room: 'integer',
      look_back: 'boolean',
      known_nos: 'integer[]',
      known_rooms: 'integer[]',
      known_held: 'boolean[]',
      known_froms: 'bigint[]',
      under_way: 'text',
    });
    const lookOfBefore = sqlFunction('entitled_webhooks', { at: 'timestamptz', nos: 'integer[]' });
    const sender = {
      query: async <Row extends object>(text: string, values: readonly unknown[]) =>
        (await harness.admin.query(text, values as unknown[])).rows as Row[],
    };
    const at = new Date(harness.clock.now()).toISOString();
    const claim = { at, lease_ms: 1_000, me: 7, after_no: 0, deliveries_max: 100, usual_room: 100 };
    const known = { known_nos: '{}', known_rooms: '{}', known_held: '{}', known_froms: '{}', under_way: '' };
    const claimed = await claimOfBefore<{ webhook_no: number | null }>(sender, {
      ...claim,
      ...known,
      look_back: true,
    });
    expect(claimed.map(({ webhook_no }) => webhook_no).filter(Boolean)).toEqual([usual]);
    expect(await harness.rows('SELECT webhook_no FROM webhook_lanes WHERE holder = 7')).toEqual([
      { webhook_no: usual },
    ]);
    expect(await lookOfBefore(sender, { at, nos: [wide, usual] })).toMatchObject([{ webhook_no: usual }]);
  });

  it('asks about the practice groups that are queued, and no answer for one is good for another', async () => {
    const harness = await openDeliveryHarness();
    const no = await harness.addWebhook({ group: null });
    const at = new Date(harness.clock.now()).toISOString();
    const look = async (...groups: string[]) =>
      (
        await lookAtWebhooks(
          harness.db,
          at,
          groups.map((groupId) => ({ no, groupId })),
        )
      ).get(no)?.entitledMs;
    expect(await look('group', 'other-group')).toBe(900);
    await harness.rows(revoke('group'));
    expect(await look('group', 'other-group')).toBe(0);
    expect(await look('other-group')).toBe(900);
  });

  it('goes past more that is withheld than it has room for', async () => {
    const harness = await openDeliveryHarness();
    await harness.addWebhook({ group: null });
    await harness.rows(`UPDATE webhooks SET status = 'paused'`);
    await harness.publish(...Array.from({ length: 100 }, (_, n) => ({ id: `object-${n % 30}` })));
    await harness.publish({ practice_group_id: 'other-group' });
    await harness.engine.drain();
    await harness.rows(revoke('group'));
    await harness.rows(`UPDATE webhooks SET status = 'active'`);
    await expect
      .poll(async () => {
        await harness.engine.drain();
        return harness.sent.map(({ payload }) => payload.practice_group_id);
      })
      .toEqual(['other-group']);
    const open = await harness.rows(
      `SELECT state, count(*)::integer FROM deliveries WHERE retry_at = 'infinity' GROUP BY state ORDER BY state`,
    );
    await harness.rows(restore('group'));
    await harness.engine.drain();
    expect(harness.sent).toHaveLength(101);
    expect(open).toEqual([
      { state: 'due', count: 30 },
      { state: 'waiting', count: 70 },
    ]);
  });

  it('whatever is lost and regained while receivers fail: nothing is lost, order holds per object, nothing is sent to whom it is not for', async () => {
    const GROUPS = ['group', 'other-group'] as const;
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ publish: fc.constantFrom(...GROUPS), object: fc.nat(2) }) },
      { weight: 1, arbitrary: fc.record({ revoke: fc.constantFrom(...GROUPS) }) },
      { weight: 1, arbitrary: fc.record({ restore: fc.constantFrom(...GROUPS) }) },
      { weight: 2, arbitrary: fc.record({ status: fc.constantFrom(200, 503) }) },
      { weight: 3, arbitrary: fc.record({ waitMs: fc.constantFrom(1, 10_000, 400_000) }) },
    );
    const harness = await openDeliveryHarness();
    let answer = 200;
    harness.answerWith(() => answer);
    const property = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      await harness.rows(`UPDATE webhooks SET deleted_at = now() WHERE deleted_at IS NULL`);
      for (const group of GROUPS) await harness.rows(restore(group));
      const no = await harness.addWebhook({ group: null });
      const revoked = new Set<string>();
      answer = 200;
      const from = harness.sent.length;
      for (const one of steps) {
        const before = harness.sent.length;
        if ('publish' in one)
          await harness.publish({ practice_group_id: one.publish, id: `o-${one.object}` });
        if ('revoke' in one) await harness.rows(revoke(one.revoke));
        if ('restore' in one) await harness.rows(restore(one.restore));
        if ('revoke' in one) revoked.add(one.revoke);
        if ('restore' in one) revoked.delete(one.restore);
        if ('status' in one) answer = one.status;
        if ('waitMs' in one) harness.clock.advance(one.waitMs);
        await harness.engine.drain();
        for (const { payload } of harness.sent.slice(before))
          expect(revoked.has(payload.practice_group_id)).toBe(false);
      }
      for (const group of GROUPS) await harness.rows(restore(group));
      answer = 200;
      await harness.engine.drain();
      harness.clock.advance(24 * 3_600_000);
      await harness.engine.drain();
      harness.clock.advance(1_000);
      await harness.engine.drain();
      const rows = await harness.rows<{ sequence: string; state: string }>(
        'SELECT sequence, state FROM deliveries WHERE webhook_no = $1 ORDER BY sequence',
        [no],
      );
      expect(rows.map(({ sequence }) => Number(sequence))).toEqual(rows.map((_, index) => index + 1));
      expect(rows.filter(({ state }) => state !== 'delivered' && state !== 'failed')).toEqual([]);
      const latest = new Map<string, number>();
      for (const { payload, sequence } of harness.sent.slice(from)) {
        const object = `${payload.practice_group_id} ${payload.id}`;
        expect(sequence).toBeGreaterThanOrEqual(latest.get(object) ?? 0);
        latest.set(object, sequence);
      }
    });
    await fc.assert(property, { seed: seedOf('for all', 1), numRuns: 40, endOnFailure: true });
  });

  it('leaves a lane out of a claim that has not come past what is withheld: its worker would take the answer for all there is', async () => {
    const harness = await openDeliveryHarness();
    const no = await harness.addWebhook({ group: null });
    await harness.rows(`UPDATE webhooks SET status = 'paused'`);
    await harness.publish(...Array.from({ length: 15 }, (_, n) => ({ id: `object-${n}` })));
    await harness.publish({ practice_group_id: 'other-group' });
    await harness.engine.drain();
    await harness.rows(`UPDATE webhooks SET status = 'active'`);
    await harness.rows(revoke('group'));
    const claim = () =>
      claimDeliveries(harness.db, {
        at: new Date(harness.clock.now()).toISOString(),
        leaseMs: 1_000,
        me: 7,
        afterNo: 0,
        deliveriesMax: 100,
        usualRoom: 1,
        lookBack: true,
        known: [],
        passedOver: [],
      });
    expect(await claim()).toEqual([]);
    expect(await claim()).toMatchObject([{ webhookNo: no, deliveries: [{ sequence: 16 }] }]);
  });

  it('is handed nothing of a practice group that its partner may not receive', async () => {
    const harness = await openDeliveryHarness();
    const no = await harness.addWebhook({ group: null });
    await harness.rows(`UPDATE webhooks SET status = 'paused'`);
    await harness.publish({}, { practice_group_id: 'other-group' });
    await harness.engine.drain();
    await harness.rows(`UPDATE webhooks SET status = 'active'`);
    await harness.rows(revoke('group'));
    const [lane] = await claimDeliveries(harness.db, {
      at: new Date(harness.clock.now()).toISOString(),
      leaseMs: 1_000,
      me: 7,
      afterNo: 0,
      deliveriesMax: 100,
      usualRoom: 10,
      lookBack: true,
      known: [],
      passedOver: [],
    });
    expect(lane).toMatchObject({ webhookNo: no, isWide: true, entitledMs: 900 });
    expect(lane?.deliveries.map(({ groupId }) => groupId)).toEqual(['other-group']);
  });
});

it('needs both scopes, as any other', async () => {
  const house = await startPost();
  const world = await makeWorld(house);
  const { key } = await makeKey(house, world.groupId, { scopes: ['webhooks:write'] });
  const answer = await house.send('POST', '/v1/webhooks', {
    key,
    group: world.groupId,
    body: { url: HOOK, practice_groups: 'all' },
  });
  expect(answer.status).toBe(403);
});
