import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { topicPayloads } from '../../../src/contract/operator/events/subscriptions.ts';
import { SYSTEM } from '../../../src/domain/access/principal.ts';
import { transact } from '../../../src/store/database.ts';
import { fanOut } from '../../../src/store/events/deliveries.ts';
import { fanOutToOperators } from '../../../src/store/events/operator-events.ts';
import { signNode } from '../../../src/store/oversight/nodes.ts';
import { insertRefusals } from '../../../src/store/oversight/refusals.ts';
import { afterwards } from '../../support/afterwards.ts';
import { headersOf, startMailbox } from '../../support/mailbox.ts';
import { StillClock } from '../../support/manual-clock.ts';
import { newPartner, type Partner, publish } from '../../support/post.ts';
import { resumePartner, stopPartner } from '../../support/practice-guest.ts';
import { ok, startReceiver } from '../../support/receiver.ts';
import { type Harness, type Loose, makeKey, OPERATOR_TOKEN, startHarness } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';
import { waiter } from '../../support/waiting.ts';

/** Alerts from their cause to the e-mail. Without a worker: what is queued stays, and failures are written as a worker writes them. */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const mailbox = await startMailbox();
const env = {
  PORTER_ROLE: 'api',
  PORTER_SMTP_URL: mailbox.url,
  PORTER_MAIL_FROM: 'Porter <alerts@porter.example>',
  PORTER_SUPPORT_CONTACT: 'help@operator.example',
};

const house = await startHarness({ env, clock: new StillClock() });
const db = await superuser(house.databaseUrl);
await house.operator('POST', '/contacts', { email: 'on-call@operator.example', name: 'On call' });

/** Looks when a minute has passed, and tells what there is. */
async function look(node: Harness = house): Promise<{ begun: number; ended: number }> {
  house.clock.advance(MINUTE);
  const done = await node.service.alerts.look();
  await node.service.alerts.tell();
  return done;
}

const open = async (filter = ''): Promise<Loose[]> =>
  (await house.operator('GET', `/alerts?open=true&page_size=100${filter}`)).data;
const about = async (id: string): Promise<Loose[]> => {
  const { data } = await house.operator('GET', '/alerts?page_size=100');
  return data.filter(({ subject }: Loose) => subject.id === id);
};
const mailsTo = (address: string) => mailbox.take().filter(({ to }) => to.includes(address));
const now = () => new Date(house.clock.now()).toISOString();

async function newWebhook(partner: Partner, url = 'https://hooks.partner.example/in?token=s3cret') {
  const { id } = await partner.call('POST', '/v1/webhooks', { url });
  return id as string;
}

/** As results write it (src/sql/delivery/record_results.sql). */
async function fail(webhookId: string, since = now()): Promise<void> {
  await db.query(
    `UPDATE webhook_lanes SET failures = 7, failing_since = $2 FROM webhooks w WHERE w.no = webhook_no AND w.id = $1`,
    [webhookId, since],
  );
}

const recover = (webhookId: string) =>
  db.query(
    `UPDATE webhook_lanes SET failures = 0, failing_since = NULL FROM webhooks w WHERE w.no = webhook_no AND w.id = $1`,
    [webhookId],
  );

/** Nobody hears of two things within a quarter of an hour. */
const wait = () => house.clock.advance(15 * MINUTE);

/** A partner that nobody else has written to. */
async function newReader(email: string): Promise<Partner> {
  const partner = await newPartner(house);
  await house.operator('PATCH', `/partners/${partner.partnerId}`, { contact_email: email });
  return partner;
}

