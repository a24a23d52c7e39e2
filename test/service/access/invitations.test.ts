import { describe, expect, it } from 'vitest';
import { operatorEndpoints } from '../../../src/contract/operator/index.ts';
import { expectInvalid, expectProblem } from '../../support/answers.ts';
import { cookieOf, signIn, visitor } from '../../support/console-session.ts';
import { startMailbox } from '../../support/mailbox.ts';
import { StillClock } from '../../support/manual-clock.ts';
import { operationIds } from '../../support/operator-calls.ts';
import { type Loose, makeWorld, OPERATOR_TOKEN, startHarness } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

const mailbox = await startMailbox();
const env = {
  PORTER_ROLE: 'api',
  PORTER_SMTP_URL: mailbox.url,
  PORTER_MAIL_FROM: 'Porter <p@porter.example>',
};
const house = await startHarness({ env, clock: new StillClock() });
const other = await startHarness({ env, databaseUrl: house.databaseUrl, clock: house.clock });
const db = await superuser(house.databaseUrl);
const world = await makeWorld(house);

const HOUR = 3_600_000;
const LINK = /http:\/\/\S+\/console\/enter#(pti_[0-9A-Za-z]{43})(?![0-9A-Za-z])/;
let count = 0;
const ada = () => ({ email: `ada-${++count}@partner.example`, name: 'Ada Marsh' });
const toPartner = (body = ada(), id = world.partnerId): Promise<Loose> =>
  house.operator('POST', `/partners/${id}/invitations`, body);
const toPractice = (body = ada()): Promise<Loose> =>
  house.operator('POST', `/practice-groups/${world.groupId}/invitations`, body);
const read = async (id: string): Promise<Loose> =>
  (await house.operator('GET', '/invitations?page_size=100')).data.find((one: Loose) => one.id === id);
const send = () => house.service.alerts.tell();

/** The token of the message that somebody got last. */
async function mailedTo(email: string): Promise<string> {
  await send();
  const mail = mailbox.messages.filter(({ to }) => to.includes(email)).at(-1);
  return LINK.exec(mail?.text ?? '')?.[1] ?? '';
}
const enter = (token: string, node = house) => node.send('POST', '/console/enter', { body: { token } });
async function entered(invitation: Loose) {
  const answer = await enter(await mailedTo(invitation.email));
  expect([answer.status, answer.text]).toEqual([204, '']);
  return visitor(house, cookieOf(answer) ?? '');
}
const ME = '/console/me';

it('says that mail is not set up, as long as it is not', async () => {
  const quiet = await startHarness({ env: { PORTER_ROLE: 'api' }, clock: new StillClock() });
  const { partnerId } = await makeWorld(quiet);
  const path = `/partners/${partnerId}/invitations`;
  const error = expect.stringMatching(/^Mail is not set up: .*PORTER_SMTP_URL/);
  expect(await quiet.operator('POST', path, ada())).toMatchObject({ status: 'waiting', error });
  expect((await quiet.operator('GET', '/invitations')).data).toMatchObject([{ status: 'waiting', error }]);
  expect((await toPartner()).error).toBe(null);
  await send();
});

