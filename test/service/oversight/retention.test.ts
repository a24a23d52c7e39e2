import { describe, expect, it } from 'vitest';
import { clearAway } from '../../../src/delivery/housekeeping.ts';
import { SYSTEM } from '../../../src/domain/access/principal.ts';
import { databaseTime } from '../../../src/platform/clock.ts';
import { createLogger } from '../../../src/platform/logger.ts';
import { transact } from '../../../src/store/database.ts';
import { fanOutToOperators } from '../../../src/store/events/operator-events.ts';
import { clearSome, type Retention } from '../../../src/store/oversight/retention.ts';
import { markUptime } from '../../../src/store/oversight/usage.ts';
import { signIn } from '../../support/console-session.ts';
import { startMailbox } from '../../support/mailbox.ts';
import { StillClock } from '../../support/manual-clock.ts';
import { furnish, newApproval } from '../../support/operator-calls.ts';
import { newPartner, publish } from '../../support/post.ts';
import { ok, startReceiver } from '../../support/receiver.ts';
import { type Harness, makeKey, makeWorld, OPERATOR_TOKEN, startHarness } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';
import { waiter } from '../../support/waiting.ts';

/** How long things are kept, noun by noun. Events and their deliveries: test/service/events/delivery-upkeep.test.ts. */

const DAY = 24 * 3_600_000;
/** Some calls answer a second later, by this clock. */
const MINUTE = 60_000;

/** Without the figures over time, which every call adds to; figures.test.ts has those. */
async function clear(
  house: Harness,
  changes: Partial<Retention> = {},
  told: (line: string) => void = () => {},
): Promise<number> {
  const { db, clock, retention, figures } = house.service.app;
  await figures.flush();
  await transact(db, SYSTEM, async (tx) => tx.defer('DELETE FROM figures'));
  return clearAway({ db, clock, log: createLogger(told), retention: { ...retention, ...changes } });
}

/** It looks for alerts only when it is told to: what a look leaves, by itself and at some moment, would be cleared as well. */
async function startApi(): Promise<Harness> {
  const house = await startHarness({ env: { PORTER_ROLE: 'api' } });
  await house.service.alerts.stop();
  return house;
}