describe('a webhook that fails', () => {
  it('is told of once when it has failed for an hour, and once when it is well again, to its partner and to the operator', async () => {
    const partner = await newReader('failing@partner.example');
    const id = await newWebhook(partner);
    await fail(id);
    house.clock.advance(HOUR - 2 * MINUTE);
    expect(await look()).toEqual({ begun: 0, ended: 0 });
    expect(await look()).toEqual({ begun: 1, ended: 0 });

    const [alert] = await about(id);
    expect(alert).toMatchObject({
      kind: 'webhook_failing',
      subject: { type: 'webhook', id, name: 'hooks.partner.example' },
      partner_id: partner.partnerId,
      practice_group_id: partner.groupId,
      details: { count: 7 },
      began_at: now(),
      ended_at: null,
      ended_because: null,
    });
    expect(alert.message).toContain('7 attempts have failed');
    expect(JSON.stringify(alert)).not.toContain('s3cret');
    expect(await house.operator('GET', `/alerts/${alert.id}`)).toEqual(alert);
    const { partner_id: _own, ...shown } = alert;
    const { groupId } = partner;
    expect(alert.message).toContain(
      `(hooks.partner.example) of Partner for Practice ${groupId} (${groupId}) has`,
    );
    expect((await partner.call('GET', '/v1/alerts')).data).toEqual([
      {
        ...shown,
        message: alert.message.replace(/ of Partner for .* has/, ` for ${groupId} has`),
        remedy: expect.stringContaining('delivery log'),
      },
    ]);

    const told = mailbox.take();
    expect(told.flatMap(({ to }) => to).sort()).toEqual([
      'failing@partner.example',
      'on-call@operator.example',
    ]);
    const mail = told.find(({ to }) => to.includes('failing@partner.example'));
    expect(headersOf(mail)).toMatchObject({
      subject: '[Porter staging] A webhook has been failing for an hour',
      from: 'Porter <alerts@porter.example>',
      'auto-submitted': 'auto-generated',
      'message-id': expect.stringMatching(/^<ntf_\w+@porter\.example>$/),
    });
    expect(mail?.text).toContain(`${id} (hooks.partner.example)`);
    expect(mail?.text).toContain('help@operator.example');
    expect(mail?.html).toContain('<li>');

    expect(await look()).toEqual({ begun: 0, ended: 0 });
    expect(mailbox.take()).toEqual([]);
    await recover(id);
    wait();
    expect(await look()).toEqual({ begun: 0, ended: 1 });
    expect((await about(id))[0]).toMatchObject({ id: alert.id, ended_at: now(), ended_because: 'recovered' });
    const [over] = mailsTo('failing@partner.example');
    expect(headersOf(over).subject).toBe('[Porter staging] A webhook that failed is well again');
  });

  it('that is disabled then is told of as that, and not as well', async () => {
    const partner = await newReader('disabled@partner.example');
    const id = await newWebhook(partner);
    await fail(id, new Date(house.clock.now() - HOUR).toISOString());
    wait();
    await look();
    mailbox.take();
    await db.query("UPDATE webhooks SET status = 'disabled', status_reason = 'Gone.' WHERE id = $1", [id]);
    wait();
    expect(await look()).toEqual({ begun: 1, ended: 1 });
    expect((await about(id)).map(({ kind, ended_because }) => [kind, ended_because])).toEqual([
      ['webhook_disabled', null],
      ['webhook_failing', 'disabled'],
    ]);
    const [mail] = mailsTo('disabled@partner.example');
    expect(headersOf(mail).subject).toBe('[Porter staging] A webhook was disabled');
    expect(mail?.text).toContain('Gone.');
    expect(mail?.text).not.toContain('well again');
    await partner.call('PATCH', `/v1/webhooks/${id}`, { status: 'active' });
    wait();
    await look();
    expect((await about(id))[0]).toMatchObject({ kind: 'webhook_disabled', ended_because: 'recovered' });
    expect(mailsTo('disabled@partner.example')).toHaveLength(1);
  });

  it('with nineteen others, and others later: a message for each quarter of an hour, which names ten', async () => {
    const partner = await newReader('flood@partner.example');
    const ids: string[] = [];
    while (ids.length < 20) ids.push(await newWebhook(partner));
    const long = new Date(house.clock.now() - HOUR).toISOString();
    wait();
    mailbox.take();
    for (const id of ids.slice(0, 15)) await fail(id, long);
    await look();
    const [first, ...more] = mailsTo('flood@partner.example');
    expect(more).toEqual([]);
    expect(headersOf(first).subject).toBe('[Porter staging] A webhook has been failing for an hour (15)');
    expect(first?.text.match(/wh_\w+/g)).toHaveLength(10);
    expect(first?.text).toContain('and 5 more.');

    for (const id of ids.slice(15)) {
      await fail(id, long);
      await look();
    }
    expect(mailsTo('flood@partner.example')).toEqual([]);
    wait();
    await look();
    const [second, ...others] = mailsTo('flood@partner.example');
    expect(others).toEqual([]);
    expect(second?.text.match(/wh_\w+/g)).toHaveLength(5);
    for (const id of ids) await recover(id);
    await look();
  });
});