describe('an invitation', () => {
  it('201: somebody of a partner gets a message with a link, which is in no answer, log or table', async () => {
    const invitation = await toPartner();
    expect(invitation).toEqual({
      id: expect.stringMatching(/^inv_[0-9A-Za-z]{25}$/),
      partner_id: world.partnerId,
      practice_group_id: null,
      email: invitation.email,
      name: 'Ada Marsh',
      status: 'waiting',
      invited_by: { id: 'opr_first', name: 'First operator' },
      created_at: new Date(house.clock.now()).toISOString(),
      sent_at: null,
      expires_at: null,
      entered_at: null,
      error: null,
    });
    const token = await mailedTo(invitation.email);
    expect(token).toMatch(/^pti_/);
    const mail = mailbox.messages.at(-1);
    expect(mail?.headers).toContain('Subject: Your access to Porter (staging) for Partner');
    expect(mail?.text).toContain(`${house.url}/console/enter#${token}`);
    expect(mail?.html).toContain(`href="${house.url}/console/enter#${token}"`);
    expect(await read(invitation.id)).toMatchObject({
      status: 'sent',
      expires_at: new Date(house.clock.now() + 72 * HOUR).toISOString(),
    });
    const { rows } = await db.query(
      'SELECT i::text AS text FROM invitations i UNION ALL SELECT n::text FROM notifications n',
    );
    const audit = await house.send('GET', '/operator/v1/audit?page_size=100', { token: OPERATOR_TOKEN });
    for (const text of [JSON.stringify(rows), audit.text, JSON.stringify(house.logLines())])
      expect(text).not.toContain(token);
    await send();
    expect(mailbox.messages.filter(({ to }) => to.includes(invitation.email))).toHaveLength(1);
  });

  it('whatever stands in names is text', async () => {
    const hostile = { email: `eve-${++count}@p.example`, name: 'Eve <b> Bcc: all@p.example' };
    await toPractice(hostile);
    const path = `/operator/v1/practice-groups/${world.groupId}/invitations`;
    const folded = { ...ada(), name: 'Eve\r\nBcc: all@p.example' };
    expectInvalid(await house.send('POST', path, { token: OPERATOR_TOKEN, body: folded }), [
      { path: ['name'] },
    ]);
    await send();
    const mail = mailbox.messages.at(-1);
    expect(mail?.to).toEqual([hostile.email]);
    expect(mail?.html).toContain('Eve &lt;b&gt; Bcc: all@p.example');
    expect(mail?.headers.filter((line) => /^bcc/i.test(line))).toEqual([]);
  });

  it('404, 400 and 403 for nobody, nothing and no role', async () => {
    const post = (path: string, body: unknown, token = OPERATOR_TOKEN) =>
      house.send('POST', `/operator/v1${path}/invitations`, { token, body });
    expectProblem(await post('/partners/prt_none', ada()), 404, 'not_found');
    expectProblem(await post('/practice-groups/none', ada()), 404, 'not_found');
    expectInvalid(await post(`/partners/${world.partnerId}`, {}), [{ path: ['email'] }, { path: ['name'] }]);
    const support = await house.operator('POST', '/operators', { name: 'S', role: 'support' });
    expect((await post(`/partners/${world.partnerId}`, ada(), support.token)).status).toBe(201);
    expect((await post(`/practice-groups/${world.groupId}`, ada(), support.token)).status).toBe(403);
  });

  it('of many, each is sent in the same turn', async () => {
    await send();
    const all: string[] = [];
    for (let n = 0; n < 12; n++) all.push((await toPartner()).email);
    mailbox.take();
    await send();
    expect(
      mailbox
        .take()
        .flatMap(({ to }) => to)
        .sort(),
    ).toEqual(all.sort());
  });

  it('that are left when a node stops are sent by another', async () => {
    const stopping = await startHarness({ env, databaseUrl: house.databaseUrl, clock: house.clock });
    await stopping.service.alerts.stop();
    const { email } = await toPartner();
    await stopping.service.alerts.tell();
    expect(await mailedTo(email)).not.toBe('');
  });

  it('that one node sends for so long that another node makes a new link is tried again, if the new link was not sent', async () => {
    const held: (() => void)[] = [];
    const slow = await startMailbox({
      onData(stream, _session, done) {
        stream.on('end', () => held.push(done)).resume();
      },
    });
    const late = await startHarness({
      env: { ...env, PORTER_SMTP_URL: slow.url },
      databaseUrl: house.databaseUrl,
      clock: house.clock,
    });
    await send();
    const invitation = await toPartner();
    const sending = late.service.alerts.tell();
    await expect.poll(() => held.length).toBe(1);
    house.clock.advance(5 * 60_000);
    mailbox.refuse = { code: 451, text: 'Later' };
    await send();
    mailbox.refuse = undefined;
    for (const done of held) done();
    await sending;
    expect(await read(invitation.id)).toMatchObject({ status: 'waiting', sent_at: null });
    house.clock.advance(5 * 60_000);
    expect((await enter(await mailedTo(invitation.email))).status).toBe(204);
  });

  it('that the mail server does not take is tried again with another link; one that it never will is given up', async () => {
    const invitation = await toPartner();
    mailbox.refuse = { code: 451, text: 'Later' };
    expect(await mailedTo(invitation.email)).toBe('');
    expect(await read(invitation.id)).toMatchObject({
      status: 'waiting',
      error: expect.stringContaining('Later'),
    });
    mailbox.refuse = undefined;
    house.clock.advance(60_000);
    expect((await enter(await mailedTo(invitation.email))).status).toBe(204);
    const never = await toPartner();
    mailbox.refuse = { code: 550, text: 'No such person' };
    await send();
    mailbox.refuse = undefined;
    house.clock.advance(24 * HOUR);
    expect(await mailedTo(never.email)).toBe('');
    expect(await read(never.id)).toMatchObject({
      status: 'undeliverable',
      error: expect.stringContaining('No such'),
    });
  });
});

