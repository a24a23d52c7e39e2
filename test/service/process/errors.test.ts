import { createServer, type Server, type Socket, connect as tcpConnect } from 'node:net';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import {
  PATH_UNKNOWN,
  problemCatalogue,
  unknownKeys,
  unknownTokens,
} from '../../../src/contract/problems.ts';
import { operatorDetails, validationExamples } from '../../../src/describe/examples/problem-examples.ts';
import { expectInvalid, expectProblem } from '../../support/answers.ts';
import {
  type Answer,
  createUpToDateDatabase,
  makeKey,
  makeWorld,
  OPERATOR_TOKEN,
  type Send,
  serviceForTests,
  startHarness,
} from '../../support/service.ts';

const TYPE = '/v1/care-nav/submission-types/type-1';
const { house, world } = await serviceForTests();

const send = (method: string, path: string, options: Send = {}): Promise<Answer> =>
  house.send(method, path, { key: world.key, group: world.groupId, ...options });

describe('every refusal has the decided fields and a page about it', () => {
  it('401, 403, 404, 405, 412, 413, 415, 422, 429: the five common fields, its own, and a doc_url that is served', async () => {
    const { key: limited } = await makeKey(house, world.groupId, { rate_limit_per_minute: 1 });
    await send('GET', TYPE, { key: limited });
    const { key: unscoped } = await makeKey(house, world.groupId, { scopes: ['events:read'] });
    const cases: [number, string, Answer, Record<string, unknown>?][] = [
      [401, 'invalid_credentials', await send('GET', TYPE, { key: undefined })],
      [
        403,
        'insufficient_permissions',
        await send('GET', TYPE, { key: unscoped }),
        { required_scopes: ['submission-types:read'] },
      ],
      [403, 'forbidden', await send('GET', TYPE, { group: 'elsewhere' })],
      [403, 'https_required', await send('GET', TYPE, { headers: { 'x-forwarded-proto': 'https' } })],
      [404, 'not_found', await send('GET', `${TYPE}0`)],
      [405, 'method_not_allowed', await send('PUT', TYPE)],
      [412, 'precondition_failed', await send('PATCH', TYPE, { body: {}, headers: { 'if-match': '"0"' } })],
      [413, 'payload_too_large', await send('PATCH', TYPE, { raw: ' '.repeat(65_537) })],
      [
        415,
        'unsupported_media_type',
        await send('PATCH', TYPE, { raw: 'x', headers: { 'content-type': 'a/b' } }),
      ],
      [
        422,
        'business_rule_violation',
        await send('PATCH', TYPE, { body: { form_id: 'none' } }),
        { rule: 'form_unknown', path: ['form_id'] },
      ],
      [429, 'rate_limit_exceeded', await send('GET', TYPE, { key: limited }), { retry_after: 60 }],
    ];
    for (const [status, code, answer, more] of cases) {
      expectProblem(answer, status, code, more);
      expect(answer.body.doc_url).toBe(`${house.url}/docs/errors/${code}`);
      expect(answer.headers['cache-control']).toBe('no-store');
      const page = await fetch(answer.body.doc_url);
      expect(page.status, code).toBe(200);
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(await page.text()).toContain(String(status));
    }
  });

  it('a page for each decided code, one for the validation error, and a list of them all; no key needed', async () => {
    const codes = [
      'invalid_credentials',
      'insufficient_permissions',
      'forbidden',
      'rate_limit_exceeded',
      'not_found',
      'business_rule_violation',
      'cursor_gone',
      'precondition_failed',
      'payload_too_large',
      'unsupported_media_type',
      'method_not_allowed',
      'conflict',
      'https_required',
      'internal_error',
      'service_unavailable',
      'validation_error',
    ];
    const list = await (await fetch(`${house.url}/docs/errors`)).text();
    for (const code of codes) {
      expect((await fetch(`${house.url}/docs/errors/${code}`)).status, code).toBe(200);
      expect(list).toContain(`/docs/errors/${code}`);
    }
    expect((await fetch(`${house.url}/docs/errors/toString`)).status).toBe(404);
  });

  it('doc_url is at the public address when one is configured', async () => {
    const named = await startHarness({ env: { PORTER_STAGING_BASE_URL: 'https://staging.example.org/' } });
    expect((await named.send('GET', TYPE)).body.doc_url).toBe(
      'https://staging.example.org/docs/errors/invalid_credentials',
    );
  });
});