describe('what is kept', () => {
  it('form submissions and their counts go after 400 days, and a sent one is free to be sent again', async () => {
    const house = await startApi();
    const { groupId } = await makeWorld(house);
    const path = `/practice-groups/${groupId}/form-submissions`;
    await house.operator('POST', path, { submission_type_id: 'type-1', id: 'old' });
    house.clock.advance(10 * DAY);
    await house.operator('POST', path, { submission_type_id: 'type-1', id: 'young' });
    house.clock.advance(390 * DAY);
    expect(await clear(house, { events: 3_650 })).toBe(0);
    house.clock.advance(3 * DAY);
    expect(await clear(house, { events: 3_650 })).toBe(2);
    const { data } = await house.operator('GET', path);
    expect(data.map(({ id }: { id: string }) => id)).toEqual(['young']);
  });

  it('alerts go 400 days after they ended, and messages about them as events do; what is open or to be sent stays', async () => {
    const house = await startApi();
    const db = await superuser(house.databaseUrl);
    const { groupId } = await makeWorld(house);
    const { key } = await makeKey(house, groupId);
    await house.operator('POST', '/leaked-keys', { key });
    const { id } = await house.operator('POST', '/partners', {
      name: 'Waiting',
      contact_email: 'w@p.example',
    });
    house.clock.advance(7 * DAY);
    await house.service.alerts.look();
    const at = new Date(house.clock.now()).toISOString();
    await db.query(
      `INSERT INTO notifications (id, email, subject, body_text, body_html, created_at, try_at)
       SELECT n, 'a@b.example', '', '', '', $1, CASE WHEN n = 'unsent' THEN $1::timestamptz END FROM unnest('{sent, unsent}'::text[]) AS n`,
      [at],
    );
    const left = async () => [
      (await house.operator('GET', '/alerts')).data.map(({ kind }: { kind: string }) => kind),
      (await db.query('SELECT id FROM notifications ORDER BY id')).rows.map((row) => row.id),
    ];
    house.clock.advance(31 * DAY);
    await clear(house, { endedKeys: 3_650 });
    expect(await left()).toEqual([['partner_waiting', 'key_leaked'], ['unsent']]);
    house.clock.advance(370 * DAY);
    await clear(house, { endedKeys: 3_650 });
    expect(await left()).toEqual([['partner_waiting'], ['unsent']]);
    expect((await house.operator('GET', '/alerts')).data).toMatchObject([
      { subject: { id }, ended_at: null },
    ]);
  });

  it('changes go 400 days after they were applied or rejected; one that is pending stays', async () => {
    const house = await startApi();
    const { groupId, key } = await makeWorld(house);
    for (const title of ['a', 'b', 'c'])
      await house.send('PATCH', '/v1/care-nav/submission-types/type-1', {
        key,
        group: groupId,
        body: { title },
      });
    await fanOutToOperators(house.service.app.db, databaseTime(house.clock), 0, 100);
    const list = async () => (await house.operator('GET', `/changes?practice_group_id=${groupId}`)).data;
    const [applied, rejected, pending] = await list();
    await house.operator('POST', `/changes/${applied.id}/applied`);
    await house.operator('POST', `/changes/${rejected.id}/rejected`, { reason: 'No.' });
    house.clock.advance(400 * DAY - 1);
    expect(await clear(house, { events: 3_650 })).toBe(0);
    house.clock.advance(2);
    expect(await clear(house, { events: 3_650 })).toBe(2);
    expect(await list()).toEqual([pending]);
  });

  it("events for the operator's systems go with their deliveries", async () => {
    const house = await startHarness();
    const there = await startReceiver({ behaviour: ok });
    const { groupId, key } = await makeWorld(house);
    await house.operator('POST', '/subscriptions', { url: there.url, topics: ['changes'] });
    const body = { title: 'New' };
    await house.send('PATCH', '/v1/care-nav/submission-types/type-1', { key, group: groupId, body });
    await expect.poll(() => there.received.length).toBe(1);
    const admin = await superuser(house.databaseUrl);
    const left = async () =>
      (await admin.query("SELECT FROM events WHERE practice_group_id = '' UNION ALL SELECT FROM deliveries"))
        .rowCount;
    await expect
      .poll(async () => (await admin.query("SELECT FROM deliveries WHERE state = 'delivered'")).rowCount)
      .toBe(1);
    expect(await left()).toBe(2);
    house.clock.advance(31 * DAY);
    await clear(house);
    expect(await left()).toBe(0);
    // The operator told itself: that is nobody's data that somebody else received.
    expect(
      (await admin.query("SELECT FROM access_log WHERE body::json ->> 'kind' = 'received'")).rowCount,
    ).toBe(0);
    await there.close();
  });

  it('write-to-record jobs go 400 days after they are over; one that is queued stays', async () => {
    const house = await startApi();
    const { groupId } = await makeWorld(house);
    const job = async (resource_id: string) =>
      (
        await house.operator('POST', '/write-to-record-jobs', {
          practice_group_id: groupId,
          resource: 'Letter',
          resource_id,
        })
      ).id as string;
    const [succeeded, failed, queued] = [await job('a'), await job('b'), await job('c')];
    await house.operator('POST', `/write-to-record-jobs/${succeeded}/succeed`);
    await house.operator('POST', `/write-to-record-jobs/${failed}/fail`, { permanent: true });
    house.clock.advance(400 * DAY + 1);
    expect(await clear(house, { events: 3_650 })).toBe(2);
    const { data } = await house.operator('GET', `/write-to-record-jobs?practice_group_id=${groupId}`);
    expect(data.map(({ id }: { id: string }) => id)).toEqual([queued]);
  });

  it('keys go 800 days after they were revoked, replaced or expired; those that work stay', async () => {
    const house = await startApi();
    const { groupId, keyId } = await makeWorld(house);
    const expires_at = new Date(house.clock.now() + DAY).toISOString();
    const expired = await makeKey(house, groupId, { expires_at });
    const revoked = await makeKey(house, groupId);
    const db = await superuser(house.databaseUrl);
    await db.query("INSERT INTO key_uses VALUES ($1, now(), '192.0.2.1')", [revoked.keyId]);
    const uses = async () =>
      (await db.query('SELECT FROM key_uses WHERE key_id = $1', [revoked.keyId])).rowCount;
    expect(await uses()).toBe(1);
    await house.operator('POST', `/keys/${revoked.keyId}/revoke`);
    const rotated = await makeKey(house, groupId);
    const next = await house.operator('POST', `/keys/${rotated.keyId}/rotate`, { overlap_seconds: 0 });
    const last = await house.operator('POST', `/keys/${next.id}/rotate`, { overlap_seconds: 0 });
    house.clock.advance(799 * DAY);
    expect(await clear(house)).toBe(0);
    house.clock.advance(3 * DAY);
    // The one that was expired, the one that was revoked, and the two that were replaced, one after the other.
    expect(await clear(house, { usage: 3_650 })).toBe(4);
    expect(await uses()).toBe(0);
    const { data } = await house.operator('GET', `/keys?practice_group_id=${groupId}`);
    expect(data.map(({ id }: { id: string }) => id).sort()).toEqual([keyId, last.id].sort());
    expect(data.map(({ id }: { id: string }) => id)).not.toContain(expired.keyId);
  });

  it('the figures of usage, and when the service ran, go after 800 days', async () => {
    const house = await startApi();
    const db = await superuser(house.databaseUrl);
    const { key } = await makeWorld(house);
    const days = async () => {
      const found: string[][] = [];
      for (const table of ['usage', 'usage_times', 'uptime']) {
        const { rows } = await db.query(`SELECT DISTINCT day::text FROM ${table} ORDER BY day`);
        found.push(rows.map(({ day }) => day));
      }
      return found;
    };
    const count = async () => {
      await house.send('GET', '/v1/me', { key });
      await house.service.app.usage.flush();
      await markUptime(house.service.app.db, databaseTime(house.clock));
    };
    await count();
    house.clock.advance(800 * DAY);
    await count();
    await clear(house);
    expect(await days()).toEqual(Array(3).fill(['2026-11-16', '2029-01-24']));
    house.clock.advance(DAY);
    await clear(house);
    expect(await days()).toEqual(Array(3).fill(['2029-01-24']));
  });

  it('the access log goes after 400 days, and what is left of it can be verified', async () => {
    const house = await startApi();
    const { groupId } = await makeWorld(house);
    const look = async () => {
      await house.operator('GET', `/practice-groups/${groupId}`);
      await house.service.app.accessLog.flush();
    };
    await look();
    house.clock.advance(10 * DAY);
    await look();
    house.clock.advance(390 * DAY + 1);
    expect(await clear(house)).toBe(1);
    const { text } = await house.send('GET', '/operator/v1/access-log/export', { token: OPERATOR_TOKEN });
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines[0].from.batch).toBe(1);
    expect(lines[1].batch).toBe(2);
    expect(lines.at(-1).to.batch).toBe(lines.filter(({ batch }) => batch).at(-1).batch);
  });

  it.each([
    ['their events are cleared', async (house: Harness) => house.clock.advance(31 * DAY)],
    [
      'their webhook is deleted',
      async (_house: Harness, remove: () => Promise<unknown>) => {
        await remove();
      },
    ],
  ])('who received an object is known for as long as the access log, also when %s', async (_when, happen) => {
    const house = await startHarness();
    const db = await superuser(house.databaseUrl);
    const partner = await newPartner(house);
    const receiver = await startReceiver({ behaviour: ok });
    const { id } = await partner.call('POST', '/v1/webhooks', { url: receiver.url });
    await publish(house, partner.groupId, ['prescription.issued', 'rx-1']);
    const query = `/access-log?practice_group_id=${partner.groupId}&object_id=rx-1`;
    const told = async () => (await house.operator('GET', query)).data;
    await expect.poll(told).toHaveLength(1);
    const [before] = await told();
    await happen(house, () => partner.send('DELETE', `/v1/webhooks/${id}`));
    await expect
      .poll(async () => {
        await clear(house);
        return (await db.query('SELECT FROM deliveries')).rowCount;
      })
      .toBe(0);
    expect(await told()).toEqual([{ ...before, id: expect.stringMatching(/^acc_/) }]);
    house.clock.advance(401 * DAY);
    await clear(house);
    expect(await told()).toEqual([]);
  });

  it('sessions go 30 days after they ended, whatever ended them; one that goes on stays', async () => {
    const house = await startApi();
    const db = await superuser(house.databaseUrl);
    const left = async () => (await db.query('SELECT FROM sessions')).rowCount;
    const ended = await signIn(house);
    await house.send('POST', '/console/sign-out', { headers: { cookie: ended.cookie } });
    await signIn(house);
    house.clock.advance(30 * DAY);
    expect(await clear(house)).toBe(1);
    house.clock.advance(30 * 60_000 + 1);
    const goesOn = await signIn(house);
    expect(await clear(house)).toBe(1);
    expect(await left()).toBe(1);
    expect((await goesOn.send('GET', '/operator/v1/me')).status).toBe(200);
  });

  it('invitations go 30 days after they were withdrawn, expired or the last session ended; one that waits stays', async () => {
    const mailbox = await startMailbox();
    const house = await startHarness({
      env: {
        PORTER_ROLE: 'api',
        PORTER_SMTP_URL: mailbox.url,
        PORTER_MAIL_FROM: 'Porter <p@porter.example>',
      },
      clock: new StillClock(),
    });
    const { partnerId } = await makeWorld(house);
    const invite = (name: string) =>
      house.operator('POST', `/partners/${partnerId}/invitations`, { name, email: `${name}@p.example` });
    const left = async () =>
      (await house.operator('GET', '/invitations')).data.map(({ name }: { name: string }) => name).sort();
    const { id } = await invite('withdrawn');
    await house.operator('POST', `/invitations/${id}/withdraw`);
    await invite('expires');
    await invite('enters');
    await house.service.alerts.tell();
    const [, token] =
      /enter#(\w+)/.exec(mailbox.messages.find(({ to }) => /enters/.test(to[0] ?? ''))?.text ?? '') ?? [];
    house.clock.advance(DAY);
    const entered = await house.send('POST', '/console/enter', { body: { token } });
    expect(entered.status).toBe(204);
    await invite('waits');

    house.clock.advance(29 * DAY - MINUTE);
    await clear(house);
    expect(await left()).toEqual(['enters', 'expires', 'waits', 'withdrawn']);
    house.clock.advance(MINUTE);
    await clear(house);
    expect(await left()).toEqual(['enters', 'expires', 'waits']);
    // The link worked for three days. What somebody began with it is kept as long as any session.
    house.clock.advance(3 * DAY - MINUTE);
    await clear(house);
    expect(await left()).toEqual(['enters', 'expires', 'waits']);
    house.clock.advance(2 * MINUTE);
    await clear(house, { events: 31 });
    expect(await left()).toEqual(['enters', 'expires', 'waits']);
    await clear(house);
    expect(await left()).toEqual(['waits']);
  });

  it('approvals go 30 days after they were decided or expired, and what nobody collected after three', async () => {
    const house = await startApi();
    const db = await superuser(house.databaseUrl);
    const given = await furnish(house);
    const rows = async () =>
      (await db.query('SELECT decision, answer IS NOT NULL AS answer FROM approvals ORDER BY id')).rows;
    const approved = await newApproval(given);
    await house.operator('POST', `/approvals/${approved}/approve`);
    await newApproval(given);
    house.clock.advance(3 * DAY - 2);
    expect(await clear(house)).toBe(0);
    house.clock.advance(1);
    expect(await clear(house)).toBe(1);
    expect(await rows()).toEqual([
      { decision: 'approved', answer: false },
      { decision: null, answer: false },
    ]);
    house.clock.advance(27 * DAY + 1);
    expect(await clear(house, { events: 30 })).toBeGreaterThanOrEqual(1);
    expect(await rows()).toEqual([{ decision: null, answer: false }]);
    house.clock.advance(3 * DAY + 1);
    await clear(house);
    expect(await rows()).toEqual([]);
  });

  it('a network that a practice has left is forgotten with the access log', async () => {
    const house = await startApi();
    const db = await superuser(house.databaseUrl);
    const { groupId } = await makeWorld(house);
    const { id } = await house.operator('POST', '/networks', { name: 'N', practice_group_ids: [groupId] });
    await house.operator('DELETE', `/networks/${id}/members/${groupId}`);
    await house.operator('PUT', `/networks/${id}/members/${groupId}`);
    house.clock.advance(400 * DAY + 2_000);
    await clear(house);
    const { rows } = await db.query('SELECT left_at FROM network_memberships');
    expect(rows).toEqual([{ left_at: null }]);
  });

  it('networks that very many have left are forgotten in parts', async () => {
    const house = await startApi();
    const db = await superuser(house.databaseUrl);
    const { groupId } = await makeWorld(house);
    const { id } = await house.operator('POST', '/networks', { name: 'N', practice_group_ids: [groupId] });
    await db.query(
      `INSERT INTO network_memberships (network_id, practice_group_id, joined_at, left_at)
       SELECT $1, $2, at, at + interval '1 second' FROM generate_series(timestamptz '2020-01-01', '2020-01-01 09:59', '1 minute') AS at`,
      [id, groupId],
    );
    const { db: pool, clock, retention } = house.service.app;
    const step = () => clearSome(pool, 'clear_records', databaseTime(clock), retention);
    expect([await step(), await step(), await step()]).toEqual([500, 100, 0]);
  });
});

describe('clearing away', () => {
  it('one kind that the database is late with holds up no other, and is told', async () => {
    const house = await startApi();
    const db = await superuser(house.databaseUrl);
    await db.query(
      `INSERT INTO notifications (id, email, subject, body_text, body_html, created_at) VALUES ('sent', 'a@b.example', '', '', '', $1)`,
      [new Date(house.clock.now()).toISOString()],
    );
    house.clock.advance(31 * DAY);
    await db.query('BEGIN; LOCK TABLE form_submissions');
    const told: string[] = [];
    const cleared = clear(house, {}, (line) => told.push(line));
    await db.query('SELECT pg_cancel_backend($1)', [await waiter(db)]);
    expect(await cleared).toBe(1);
    await db.query('COMMIT');
    expect(told.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ level: 'warn', what: 'clear_records' }),
    ]);
  });
});
