import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { fanOutToOperators } from '../../../src/store/events/operator-events.ts';
import { expectInvalid, expectProblem } from '../../support/answers.ts';
import { cookieOf, signIn, type Visitor, visitor } from '../../support/console-session.ts';
import { followStream } from '../../support/event-stream.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import {
  type Answer,
  type Harness,
  type Loose,
  makeWorld,
  OPERATOR_TOKEN,
  startHarness,
} from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

/** Two nodes on one database that share nothing else but the passing of time. */
const env = { PORTER_ROLE: 'api' };
const house = await startHarness({ env });
const other = await startHarness({ env, databaseUrl: house.databaseUrl, clock: house.clock });
const db = await superuser(house.databaseUrl);

const MINUTE = 60_000;
const ME = '/operator/v1/me';
const create = (role: string, more = {}): Promise<Loose> =>
  house.operator('POST', '/operators', { name: `Ann, ${role}`, role, ...more });
const at = (ms: number) => new Date(house.clock.now() + ms).toISOString();

describe('POST /console/sign-in', () => {
  it('204 with a cookie that scripts and other sites cannot use; the API then knows who it is', async () => {
    const { id, token } = await create('support');
    const answer = await house.send('POST', '/console/sign-in', { body: { token } });
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(answer.headers['set-cookie']).toMatch(
      /^porter-session=pts_[0-9A-Za-z]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
    );
    const me = await visitor(house, cookieOf(answer) ?? '').send('GET', ME);
    expect(me.status).toBe(200);
    expect(me.body).toEqual({
      operator: { id, name: 'Ann, support', role: 'support' },
      session: {
        id: expect.stringMatching(/^ses_[0-9A-Za-z]{25}$/),
        expires_at: at(12 * 60 * MINUTE),
        idle_expires_at: at(30 * MINUTE),
      },
      environment: 'staging',
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      sign_in: 'token',
      approvals: [],
      support_contact: 'support@porter.example',
    });
  });

  it('over HTTPS the cookie is Secure and has the __Host- prefix, and no other is looked at', async () => {
    const file = (name: string) => fileURLToPath(new URL(`../../support/tls/${name}.pem`, import.meta.url));
    const tls = { PORTER_TLS_CERT: file('cert'), PORTER_TLS_KEY: file('key') };
    const safe = await startHarness({
      env: { ...env, ...tls },
      databaseUrl: house.databaseUrl,
      clock: house.clock,
    });
    const answer = await safe.send('POST', '/console/sign-in', { body: { token: OPERATOR_TOKEN } });
    expect(answer.headers['set-cookie']).toMatch(
      /^__Host-porter-session=pts_\w{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure$/,
    );
    const cookie = cookieOf(answer) ?? '';
    expect((await visitor(safe, cookie).send('GET', ME)).status).toBe(200);
    expect((await visitor(safe, cookie.replace('__Host-', '')).send('GET', ME)).status).toBe(401);
  });

  it('the token is kept nowhere: neither in the database nor in the log', async () => {
    const { cookie } = await signIn(house);
    const token = cookie.split('=')[1] ?? '';
    expect(token).toMatch(/^pts_/);
    const { rows } = await db.query('SELECT s::text AS text FROM sessions s');
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.filter(({ text }) => text.includes(token))).toEqual([]);
    await house.send('GET', `/docs/${token}`);
    expect(JSON.stringify(house.logLines())).not.toContain(token);
  });

  it('401 for a token that nobody has, that was revoked or is over, counted against the address', async () => {
    const gone = await create('viewer');
    await house.operator('POST', `/operators/${gone.id}/revoke`);
    const over = await create('viewer', { expires_at: at(1) });
    house.clock.advance(MINUTE);
    for (const [n, token] of ['pto_wrong', gone.token, over.token].entries()) {
      const answer = await house.send('POST', '/console/sign-in', { body: { token } });
      expectProblem(answer, 401, 'invalid_credentials');
      expect(answer.headers.ratelimit).toBe(`"address";r=${299 - n};t=60`);
      expect(answer.headers['set-cookie']).toBeUndefined();
    }
    house.clock.advance(MINUTE);
  });

  it('400, 413, 415 for what is no token in JSON', async () => {
    const post = (options: Loose) => house.send('POST', '/console/sign-in', options);
    expectInvalid(await post({ body: {} }), [{ path: ['token'] }]);
    expectInvalid(await post({ body: { token: 'x', role: 'admin' } }), [{ path: ['role'] }]);
    expectInvalid(await post({ raw: '{' }), [{ code: 'invalid_json', path: [] }]);
    expectProblem(await post({ raw: ' '.repeat(4_097) }), 413, 'payload_too_large');
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    expectProblem(await post({ raw: 'token=x', headers: form }), 415, 'unsupported_media_type');
  });

  it('401 when the browser says that another site asks, for signing in and out', async () => {
    for (const site of ['cross-site', 'same-site', 'none'])
      for (const path of ['/console/sign-in', '/console/sign-out']) {
        const headers = { 'sec-fetch-site': site };
        const answer = await house.send('POST', path, { body: { token: OPERATOR_TOKEN }, headers });
        expectProblem(answer, 401, 'invalid_credentials');
        expect(answer.headers['set-cookie']).toBeUndefined();
      }
    await signIn(house, OPERATOR_TOKEN, { 'sec-fetch-site': 'same-origin' });
  });

  it('401 when Origin names another site, also without Sec-Fetch-Site', async () => {
    const { id, token } = await create('viewer');
    const { cookie } = await signIn(house, token);
    const port = new URL(house.url).port;
    for (const origin of ['https://evil.example', 'null', `https://127.0.0.1:${port}`, 'http://127.0.0.1'])
      for (const path of ['/console/sign-in', '/console/enter', '/console/sign-out'])
        for (const site of [undefined, 'same-origin']) {
          const headers = { cookie, origin, 'sec-fetch-site': site };
          const answer = await house.send('POST', path, { body: { token: OPERATOR_TOKEN }, headers });
          expectProblem(answer, 401, 'invalid_credentials');
          expect(answer.body.message).toMatch(/another page/);
          expect(answer.headers['set-cookie']).toBeUndefined();
        }
    const { operator } = (await visitor(house, cookie).send('GET', ME)).body;
    expect(operator.id).toBe(id);
    const own = { origin: house.url };
    await signIn(house, OPERATOR_TOKEN, own);
  });

  it('401 for signing out without Origin and Sec-Fetch-Site: the session goes on', async () => {
    const person = await signIn(house);
    const headers = { cookie: person.cookie, origin: undefined };
    const answer = await house.send('POST', '/console/sign-out', { headers });
    expectProblem(answer, 401, 'invalid_credentials');
    expect(answer.body.message).toMatch(/Origin or Sec-Fetch-Site/);
    expect((await person.send('GET', ME)).status).toBe(200);
  });

  it('ends the session that the browser had before', async () => {
    const first = await signIn(house);
    const { cookie } = await signIn(house, OPERATOR_TOKEN, { cookie: first.cookie });
    expect(cookie).not.toBe(first.cookie);
    expect((await first.send('GET', ME)).status).toBe(401);
    expect((await visitor(house, cookie).send('GET', ME)).status).toBe(200);
  });
});

