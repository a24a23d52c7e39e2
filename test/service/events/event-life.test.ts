import { describe, expect, it } from 'vitest';
import { expectProblem } from '../../support/answers.ts';
import { fanOutAll, HOOK, newPartner, type Partner, publish, startPost } from '../../support/post.ts';
import { type Loose, makeWorld, OPERATOR_TOKEN } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

const house = await startPost();
const db = await superuser(house.databaseUrl);

const life = (id: string | undefined): Promise<Loose> => house.operator('GET', `/events/${id}/life`);
const newWebhook = async (partner: Partner, body: object = {}): Promise<string> =>
  (await partner.call('POST', '/v1/webhooks', { url: HOOK, ...body })).id;
/** What became of it for each webhook. */
const fates = async (id: string | undefined): Promise<Record<string, string>> =>
  Object.fromEntries(
    (await life(id)).targets.map((target: Loose) => [
      target.webhook_id,
      target.not_sent_reason ?? target.withheld_reason ?? target.outcome,
    ]),
  );

describe('GET /operator/v1/events/{id}/life', () => {
  it('200: its cause, its place, and each webhook that has it, with attempts and the next one', async () => {
    const partner = await newPartner(house);
    const [arrived, failing, paused] = [
      await newWebhook(partner),
      await newWebhook(partner),
      await newWebhook(partner),
    ];
    await partner.call('PATCH', `/v1/webhooks/${paused}`, { status: 'paused' });
    const [id] = await publish(house, partner.groupId, ['appointment.confirmed', 'apt-1']);
    await fanOutAll(house);
    const attempt = { at: '2026-11-16T10:00:00.000Z', status: 200, duration_ms: 3 };
    const failed = {
      ...attempt,
      outcome: 'failed',
      status: 503,
      phase: null,
      code: null,
      diagnosis: 'Answered 503.',
      answer: null,
    };
    const set = (webhook: string, state: string, retryAt: string | null, one: object) =>
      db.query(
        `UPDATE deliveries SET state = $2, retry_at = $3, attempts = json_build_array($4::json), tries = 1
          WHERE webhook_no = (SELECT no FROM webhooks WHERE id = $1)`,
        [webhook, state, retryAt, JSON.stringify(one)],
      );
    await set(arrived, 'delivered', null, attempt);
    await set(failing, 'due', '2026-11-16T10:05:00Z', failed);
    const told = await life(id);
    expect(told).toMatchObject({
      id,
      payload: { id: 'apt-1', event: 'appointment.confirmed' },
      test: false,
      practice_group: { id: partner.groupId, name: `Practice ${partner.groupId}` },
      cause: { kind: 'published', source: { type: 'operator', id: 'opr_first' } },
      feed_position: expect.any(Number),
      erased_by: null,
      target_count: 3,
    });
    const [one, two, three] = told.targets;
    expect(one).toMatchObject({
      webhook_id: arrived,
      url: HOOK,
      partner: { id: partner.partnerId, name: 'Partner' },
      outcome: 'delivered',
      explanation: null,
      attempts: [{ outcome: 'delivered', status: 200 }],
    });
    const [delivery] = (await house.operator('GET', `/deliveries?event_id=${id}&webhook_id=${arrived}`)).data;
    expect(one.delivery_id).toBe(delivery.id);
    expect(two).toMatchObject({
      webhook_id: failing,
      outcome: 'pending',
      explanation: 'Answered 503.',
      next_attempt_at: '2026-11-16T10:05:00.000Z',
    });
    expect(three).toMatchObject({ webhook_id: paused, outcome: 'pending', webhook_status: 'paused' });
    expect(three.explanation).toContain('paused');
  });

  it('200: who does not have it, each with the reason', async () => {
    const { groupId } = await makeWorld(house);
    const { groupId: neighbour } = await makeWorld(house);
    const network = await house.operator('POST', '/networks', {
      name: 'Both',
      practice_group_ids: [groupId, neighbour],
    });
    const make = (group = groupId) => newPartner(house, group);
    const [typed, narrowed, suspended, revoked, scoped, late, absent, far] = await Promise.all([
      make(),
      make(),
      make(),
      make(),
      make(),
      make(),
      make(),
      make(neighbour),
    ]);
    const hooks = {
      typed: await newWebhook(typed, { event_types: ['prescription.issued'] }),
      narrowed: await newWebhook(narrowed, { practice_groups: 'all', practice_group_ids: [neighbour] }),
      suspended: await newWebhook(suspended),
      revoked: await newWebhook(revoked),
      scoped: await newWebhook(scoped),
      absent: await newWebhook(absent),
      far: await newWebhook(far, { practice_groups: 'all' }),
    };
    await house.operator('POST', `/partners/${suspended.partnerId}/suspend`);
    await house.operator('POST', `/keys/${revoked.keyId}/revoke`);
    await house.operator('PATCH', `/keys/${scoped.keyId}`, { scopes: ['webhooks:write'] });
    await house.operator('POST', `/partners/${absent.partnerId}/suspend`);
    const [id] = await publish(house, groupId, 'appointment.confirmed');
    expect((await fates(id))[hooks.typed]).toBe('not_fanned_out');
    await fanOutAll(house);
    await house.operator('POST', `/partners/${absent.partnerId}/verify`);
    house.clock.advance(1_000);
    const younger = await newWebhook(late);
    expect(await fates(id)).toEqual({
      [hooks.far]: 'pending',
      [hooks.typed]: 'event_type',
      [hooks.narrowed]: 'not_in_practice_groups',
      [hooks.suspended]: 'partner_not_verified',
      [hooks.revoked]: 'key_revoked',
      [hooks.scoped]: 'scope_missing',
      [hooks.absent]: 'not_entitled_then',
      [younger]: 'registered_later',
    });
    for (const { outcome, explanation } of (await life(id)).targets)
      expect(outcome === 'delivered' || explanation.length > 10).toBe(true);

    // What the reasons say is so: a replay sends it to those that it names, and to nobody else.
    const [, others] = await publish(house, groupId, 'prescription.issued', 'appointment.confirmed');
    await house.operator('DELETE', `/networks/${network.id}`);
    await fanOutAll(house);
    expect((await fates(others))[hooks.far]).toBeUndefined();
    await house.operator('POST', `/webhooks/${younger}/replay`, { event_ids: [id] });
    await house.operator('POST', `/webhooks/${hooks.absent}/replay`, { event_ids: [id] });
    expect(await fates(id)).toMatchObject({ [younger]: 'pending', [hooks.absent]: 'pending' });
  });

  it('200: what is withheld, and what caused others', async () => {
    const partner = await newPartner(house);
    const hook = await newWebhook(partner);
    const [id] = await publish(house, partner.groupId, 'appointment.confirmed');
    await fanOutAll(house);
    await db.query(
      "UPDATE webhooks SET withheld_since = now(), withheld_reason = 'key_revoked' WHERE id = $1",
      [hook],
    );
    const [target] = (await life(id)).targets;
    expect(target).toMatchObject({
      outcome: 'withheld',
      withheld_reason: 'key_revoked',
      next_attempt_at: null,
    });
    expect(target.explanation).toContain('revoked');

    await db.query('UPDATE webhooks SET withheld_since = NULL, withheld_reason = NULL WHERE id = $1', [hook]);
    const kindOf = async (event: string) => {
      const { data } = await house.operator('GET', `/events?event=${event}&page_size=1`);
      return (await life(data[0].id)).cause.kind;
    };
    await house.operator('POST', `/practice-groups/${partner.groupId}/form-submissions`, {
      submission_type_id: 'type-1',
    });
    expect(await kindOf('form-submission.created')).toBe('form_submission');
    await house.operator('PUT', `/practice-groups/${partner.groupId}/ehr-health`, { status: 'unhealthy' });
    expect(await kindOf('ehr.health_status.unhealthy')).toBe('ehr_health');
    const job = await house.operator('POST', '/write-to-record-jobs', {
      practice_group_id: partner.groupId,
      resource: 'Letter',
      resource_id: 'l-1',
    });
    await house.operator('POST', `/write-to-record-jobs/${job.id}/succeed`);
    expect(await kindOf('write-to-record.succeeded')).toBe('write_to_record');
    const { event_id } = await partner.call('POST', `/v1/webhooks/${hook}/test`, {
      event: 'prescription.issued',
    });
    const second = await newWebhook(partner);
    const test = await life(event_id);
    expect(test.cause).toMatchObject({ kind: 'test', source: { type: 'key', id: partner.keyId } });
    expect(await fates(event_id)).toEqual({ [hook]: 'pending', [second]: 'test_for_another' });
  });

  it('is noted in the access log; 404: none such; 403: a source', async () => {
    const partner = await newPartner(house);
    const [id] = await publish(house, partner.groupId, ['appointment.confirmed', 'apt-noted']);
    await life(id);
    await house.service.app.accessLog.flush();
    const { data } = await house.operator('GET', '/access-log?page_size=100');
    expect(data).toContainEqual(
      expect.objectContaining({ operation: 'getEventLife', object_id: 'apt-noted', event_id: id }),
    );
    const answer = await house.send('GET', '/operator/v1/events/none/life', { token: OPERATOR_TOKEN });
    expectProblem(answer, 404, 'not_found');
    const { token } = await house.operator('POST', '/operators', { name: 'Source', role: 'source' });
    expect((await house.send('GET', `/operator/v1/events/${id}/life`, { token })).status).toBe(403);
  });
});