describe('the documented examples are what the service sends', () => {
  it('400 without x-practice-group-id, word for word', async () => {
    const answer = await send('GET', TYPE, { group: undefined });
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual(validationExamples('partner').missing_practice_group?.value);
  });

  it('400 for wrong and unknown fields, word for word', async () => {
    const examples = validationExamples('partner');
    const wrong = await send('PATCH', TYPE, { body: { title: 42, default_priority: 'urgent' } });
    expect(wrong.body).toEqual(examples.wrong_type?.value);
    const unknown = await send('PATCH', TYPE, { body: { titel: 'Sick note', updated_at: null } });
    expect(unknown.body).toEqual(examples.unknown_field?.value);
  });

  it('401 says what is missing where: a token, or a key that is in the wrong header', async () => {
    const tokens: [Record<string, string>, string][] = [
      [{}, unknownTokens.missing],
      [{ authorization: 'Bearer pto_nobody' }, unknownTokens.refused],
      [{ authorization: 'pto_nobody' }, unknownTokens.not_bearer],
      [{ 'x-api-key': world.key }, unknownTokens.api_key],
    ];
    for (const [headers, message] of tokens)
      for (const path of ['/operator/v1/partners', '/operator/v1/nothing'])
        expectProblem(await house.send('GET', path, { headers }), 401, 'invalid_credentials', { message });
    const inAuthorization = { authorization: `Bearer ${world.key}` };
    expectProblem(
      await house.send('GET', '/v1/practice-groups', { headers: inAuthorization }),
      401,
      'invalid_credentials',
      { message: unknownKeys.in_authorization },
    );
    // One that is there, and wrong, says nothing of the other header.
    expectProblem(
      await house.send('GET', '/v1/practice-groups', { key: 'ptr_test_no', headers: inAuthorization }),
      401,
      'invalid_credentials',
      { message: unknownKeys.length },
    );
  });

  it('404 says whether the path or the object is unknown; another practice reads like none', async () => {
    const path = { message: PATH_UNKNOWN };
    const object = { message: problemCatalogue.not_found.message };
    for (const one of ['/v1/nothing', '/v1', '/v1/care-nav', `${TYPE}/changes/more`, '/v2/practice-groups'])
      expectProblem(await send('GET', one), 404, 'not_found', path);
    expectProblem(await house.send('GET', '/nothing'), 404, 'not_found', path);
    const token = OPERATOR_TOKEN;
    expectProblem(await house.send('GET', '/operator/v1/nothing', { token }), 404, 'not_found', path);
    expectProblem(await house.send('GET', '/operator/v1/partners/none', { token }), 404, 'not_found', object);
    const other = await makeWorld(house);
    const foreign = '/v1/care-nav/submission-types/foreign';
    await house.operator('POST', `/practice-groups/${other.groupId}/submission-types`, {
      id: 'foreign',
      pathway_id: 'p',
      title: 'Foreign',
    });
    for (const one of [foreign, `${TYPE}0`]) expectProblem(await send('GET', one), 404, 'not_found', object);
  });

  it('400 for what is no JSON names line and column, to partners, to operators and in lines', async () => {
    const raw = '{\n  "title": "A title",\n  "order": 01\n}';
    const path = '/operator/v1/networks';
    for (const answer of [
      await send('PATCH', TYPE, { raw }),
      await house.send('POST', path, { token: OPERATOR_TOKEN, raw }),
    ])
      expectInvalid(answer, [
        {
          code: 'invalid_json',
          expected: 'object',
          path: [],
          message: 'The body is not well-formed JSON: see line 3, column 13.',
        },
      ]);
    const lines = await house.send('POST', '/operator/v1/import', {
      token: OPERATOR_TOKEN,
      raw: '{"kind": "form"\n',
      headers: { 'content-type': 'application/x-ndjson' },
    });
    expect(JSON.parse(lines.text)).toMatchObject({
      outcome: 'refused',
      problem: { entries: [{ message: 'The line is not well-formed JSON: see column 16.' }] },
    });
  });

  it('400 has one entry for a field of the wrong type', async () => {
    for (const event_types of ['x', '', 'appointment.confirmed,appointment.cancelled'])
      expectInvalid(
        await send('POST', '/v1/webhooks', { body: { url: 'https://a.example/', event_types } }),
        [{ code: 'invalid_type', expected: 'array', path: ['event_types'] }],
      );
  });

  it('403 of the operator API, word for word', async () => {
    const { token } = await house.operator('POST', '/operators', { name: 'Reader', role: 'viewer' });
    const answer = await house.send('POST', '/operator/v1/networks', {
      token,
      body: { name: 'N', practice_group_ids: [] },
    });
    const { message, ...more } = operatorDetails.insufficient_permissions ?? {};
    expectProblem(answer, 403, 'insufficient_permissions', { message, ...more });
  });
});

