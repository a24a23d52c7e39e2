import { describe, expect, it } from 'vitest';
import { LIVE_STREAMS_OF_GUEST_MAX } from '../../../src/contract/live.ts';
import { portalLiveKinds } from '../../../src/contract/portal/live.ts';
import { followStream, nextKinds, type StreamReader, untilTold } from '../../support/event-stream.ts';
import { type Guest, guestOf } from '../../support/guest-session.ts';
import { startMailbox } from '../../support/mailbox.ts';
import { HastyClock } from '../../support/manual-clock.ts';
import { newPartner, publish } from '../../support/post.ts';
import { startHarness } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

/** News for people who were invited: of their own partner or practice, and never that anybody else is there. */

const mailbox = await startMailbox();
const house = await startHarness({
  env: { PORTER_ROLE: 'api', PORTER_SMTP_URL: mailbox.url, PORTER_MAIL_FROM: 'Porter <p@porter.example>' },
  clock: new HastyClock(),
});

const db = await superuser(house.databaseUrl);

const told = new WeakMap<StreamReader, Set<string>>();
/** Waits until it was told of a kind, in this or an earlier message. */
async function seen(stream: StreamReader, kind: string): Promise<void> {
  const kinds = told.get(stream) ?? new Set<string>();
  told.set(stream, kinds);
  while (!kinds.has(kind)) for (const one of await nextKinds(stream)) kinds.add(one);
}

const open = (guest: Guest, path: string) =>
  followStream(`${house.url}${path}`, { cookie: guest.cookie, 'x-porter-console': '1' });

const relabel = (keyId: string) => house.operator('PATCH', `/keys/${keyId}`, { label: 'Another' });
const alertOf = (partnerId: string) =>
  db.query(
    `INSERT INTO alerts (id, kind, subject_type, subject_id, partner_id, details, began_at)
     VALUES ('alr_' || $1, 'refusals_rising', 'partner', $1, $1, '{}', now())`,
    [partnerId],
  );

async function world() {
  const partner = await newPartner(house);
  const person = await guestOf(house, mailbox, { partner: partner.partnerId });
  return { partner, person };
}

describe('GET /portal/v1/live', () => {
  it('200: says first that all may have changed, then what has of the partner', async () => {
    const { partner, person } = await world();
    const stream = await open(person, '/portal/v1/live');
    expect((await nextKinds(stream)).toSorted()).toEqual(portalLiveKinds.toSorted());
    await partner.call('POST', '/v1/webhooks', { url: 'https://partner.example/hook' });
    await untilTold(stream, 'webhooks');
    await partner.call('GET', '/v1/practice-groups');
    await house.service.app.figures.flush();
    await untilTold(stream, 'traffic');
    await relabel(partner.keyId);
    await untilTold(stream, 'keys');
  });

  it('200: nothing that others do wakes it', async () => {
    const [mine, theirs] = [await world(), await world()];
    const [here, there] = [
      await open(mine.person, '/portal/v1/live'),
      await open(theirs.person, '/portal/v1/live'),
    ];
    await nextKinds(here);
    await nextKinds(there);
    // The same practice, another partner: keys, calls, webhooks, events, changes.
    const neighbour = await newPartner(house, mine.partner.groupId);
    for (const partner of [theirs.partner, neighbour]) {
      await partner.call('POST', '/v1/webhooks', { url: 'https://partner.example/hook' });
      await partner.call('GET', '/v1/practice-groups');
      await alertOf(partner.partnerId);
    }
    await publish(house, mine.partner.groupId, 'appointment.confirmed');
    await house.service.app.figures.flush();
    for (const kind of ['webhooks', 'traffic', 'alerts']) await seen(there, kind);
    // It is looked for all of them at once: what had woken this one would come before its own news.
    await relabel(mine.partner.keyId);
    expect(await nextKinds(here)).toEqual(['keys']);
    for (const { keyId } of [theirs.partner, neighbour]) await relabel(keyId);
    await seen(there, 'keys');
    await alertOf(mine.partner.partnerId);
    expect(await nextKinds(here)).toEqual(['alerts']);
  });

  it('409: more pages than somebody can look at; and ends with the session', async () => {
    const { person } = await world();
    const streams = await Promise.all(
      Array.from({ length: LIVE_STREAMS_OF_GUEST_MAX }, () => open(person, '/portal/v1/live')),
    );
    for (const stream of streams) await nextKinds(stream);
    const refused = await person.send('GET', '/portal/v1/live');
    expect([refused.status, refused.body.error]).toEqual([409, 'conflict']);
    await house.operator('POST', `/invitations/${person.invitation.id}/withdraw`);
    await Promise.all(streams.map(({ ended }) => ended));
  });

  it('403 and 401: for nobody else', async () => {
    const { partner, person } = await world();
    const ofPractice = await guestOf(house, mailbox, { practice: partner.groupId });
    expect((await ofPractice.send('GET', '/portal/v1/live')).status).toBe(403);
    expect((await person.send('GET', '/practice/v1/live')).status).toBe(403);
    expect((await person.send('GET', '/operator/v1/live')).status).toBe(401);
  });
});

describe('GET /practice/v1/live', () => {
  it('200: what is done to the practice, and nothing of another', async () => {
    const [mine, theirs] = [await world(), await world()];
    const person = await guestOf(house, mailbox, { practice: mine.partner.groupId });
    const stream = await open(person, '/practice/v1/live');
    expect((await nextKinds(stream)).toSorted()).toEqual(['activity', 'partners']);
    await theirs.partner.call('GET', '/v1/practice-groups');
    await newPartner(house, theirs.partner.groupId);
    await house.service.app.accessLog.flush();
    await mine.partner.call('GET', '/v1/practice-groups');
    await house.service.app.accessLog.flush();
    expect(await nextKinds(stream)).toEqual(['activity']);
    await newPartner(house, mine.partner.groupId);
    await untilTold(stream, 'partners');
  });
});
