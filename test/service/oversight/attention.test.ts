import { describe, expect, it } from 'vitest';
import { SYSTEM } from '../../../src/domain/access/principal.ts';
import { transact } from '../../../src/store/database.ts';
import { fanOutToOperators } from '../../../src/store/events/operator-events.ts';
import { insertRefusals } from '../../../src/store/oversight/refusals.ts';
import { expectProblem } from '../../support/answers.ts';
import { startMailbox } from '../../support/mailbox.ts';
import { StillClock } from '../../support/manual-clock.ts';
import { fanOutAll, newPartner, type Partner, publish } from '../../support/post.ts';
import { type Loose, OPERATOR_TOKEN, startHarness } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const mailbox = await startMailbox();
const env = {
  PORTER_ROLE: 'api',
  PORTER_SMTP_URL: mailbox.url,
  PORTER_MAIL_FROM: 'Porter <alerts@porter.example>',
};
const house = await startHarness({ env, clock: new StillClock() });
const db = await superuser(house.databaseUrl);

const now = () => new Date(house.clock.now()).toISOString();

async function look(): Promise<void> {
  house.clock.advance(MINUTE);
  await house.service.alerts.look();
  await house.service.alerts.tell();
}

const attention = async (): Promise<Loose> => {
  house.clock.advance(1_000);
  return house.operator('GET', '/attention');
};
const groupsOf = async (kind: string): Promise<Loose[]> =>
  (await attention()).data.filter((group: Loose) => group.kind === kind);
const itemAbout = async (kind: string, id: string): Promise<Loose> =>
  (await groupsOf(kind)).flatMap(({ items }: Loose) => items).find(({ subject }: Loose) => subject.id === id);

/** A webhook that has failed for two hours, with something queued and what the last attempt came to. */
async function failingWebhook(partner: Partner, attempt: object): Promise<string> {
  const { id } = await partner.call('POST', '/v1/webhooks', { url: 'https://hooks.partner.example/in' });
  await publish(house, partner.groupId, 'appointment.confirmed', 'appointment.confirmed');
  await fanOutAll(house);
  await db.query(
    `UPDATE deliveries SET retry_at = now() + interval '1 hour', tries = 1, attempts = json_build_array($2::json)
      WHERE webhook_no = (SELECT no FROM webhooks WHERE id = $1)`,
    [id, JSON.stringify({ at: now(), outcome: 'failed', ...attempt })],
  );
  await db.query(
    `UPDATE webhook_lanes SET failures = 7, failing_since = $2 WHERE webhook_no = (SELECT no FROM webhooks WHERE id = $1)`,
    [id, now()],
  );
  return id;
}