describe('POST /console/enter', () => {
  it('204 with a session of the partner, or of the practice', async () => {
    const invitation = await toPartner();
    const partner = await (await entered(invitation)).send('GET', ME);
    expect(partner.body).toEqual({
      kind: 'partner',
      name: 'Ada Marsh',
      email: invitation.email,
      partner: { id: world.partnerId, name: 'Partner' },
      practice_group: null,
      session: {
        id: expect.stringMatching(/^ses_/),
        expires_at: new Date(house.clock.now() + 12 * HOUR).toISOString(),
        idle_expires_at: new Date(house.clock.now() + HOUR / 2).toISOString(),
      },
      environment: 'staging',
      as_operator: null,
    });
    const practice = await (await entered(await toPractice())).send('GET', ME);
    expect(practice.body).toMatchObject({
      kind: 'practice',
      partner: null,
      practice_group: { id: world.groupId, name: `Practice ${world.groupId}` },
    });
    const operator = await signIn(house);
    // What the console would ask next is in the same answer.
    const { body: as_operator } = await operator.send('GET', '/operator/v1/me');
    expect((await operator.send('GET', ME)).body).toMatchObject({
      kind: 'operator',
      email: null,
      as_operator,
    });
    expect((await read(invitation.id)).status).toBe('entered');
  });

  it('401: twice, also at once on two nodes; after 72 hours; withdrawn; unknown, counted against the address', async () => {
    const token = await mailedTo((await toPartner()).email);
    const answers = await Promise.all([house, other, house, other].map((node) => enter(token, node)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 401, 401, 401]);
    const late = await toPartner();
    const lateToken = await mailedTo(late.email);
    house.clock.advance(72 * HOUR - 1);
    const inTime = await toPartner();
    const inTimeToken = await mailedTo(inTime.email);
    house.clock.advance(1);
    expectProblem(await enter(lateToken), 401, 'invalid_credentials');
    expect((await read(late.id)).status).toBe('expired');
    await house.operator('POST', `/invitations/${inTime.id}/withdraw`);
    expectProblem(await enter(inTimeToken), 401, 'invalid_credentials');
    house.clock.advance(60_000);
    const unknown = await enter('pti_unknown');
    expectProblem(unknown, 401, 'invalid_credentials');
    expect(unknown.headers.ratelimit).toBe('"address";r=299;t=60');
    expect(unknown.headers['set-cookie']).toBeUndefined();
    expectProblem(
      await house.send('POST', '/console/enter', {
        body: { token: lateToken },
        headers: { 'sec-fetch-site': 'cross-site' },
      }),
      401,
      'invalid_credentials',
    );
    house.clock.advance(60_000);
  });
});