/** There is a practice software that goes by changes. */
async function answeredOnce(): Promise<void> {
  const partner = await newPartner(house);
  await partner.call('PATCH', '/v1/care-nav/submission-types/type-1', { title: 'Answered' });
  while ((await fanOutToOperators(house.service.app.db, now(), 0, 1_000)).taken !== 0);
  const { data } = await house.operator('GET', `/changes?practice_group_id=${partner.groupId}`);
  await house.operator('POST', `/changes/${data[0].id}/applied`);
}

describe('what else is told of', () => {
  it('a key that expires: until it is rotated', async () => {
    const { groupId } = await newPartner(house);
    const { keyId } = await makeKey(house, groupId, {
      expires_at: new Date(house.clock.now() + 30 * DAY).toISOString(),
    });
    await look();
    expect(await about(keyId)).toEqual([]);
    house.clock.advance(16 * DAY);
    await look();
    expect(await about(keyId)).toMatchObject([
      { kind: 'key_expiring', details: { until: expect.any(String) } },
    ]);
    await house.operator('POST', `/keys/${keyId}/rotate`);
    await look();
    expect(await about(keyId)).toMatchObject([{ ended_because: 'replaced' }]);
  });

  it('a key that nobody uses: until somebody does', async () => {
    const partner = await newPartner(house);
    house.clock.advance(90 * DAY);
    await look();
    expect(await about(partner.keyId)).toMatchObject([{ kind: 'key_unused', ended_at: null }]);
    await partner.call('GET', '/v1/practice-groups');
    await db.query('INSERT INTO key_uses VALUES ($1, $2, $3)', [partner.keyId, now(), '127.0.0.1']);
    await look();
    expect(await about(partner.keyId)).toMatchObject([{ kind: 'key_unused', ended_because: 'recovered' }]);
  });

  it('a partner that waits: until it has gone on', async () => {
    const { id } = await house.operator('POST', '/partners', { name: 'Late', contact_email: 'l@p.example' });
    house.clock.advance(7 * DAY);
    await look();
    expect(await about(id)).toMatchObject([{ kind: 'partner_waiting', details: { reason: 'applied' } }]);
    await house.operator('POST', `/partners/${id}/sign-agreement`);
    await look();
    expect(await about(id)).toMatchObject([{ ended_because: 'recovered' }]);
    expect(mailsTo('l@p.example')).toEqual([]);
    house.clock.advance(7 * DAY);
    await look();
    expect((await about(id))[0]).toMatchObject({ ended_at: null, details: { reason: 'agreement_signed' } });
    await house.operator('POST', `/partners/${id}/verify`);
    await look();
    expect(await open('&kind=partner_waiting')).toEqual([]);
  });

  it('a practice whose EHR is down: until it is up', async () => {
    const { groupId } = await newPartner(house);
    const report = (status: string) =>
      house.operator('PUT', `/practice-groups/${groupId}/ehr-health`, { status });
    await report('unhealthy');
    house.clock.advance(30 * MINUTE);
    await look();
    expect(await about(groupId)).toMatchObject([{ kind: 'ehr_down', partner_id: null, ended_at: null }]);
    await report('healthy');
    await look();
    expect(await about(groupId)).toMatchObject([{ ended_because: 'recovered' }]);
  });

  it('changes that the practice software says nothing of: one alert for each practice group, until none waits so long', async () => {
    const partner = await newPartner(house);
    const name = 'Rash of Mrs Example';
    await answeredOnce();
    for (const title of [name, 'Second', 'Third'])
      await partner.call('PATCH', '/v1/care-nav/submission-types/type-1', { title });
    const place = () => fanOutToOperators(house.service.app.db, now(), 0, 1_000);
    while ((await place()).taken !== 0);
    const changes = async (): Promise<Loose[]> =>
      (await house.operator('GET', `/changes?practice_group_id=${partner.groupId}`)).data;
    const [first, second, third] = await changes();
    house.clock.advance(58 * MINUTE);
    await look();
    expect(await about(partner.groupId)).toEqual([]);
    wait();
    mailbox.take();
    await look();
    const [alert, ...more] = await about(partner.groupId);
    expect(more).toEqual([]);
    expect(alert).toMatchObject({
      kind: 'changes_pending',
      subject: { type: 'practice_group', id: partner.groupId },
      partner_id: null,
      details: { since: first?.at, count: 3 },
      ended_at: null,
    });
    const [mail] = mailsTo('on-call@operator.example');
    expect(mail?.text).toContain(`has said of 3 changes, the first of ${first?.at}`);
    expect(mail?.text).not.toContain(name);
    expect((await partner.call('GET', '/v1/alerts')).data).toEqual([]);

    await house.operator('POST', `/changes/${first?.id}/applied`);
    await house.operator('POST', `/changes/${second?.id}/rejected`, { reason: 'No' });
    await look();
    expect(await about(partner.groupId)).toMatchObject([{ ended_at: null }]);
    await house.operator('POST', `/changes/${third?.id}/applied`);
    wait();
    await look();
    expect(await about(partner.groupId)).toMatchObject([{ id: alert.id, ended_because: 'recovered' }]);
    expect(mailsTo('on-call@operator.example')).toHaveLength(1);
  });

  it('a practice that stops a partner, at once, to the operator alone, and that it lets it go on', async () => {
    const partner = await newPartner(house);
    const stop = await stopPartner(house, partner);
    mailbox.take();
    wait();
    await look();
    const [alert] = await open('&kind=partner_stopped');
    expect(alert).toMatchObject({
      subject: { type: 'stop', id: stop.id, name: 'Partner' },
      partner_id: partner.partnerId,
      practice_group_id: partner.groupId,
      details: { since: stop.stopped_at, reason: null },
    });
    const [mail] = mailsTo('on-call@operator.example');
    expect(mail?.text).toContain(
      `The partner Partner was stopped by Practice ${partner.groupId} (${partner.groupId}), at`,
    );
    // What the practice says of it may name a patient.
    expect(mail?.text).not.toContain(stop.reason);
    await resumePartner(house, partner);
    expect((await partner.call('GET', '/v1/alerts')).data).toEqual([]);
    wait();
    await look();
    expect(await house.operator('GET', `/alerts/${alert.id}`)).toMatchObject({ ended_because: 'lifted' });
  });

  it('a practice that stops a partner for a moment: nobody has looked, and the operator is told all the same', async () => {
    const partner = await newPartner(house);
    const stop = await stopPartner(house, partner);
    await resumePartner(house, partner);
    expect(await about(stop.id)).toMatchObject([{ kind: 'partner_stopped', ended_at: null }]);
    mailbox.take();
    wait();
    await look();
    expect(mailsTo('on-call@operator.example').map(({ text }) => text)).toEqual([
      expect.stringContaining(
        `- ${stop.id} (Partner) for Practice ${partner.groupId} (${partner.groupId}): from ${stop.stopped_at} to`,
      ),
    ]);
    expect(await about(stop.id)).toMatchObject([{ ended_because: 'lifted' }]);
  });

  it('changes that no worker takes up, as of the whole service', async () => {
    const partner = await newPartner(house);
    const { db: own } = house.service.app;
    while ((await fanOut(own, now(), 0, 1_000)).taken !== 0);
    await look();
    expect(await open('&kind=deliveries_late')).toEqual([]);
    await partner.call('PATCH', '/v1/care-nav/submission-types/type-1', { title: 'Waits' });
    house.clock.advance(10 * MINUTE);
    await look();
    expect(await open('&kind=deliveries_late')).toMatchObject([{ subject: { type: 'service' } }]);
    while ((await fanOutToOperators(own, now(), 0, 1_000)).taken !== 0);
    await look();
    expect(await open('&kind=deliveries_late')).toEqual([]);
  });

  it('an agreement that ends while keys work under it: until it is prolonged, or none does', async () => {
    const partner = await newReader('agreed@partner.example');
    const { id } = await house.operator('POST', `/partners/${partner.partnerId}/agreements`, {
      version: '2026-2',
      signatory: 'Ada Marsh',
      signed_at: now(),
      ends_at: new Date(house.clock.now() + 30 * DAY).toISOString(),
    });
    const prolong = (days: number) =>
      house.operator('PATCH', `/partners/${partner.partnerId}/agreements/${id}`, {
        ends_at: new Date(house.clock.now() + days * DAY).toISOString(),
      });
    house.clock.advance(17 * DAY);
    await look();
    expect(await about(id)).toEqual([]);
    await house.operator('PATCH', `/keys/${partner.keyId}`, { agreement_id: id });
    wait();
    mailbox.take();
    await look();
    expect(await about(id)).toMatchObject([
      {
        kind: 'agreement_ended',
        subject: { type: 'agreement', id, name: '2026-2' },
        partner_id: partner.partnerId,
        details: { count: 1 },
        ended_at: null,
      },
    ]);
    expect((await partner.call('GET', '/v1/alerts')).data).toMatchObject([{ kind: 'agreement_ended' }]);
    const [mail] = mailsTo('agreed@partner.example');
    expect(mail?.text).toContain(`The agreement ${id} (2026-2) ends at`);
    expect(mail?.text).toContain('1 key works under it');
    // It has passed: still the same one, told once.
    house.clock.advance(20 * DAY);
    await look();
    expect(await about(id)).toMatchObject([{ ended_at: null }]);
    expect(mailsTo('agreed@partner.example')).toEqual([]);
    await prolong(15);
    await look();
    expect(await about(id)).toMatchObject([{ ended_because: 'settled' }]);
    house.clock.advance(2 * DAY);
    await look();
    expect((await about(id))[0]).toMatchObject({ ended_at: null });
    await house.operator('POST', `/keys/${partner.keyId}/revoke`);
    await look();
    expect((await about(id))[0]).toMatchObject({ ended_because: 'settled' });
  });

  it('refusals beyond what is usual: until an hour has passed without', async () => {
    const partner = await newPartner(house);
    const refuse = (count: number, at: number) =>
      transact(house.service.app.db, SYSTEM, (tx) =>
        insertRefusals(
          tx,
          Array.from({ length: count }, () => ({
            partnerId: partner.partnerId,
            requestId: 'r',
            at: new Date(at).toISOString(),
            keyId: partner.keyId,
            practiceGroupId: undefined,
            method: 'GET',
            path: '/v1/x',
            operation: 'x',
            status: 404,
            body: '{"error":"not_found"}',
          })),
        ),
      );
    // 40 are usual at this hour.
    for (let days = 1; days <= 7; days++) await refuse(40, house.clock.now() - days * DAY);
    await refuse(119, house.clock.now());
    await look();
    expect(await about(partner.partnerId)).toEqual([]);
    await refuse(1, house.clock.now());
    await look();
    expect(await about(partner.partnerId)).toMatchObject([
      { kind: 'refusals_rising', details: { count: 120, usual: 40 }, ended_at: null },
    ]);
    house.clock.advance(HOUR);
    await look();
    expect(await about(partner.partnerId)).toMatchObject([{ ended_at: null }]);
    house.clock.advance(HOUR);
    await look();
    expect(await about(partner.partnerId)).toMatchObject([{ ended_because: 'recovered' }]);
  });

  it('events that wait while no worker runs, two minutes after the last one hung or crashed', async () => {
    const partner = await newPartner(house);
    const { db: own } = house.service.app;
    const signs = (name: string, startedAt: string) =>
      signNode(own, now(), {
        id: `nde_${name}`,
        name,
        version: '1',
        role: 'worker',
        started_at: startedAt,
        clock_skew_ms: 0,
        calls_per_minute: 0,
        deliveries_per_minute: 0,
      });
    const worker = now();
    house.clock.advance(15_000);
    await signs('worker', worker);
    await look();
    await publish(house, partner.groupId, 'appointment.confirmed');
    house.clock.advance(30_000);
    await signs('worker', worker);
    house.clock.advance(30_000);
    expect(await house.service.alerts.look()).toEqual({ begun: 0, ended: 0 });
    expect(await open('&kind=deliveries_late')).toEqual([]);

    // A worker that crashes right after each start signs once each time.
    house.clock.advance(30_000);
    await signs('crashed', now());
    house.clock.advance(30_000);
    await signs('crashed-again', now());
    await house.service.alerts.look();
    expect(await open('&kind=deliveries_late')).toMatchObject([{ subject: { type: 'service' } }]);
    while ((await fanOut(own, now(), 0, 1_000)).taken !== 0);
    await look();
    expect(await open('&kind=deliveries_late')).toEqual([]);
  });

  it('deliveries that nobody sends: of the whole service, and of a webhook that takes the others', async () => {
    const partner = await newPartner(house);
    const id = await newWebhook(partner);
    await publish(house, partner.groupId, 'appointment.confirmed');
    house.clock.advance(10 * MINUTE);
    await look();
    expect(await open('&kind=deliveries_late')).toMatchObject([
      { subject: { type: 'service' }, partner_id: null, details: { since: expect.any(String) } },
    ]);
    // Fanned out, and still nobody has claimed it.
    const at = now();
    while ((await fanOut(house.service.app.db, at, 0, 1_000)).taken !== 0);
    house.clock.advance(10 * MINUTE);
    await look();
    expect(await open('&kind=deliveries_late')).toMatchObject([{ subject: { type: 'service' } }]);
    house.clock.advance(80 * MINUTE);
    await look();
    expect((await about(id)).map(({ kind, partner_id }) => [kind, partner_id])).toEqual([
      ['deliveries_late', partner.partnerId],
    ]);
    // A worker has sent it.
    await db.query(
      `WITH done AS (UPDATE deliveries SET state = 'delivered', tries = 1 WHERE state = 'due' RETURNING webhook_no)
       UPDATE webhook_lanes SET open_from = last_sequence + 1 WHERE webhook_no IN (SELECT webhook_no FROM done)`,
    );
    await look();
    expect(await open('&kind=deliveries_late')).toEqual([]);
  });

  it('a leaked key: at once, also to who wants to hear of nothing', async () => {
    const partner = await newReader('leak@partner.example');
    await partner.call('PATCH', '/v1/contacts/first', { alert_kinds: [] });
    const id = await newWebhook(partner);
    await fail(id, new Date(house.clock.now() - HOUR).toISOString());
    wait();
    await look();
    expect(mailsTo('leak@partner.example')).toEqual([]);
    const report = () => house.operator('POST', '/leaked-keys', { key: partner.key, source: 'A scanner' });
    await report();
    await house.service.alerts.tell();
    const mails = mailbox.take();
    const [mail] = mails.filter(({ to }) => to.includes('leak@partner.example'));
    expect(mail?.text).toContain(`The key ${partner.keyId}`);
    expect(mail?.text).not.toContain(partner.key.slice(0, -4));
    expect(mails.some(({ to }) => to.includes('on-call@operator.example'))).toBe(true);
    expect(await about(partner.keyId)).toMatchObject([{ kind: 'key_leaked', ended_because: 'told' }]);
    await report();
    await house.service.alerts.tell();
    expect(mailbox.take()).toEqual([]);
    await recover(id);
  });
});