describe('GET /operator/v1/attention', () => {
  it('200: webhooks that fail, by their cause, each with its partner, what is queued and the next step', async () => {
    const one = await newPartner(house);
    const other = await newPartner(house);
    const third = await newPartner(house);
    await house.operator('PATCH', `/partners/${one.partnerId}`, { name: 'Acme Booking' });
    const [a, b, c] = [
      await failingWebhook(one, { code: 'answer_timeout' }),
      await failingWebhook(other, { code: 'answer_timeout' }),
      await failingWebhook(third, { status: 503, code: null }),
    ];
    const queuedAt = now();
    house.clock.advance(2 * HOUR);
    await look();
    const groups = await groupsOf('webhook_failing');
    expect(groups.map(({ cause, count, severity }) => [cause, count, severity])).toEqual([
      ['answer_timeout', 2, 'critical'],
      ['status_503', 1, 'critical'],
    ]);
    expect(groups[0].items.map(({ subject }: Loose) => subject.id).sort()).toEqual([a, b].sort());
    expect(await itemAbout('webhook_failing', a)).toMatchObject({
      subject: { type: 'webhook', id: a, name: 'hooks.partner.example' },
      partner: { id: one.partnerId, name: 'Acme Booking' },
      practice_group: { id: one.groupId, name: `Practice ${one.groupId}` },
      since: queuedAt,
      count: 7,
      queued: 2,
      oldest_at: queuedAt,
      action: 'pause',
    });
    await db.query(
      "UPDATE webhooks SET status = 'disabled', status_reason = 'It answered 410.' WHERE id = $1",
      [c],
    );
    await look();
    expect(await itemAbout('webhook_disabled', c)).toMatchObject({ queued: 2, action: 'activate' });
    expect((await groupsOf('webhook_failing')).map(({ cause }) => cause)).toEqual(['answer_timeout']);
    expect((await attention()).data[0].kind).toBe('webhook_disabled');
  });

  it('200: a webhook that has failed for five minutes, long before anybody is mailed about it', async () => {
    const id = await failingWebhook(await newPartner(house), { status: 500, code: null });
    const { rows } = await db.query('SELECT status FROM webhooks WHERE id = $1', [id]);
    expect(rows).toEqual([{ status: 'active' }]);
    house.clock.advance(3 * MINUTE);
    await look();
    expect(await itemAbout('webhook_failing', id)).toBeUndefined();
    house.clock.advance(MINUTE);
    const early = await itemAbout('webhook_failing', id);
    expect(early).toMatchObject({ alert_id: null, count: 7, queued: 2, action: 'pause' });
    expect(early.message).toMatch(
      /^No delivery to the webhook wh_\S+ \(hooks\.partner\.example\) has succeeded since/,
    );
    await db.query(
      'UPDATE webhook_lanes SET failures = 1 WHERE webhook_no = (SELECT no FROM webhooks WHERE id = $1)',
      [id],
    );
    expect((await itemAbout('webhook_failing', id)).message).toMatch(/; 1 attempt has failed\.$/);
    const groups = await groupsOf('webhook_failing');
    expect(groups.find(({ cause }) => cause === 'status_500').title).toBe('A webhook is failing');
    house.clock.advance(HOUR);
    await look();
    expect((await itemAbout('webhook_failing', id)).alert_id).toMatch(/^alt_/);
    const all = (await groupsOf('webhook_failing')).flatMap(({ items }: Loose) => items);
    expect(all.filter(({ subject }: Loose) => subject.id === id)).toHaveLength(1);
    await db.query(
      'UPDATE webhook_lanes SET failures = 0, failing_since = NULL WHERE webhook_no = (SELECT no FROM webhooks WHERE id = $1)',
      [id],
    );
    await look();
  });

  it("200: software of the operator's own by what it is: nobody pauses it, and no partner is told", async () => {
    const { groupId } = await newPartner(house);
    await house.operator('POST', '/subscriptions', {
      url: 'https://own.operator.example/in',
      topics: ['changes'],
    });
    await house.operator('PUT', `/practice-groups/${groupId}/write-through`, {
      url: 'https://practice.operator.example/porter',
    });
    await db.query(
      `UPDATE webhook_lanes SET failures = 1, failing_since = $1
        WHERE webhook_no IN (SELECT no FROM webhooks WHERE audience = 'operator')`,
      [now()],
    );
    const seen = async () => {
      const items = (await groupsOf('webhook_failing')).flatMap((group: Loose) => group.items);
      return items
        .filter(({ subject }: Loose) => subject.name.endsWith('.operator.example'))
        .map(({ subject: { type }, practice_group, action, queued, message }: Loose) => ({
          type,
          group: practice_group?.id,
          action,
          queued,
          message: message.replace(/wh_\S+/, 'wh_').split(' has succeeded')[0],
          isCounted: message.endsWith('; 1 attempt has failed.'),
        }))
        .sort((one, other) => one.type.localeCompare(other.type));
    };
    const expected = (whose: string) => [
      {
        type: 'subscription',
        group: undefined,
        action: 'open',
        queued: 0,
        message: expect.stringMatching(/^No delivery to the subscription \S+ \(own\.operator\.example\)$/),
        isCounted: true,
      },
      {
        type: 'write_through',
        group: groupId,
        action: 'open',
        queued: 0,
        message: `No delivery to the write-through address wh_ (practice.operator.example)${whose}`,
        isCounted: true,
      },
    ];
    house.clock.advance(6 * MINUTE);
    expect(await seen()).toEqual(expected(''));
    house.clock.advance(HOUR);
    await look();
    expect(await seen()).toEqual(expected(` for Practice ${groupId} (${groupId})`));
    await db.query('UPDATE webhook_lanes SET failures = 0, failing_since = NULL');
    await look();
    expect(await seen()).toEqual([]);
  });

  it('200: keys about to expire, partners that wait, refusals that rise, an EHR that is down; worst first', async () => {
    const partner = await newPartner(house);
    const key = await house.operator('POST', '/keys', {
      partner_id: partner.partnerId,
      practice_group_id: partner.groupId,
      scopes: ['events:read'],
      label: 'Booking service',
      expires_at: new Date(house.clock.now() + 40 * DAY).toISOString(),
    });
    const { id: waiting } = await house.operator('POST', '/partners', {
      name: 'Waiting Ltd',
      contact_email: 'a@b.example',
    });
    house.clock.advance(30 * DAY);
    await house.operator('PUT', `/practice-groups/${partner.groupId}/ehr-health`, { status: 'unhealthy' });
    house.clock.advance(31 * MINUTE);
    const refused = {
      partnerId: partner.partnerId,
      requestId: 'r',
      at: now(),
      keyId: partner.keyId,
      practiceGroupId: undefined,
      method: 'GET',
      path: '/v1/x',
      operation: 'none',
      status: 404,
      body: '{"error":"not_found"}',
    };
    await transact(house.service.app.db, SYSTEM, (tx) =>
      insertRefusals(
        tx,
        Array.from({ length: 120 }, () => refused),
      ),
    );
    await look();
    const { data, count } = await attention();
    const kinds = data.map(({ kind }: Loose) => kind);
    expect(kinds.filter((kind: string) => !/^webhook|^deliveries_late/.test(kind))).toEqual([
      'ehr_down',
      'refusals_rising',
      'key_expiring',
      'partner_waiting',
    ]);
    expect(count).toBe(data.reduce((sum: number, group: Loose) => sum + group.count, 0));
    const severities = data.map(({ severity }: Loose) => severity);
    expect(severities).toEqual(
      severities.toSorted((one: string, other: string) => RANK.indexOf(one) - RANK.indexOf(other)),
    );
    expect(await itemAbout('key_expiring', key.id)).toMatchObject({
      subject: { type: 'key', name: 'Booking service' },
      until: key.expires_at,
      action: 'remind',
    });
    expect(await itemAbout('partner_waiting', waiting)).toMatchObject({
      partner: { name: 'Waiting Ltd' },
      action: 'open',
    });
    expect(await itemAbout('refusals_rising', partner.partnerId)).toMatchObject({ count: 120, usual: 0 });
    expect(await itemAbout('ehr_down', partner.groupId)).toMatchObject({ action: 'open', partner: null });
  });

  it('200: changes that the practice software has not answered for an hour, once it has ever answered one', async () => {
    const partner = await newPartner(house);
    const change = (title: string) =>
      partner.call('PATCH', '/v1/care-nav/submission-types/type-1', { title });
    const pending = async (): Promise<Loose[]> =>
      (await house.operator('GET', `/changes?practice_group_id=${partner.groupId}&state=pending`)).data;
    await change('One');
    await change('Two');
    await fanOutToOperators(house.service.app.db, now(), 0, 1_000);
    expect(await pending()).toHaveLength(2);
    house.clock.advance(HOUR + 1_000);
    await look();
    expect(await groupsOf('changes_pending')).toEqual([]);
    const [first] = await pending();
    await house.operator('POST', `/changes/${first.id}/applied`);
    await look();
    expect(await itemAbout('changes_pending', partner.groupId)).toMatchObject({
      count: 1,
      practice_group: { id: partner.groupId },
      action: 'open',
    });
  });

  it('200: a webhook that receives again, with deliveries that were given up, until they are sent again', async () => {
    const partner = await newPartner(house);
    const { id } = await partner.call('POST', '/v1/webhooks', { url: 'https://hooks.partner.example/in' });
    await publish(house, partner.groupId, 'appointment.confirmed', 'appointment.confirmed');
    await fanOutAll(house);
    const { rows } = await db.query(
      `UPDATE deliveries SET state = 'failed', finished_at = $2, tries = 10 WHERE webhook_no = (SELECT no FROM webhooks WHERE id = $1)
       RETURNING webhook_no`,
      [id, now()],
    );
    house.service.app.figures.deliver(rows[0].webhook_no, 'given_up', 0, '5xx');
    house.service.app.figures.deliver(rows[0].webhook_no, 'given_up', 0, '5xx');
    await house.service.app.figures.flush();
    expect(await itemAbout('deliveries_given_up', id)).toMatchObject({ count: 2, action: 'retry_all' });
    await db.query(
      "UPDATE deliveries SET state = 'delivered' WHERE webhook_no = $1 AND event_no = (SELECT max(no) FROM events)",
      [rows[0].webhook_no],
    );
    expect((await itemAbout('deliveries_given_up', id)).message).toMatch(
      /^1 delivery to .+ was given up since /,
    );
    await house.operator('POST', `/webhooks/${id}/retry-failed`);
    expect(await itemAbout('deliveries_given_up', id)).toBeUndefined();
  });

  it('200: what waits for a second person, where that is asked for', async () => {
    const until = (hours: number) => new Date(house.clock.now() + hours * HOUR).toISOString();
    await db.query(
      `INSERT INTO approvals (id, kind, operation, params, requested_by, requested_name, requested_at, expires_at, decision, decided_at)
       SELECT id, 'production_key', 'issueKey', '{}', 'opr_first', 'Ada', $1, ends, decision, decided
         FROM (VALUES ('apv_1', $2::timestamptz, NULL, NULL::timestamptz), ('apv_2', $1, NULL, NULL), ('apv_3', $2, 'approved', $2))
              AS a (id, ends, decision, decided)`,
      [until(0), until(72)],
    );
    const [group, ...others] = await groupsOf('approval_pending');
    expect(others).toEqual([]);
    expect(group.items).toMatchObject([
      {
        subject: { type: 'approval', id: 'apv_1', name: 'issueKey' },
        until: expect.any(String),
        action: 'open',
      },
    ]);
  });

  it('asks the database once a second, however many ask', async () => {
    const first = await attention();
    await house.operator('POST', '/partners', { name: 'Unnoticed', contact_email: 'a@b.example' });
    expect(await house.operator('GET', '/attention')).toEqual(first);
    expect((await attention()).at).not.toBe(first.at);
  });

  it('403: a source', async () => {
    const { token } = await house.operator('POST', '/operators', { name: 'Source', role: 'source' });
    expectProblem(
      await house.send('GET', '/operator/v1/attention', { token }),
      403,
      'insufficient_permissions',
      {
        required_roles: ['admin', 'support', 'viewer'],
      },
    );
  });
});