describe('somebody with nobody to come in for', () => {
  it('401 while the partner is suspended, which does not use the link up', async () => {
    const { partnerId } = await makeWorld(house);
    const token = await mailedTo((await toPartner(ada(), partnerId)).email);
    await house.operator('POST', `/partners/${partnerId}/suspend`);
    expectProblem(await enter(token), 401, 'invalid_credentials');
    await house.operator('POST', `/partners/${partnerId}/verify`);
    expect((await enter(token)).status).toBe(204);
  });

  it('401 once they are no contact of the partner any more, on every node; while they still are one, nothing ends', async () => {
    const invited = ada();
    const contacts = `/partners/${world.partnerId}/contacts`;
    const add = (email: string) => house.operator('POST', contacts, { email });
    const [one, two] = [await add(invited.email.toUpperCase()), await add(invited.email)];
    const [guest, neighbour] = [await entered(await toPartner(invited)), await entered(await toPartner())];
    const waiting = await toPartner(invited);
    const token = await mailedTo(invited.email);
    await house.operator('DELETE', `${contacts}/${one.id}`);
    expect((await guest.send('GET', ME)).status).toBe(200);
    await house.operator('DELETE', `${contacts}/${two.id}`);
    for (const node of [house, other]) {
      expectProblem(await visitor(node, guest.cookie).send('GET', ME), 401, 'invalid_credentials');
      expectProblem(await enter(token, node), 401, 'invalid_credentials');
    }
    expect((await neighbour.send('GET', ME)).status).toBe(200);
    expect((await house.operator('GET', `/audit?subject_id=${waiting.id}`)).data).toMatchObject([
      { action: 'invitation.withdraw', actor: { type: 'operator' } },
      { action: 'invitation.create' },
    ]);
  });

  it('401 once their contact has another address, on every node: the first one cannot be removed; while another has theirs, nothing ends', async () => {
    const there = await makeWorld(house);
    const path = `/partners/${there.partnerId}`;
    const change = (way: 'contact' | 'partner' | 'other', email: string, id = 'first') =>
      way === 'partner'
        ? house.operator('PATCH', path, { contact_email: email })
        : house.operator('PATCH', `${path}/contacts/${id}`, { email });
    for (const way of ['contact', 'partner', 'other'] as const) {
      const invited = ada();
      const { id } =
        way === 'other' ? await house.operator('POST', `${path}/contacts`, invited) : { id: 'first' };
      await change(way, invited.email, id);
      const guest = await entered(await toPartner(invited, there.partnerId));
      await toPartner(invited, there.partnerId);
      const token = await mailedTo(invited.email);
      await change(way, invited.email.toUpperCase(), id);
      const double = await house.operator('POST', `${path}/contacts`, invited);
      await change(way, ada().email, id);
      expect((await guest.send('GET', ME)).status).toBe(200);
      await change(way, invited.email, id);
      await house.operator('DELETE', `${path}/contacts/${double.id}`);
      expect((await guest.send('GET', ME)).status).toBe(200);
      await change(way, ada().email, id);
      for (const node of [house, other]) {
        expectProblem(await visitor(node, guest.cookie).send('GET', ME), 401, 'invalid_credentials');
        expectProblem(await enter(token, node), 401, 'invalid_credentials');
      }
    }
  });

  it('401 once their contact is removed, however its address was spelled', async () => {
    const { partnerId } = await makeWorld(house);
    const [composed, decomposed] = ['zo\u00eb@partner.example', 'zoe\u0308@partner.example'];
    for (const [known, invited] of [
      [composed, decomposed],
      [decomposed, composed],
    ] as const) {
      const contact = await house.operator('POST', `/partners/${partnerId}/contacts`, { email: known });
      const { id, email } = await toPartner({ email: invited, name: 'Zoë' }, partnerId);
      expect([contact.email, email]).toEqual([composed, composed]);
      await house.operator('DELETE', `/partners/${partnerId}/contacts/${contact.id}`);
      expect((await read(id)).status).toBe('withdrawn');
    }
  });

  it('401 once their contact is removed, also where one of the two was stored as it came by a version before', async () => {
    const { partnerId } = await makeWorld(house);
    const [composed, decomposed] = ['zo\u00eb@partner.example', 'zoe\u0308@partner.example'];
    for (const table of ['contacts', 'invitations']) {
      const contact = await house.operator('POST', `/partners/${partnerId}/contacts`, { email: composed });
      const { id } = await toPartner({ email: composed, name: 'Zoë' }, partnerId);
      await db.query(`UPDATE ${table} SET email = $1 WHERE id IN ($2, $3)`, [decomposed, contact.id, id]);
      await house.operator('DELETE', `/partners/${partnerId}/contacts/${contact.id}`);
      expect((await read(id)).status).toBe('withdrawn');
    }
  });

  it('401 by an operator who was revoked, on every node; who has come in before stays', async () => {
    const support = await house.operator('POST', '/operators', { name: 'S', role: 'support' });
    const invite = async (): Promise<Loose> => {
      const path = `/operator/v1/partners/${world.partnerId}/invitations`;
      return (await house.send('POST', path, { token: support.token, body: ada() })).body;
    };
    const guest = await entered(await invite());
    const [theirs, ours] = [await invite(), await toPartner()];
    const [token, another] = [await mailedTo(theirs.email), await mailedTo(ours.email)];
    await house.operator('POST', `/operators/${support.id}/revoke`);
    for (const node of [house, other]) expectProblem(await enter(token, node), 401, 'invalid_credentials');
    expect((await read(theirs.id)).status).toBe('withdrawn');
    expect((await house.operator('GET', `/audit?subject_id=${theirs.id}`)).data).toMatchObject([
      { action: 'invitation.withdraw', actor: { id: 'opr_first' } },
      { action: 'invitation.create', actor: { id: support.id } },
    ]);
    // As one would be whose call was under way.
    await db.query('UPDATE invitations SET revoked_at = NULL WHERE id = $1', [theirs.id]);
    expectProblem(await enter(token), 401, 'invalid_credentials');
    expect((await guest.send('GET', ME)).status).toBe(200);
    expect((await enter(another)).status).toBe(204);
  });

  it('401 of a practice that was removed, also if another one has its ID later', async () => {
    const practice = { id: 'closing', name: 'Closing', timezone: 'Europe/London' };
    const toClosing = () => house.operator('POST', '/practice-groups/closing/invitations', ada());
    await house.operator('POST', '/practice-groups', practice);
    const link = await mailedTo((await toClosing()).email);
    const guest = await entered(await toClosing());
    expect((await guest.send('GET', ME)).status).toBe(200);
    await house.operator('DELETE', '/practice-groups/closing');
    expectProblem(await enter(link), 401, 'invalid_credentials');
    await house.operator('POST', '/practice-groups', practice);
    expectProblem(await guest.send('GET', ME), 401, 'invalid_credentials');
    expectProblem(await enter(link), 401, 'invalid_credentials');
  });
});

