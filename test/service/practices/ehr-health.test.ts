import { describe, expect, it } from 'vitest';
import { type Loose, makeWorld, OPERATOR_TOKEN, startHarness, type World } from '../../support/service.ts';

const house = await startHarness();

const report = (groupId: string, status: string) =>
  house.send('PUT', `/operator/v1/practice-groups/${groupId}/ehr-health`, {
    token: OPERATOR_TOKEN,
    body: { status },
  });

const said = async (groupId: string) =>
  (await house.operator('GET', `/events?practice_group_id=${groupId}`)).data.map(
    ({ payload }: Loose) => payload.event,
  );

const audited = async (groupId: string) =>
  (await house.operator('GET', `/audit?practice_group_id=${groupId}&action=ehr_health.change`)).data;

async function groupSeen({ key, groupId }: World & { groupId: string }): Promise<Loose> {
  const answer = await house.send('GET', '/v1/practice-groups', { key, group: groupId });
  return answer.body.data[0];
}

describe('a report of EHR health', () => {
  it('200: speaks only on a change, the first one included', async () => {
    const { groupId } = await makeWorld(house);
    const answers = [];
    for (const status of ['healthy', 'healthy', 'unhealthy', 'unhealthy', 'healthy']) {
      const answer = await report(groupId, status);
      expect(answer.status).toBe(200);
      answers.push(answer.body);
    }
    expect(answers).toEqual([
      { changed: true, status: 'healthy' },
      { changed: false, status: 'healthy' },
      { changed: true, status: 'unhealthy' },
      { changed: false, status: 'unhealthy' },
      { changed: true, status: 'healthy' },
    ]);
    expect(await said(groupId)).toEqual([
      'ehr.health_status.healthy',
      'ehr.health_status.unhealthy',
      'ehr.health_status.healthy',
    ]);
  });

  it('200: the first may be bad news too', async () => {
    const { groupId } = await makeWorld(house);
    expect((await report(groupId, 'unhealthy')).body).toEqual({ changed: true, status: 'unhealthy' });
    const [event] = (await house.operator('GET', `/events?practice_group_id=${groupId}`)).data;
    expect(event).toMatchObject({
      payload: {
        object: 'EhrHealthStatus',
        id: groupId,
        practice_group_id: groupId,
        event: 'ehr.health_status.unhealthy',
      },
      source_id: 'opr_first',
    });
  });

  it('is what partners and operators read from then on', async () => {
    const world = await makeWorld(house);
    const { groupId } = world;
    const read = () => house.operator('GET', `/practice-groups/${groupId}/ehr-health`);
    expect(await read()).toEqual({ status: 'unknown' });
    const before = await groupSeen(world);
    expect(before.ehr_status).toBe('unknown');
    house.clock.advance(500);
    await report(groupId, 'unhealthy');
    expect(await read()).toEqual({ status: 'unhealthy' });
    expect(await groupSeen(world)).toEqual({
      ...before,
      ehr_status: 'unhealthy',
      updated_at: new Date(house.clock.now()).toISOString(),
    });
  });

  it('is audited when it changes something', async () => {
    const { groupId } = await makeWorld(house);
    await report(groupId, 'healthy');
    await report(groupId, 'healthy');
    expect(await audited(groupId)).toMatchObject([
      {
        actor: { type: 'operator', id: 'opr_first' },
        subject: { type: 'ehr_health', id: groupId },
        before: { status: 'unknown' },
        after: { status: 'healthy' },
      },
    ]);
  });

  it('twenty equal ones at once are one change', async () => {
    const { groupId } = await makeWorld(house);
    const answers = await Promise.all(Array.from({ length: 20 }, () => report(groupId, 'unhealthy')));
    expect(answers.filter(({ body }) => body.changed)).toHaveLength(1);
    expect(await said(groupId)).toEqual(['ehr.health_status.unhealthy']);
    expect(await audited(groupId)).toHaveLength(1);
  });

  it('different ones at once leave the status that was said last', async () => {
    const { groupId } = await makeWorld(house);
    const statuses = Array.from({ length: 20 }, (_, at) => (at % 2 ? 'healthy' : 'unhealthy'));
    const answers = await Promise.all(statuses.map((status) => report(groupId, status)));
    const events = await said(groupId);
    expect(events).toHaveLength(answers.filter(({ body }) => body.changed).length);
    for (const [at, event] of events.entries()) expect(event).not.toBe(events[at + 1]);
    const { status } = await house.operator('GET', `/practice-groups/${groupId}/ehr-health`);
    expect(events[0]).toBe(`ehr.health_status.${status}`);
  });

  it('400: is one of two, and nobody reports that nothing is known', async () => {
    const { groupId } = await makeWorld(house);
    for (const status of ['unknown', 'Healthy', '']) expect((await report(groupId, status)).status).toBe(400);
    expect(await said(groupId)).toEqual([]);
  });

  it('404: for a practice group that does not exist', async () => {
    expect((await report('nowhere', 'healthy')).status).toBe(404);
  });
});