const RANK = ['critical', 'warning', 'notice'];

describe('POST /operator/v1/alerts/{id}/remind', () => {
  const remind = (id: string) =>
    house.send('POST', `/operator/v1/alerts/${id}/remind`, { token: OPERATOR_TOKEN });

  it('202: the contacts of its partner are mailed once more, and it is in the audit', async () => {
    const partner = await newPartner(house);
    await house.operator('PATCH', `/partners/${partner.partnerId}`, {
      contact_email: 'again@partner.example',
    });
    const key = await house.operator('POST', '/keys', {
      partner_id: partner.partnerId,
      practice_group_id: partner.groupId,
      scopes: ['events:read'],
      expires_at: new Date(house.clock.now() + 10 * DAY).toISOString(),
    });
    house.clock.advance(6 * DAY);
    await look();
    const mails = () => mailbox.take().filter(({ to }) => to.includes('again@partner.example'));
    expect(mails()).toHaveLength(1);
    const { alert_id } = await itemAbout('key_expiring', key.id);
    const answer = await remind(alert_id);
    expect([answer.status, answer.body]).toEqual([202, await house.operator('GET', `/alerts/${alert_id}`)]);
    house.clock.advance(16 * MINUTE);
    await house.service.alerts.tell();
    expect(mails()).toHaveLength(1);
    const { data } = await house.operator('GET', '/audit?page_size=10');
    expect(data).toContainEqual(
      expect.objectContaining({ action: 'alert.remind', subject: { type: 'alert', id: alert_id } }),
    );
  });

  it('404: an alert that is not there; 409: one that has ended, and one of the operator alone', async () => {
    expectProblem(await remind('none'), 404, 'not_found');
    const { data } = await house.operator('GET', '/alerts?kind=partner_waiting&open=true');
    expect((await remind(data[0].id)).status).toBe(409);
    const ended = await house.operator('GET', '/alerts?open=false');
    expect((await remind(ended.data[0].id)).status).toBe(409);
  });
});
