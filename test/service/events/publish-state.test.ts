import { describe, expect, it } from 'vitest';
import { type Answer, type Loose, makeWorld, OPERATOR_TOKEN, startHarness } from '../../support/service.ts';

/** Events that are published about a state that the service keeps itself: EHR statuses and write-to-record jobs. */

const house = await startHarness();

type Status = 'healthy' | 'unhealthy';

const publish = (body: object, headers = {}): Promise<Answer> =>
  house.send('POST', '/operator/v1/events', { token: OPERATOR_TOKEN, body, headers });
const ehrEvent = (practice_group_id: string, status: Status) => ({
  object: 'EhrHealthStatus',
  id: practice_group_id,
  practice_group_id,
  event: `ehr.health_status.${status}`,
});
const jobEvent = (
  { id, practice_group_id, resource, resource_id }: Loose,
  status: 'succeeded' | 'failed',
) => ({
  object: 'WriteToRecordEntry',
  id,
  practice_group_id,
  event: `write-to-record.${status}`,
  resource,
  resource_id,
});
const report = (groupId: string, status: Status) =>
  house.operator('PUT', `/practice-groups/${groupId}/ehr-health`, { status });
const statusOf = async (groupId: string) =>
  (await house.operator('GET', `/practice-groups/${groupId}/ehr-health`)).status;
const jobOf = ({ id }: Loose) => house.operator('GET', `/write-to-record-jobs/${id}`);
const newJob = async () => {
  const { groupId: practice_group_id } = await makeWorld(house);
  return house.operator('POST', '/write-to-record-jobs', {
    practice_group_id,
    resource: 'Consultation',
    resource_id: 'c-1',
  });
};
/** Newest first. */
const payloadsOf = async (groupId: string): Promise<Loose[]> =>
  (await house.operator('GET', `/events?practice_group_id=${groupId}&page_size=100`)).data.map(
    ({ payload }: Loose) => payload,
  );
const audited = async (groupId: string, action: string) =>
  (await house.operator('GET', `/audit?practice_group_id=${groupId}&action=${action}&page_size=100`)).data;

describe('a published EHR event', () => {
  it.each(['one', 'a batch'])('changes the EHR status, and is sent once, as given (%s)', async (how) => {
    const { key, groupId } = await makeWorld(house);
    const seen = async () =>
      (await house.send('GET', '/v1/practice-groups', { key, group: groupId })).body.data[0].ehr_status;
    expect(await seen()).toBe('unknown');
    const event = ehrEvent(groupId, 'unhealthy');
    expect((await publish(how === 'one' ? event : { events: [event] })).status).toBe(202);
    expect([await statusOf(groupId), await seen()]).toEqual(['unhealthy', 'unhealthy']);
    expect(await report(groupId, 'unhealthy')).toMatchObject({ changed: false });
    expect(await payloadsOf(groupId)).toEqual([event]);
    expect(await audited(groupId, 'ehr_health.change')).toMatchObject([
      { before: { status: 'unknown' }, after: { status: 'unhealthy' } },
    ]);
  });

  it('is sent also if it repeats the present status', async () => {
    const { groupId } = await makeWorld(house);
    await report(groupId, 'healthy');
    await publish(ehrEvent(groupId, 'healthy'));
    expect(await payloadsOf(groupId)).toHaveLength(2);
    expect(await audited(groupId, 'ehr_health.change')).toHaveLength(1);
  });

  it('changes nothing when its call is repeated with the same Idempotency-Key', async () => {
    const { groupId } = await makeWorld(house);
    const again = () => publish(ehrEvent(groupId, 'unhealthy'), { 'idempotency-key': `ehr-${groupId}` });
    const first = await again();
    await report(groupId, 'healthy');
    expect(await again()).toMatchObject({ status: 202, body: first.body });
    expect(await statusOf(groupId)).toBe('healthy');
    expect(await payloadsOf(groupId)).toHaveLength(2);
  });

  it('is decided in the order of its batch, which is accepted as a whole or not at all', async () => {
    const { groupId } = await makeWorld(house);
    const of = (status: Status) => ehrEvent(groupId, status);
    expect((await publish({ events: [of('unhealthy'), of('healthy')] })).status).toBe(202);
    expect(await statusOf(groupId)).toBe('healthy');
    const refused = await publish({ events: [of('unhealthy'), ehrEvent('nowhere', 'healthy')] });
    expect(refused).toMatchObject({ status: 422, body: { path: ['events', 1, 'practice_group_id'] } });
    expect((await publish(ehrEvent('nowhere', 'healthy'))).body.path).toEqual(['practice_group_id']);
    expect(await statusOf(groupId)).toBe('healthy');
    expect(await payloadsOf(groupId)).toHaveLength(2);
  });

  it('among concurrent reports: the events are in the order of the changes, and the last one is the status', async () => {
    const { groupId } = await makeWorld(house);
    const status = (n: number): Status => (n % 2 === 0 ? 'healthy' : 'unhealthy');
    await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        n % 3 === 0 ? report(groupId, status(n)) : publish(ehrEvent(groupId, status(n))),
      ),
    );
    const statuses = (await payloadsOf(groupId)).map(({ event }) => event.split('.').at(-1));
    expect(await statusOf(groupId)).toBe(statuses[0]);
    const changes = statuses.filter((one, place) => one !== statuses[place + 1]);
    const entries = await audited(groupId, 'ehr_health.change');
    expect(entries.map(({ after }: Loose) => after.status)).toEqual(changes);
  });
});