describe('a call with the cookie', () => {
  it('401 without the header of the console, or from another page, with the reason', async () => {
    const { cookie } = await signIn(house);
    const calls: [Record<string, string>, RegExp][] = [
      [{}, /x-porter-console/],
      [{ 'x-porter-console': '0' }, /x-porter-console/],
      [{ 'x-porter-console': '1', 'sec-fetch-site': 'cross-site' }, /another page/],
      [{ 'x-porter-console': '1', 'sec-fetch-site': 'same-site' }, /another page/],
    ];
    for (const [headers, why] of calls)
      for (const [method, path, body] of [
        ['GET', '/operator/v1/partners', undefined],
        ['POST', '/operator/v1/networks', { name: 'Forged', practice_group_ids: [] }],
      ] as const) {
        const answer = await house.send(method, path, { body, headers: { cookie, ...headers } });
        expectProblem(answer, 401, 'invalid_credentials');
        expect(answer.body.message).toMatch(why);
      }
    const { data } = await house.operator('GET', '/networks');
    expect(data).toEqual([]);
    const own = { cookie, 'x-porter-console': '1', 'sec-fetch-site': 'same-origin' };
    expect((await house.send('GET', '/operator/v1/partners', { headers: own })).status).toBe(200);
  });

  it('401 with the Origin of another page, or without any for a change; both headers must agree', async () => {
    const { cookie } = await signIn(house);
    const { port } = new URL(house.url);
    const change = (more: Record<string, string | undefined>, node = house) =>
      node.send('POST', '/operator/v1/networks', {
        // Past the checks of the session, it is a 400.
        body: {},
        headers: { cookie, 'x-porter-console': '1', ...more },
      });
    const refused: [Record<string, string | undefined>, RegExp][] = [
      [{ origin: 'https://evil.example' }, /another page/],
      [{ origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' }, /another page/],
      [{ origin: house.url, 'sec-fetch-site': 'cross-site' }, /another page/],
      [{ origin: 'null' }, /another page/],
      [{ origin: `https://127.0.0.1:${port}` }, /another page/],
      [{ origin: `http://127.0.0.1:${port}.evil.example` }, /another page/],
      [{ origin: `${house.url}, https://evil.example` }, /another page/],
      [{ origin: undefined }, /Origin or Sec-Fetch-Site/],
    ];
    for (const [headers, why] of refused) {
      const answer = await change(headers);
      expectProblem(answer, 401, 'invalid_credentials');
      expect(answer.body.message).toMatch(why);
    }
    const foreign = { cookie, 'x-porter-console': '1', origin: 'https://evil.example' };
    expectProblem(await house.send('GET', ME, { headers: foreign }), 401, 'invalid_credentials');
    expectProblem(await house.send('GET', '/console/me', { headers: foreign }), 401, 'invalid_credentials');

    const known = [
      { origin: house.url },
      { origin: undefined, 'sec-fetch-site': 'same-origin' },
      { origin: `http://localhost:${port}`, host: `localhost:${port}` },
    ];
    for (const headers of known) expect((await change(headers)).status).toBe(400);
    // A proxy may replace the Host header.
    const named = await startHarness({
      env: { ...env, PORTER_STAGING_BASE_URL: 'https://try.operator.test' },
      databaseUrl: house.databaseUrl,
      clock: house.clock,
    });
    expect((await change({ origin: 'https://try.operator.test' }, named)).status).toBe(400);
    expect((await change({ origin: 'http://try.operator.test' }, named)).status).toBe(401);
  });

  it('reads by a link of the console, which sets no header, and changes nothing by it', async () => {
    const { cookie } = await signIn(house);
    const headers = { cookie, 'sec-fetch-site': 'same-origin' };
    expect((await house.send('GET', '/operator/v1/partners', { headers })).status).toBe(200);
    const body = { name: 'Forged', practice_group_ids: [] };
    expectProblem(
      await house.send('POST', '/operator/v1/networks', { body, headers }),
      401,
      'invalid_credentials',
    );
  });

  it('401 that says to sign in again when the session is over; without a cookie, as for every stranger', async () => {
    const ended = await visitor(house, 'porter-session=pts_nobody').send('GET', ME);
    expectProblem(ended, 401, 'invalid_credentials');
    expect(ended.body.message).toBe('The session is over. Sign in again.');
    const stranger = await house.send('GET', ME, { headers: { 'x-porter-console': '1' } });
    expect(stranger.body.message).toMatch(/^The operator token is missing/);
  });

  it('has the role, the limit and the name of the operator', async () => {
    const { id, token } = await create('viewer');
    const viewer = await signIn(house, token);
    const refused = await viewer.send('POST', '/operator/v1/networks', {
      body: { name: 'No', practice_group_ids: [] },
    });
    expectProblem(refused, 403, 'insufficient_permissions', { required_roles: ['admin'] });
    const used = Number(/r=(\d+)/.exec(String((await viewer.send('GET', ME)).headers.ratelimit))?.[1]);
    const withToken = await house.send('GET', ME, { token });
    expect(withToken.headers.ratelimit).toBe(`"operator";r=${used - 1};t=60`);
    expect(withToken.body.session).toBeNull();

    const support = await create('support');
    const by = await signIn(house, support.token);
    const made = await by.send('POST', '/operator/v1/partners', {
      body: { name: 'P', contact_email: 'p@p.example' },
    });
    const { data } = await house.operator('GET', `/audit?subject_id=${made.body.id}`);
    expect(data[0].actor).toEqual({ type: 'operator', id: support.id, name: 'Ann, support' });
    expect(id).not.toBe(support.id);
  });

  it('a token wins over the cookie, a wrong one too', async () => {
    const { token } = await create('viewer');
    const admin = await signIn(house);
    const both = await admin.send('GET', ME, { headers: { authorization: `Bearer ${token}` } });
    expect(both.body).toMatchObject({ operator: { role: 'viewer' }, session: null });
    expect((await admin.send('GET', ME, { headers: { authorization: 'Bearer pto_no' } })).status).toBe(401);
  });

  it('reaches nothing of the partner API', async () => {
    const { cookie } = await signIn(house);
    const answer = await visitor(house, cookie).send('GET', '/v1/me');
    expectProblem(answer, 401, 'invalid_credentials');
  });
});

describe('how long it lasts', () => {
  it('ends 30 minutes after its last use, to a minute, and 12 hours after signing in', async () => {
    const person = await signIn(house);
    const began = house.clock.now();
    const status = async () => (await person.send('GET', ME)).status;
    while (house.clock.now() - began < 12 * 60 * MINUTE) {
      expect(await status()).toBe(200);
      house.clock.advance(28 * MINUTE);
    }
    expect(await status()).toBe(401);

    const idle = await signIn(house);
    house.clock.advance(30 * MINUTE - 1);
    const used = await idle.send('GET', ME);
    expect(used.status).toBe(200);
    expect(used.body.session.idle_expires_at).toBe(at(30 * MINUTE));
    house.clock.advance(30 * MINUTE);
    expect((await idle.send('GET', ME)).status).toBe(401);
  });

  it('goes by the settings, on both nodes', async () => {
    const short = { ...env, PORTER_SESSION_IDLE_MINUTES: '5', PORTER_SESSION_HOURS: '1' };
    const brief = await startHarness({ env: short, databaseUrl: house.databaseUrl, clock: house.clock });
    const person = await signIn(brief);
    house.clock.advance(5 * MINUTE - 1);
    expect((await visitor(other, person.cookie).send('GET', ME)).status).toBe(200);
    const idle = await signIn(brief);
    house.clock.advance(5 * MINUTE);
    expect((await idle.send('GET', ME)).status).toBe(401);
  });

  it('goes by the time that the nodes share, whatever their own clocks say', async () => {
    const clock = new ManualClock(new Date(house.clock.now()).toISOString());
    const late = await startHarness({ env, databaseUrl: house.databaseUrl, clock });
    const person = await signIn(house);
    expect((await visitor(late, person.cookie).send('GET', ME)).status).toBe(200);
    clock.advance(30 * MINUTE);
    expect((await visitor(late, person.cookie).send('GET', ME)).status).toBe(401);
    await late.stop();
  });
});

describe('rotation', () => {
  const rotated = async (person: { cookie: string }) => {
    house.clock.advance(15 * MINUTE);
    const old = person.cookie;
    const answer = await visitor(house, old).send('GET', ME);
    const fresh = cookieOf(answer) ?? '';
    expect(fresh).toMatch(/pts_/);
    expect(fresh).not.toBe(old);
    return { old: visitor(house, old), fresh: visitor(house, fresh), answer };
  };

  it('a quarter of an hour later an answer brings a new token; the old one works for a minute after the new one came', async () => {
    const { old, fresh, answer } = await rotated(await signIn(house));
    expect(answer.headers['set-cookie']).toMatch(/Max-Age=42300; HttpOnly; SameSite=Strict$/);
    // Calls that were under way.
    for (const node of [house, other])
      expect((await visitor(node, old.cookie).send('GET', ME)).headers['set-cookie']).toBeUndefined();
    expect((await fresh.send('GET', ME)).status).toBe(200);
    house.clock.advance(MINUTE - 1);
    expect((await old.send('GET', ME)).status).toBe(200);
    house.clock.advance(1);
    expect((await old.send('GET', ME)).status).toBe(401);
    expect((await visitor(other, fresh.cookie).send('GET', ME)).status).toBe(200);
  });

  it('of many calls at once on two nodes, one brings it, and none is refused', async () => {
    const { cookie } = await signIn(house);
    house.clock.advance(15 * MINUTE);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => visitor(n % 2 ? house : other, cookie).send('GET', ME)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(answers.filter((answer) => cookieOf(answer) !== undefined)).toHaveLength(1);
  });

  it('a new token that never arrived is replaced by another', async () => {
    const { old, fresh: lost } = await rotated(await signIn(house));
    house.clock.advance(MINUTE);
    const again = cookieOf(await visitor(house, old.cookie).send('GET', ME)) ?? '';
    expect(again).toMatch(/pts_/);
    expect((await lost.send('GET', ME)).status).toBe(401);
    expect((await visitor(house, again).send('GET', ME)).status).toBe(200);
  });
});

describe('the list of sessions', () => {
  const list = async (person: Pick<Harness, 'send'>) =>
    (await person.send('GET', '/operator/v1/sessions')).body.data;

  it("shows one's own, and to admins everybody's, with where they came from", async () => {
    const { id, token } = await create('viewer');
    const one = await signIn(house, token, { 'user-agent': 'Browser \u00e9'.repeat(50) });
    // Of one millisecond, they would be in any order.
    house.clock.advance(1);
    const two = await signIn(house, token);
    const own = await list(two);
    expect(own).toEqual([
      expect.objectContaining({
        operator_id: id,
        is_current: false,
        user_agent: expect.stringMatching(/^Browser/),
      }),
      {
        id: expect.stringMatching(/^ses_/),
        operator_id: id,
        operator_name: 'Ann, viewer',
        address: '127.0.0.1',
        user_agent: null,
        is_current: true,
        created_at: at(0),
        last_used_at: at(0),
        idle_expires_at: at(30 * MINUTE),
        expires_at: at(12 * 60 * MINUTE),
      },
    ]);
    expect(await list(one)).toHaveLength(2);
    const all = (await house.operator('GET', '/sessions?page_size=100')).data;
    expect(all.filter((session: Loose) => session.operator_id === id)).toHaveLength(2);
    expect(all.length).toBeGreaterThan(2);
  });

  it('shows none that is over', async () => {
    const { token } = await create('viewer');
    const person = await signIn(house, token);
    house.clock.advance(30 * MINUTE);
    await person.send('GET', ME);
    const again = await signIn(house, token);
    expect(await list(again)).toHaveLength(1);
  });

  it("404 for somebody else's session, unless by an admin", async () => {
    const [{ token }, mine] = [await create('support'), await create('viewer')];
    const person = await signIn(house, mine.token);
    const { id } = (await person.send('GET', ME)).body.session;
    const path = `/operator/v1/sessions/${id}`;
    expectProblem(await house.send('DELETE', path, { token }), 404, 'not_found');
    expect((await person.send('GET', ME)).status).toBe(200);
    expect((await house.send('DELETE', path, { token: OPERATOR_TOKEN })).status).toBe(204);
    expectProblem(await house.send('DELETE', path, { token: OPERATOR_TOKEN }), 404, 'not_found');
  });
});

/** How a session can be ended; each by somebody on the first node, and it is over on both when the call has answered. */
const endings: Record<
  string,
  (person: { id: string; sessionId: string; cookie: string }) => Promise<unknown>
> = {
  'revoked by an admin': ({ sessionId }) => house.operator('DELETE', `/sessions/${sessionId}`),
  'signed out': ({ cookie }) => house.send('POST', '/console/sign-out', { headers: { cookie } }),
  'its operator revoked': ({ id }) => house.operator('POST', `/operators/${id}/revoke`),
  'its operator about to expire': async ({ id }) => {
    await house.operator('PATCH', `/operators/${id}`, { expires_at: at(1_005) });
    house.clock.advance(10);
  },
};

describe.each(Object.entries(endings))('a session %s', (_name, end) => {
  const begin = async () => {
    const { id, token } = await create('viewer');
    const { cookie } = await signIn(house, token);
    const { session } = (await visitor(house, cookie).send('GET', ME)).body;
    return { id, sessionId: session.id, cookie };
  };

  it('401 on both nodes with the next call', async () => {
    const person = await begin();
    expect((await visitor(other, person.cookie).send('GET', ME)).status).toBe(200);
    const before = house.clock.now();
    await end(person);
    expect(house.clock.now() - before).toBeGreaterThanOrEqual(1_000);
    for (const node of [other, house])
      expectProblem(await visitor(node, person.cookie).send('GET', ME), 401, 'invalid_credentials');
  });

  it('401 on a node that hears of nothing, a second after it asked last', async () => {
    const person = await begin();
    const clock = new ManualClock(new Date(house.clock.now()).toISOString());
    const deaf = await startHarness({ env, databaseUrl: house.databaseUrl, clock });
    expect((await visitor(deaf, person.cookie).send('GET', ME)).status).toBe(200);
    await end(person);
    clock.advance(1_020);
    expect((await visitor(deaf, person.cookie).send('GET', ME)).status).toBe(401);
    await deaf.stop();
  });
});

describe('POST /console/sign-out', () => {
  it('204, takes the cookie away, and is written down; a stranger is told the same', async () => {
    const { id, token } = await create('viewer');
    const { cookie } = await signIn(house, token);
    for (const sent of [cookie, cookie, 'a=b']) {
      const answer = await house.send('POST', '/console/sign-out', { headers: { cookie: sent } });
      expect(answer.status).toBe(204);
      expect(answer.headers['set-cookie']).toBe(
        'porter-session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict',
      );
    }
    const { data } = await house.operator('GET', '/audit?page_size=2');
    expect(data.map((entry: Loose) => [entry.action, entry.actor.id, entry.subject.type])).toEqual([
      ['session.end', id, 'session'],
      ['session.begin', id, 'session'],
    ]);
    expect(JSON.stringify(data)).not.toMatch(/pts_|token/);
  });
});

describe('DELETE /operator/v1/sessions', () => {
  it("204: ends all of one's own sessions on every node, and nobody else's; the token goes on working", async () => {
    const { id, token } = await create('viewer');
    const [here, there, boss] = [await signIn(house, token), await signIn(other, token), await signIn(house)];
    expect((await here.send('DELETE', '/operator/v1/sessions')).status).toBe(204);
    for (const node of [house, other])
      for (const { cookie } of [here, there])
        expectProblem(await visitor(node, cookie).send('GET', ME), 401, 'invalid_credentials', {
          message: 'The session is over. Sign in again.',
        });
    expect((await boss.send('GET', ME)).status).toBe(200);
    const { data } = await house.operator('GET', '/audit?page_size=2');
    expect(data.map((entry: Loose) => [entry.action, entry.actor.id])).toEqual([
      ['session.end', id],
      ['session.end', id],
    ]);
    // With the token, also when there is no session any more.
    for (const node of [house, other])
      expect((await node.send('DELETE', '/operator/v1/sessions', { token })).status).toBe(204);
    expect((await house.send('GET', ME, { token })).status).toBe(200);
  });
});

describe('an answer that goes on', () => {
  type Act = (person: Visitor, operatorId: string) => Promise<Answer>;
  it.each<[string, Act]>([
    ['signing out', ({ cookie }) => house.send('POST', '/console/sign-out', { headers: { cookie } })],
    ['the end of all own sessions', (person) => person.send('DELETE', '/operator/v1/sessions')],
    [
      'the end of the session',
      async (person) => {
        const { session } = (await person.send('GET', ME)).body;
        return house.send('DELETE', `/operator/v1/sessions/${session.id}`, { token: OPERATOR_TOKEN });
      },
    ],
    [
      'the revocation of the operator',
      (_, id) => house.send('POST', `/operator/v1/operators/${id}/revoke`, { token: OPERATOR_TOKEN }),
    ],
  ])('ends on every node with %s, without news and without a heartbeat', async (_, act) => {
    const { id, token } = await create('viewer');
    const person = await signIn(house, token);
    const ways = [house, other].flatMap(({ url }) => [
      `${url}/operator/v1/live`,
      `${url}/operator/v1/changes/stream`,
    ]);
    const open = (headers: Record<string, string>) =>
      Promise.all(ways.map((url) => followStream(url, headers)));
    const streams = await open({ cookie: person.cookie, 'x-porter-console': '1' });
    const ofToken = await open({ authorization: `Bearer ${token}` });
    const before = house.clock.now();
    expect((await act(person, id)).status).toBeLessThan(300);
    await Promise.all(streams.map(({ ended }) => ended));
    const { status } = await house.operator('GET', `/operators/${id}`);
    if (status === 'revoked') await Promise.all(ofToken.map(({ ended }) => ended));
    // The clock has moved by the second for which permissions are remembered, and no further.
    expect(house.clock.now() - before).toBeLessThan(2_000);
  });

  it('survives a change of the token, and ends with the session', async () => {
    const world = await makeWorld(house);
    const change = async (title: string) => {
      const { key, groupId: group } = world;
      await house.send('PATCH', '/v1/care-nav/submission-types/type-1', { key, group, body: { title } });
      await fanOutToOperators(house.service.app.db, at(0), 0, 1_000);
    };
    const { id, token } = await create('viewer');
    const person = await signIn(house, token);
    const first = person.cookie;
    const stream = await followStream(`${house.url}/operator/v1/changes/stream`, {
      cookie: first,
      'x-porter-console': '1',
    });
    expect(stream.status).toBe(200);
    house.clock.advance(15 * MINUTE);
    await person.send('GET', ME);
    await person.send('GET', ME);
    house.clock.advance(2 * MINUTE);
    expect((await visitor(house, first).send('GET', ME)).status).toBe(401);
    await change('Told');
    expect((await stream.event()).data).toMatchObject({ after: { title: 'Told' } });
    await house.operator('POST', `/operators/${id}/revoke`);
    await change('Not told');
    await stream.ended;
    expect(await stream.next()).toBeUndefined();
  });
});
