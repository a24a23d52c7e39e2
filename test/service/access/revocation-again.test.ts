import { beforeEach, describe, expect, it } from 'vitest';
import { expectProblem } from '../../support/answers.ts';
import { signIn, visitor } from '../../support/console-session.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { enterPartner, enterPractice } from '../../support/practice-guest.ts';
import {
  type Answer,
  type Harness,
  type Loose,
  makeKey,
  makeWorld,
  OPERATOR_TOKEN,
  startHarness,
} from '../../support/service.ts';

/**
 * Access is taken away by a call that breaks off after its commit: its node waits by a clock of its own, and nobody hears its answer. Whoever makes the
 * call again, on another node, hears that it is done when it is done everywhere, whether that is a success or a refusal.
 */
const env = { PORTER_ROLE: 'api' };
const approvals = { ...env, PORTER_APPROVALS: 'networks' };
const remembering = await startHarness({ env });
const { databaseUrl, clock } = remembering;
const ownClock = new ManualClock(new Date(clock.now()).toISOString());
const breaking = await startHarness({ env, databaseUrl, clock: ownClock });
const later = await startHarness({ env, databaseUrl, clock });
const breakingApproved = await startHarness({ env: approvals, databaseUrl, clock: ownClock });
const laterApproved = await startHarness({ env: approvals, databaseUrl, clock });

let home: Awaited<ReturnType<typeof makeWorld>>;
let hub: Awaited<ReturnType<typeof makeWorld>>;
let network: Loose;
let visiting: Loose;
beforeEach(async () => {
  // What the last test took a second for, the clock of the node that breaks off shows as well.
  const behind = clock.now() - ownClock.now();
  (behind > 0 ? ownClock : clock).advance(Math.abs(behind));
  home = await makeWorld(remembering);
  hub = await makeWorld(remembering);
  const practice_group_ids = [home.groupId, hub.groupId];
  network = await remembering.operator('POST', '/networks', { name: 'Shared', practice_group_ids });
  visiting = await remembering.operator('POST', '/operators', { name: 'Visitor', role: 'viewer' });
});

type Call = (node: Harness) => Promise<Answer>;

const asAdmin =
  (method: string, path: () => string, body?: () => unknown, headers: Record<string, string> = {}): Call =>
  (node) =>
    node.send(method, `/operator/v1${path()}`, { token: OPERATOR_TOKEN, body: body?.(), headers });
const own: Call = (node) => node.send('GET', '/v1/practice-groups', { key: home.key, group: home.groupId });
const across: Call = (node) => node.send('GET', '/v1/practice-groups', { key: home.key, group: hub.groupId });
const asVisitor: Call = (node) => node.send('GET', '/operator/v1/networks', { token: visiting.token });

/** Takes away, twice: the second call may be refused, since there is nothing left to take. */
const takings: Record<string, { take: Call; call: Call; again: number; status: number }> = {
  'a key that may be used from elsewhere only': {
    take: asAdmin(
      'PATCH',
      () => `/keys/${home.keyId}`,
      () => ({ allowed_addresses: ['203.0.113.1'] }),
    ),
    call: own,
    again: 200,
    status: 401,
  },
  'a key rotated without overlap': {
    take: asAdmin(
      'POST',
      () => `/keys/${home.keyId}/rotate`,
      () => ({ overlap_seconds: 0 }),
    ),
    call: own,
    again: 409,
    status: 401,
  },
  "a suspended partner's key": {
    take: asAdmin('POST', () => `/partners/${home.partnerId}/suspend`),
    call: own,
    again: 409,
    status: 401,
  },
  'a target that was taken out of the network': {
    take: asAdmin('DELETE', () => `/networks/${network.id}/members/${hub.groupId}`),
    call: across,
    again: 404,
    status: 403,
  },
  'a network that was dissolved': {
    take: asAdmin('DELETE', () => `/networks/${network.id}`),
    call: across,
    again: 404,
    status: 403,
  },
};

/** The first call is made on the node that breaks off. What the other remembers is as it was. */
async function breakOff(take: Call, node = breaking): Promise<void> {
  const before = clock.now();
  expect((await take(node)).status).toBeLessThan(300);
  expect(clock.now()).toBe(before);
}

describe.each(Object.entries(takings))('%s', (_name, { take, call, again, status }) => {
  it('is refused everywhere when the call that is made again has its answer', async () => {
    expect((await call(remembering)).status).toBe(200);
    await breakOff(take);
    expect((await call(remembering)).status).toBe(200);
    expect((await take(later)).status).toBe(again);
    expect((await call(remembering)).status).toBe(status);
  });
});

it('a suspension that is made again with an Idempotency-Key of its own is refused as late as without one', async () => {
  let calls = 0;
  const suspend: Call = (node) =>
    asAdmin('POST', () => `/partners/${home.partnerId}/suspend`, undefined, {
      'idempotency-key': `${home.partnerId}-${++calls}`,
    })(node);
  expect((await own(remembering)).status).toBe(200);
  await breakOff(suspend);
  expect((await own(remembering)).status).toBe(200);
  expectProblem(await suspend(later), 409, 'conflict');
  expectProblem(await own(remembering), 401, 'invalid_credentials');
});

it('a token that ends sooner is over everywhere when the call that says so again has its answer', async () => {
  const end = new Date(clock.now() + 500).toISOString();
  const shorten = asAdmin(
    'PATCH',
    () => `/operators/${visiting.id}`,
    () => ({ expires_at: end }),
  );
  expect((await asVisitor(remembering)).status).toBe(200);
  const before = clock.now();
  await breakOff(shorten);
  expect((await shorten(later)).status).toBe(200);
  expect(clock.now() - before).toBeGreaterThanOrEqual(1_000);
  expectProblem(await asVisitor(remembering), 401, 'invalid_credentials');
});