describe('a published write-to-record event', () => {
  it.each(['succeeded', 'failed'] as const)('finishes the open job with its ID: %s', async (status) => {
    const job = await newJob();
    const event = jobEvent(job, status);
    expect((await publish(event)).status).toBe(202);
    expect(await jobOf(job)).toMatchObject({ status, failed_attempts: status === 'failed' ? 1 : 0 });
    const again = await house.send('POST', `/operator/v1/write-to-record-jobs/${job.id}/succeed`, {
      token: OPERATOR_TOKEN,
    });
    expect(again.status).toBe(409);
    expect(await payloadsOf(job.practice_group_id)).toEqual([event]);
    const action = `write_to_record_job.${status === 'failed' ? 'fail' : 'succeed'}`;
    expect(await audited(job.practice_group_id, action)).toHaveLength(1);
  });

  it('is sent, and leaves the job as it is, if the job has finished or belongs to another practice group', async () => {
    const [job, other] = [await newJob(), await newJob()];
    await publish({ events: [jobEvent(job, 'succeeded'), jobEvent(job, 'failed')] });
    expect(await jobOf(job)).toMatchObject({ status: 'succeeded', failed_attempts: 0 });
    expect(await payloadsOf(job.practice_group_id)).toHaveLength(2);
    await publish(jobEvent({ ...other, practice_group_id: job.practice_group_id }, 'failed'));
    expect(await jobOf(other)).toMatchObject({ status: 'queued' });
    expect(await payloadsOf(job.practice_group_id)).toHaveLength(3);
  });

  it('names no job of ours: it is sent all the same', async () => {
    const { groupId } = await makeWorld(house);
    const event = jobEvent(
      { id: 'theirs', practice_group_id: groupId, resource: 'Letter', resource_id: 'l-1' },
      'succeeded',
    );
    expect((await publish(event)).status).toBe(202);
    expect(await payloadsOf(groupId)).toEqual([event]);
  });
});

describe('a failure that is reported in many words', () => {
  const failing = (practice_group_id: string, failure_reason: string, code: string) => ({
    object: 'Appointment',
    id: 'a-1',
    practice_group_id,
    event: 'appointment.booking-failed',
    failure_reason,
    code,
  });

  it.each(['one', 'a batch'])('is shortened, and costs its neighbours nothing (%s)', async (how) => {
    const { groupId } = await makeWorld(house);
    const short = failing(groupId, 'r'.repeat(2_000), 'c'.repeat(255));
    const long = failing(groupId, '🏥'.repeat(2_001), 'c'.repeat(256));
    const sent = how === 'one' ? [long] : [short, long];
    expect((await publish(how === 'one' ? long : { events: sent })).status).toBe(202);
    const shown = { ...long, failure_reason: `${'🏥'.repeat(1_999)}…`, code: `${'c'.repeat(254)}…` };
    expect(await payloadsOf(groupId)).toEqual(how === 'one' ? [shown] : [shown, short]);
  });

  it('is accepted with NUL and lone surrogates: each becomes U+FFFD, before the text is shortened', async () => {
    const { groupId } = await makeWorld(house);
    const sent = failing(groupId, `a\0b\ud83cc${'\0'.repeat(2_000)}`, '\udfe5');
    expect((await publish(sent)).status).toBe(202);
    const failure_reason = `a\ufffdb\ufffdc${'\ufffd'.repeat(1_994)}…`;
    expect(await payloadsOf(groupId)).toEqual([{ ...sent, failure_reason, code: '\ufffd' }]);
    expect((await publish({ ...sent, id: 'a\0' })).status).toBe(400);
  });
});