describe('a session of a guest', () => {
  it('401: reaches nothing of the operator API, and nothing of the partner API', async () => {
    const guest = await entered(await toPartner());
    for (const id of operationIds) {
      const { method, path } = operatorEndpoints[id];
      const answer = await guest.send(method, path.replaceAll(/\{\w+\}/g, 'x'));
      expect([id, answer.status]).toEqual([id, 401]);
      house.clock.advance(1_000);
    }
    expect((await guest.send('GET', '/v1/me')).status).toBe(401);
    expect((await guest.send('GET', ME)).status).toBe(200);
  });

  it('is no session in the list of operators, and needs the header of the console as well', async () => {
    const guest = await entered(await toPartner());
    const { id } = (await guest.send('GET', ME)).body.session;
    const { data } = await house.operator('GET', '/sessions?page_size=100');
    expect(data.filter((one: Loose) => one.id === id)).toEqual([]);
    const bare = await guest.send('GET', ME, { headers: { 'x-porter-console': '0' } });
    expectProblem(bare, 401, 'invalid_credentials');
    expect(bare.body.message).toMatch(/x-porter-console/);
  });

  it('ends by idleness, and its token changes, like any other', async () => {
    const guest = await entered(await toPractice());
    const first = guest.cookie;
    house.clock.advance(15 * 60_000);
    await guest.send('GET', ME);
    expect(guest.cookie).not.toBe(first);
    house.clock.advance(30 * 60_000);
    expect((await guest.send('GET', ME)).status).toBe(401);
  });

  const endings: Record<
    string,
    (it: { invitation: Loose; cookie: string; partnerId: string }) => Promise<unknown>
  > = {
    'the invitation withdrawn': ({ invitation }) =>
      house.operator('POST', `/invitations/${invitation.id}/withdraw`),
    'the partner suspended': ({ partnerId }) => house.operator('POST', `/partners/${partnerId}/suspend`),
    'signed out': ({ cookie }) => house.send('POST', '/console/sign-out', { headers: { cookie } }),
  };

  it.each(Object.entries(endings))('401 on both nodes with the next call: %s', async (_name, end) => {
    const { partnerId } = await makeWorld(house);
    const invitation = await toPartner(ada(), partnerId);
    const { cookie } = await entered(invitation);
    expect((await visitor(other, cookie).send('GET', ME)).status).toBe(200);
    const before = house.clock.now();
    await end({ invitation, cookie, partnerId });
    expect(house.clock.now() - before).toBeGreaterThanOrEqual(1_000);
    for (const node of [other, house]) expect((await visitor(node, cookie).send('GET', ME)).status).toBe(401);
  });

  it('is in the audit, from beginning to end', async () => {
    const invitation = await toPartner();
    const { cookie } = await entered(invitation);
    await house.send('POST', '/console/sign-out', { headers: { cookie } });
    const { data } = await house.operator('GET', '/audit?page_size=3');
    expect(data.map((entry: Loose) => [entry.action, entry.actor])).toEqual([
      [
        'session.end',
        { type: 'guest', id: invitation.id, name: 'Ada Marsh', session_id: data[0].subject.id },
      ],
      [
        'session.begin',
        { type: 'guest', id: invitation.id, name: 'Ada Marsh', session_id: data[1].subject.id },
      ],
      ['invitation.create', expect.objectContaining({ type: 'operator' })],
    ]);
    expect(data[1].after).toMatchObject({ invitation_id: invitation.id, operator_name: 'Ada Marsh' });
  });
});