describe('nobody is told twice, and nobody is forgotten', () => {
  it('of several nodes one looks, and each alert is begun once', async () => {
    const others = await Promise.all(
      [1, 2].map(() => startHarness({ env, databaseUrl: house.databaseUrl, clock: house.clock })),
    );
    const partner = await newReader('nodes@partner.example');
    const id = await newWebhook(partner);
    wait();
    await look();
    mailbox.take();
    await fail(id, new Date(house.clock.now() - HOUR).toISOString());
    wait();
    const nodes = [house, ...others];
    await Promise.all(nodes.map((node) => node.service.alerts.look()));
    await Promise.all(nodes.map((node) => node.service.alerts.tell()));
    expect(await about(id)).toHaveLength(1);
    expect(mailsTo('nodes@partner.example')).toHaveLength(1);
    await recover(id);
  });

  it('a message that was sent but not marked is sent again as the same one; one that was refused for now, later', async () => {
    const partner = await newReader('again@partner.example');
    const id = await newWebhook(partner);
    await fail(id, new Date(house.clock.now() - HOUR).toISOString());
    wait();
    await look();
    const [first] = mailsTo('again@partner.example');
    // The node dies between the server's answer and its own mark.
    await db.query(
      `UPDATE notifications SET sent_at = NULL, try_at = $1::timestamptz + interval '5 minutes' WHERE email = 'again@partner.example'`,
      [now()],
    );
    await look();
    expect(mailsTo('again@partner.example')).toEqual([]);
    house.clock.advance(5 * MINUTE);
    mailbox.refuse = { code: 451, text: 'Try again later' };
    await look();
    expect(mailbox.take()).toEqual([]);
    const { rows } = await db.query(`SELECT * FROM notifications WHERE email = 'again@partner.example'`);
    expect(rows).toMatchObject([{ tries: 2, error: expect.stringContaining('Try again later') }]);
    expect((await house.send('GET', '/metrics')).text).toMatch(/porter_notifications\{state="waiting"\} \d/);
    mailbox.refuse = undefined;
    house.clock.advance(5 * MINUTE);
    await look();
    const [second] = mailsTo('again@partner.example');
    const { 'content-type': _of, ...headers } = headersOf(second);
    expect(headersOf(first)).toMatchObject(headers);
    expect(second).toEqual({ ...first, headers: expect.anything() });
    await recover(id);
  });

  it('an address that does not exist is given up at once', async () => {
    const partner = await newReader('nobody@partner.example');
    const id = await newWebhook(partner);
    await fail(id, new Date(house.clock.now() - HOUR).toISOString());
    wait();
    mailbox.refuse = { code: 550, text: 'No such user' };
    await look();
    mailbox.refuse = undefined;
    house.clock.advance(3 * DAY);
    await look();
    expect(mailsTo('nobody@partner.example')).toEqual([]);
    const { rows } = await db.query(
      `SELECT tries, try_at, sent_at FROM notifications WHERE email = 'nobody@partner.example'`,
    );
    expect(rows).toEqual([{ tries: 1, try_at: null, sent_at: null }]);
    expect(house.logLines()).toContainEqual(
      expect.objectContaining({ msg: 'a message was not sent', given_up: true }),
    );
    await recover(id);
  });
});