it('a session that was ended is over everywhere when the call that ends it again is told that there is none', async () => {
  const guest = await signIn(remembering, visiting.token);
  const me = () => visitor(remembering, guest.cookie).send('GET', '/operator/v1/me');
  const { id } = (await me()).body.session;
  const end = asAdmin('DELETE', () => `/sessions/${id}`);
  await breakOff(end);
  expect((await me()).status).toBe(200);
  expectProblem(await end(later), 404, 'not_found');
  expectProblem(await me(), 401, 'invalid_credentials');
});

describe('who is sent away with the address of a contact', () => {
  const mail = { email: 'elsewhere@partner.example' };
  const contacts = () => `/partners/${home.partnerId}/contacts`;
  const ways: Record<string, Call> = {
    'of the first contact': asAdmin(
      'PATCH',
      () => `${contacts()}/first`,
      () => mail,
    ),
    'of the partner': asAdmin(
      'PATCH',
      () => `/partners/${home.partnerId}`,
      () => ({ contact_email: mail.email }),
    ),
  };

  it.each(Object.entries(ways))(
    'is out everywhere when the change %s that is made again has its answer',
    async (_of, change) => {
      const guest = await enterPartner(remembering, home.partnerId);
      const me = () => visitor(remembering, guest.cookie).send('GET', '/console/me');
      expect((await me()).status).toBe(200);
      await breakOff(change);
      expect((await me()).status).toBe(200);
      expect((await change(later)).status).toBe(200);
      expectProblem(await me(), 401, 'invalid_credentials');
    },
  );

  it('is out everywhere when the removal that is made again is told that there is none', async () => {
    await remembering.operator('PATCH', `${contacts()}/first`, mail);
    const { id } = await remembering.operator('POST', contacts(), { email: 'dev@partner.example' });
    const guest = await enterPartner(remembering, home.partnerId);
    const me = () => visitor(remembering, guest.cookie).send('GET', '/console/me');
    expect((await me()).status).toBe(200);
    const remove = asAdmin('DELETE', () => `${contacts()}/${id}`);
    ownClock.advance(Math.max(0, clock.now() - ownClock.now()));
    await breakOff(remove);
    expect((await me()).status).toBe(200);
    expectProblem(await remove(later), 404, 'not_found');
    expectProblem(await me(), 401, 'invalid_credentials');
  });
});

describe('people of a practice are out everywhere when its removal that is made again has its answer', () => {
  const id = () => `closing-${home.groupId}`;
  const items = () => [{ kind: 'practice_group', id: id(), delete: true }];
  const ways: Record<string, { remove: Call; again: number }> = {
    'by itself': { remove: asAdmin('DELETE', () => `/practice-groups/${id()}`), again: 404 },
    'by an import': {
      remove: asAdmin(
        'POST',
        () => '/import',
        () => ({ items: items() }),
      ),
      again: 200,
    },
  };

  it.each(Object.entries(ways))('%s', async (_how, { remove, again }) => {
    await remembering.operator('POST', '/practice-groups', { id: id(), name: 'Closing' });
    const guest = await enterPractice(remembering, id());
    const me = () => visitor(remembering, guest.cookie).send('GET', '/console/me');
    expect((await me()).status).toBe(200);
    await breakOff(remove);
    expect((await me()).status).toBe(200);
    expect((await remove(later)).status).toBe(again);
    expectProblem(await me(), 401, 'invalid_credentials');
  });
});

it('what was approved is taken away everywhere when the approval that is made again has its answer', async () => {
  const second = await remembering.operator('POST', '/operators', { name: 'Second', role: 'admin' });
  // An operator approves nothing that is as old as it is.
  clock.advance(1);
  const asked = await asAdmin('DELETE', () => `/networks/${network.id}`)(laterApproved);
  expect(asked.status).toBe(202);
  const approve: Call = (node) =>
    node.send('POST', `/operator/v1/approvals/${asked.body.id}/approve`, { token: second.token });
  expect((await across(remembering)).status).toBe(200);
  await breakOff(approve, breakingApproved);
  expect((await across(remembering)).status).toBe(200);
  expect((await approve(laterApproved)).status).toBe(200);
  expectProblem(await across(remembering), 403, 'forbidden');
});

describe('a lower limit is said again', () => {
  it.each(['partners', 'agreements'])(
    'and answered after the second for which another node may remember: of %s',
    async (of) => {
      const { data } = await remembering.operator('GET', `/partners/${home.partnerId}/agreements`);
      const path = `/partners/${home.partnerId}${of === 'agreements' ? `/agreements/${data[0].id}` : ''}`;
      const limit = asAdmin(
        'PATCH',
        () => path,
        () => ({ rate_limit_per_minute: 2 }),
      );
      await breakOff(limit);
      const before = clock.now();
      expect((await limit(later)).status).toBe(200);
      expect(clock.now() - before).toBeGreaterThanOrEqual(1_000);
    },
  );
});

it('a name alone takes nothing away: it is answered at once', async () => {
  const other = await makeKey(remembering, home.groupId);
  const before = clock.now();
  await remembering.operator('PATCH', `/keys/${other.keyId}`, { label: 'Renamed' });
  await remembering.operator('PATCH', `/operators/${visiting.id}`, { label: 'Renamed' });
  await remembering.operator('PATCH', `/partners/${other.partnerId}/contacts/first`, { name: 'Renamed' });
  await remembering.operator('PATCH', `/partners/${other.partnerId}`, { name: 'Renamed' });
  expect(clock.now()).toBe(before);
});