describe('500 internal_error', () => {
  it('tells the caller nothing but the request ID, and the log everything but the key', async () => {
    const client = new pg.Client({ connectionString: house.databaseUrl });
    await client.connect();
    await client.query('ALTER TABLE submission_types RENAME TO moved_away');
    const answers = [
      await send('GET', TYPE, { headers: { 'x-request-id': 'five-hundred' } }),
      await send('GET', '/v1/care-nav/submission-types'),
      await send('PATCH', TYPE, { body: { title: 'x' } }),
    ];
    await client.query('ALTER TABLE moved_away RENAME TO submission_types');
    await client.end();
    for (const answer of answers) {
      expectProblem(answer, 500, 'internal_error');
      expect(answer.text).not.toMatch(/submission_types|relation|SELECT|postgres|\.ts|node_modules/i);
      expect(answer.headers.ratelimit).toMatch(/^"default";/);
    }
    const lines = house.logLines().filter(({ request_id }) => request_id === 'five-hundred');
    expect(JSON.stringify(lines)).toContain('submission_types');
    expect(JSON.stringify(lines)).not.toContain(world.key.slice(9, 20));
    expect((await send('GET', TYPE)).status).toBe(200);
  });
});

/** Stands between the service and its database, and can be cut. */
async function startCable(to: URL): Promise<{ url: string; cut(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((near) => {
    const far = tcpConnect(Number(to.port), to.hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const url = new URL(to);
  url.hostname = '127.0.0.1';
  url.port = String(typeof address === 'object' ? address?.port : '');
  return {
    url: url.href,
    cut: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

describe('503 service_unavailable', () => {
  it('when the database is out of reach: Retry-After, no internals, and the service itself stays alive', async () => {
    const cable = await startCable(new URL(await createUpToDateDatabase()));
    const remote = await startHarness({ databaseUrl: cable.url });
    const { key, groupId } = await makeWorld(remote);
    const call = { key, group: groupId };
    expect((await remote.send('GET', TYPE, call)).status).toBe(200);
    await cable.cut();
    // Past the second for which the door remembers the key, it cannot tell who calls.
    for (const wait of [0, 1_000]) {
      remote.clock.advance(wait);
      for (const answer of [
        await remote.send('GET', TYPE, call),
        await remote.send('PATCH', TYPE, { ...call, body: { title: 'x' } }),
      ]) {
        expectProblem(answer, 503, 'service_unavailable');
        expect(remote.logLines()).toContainEqual(
          expect.objectContaining({
            level: 'warn',
            msg: 'outage',
            request_id: answer.headers['x-request-id'],
            reason: expect.stringMatching(/\S/),
          }),
        );
        expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
        expect(answer.text).not.toMatch(/ECONN|127\.0\.0\.1:\d+\b(?!\/docs)|postgres|terminat/i);
      }
    }
    expect((await remote.send('GET', '/healthz')).status).toBe(200);
    expect((await remote.send('GET', '/readyz')).status).toBe(503);
    // What needs no database is still decided: a stranger gets no other answer than before.
    expectProblem(await remote.send('GET', TYPE), 401, 'invalid_credentials');
  });
});
