import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { expectProblem } from '../../support/answers.ts';
import { signIn, visitor } from '../../support/console-session.ts';
import {
  CLIENT,
  jwtOf,
  newKey,
  partOf,
  providerKey,
  startProvider,
  Walker,
} from '../../support/oidc-provider.ts';
import { type Loose, OPERATOR_TOKEN, startHarness } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

const provider = await startProvider();
const env = {
  PORTER_ROLE: 'api',
  PORTER_OIDC_ISSUER: provider.issuer,
  PORTER_OIDC_CLIENT_ID: CLIENT.client_id,
  PORTER_OIDC_CLIENT_SECRET: CLIENT.client_secret,
  PORTER_OIDC_ROLES: 'porter-admins=admin, porter-help=support, porter-eyes=viewer',
};
const house = await startHarness({ env });
const db = await superuser(house.databaseUrl);
const ME = '/operator/v1/me';
const START = `${house.url}/console/sign-in/oidc`;
const CALLBACK = `${house.url}/console/sign-in/callback`;
const isConsole = (url: string) => /\/console(\/(?!sign-in)|\?|$)/.test(new URL(url).pathname);
provider.serve(CALLBACK);

let count = 0;
const newPerson = (...groups: string[]): string => {
  const id = `person-${++count}`;
  provider.people.set(id, { name: `Ann ${count}`, groups });
  return id;
};

/** Signs in and calls the API with what came of it. */
async function enter(person: string, query = '') {
  const walker = new Walker();
  const shown = await walker.walk(START + query, person, isConsole);
  const browser = visitor(house, walker.cookiesOf(house.url));
  return { walker, shown, browser, me: async () => (await browser.send('GET', ME)).body as Loose };
}