it('what is to be told does not wait for a look that the database is late with', async () => {
  const own = await startHarness({ env, clock: new StillClock() });
  const admin = await superuser(own.databaseUrl);
  await own.operator('POST', '/contacts', { email: 'late@operator.example', name: 'Late' });
  const { key } = await newPartner(own);
  await own.operator('POST', '/leaked-keys', { key });
  await admin.query('BEGIN; LOCK TABLE refusal_counts');
  own.clock.advance(MINUTE);
  own.service.alerts.start();
  await admin.query('SELECT pg_cancel_backend($1)', [await waiter(admin)]);
  await expect.poll(() => mailsTo('late@operator.example')).toHaveLength(1);
  await admin.query('COMMIT');
  const late = own.logLines().filter(({ msg }) => String(msg).startsWith('the database is late'));
  expect(late).toEqual([expect.objectContaining({ level: 'warn' })]);
});

describe('what a message holds', () => {
  it('names in every field cannot add a header, a recipient or markup', async () => {
    const hostile = 'x\r\nBcc: victim@evil.example\r\n\r\n<script>alert(1)</script>"\u202e<a@evil.example>,';
    const email = 'hostile@partner.example';
    const groupId = (await house.operator('POST', '/practice-groups', { name: 'Hostile' })).id;
    const made = await makeKey(house, groupId, { label: 'Hostile' });
    await house.operator('PATCH', `/partners/${made.partnerId}`, { contact_email: email });
    await house.operator('PUT', `/practice-groups/${groupId}/ehr-health`, { status: 'unhealthy' });
    await house.operator('POST', '/leaked-keys', { key: made.key, source: hostile });
    const waiting = await house.operator('POST', '/partners', {
      name: 'Hostile',
      contact_email: 'w@p.example',
    });
    // The API refuses such names; rows may hold them all the same.
    await db.query('UPDATE practice_groups SET name = $1 WHERE id = $2', [hostile, groupId]);
    await db.query('UPDATE partners SET name = $1 WHERE id = ANY ($2)', [
      hostile,
      [made.partnerId, waiting.id],
    ]);
    await db.query('UPDATE contacts SET name = $1 WHERE partner_id = $2', [hostile, made.partnerId]);
    await db.query('UPDATE api_keys SET label = $1 WHERE partner_id = $2', [
      hostile.slice(0, 60),
      made.partnerId,
    ]);
    house.clock.advance(8 * DAY);
    mailbox.take();
    await look();
    const mails = mailbox.take();
    const recipients = mails.flatMap(({ to }) => to);
    expect(recipients).toEqual(expect.arrayContaining([email, 'on-call@operator.example']));
    expect(recipients.filter((address) => /evil/.test(address))).toEqual([]);
    for (const { headers, text, html } of mails) {
      expect(headers.filter((line) => /^(bcc|cc):/i.test(line))).toEqual([]);
      expect(headers.filter((line) => /^to:/i.test(line))).toHaveLength(1);
      expect(html).not.toMatch(/<script|<a@/);
      expect(text + html).not.toContain('\u202e');
      expect(text).not.toMatch(/^Bcc/m);
    }
    await house.operator('POST', `/partners/${waiting.id}/sign-agreement`);
    await house.operator('POST', `/partners/${waiting.id}/verify`);
  });

  it('nothing of a patient: no object, no payload', async () => {
    const partner = await newReader('patients@partner.example');
    const id = await newWebhook(partner);
    await publish(house, partner.groupId, ['patient.added-to-sequence', 'NHS-943-476-5919']);
    const at = now();
    while ((await fanOut(house.service.app.db, at, 0, 1_000)).taken !== 0);
    await fail(id, new Date(house.clock.now() - HOUR).toISOString());
    house.clock.advance(2 * HOUR);
    await look();
    const mails = mailbox.take();
    expect(mails.length).toBeGreaterThan(0);
    const alerts = await house.send('GET', '/operator/v1/alerts', { token: OPERATOR_TOKEN });
    expect(JSON.stringify(mails) + alerts.text).not.toMatch(/943-476|added-to-sequence/);
    await partner.call('DELETE', `/v1/webhooks/${id}`);
  });
});

describe('the lists', () => {
  it('a partner sees its own, and of those what it is told of', async () => {
    const [mine, theirs] = [await newPartner(house), await newPartner(house)];
    for (const partner of [mine, theirs])
      await fail(await newWebhook(partner), new Date(house.clock.now() - HOUR).toISOString());
    await look();
    const { data } = await mine.call('GET', '/v1/alerts');
    expect(data).toHaveLength(1);
    expect(data[0]).not.toHaveProperty('partner_id');
    expect((await mine.send('GET', '/v1/alerts?kind=ehr_down')).status).toBe(400);
    expect(await open(`&partner_id=${theirs.partnerId}`)).toHaveLength(1);
  });

  it('go on from page to page, newest first', async () => {
    const all = (await house.operator('GET', '/alerts?page_size=100')).data;
    const first = await house.operator('GET', '/alerts?page_size=2');
    const second = await house.operator('GET', `/alerts?page_size=2&cursor=${first.next_cursor}`);
    expect([...first.data, ...second.data]).toEqual(all.slice(0, 4));
    const ended = (await house.operator('GET', '/alerts?open=false&page_size=100')).data;
    expect(ended.every(({ ended_at }: Loose) => ended_at !== null)).toBe(true);
  });

  it('the metrics count what is open by kind', async () => {
    const count = (await open('&kind=webhook_failing')).length;
    house.clock.advance(10_000);
    const { text } = await house.send('GET', '/metrics');
    expect(text).toContain(`porter_alerts_open{kind="webhook_failing"} ${count}`);
    expect(text).toContain('porter_alerts_open{kind="ehr_down"} ');
  });
});