describe('signing in through a provider of OpenID Connect', () => {
  it('303 to the provider with PKCE, state and nonce, and a cookie that survives the way back', async () => {
    const answer = await house.send('GET', '/console/sign-in/oidc');
    expect(answer.status).toBe(303);
    const url = new URL(String(answer.headers.location));
    expect(url.origin).toBe(provider.issuer);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: 'porter',
      response_type: 'code',
      redirect_uri: CALLBACK,
      scope: 'openid profile email',
      state: expect.stringMatching(/^\w{43}$/),
      nonce: expect.stringMatching(/^\w{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
    const cookie = String(answer.headers['set-cookie']);
    expect(cookie).toMatch(/^porter-sign-in=[^;]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/);
    expect(cookie).not.toContain(url.searchParams.get('state'));
  });

  it('makes a person with the role of the claim, and a session; the same person the next time', async () => {
    const person = newPerson('porter-help', 'unrelated');
    const { shown, me, walker } = await enter(person, '?to=/partners?page=2');
    expect(shown.url).toBe(`${house.url}/console/partners?page=2`);
    expect(walker.cookiesOf(house.url)).toMatch(/^porter-session=pts_\w{43}$/);
    const { operator, sign_in, session } = await me();
    expect([operator.name, operator.role, sign_in]).toEqual([`Ann ${count}`, 'support', 'oidc']);
    expect(session.id).toMatch(/^ses_/);
    const again = await enter(person);
    expect(again.shown.url).toBe(`${house.url}/console`);
    expect((await again.me()).operator.id).toBe(operator.id);
    expect(await house.operator('GET', `/operators/${operator.id}`)).toMatchObject({
      kind: 'person',
      issuer: provider.issuer,
      subject: person,
      role: 'support',
      emergency: false,
      last_used_at: expect.any(String),
    });
    const { data } = await house.operator('GET', `/audit?subject_id=${operator.id}`);
    expect(data.map(({ action, actor }: Loose) => [action, actor.type])).toEqual([
      ['operator.create', 'system'],
    ]);
  });

  it('takes the highest role that the claim has, and at each sign-in anew; sessions that go on have it too', async () => {
    const person = newPerson('porter-eyes', 'porter-admins');
    const { me, browser } = await enter(person);
    const { operator } = await me();
    expect(operator.role).toBe('admin');
    provider.people.set(person, { name: 'Ann Marsh', groups: ['porter-eyes'] });
    await enter(person);
    expect((await me()).operator).toEqual({ id: operator.id, name: 'Ann Marsh', role: 'viewer' });
    const refused = await browser.send('POST', '/operator/v1/networks', {
      body: { name: 'No', practice_group_ids: [] },
    });
    expect(refused.status).toBe(403);
    const { data } = await house.operator('GET', `/audit?subject_id=${operator.id}&action=operator.update`);
    expect(data[0]).toMatchObject({
      before: { role: 'admin' },
      after: { role: 'viewer', name: 'Ann Marsh' },
    });
  });

  it('403 with a page that says what to ask for, without a role; nobody is made', async () => {
    const person = newPerson('<b>others</b>');
    const { shown, walker } = await enter(person);
    expect(shown.status).toBe(403);
    expect(shown.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(shown.headers['content-security-policy']).toMatch(/^default-src 'none'/);
    expect(shown.text).toContain('You have no role here');
    expect(shown.text).toContain('“porter-admins”, “porter-help”, “porter-eyes” in the claim “groups”');
    expect(shown.text).toContain('&lt;b&gt;others&lt;/b&gt;');
    expect(walker.cookiesOf(house.url)).toBe('');
    provider.people.set(person, { name: 'None' });
    expect((await enter(person)).shown.text).toContain('which has nothing');
    const { rows } = await db.query('SELECT FROM operators WHERE subject = $1', [person]);
    expect(rows).toEqual([]);
  });

  it('403 for a person who was revoked here, whatever the provider says', async () => {
    const person = newPerson('porter-help');
    const { me, browser } = await enter(person);
    const { operator } = await me();
    await house.operator('POST', `/operators/${operator.id}/revoke`);
    expect((await browser.send('GET', ME)).status).toBe(401);
    const { shown } = await enter(person);
    expect(shown.status).toBe(403);
    expect(shown.text).toContain('an admin has taken the access away');
  });

  it('goes by the ID token alone where it has the claim, and by a claim within another', async () => {
    const nested = await startHarness({
      env: { ...env, PORTER_OIDC_ROLES_CLAIM: 'realm_access.roles' },
      clock: house.clock,
    });
    const callback = `${nested.url}/console/sign-in/callback`;
    // Without userinfo: what is not in the ID token cannot be asked for.
    provider.serve(callback, { conformIdTokenClaims: false, features: { userinfo: { enabled: false } } });
    const person = 'nested';
    provider.people.set(person, { name: 'Nested', realm_access: { roles: ['porter-admins'] } });
    const walker = new Walker();
    await walker.walk(`${nested.url}/console/sign-in/oidc`, person, isConsole);
    const me = await visitor(nested, walker.cookiesOf(nested.url)).send('GET', ME);
    expect(me.body.operator).toMatchObject({ name: 'Nested', role: 'admin' });
    provider.serve(CALLBACK);
  });

  const begunFor = async (to: string) => {
    const walker = new Walker();
    const start = `${START}?to=${encodeURIComponent(to)}`;
    const { url } = await walker.walk(start, newPerson('porter-eyes'), isConsole);
    return url.slice(house.url.length);
  };

  it.each([
    ['/partners', '/console/partners'],
    ['/console/partners/prt_1?tab=keys&q=a%20b', '/console/partners/prt_1?tab=keys&q=a%20b'],
    ['/practices/a%20b', '/console/practices/a%20b'],
    ['/?page=//x', '/console/?page=//x'],
  ])('leads to the page %s of the console', async (to, page) => {
    expect(await begunFor(to)).toBe(page);
  });

  it.each([
    ...['//evil.example', '/\\evil.example', 'https://evil.example', '\\x', '', '/a\nb', '/a\tb', '/a\0b'],
    ...['/console/../operator/v1/me', '/../evil', '/a/./b', '/..', '/a//b', '/console//evil.example'],
    ...[
      '/%2e%2e/x',
      '/a/%2E%2E',
      '/%2f%2fevil',
      '/%5cevil',
      '/a%0d%0ab',
      '/a%00',
      '/%252e%252e/x',
      '/%c3%28%7F',
    ],
  ])('leads to the first page of the console for %j', async (to) => {
    expect(await begunFor(to)).toBe('/console');
  });
});

describe('what comes back', () => {
  const isCallback = (url: string) => url.startsWith(CALLBACK);
  /** A browser that was sent back and has not arrived. */
  const almost = async () => {
    const walker = new Walker();
    const { url } = await walker.walk(START, newPerson('porter-admins'), isCallback);
    return { walker, url };
  };
  const refused = async (walker: Walker, url: string, status: number) => {
    const shown = await walker.step(url);
    expect(shown.status).toBe(status);
    expect(walker.cookiesOf(house.url)).not.toMatch(/porter-session/);
    return shown;
  };

  it('400 in a browser that has not begun it: nobody is signed in as somebody else; counted as a stranger', async () => {
    const { url } = await almost();
    const shown = await refused(new Walker(), url, 400);
    expect(shown.text).toContain('not begun here');
    expect(shown.headers.ratelimit).toMatch(/^"address";r=\d+/);
    const other = await almost();
    expect((await other.walker.step(url)).status).toBe(401);
  });

  it('400 when it is sent twice, and after ten minutes', async () => {
    const { walker, url } = await almost();
    expect((await walker.step(url)).status).toBe(303);
    const again = await walker.step(url);
    expect(again.status).toBe(400);
    const late = await almost();
    house.clock.advance(10 * 60_000);
    await refused(late.walker, late.url, 400);
  });

  it('401 with another state, another code, or an error of the provider; the log says why', async () => {
    for (const change of [
      (url: URL) => url.searchParams.set('state', 'x'.repeat(43)),
      (url: URL) => url.searchParams.set('code', 'another'),
      (url: URL) => {
        url.searchParams.delete('code');
        url.searchParams.set('error', 'access_denied');
      },
      (url: URL) => url.searchParams.set('iss', 'https://evil.example'),
    ]) {
      const { walker, url } = await almost();
      const changed = new URL(url);
      change(changed);
      await refused(walker, changed.href, 401);
      expect(house.logLines().at(-2)).toMatchObject({ msg: 'sign-in refused', reason: expect.any(String) });
    }
  });

  it('a cookie that was altered is none', async () => {
    const { walker, url } = await almost();
    const cookie = walker.cookiesOf(house.url).replace(/.{4}$/, 'AAAA');
    const answer = await house.send('GET', url.slice(house.url.length), { headers: { cookie } });
    expect(answer.status).toBe(400);
  });
});

describe('the ID token', () => {
  const signed = (header: object, claims: object) => jwtOf(header, claims, providerKey);
  type Forge = (header: Loose, claims: Loose) => string;
  /** Signs in while the provider answers with another ID token. */
  const enterWith = async (forge: Forge) => {
    const person = newPerson('porter-admins');
    provider.instead = (_path, answer) =>
      answer.id_token && {
        ...answer,
        id_token: forge(partOf(answer.id_token, 0), partOf(answer.id_token, 1)),
      };
    const { shown, walker } = await enter(person);
    provider.instead = undefined;
    return { person, shown, cookies: walker.cookiesOf(house.url) };
  };

  it('is taken as it is when the key of the provider has signed it', async () => {
    const { shown } = await enterWith(signed);
    expect(shown.url).toBe(`${house.url}/console`);
  });

  it.each<[string, Forge, RegExp]>([
    ['another key has signed', (header, claims) => jwtOf(header, claims, newKey()), /signature/],
    [
      'another key has signed without a name',
      ({ alg }, claims) => jwtOf({ alg }, claims, newKey()),
      /signature/,
    ],
    [
      'a key that is unknown has signed',
      ({ alg }, claims) => jwtOf({ alg, kid: 'x' }, claims, newKey()),
      /key/,
    ],
    ['nobody has signed', (header, claims) => jwtOf(header, claims), /signature/],
    ['says that nobody signs it', (_, claims) => jwtOf({ alg: 'none' }, claims), /"alg"/],
    [
      'is signed with the secret of the client',
      (_, claims) => {
        const content = jwtOf({ alg: 'HS256' }, claims);
        return (
          content +
          createHmac('sha256', CLIENT.client_secret).update(content.slice(0, -1)).digest('base64url')
        );
      },
      /algorithm|"alg"/,
    ],
    [
      'was altered after it was signed',
      (header, claims) => {
        const [, , signature] = signed(header, claims).split('.');
        return `${jwtOf(header, { ...claims, groups: ['porter-admins'] })}${signature}`;
      },
      /signature/,
    ],
  ])('401 when %s; the log says why and no operator is made', async (_, forge, reason) => {
    const { person, shown, cookies } = await enterWith(forge);
    expect(shown.status).toBe(401);
    expect(shown.text).toContain('did not confirm who you are');
    expect(cookies).not.toMatch(/porter-session/);
    expect(house.logLines()).toContainEqual(
      expect.objectContaining({ msg: 'sign-in refused', reason: expect.stringMatching(reason) }),
    );
    const { rows } = await db.query('SELECT FROM operators WHERE subject = $1', [person]);
    expect(rows).toEqual([]);
  });

  it('401 when the provider publishes no keys, 503 when its keys cannot be reached', async () => {
    provider.instead = (path, answer) => (path === '/jwks' ? { keys: [] } : answer);
    expect((await enter(newPerson('porter-eyes'))).shown.status).toBe(401);
    provider.instead = undefined;
    provider.failing = '/jwks';
    expect((await enter(newPerson('porter-eyes'))).shown.status).toBe(503);
    provider.failing = undefined;
  });

  it('is taken at once when the provider has rotated its keys', async () => {
    expect((await enter(newPerson('porter-eyes'))).shown.status).toBe(303);
    const next = { ...newKey().export({ format: 'jwk' }), kid: 'next' };
    provider.serve(CALLBACK, { jwks: { keys: [next as never] } });
    expect((await enter(newPerson('porter-eyes'))).shown.status).toBe(303);
    provider.serve(CALLBACK);
    expect((await enter(newPerson('porter-eyes'))).shown.status).toBe(303);
  });

  it.each([
    ['NUL', 'a\0b'],
    ['a line break', 'a\nb'],
    ['a letter that is not ASCII', 'ä'],
    ['256 characters', 'x'.repeat(256)],
  ])('401 when its subject has %s', async (_, sub) => {
    const { shown, cookies } = await enterWith((header, claims) =>
      signed(header, { ...claims, sub, groups: ['porter-eyes'] }),
    );
    expect(shown.status).toBe(401);
    expect(cookies).not.toMatch(/porter-session/);
    expect(house.logLines()).toContainEqual(
      expect.objectContaining({ msg: 'sign-in refused', reason: expect.stringContaining('"sub"') }),
    );
  });

  it('gives a name of one line, and values of its groups that keep the page in order', async () => {
    const claims = { name: 'Ann\0\u202e\n\u2028 Marsh', groups: ['porter-eyes'] };
    const { shown } = await enterWith((header, before) => signed(header, { ...before, ...claims }));
    expect(shown.status).toBe(303);
    const { data } = await house.operator('GET', '/operators?page_size=100');
    expect(data.map(({ name }: Loose) => name)).toContain('Ann Marsh');
    const others = ['x\u202e\0y', 'z'.repeat(1_000)];
    const refused = await enterWith((header, before) => signed(header, { ...before, groups: others }));
    expect(refused.shown.text).toContain(`“xy”, “${'z'.repeat(255)}”`);
  });
});

describe('approvals, where people come in through a provider', () => {
  it('403 for a token, and for the person who created the token that asked, itself or through another', async () => {
    const strict = await startHarness({ env: { ...env, PORTER_APPROVALS: 'networks' }, clock: house.clock });
    provider.serve(`${strict.url}/console/sign-in/callback`);
    const personIn = async () => {
      const walker = new Walker();
      await walker.walk(`${strict.url}/console/sign-in/oidc`, newPerson('porter-admins'), isConsole);
      return visitor(strict, walker.cookiesOf(strict.url));
    };
    const [ann, bob] = [await personIn(), await personIn()];
    provider.serve(CALLBACK);
    const wanted = { name: 'Job', role: 'admin', emergency: true };
    const first = (await ann.send('POST', '/operator/v1/operators', { body: wanted })).body as Loose;
    const second = (await strict.send('POST', '/operator/v1/operators', { token: first.token, body: wanted }))
      .body;
    const { token } = await strict.operator('POST', '/operators', wanted);
    house.clock.advance(1);
    const body = { name: 'N', practice_group_ids: [] };
    for (const job of [first, second]) {
      const asked = await strict.send('POST', '/operator/v1/networks', { token: job.token, body });
      expect(asked.status).toBe(202);
      const path = `/operator/v1/approvals/${asked.body.id}/approve`;
      expectProblem(await strict.send('POST', path, { token }), 403, 'insufficient_permissions');
      const emergency = await signIn(strict, token);
      expectProblem(await emergency.send('POST', path), 403, 'insufficient_permissions');
      expectProblem(await ann.send('POST', path), 403, 'insufficient_permissions');
      expect((await bob.send('POST', path)).status).toBe(200);
    }
  });
});

describe('while the provider cannot be reached', () => {
  it('503 with a page that says so, the service starts all the same, and signing in works when it is back', async () => {
    provider.stopServing();
    const late = await startHarness({ env, databaseUrl: house.databaseUrl, clock: house.clock });
    const path = '/console/sign-in/oidc';
    const shown = await late.send('GET', path);
    expect(shown.status).toBe(503);
    expect(shown.text).toContain('Your provider cannot be reached');
    expect(late.logLines()).toContainEqual(
      expect.objectContaining({ msg: 'outage', reason: expect.stringContaining(provider.issuer) }),
    );
    provider.serve(CALLBACK);
    expect((await late.send('GET', path)).status).toBe(303);
  });

  it('503 when it goes while somebody signs in', async () => {
    const walker = new Walker();
    const { url } = await walker.walk(START, newPerson('porter-eyes'), (next) => next.startsWith(CALLBACK));
    provider.stopServing();
    expect((await walker.step(url)).status).toBe(503);
    provider.serve(CALLBACK);
  });
});

describe('tokens, where people come in through a provider', () => {
  it('403: do not sign in to the console, unless they were made for emergencies; the API takes them as before', async () => {
    const answer = await house.send('POST', '/console/sign-in', { body: { token: OPERATOR_TOKEN } });
    expectProblem(answer, 403, 'insufficient_permissions');
    expect(answer.headers['set-cookie']).toBeUndefined();
    const made = await house.operator('POST', '/operators', {
      name: 'In the safe',
      role: 'admin',
      emergency: true,
    });
    expect(made).toMatchObject({ kind: 'token', emergency: true, issuer: null, subject: null });
    const { session } = (await (await signIn(house, made.token)).send('GET', ME)).body;
    expect(session.id).toMatch(/^ses_/);
  });

  it('GET /console/sign-in/options says which way it is, to anybody', async () => {
    const { body } = await house.send('GET', '/console/sign-in/options');
    expect(body).toEqual({
      sign_in: 'oidc',
      environment: 'staging',
      support_contact: 'support@porter.example',
    });
    const plain = await startHarness({ env: { PORTER_ROLE: 'api' } });
    expect((await plain.send('GET', '/console/sign-in/options')).body.sign_in).toBe('token');
    // The application itself says that there is no such page.
    expect((await plain.send('GET', '/console/sign-in/oidc')).headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
    });
  });
});