it("the operator's own systems hear of it by their webhooks", async () => {
  const live = await startHarness();
  const receiver = await startReceiver({ behaviour: ok });
  afterwards(() => receiver.close());
  await live.operator('POST', '/subscriptions', { url: receiver.url, topics: ['alerts'] });
  const partner = await newPartner(live);
  const { id } = await live.operator('POST', '/partners', { name: 'Waiting', contact_email: 'w@p.example' });
  live.clock.advance(8 * DAY);
  const heard = () => receiver.received.map(({ body }) => JSON.parse(body));
  // Its own timer may be quicker than the test.
  await live.service.alerts.look();
  await expect
    .poll(heard)
    .toMatchObject([{ event: 'alert.began', kind: 'partner_waiting', subject: { id } }]);
  const [{ event: _event, ...payload }] = heard() as [Loose];
  expect(z.strictObject(topicPayloads.alerts.shape).parse(payload)).toEqual(payload);
  expect((await live.operator('GET', '/alerts')).data).toEqual([payload]);
  await live.operator('POST', `/partners/${id}/sign-agreement`);
  live.clock.advance(MINUTE);
  await live.service.alerts.look();
  await expect.poll(() => heard()[1]).toMatchObject({ event: 'alert.ended', ended_because: 'recovered' });
  expect(heard()[1].id).toBe(heard()[0].id);
  expect((await partner.call('GET', '/v1/events')).data).toEqual([]);
});

it('without a mail server alerts are listed, and nothing piles up; in production the start says so', async () => {
  const quiet = await startHarness({ env: { PORTER_ROLE: 'api' } });
  const partner = await newPartner(quiet);
  await quiet.operator('POST', '/leaked-keys', { key: partner.key });
  await quiet.service.alerts.tell();
  expect((await quiet.operator('GET', '/alerts')).count).toBe(1);
  const { rows } = await (await superuser(quiet.databaseUrl)).query('SELECT * FROM alert_notices');
  expect(rows).toEqual([]);
  const said = (one: Harness) => one.logLines().some(({ msg }) => String(msg).startsWith('nobody is mailed'));
  expect(said(quiet)).toBe(false);
  const live = await startHarness({ env: { PORTER_ROLE: 'api', PORTER_ENVIRONMENT: 'production' } });
  expect(said(live)).toBe(true);
});
