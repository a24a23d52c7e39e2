import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../../src/contract/endpoint.ts';
import { type OperatorOperationId, operatorEndpoints } from '../../../src/contract/operator/index.ts';
import { lastEntry } from '../../support/audit.ts';
import { furnish, make, operationIds, pathOf, validCall } from '../../support/operator-calls.ts';
import { type Answer, OPERATOR_TOKEN, startHarness } from '../../support/service.ts';

const given = await furnish(await startHarness());

const declared = (id: OperatorOperationId): Endpoint => operatorEndpoints[id];
const withBody = operationIds.filter((id) => declared(id).body);
const withQuery = operationIds.filter((id) => declared(id).query && declared(id).method === 'GET');
const withParams = operationIds.filter((id) => declared(id).params);

const send = (method: string, path: string, raw?: string, headers: Record<string, string> = {}) =>
  given.house.send(method, path, {
    token: OPERATOR_TOKEN,
    ...(raw !== undefined && { raw }),
    headers: { ...(raw !== undefined && { 'content-type': 'application/json' }), ...headers },
  });

function expectValidationError(answer: Answer, ...entries: { code?: string; path: unknown[] }[]): void {
  expect(answer.status).toBe(400);
  expect(Object.keys(answer.body).sort()).toEqual(['error', 'message', 'statusCode']);
  expect(answer.body).toMatchObject({ error: true, statusCode: 400 });
  for (const entry of answer.body.message) {
    expect(entry).toEqual({
      code: expect.any(String),
      expected: expect.any(String),
      path: expect.any(Array),
      message: expect.any(String),
    });
  }
  expect(answer.body.message).toEqual(entries.map((entry) => expect.objectContaining(entry)));
}

it('lists ten thousand problems of a body, and counts the rest', async () => {
  const fields = Array.from({ length: 150_000 }, (_, n) => `"f${n}":0`).join();
  const { status, body, text } = await send('POST', '/operator/v1/import', `{${fields}}`);
  expect(status).toBe(400);
  expect(text.length).toBeLessThan(2_000_000);
  expect(body.message).toHaveLength(10_001);
  const last = { code: 'more_problems', expected: 'never', path: [], message: expect.any(String) };
  expect(body.message.at(-1)).toEqual(last);
  expect(body.message.at(-1).message).toMatch(/^140001 more/);
});

describe('a success', () => {
  it.each(operationIds)('%s answers with the status and exactly the fields of the contract', async (id) => {
    const { status, body, lines, stream } = declared(id).response;
    const answer = await make(given, await validCall(id, given));
    expect(answer.status).toBe(status);
    if (stream) {
      expect(answer.headers['content-type']).toBe('text/event-stream; charset=utf-8');
      return;
    }
    if (lines) {
      expect(answer.headers['content-type']).toBe('application/x-ndjson; charset=utf-8');
      for (const line of answer.text.trimEnd().split('\n')) expect(JSON.parse(line)).toBeTypeOf('object');
      return;
    }
    if (!body) {
      expect(answer.text).toBe('');
      return;
    }
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    // Parsing drops what is not declared, so equality says that there was nothing more.
    expect(body.parse(answer.body)).toEqual(answer.body);
  });
});

describe.each(withBody)('the body of %s', (id) => {
  it('400: refuses an unknown field, naming it, and changes nothing', async () => {
    const call = await validCall(id, given);
    const before = await lastEntry(given.house);
    const body = { ...(call.body as object), surprise: 1, $other: null };
    const answer = await make(given, { ...call, body });
    expectValidationError(
      answer,
      { code: 'unrecognized_keys', path: ['surprise'] },
      { code: 'unrecognized_keys', path: ['$other'] },
    );
    expect(await lastEntry(given.house)).toBe(before);
  });

  it('400: refuses what is not an object, and what is not JSON', async () => {
    const call = await validCall(id, given);
    for (const raw of ['[]', 'null', '"text"', '1'])
      expectValidationError(await send(call.method, call.path, raw), { code: 'invalid_type', path: [] });
    for (const raw of ['{', '{"a":1,}', 'nonsense', '\u{feff}{}x'])
      expectValidationError(await send(call.method, call.path, raw), { code: 'invalid_json', path: [] });
  });

  it('415: refuses another media type', async () => {
    const call = await validCall(id, given);
    const answer = await send(call.method, call.path, '{}', { 'content-type': 'text/plain' });
    expect(answer.status).toBe(415);
  });

  it('400: misses a body, unless the contract says that it may be left out', async () => {
    const call = await validCall(id, given);
    const answer = await send(call.method, call.path);
    if (declared(id).bodyOptional) expect(answer.status).toBe(declared(id).response.status);
    else expectValidationError(answer, { path: [] });
  });
});

describe('bodies that the contract makes optional', () => {
  it('are those of sign-agreement, rotate and availability, as the operator surface says', () => {
    expect(withBody.filter((id) => declared(id).bodyOptional)).toEqual([
      'signAgreement',
      'rotateKey',
      'getAvailability',
    ]);
  });
});

/** What a call asks already stays. */
const asking = (path: string) => `${path}${path.includes('?') ? '&' : '?'}`;

describe.each(withQuery)('the query of %s', (id) => {
  it('400: refuses an unknown parameter', async () => {
    const call = await validCall(id, given);
    expectValidationError(await send('GET', `${asking(call.path)}surprise=1`), {
      code: 'unrecognized_keys',
      path: ['surprise'],
    });
  });

  it('400: refuses a page size out of range and a cursor that it did not hand out', async () => {
    const call = await validCall(id, given);
    for (const size of ['0', '101', '-1', '1.5', 'x', '', '1e2', '99999999999'])
      expectValidationError(await send('GET', `${asking(call.path)}page_size=${size}`), {
        path: ['page_size'],
      });
    const forged = [
      [],
      {},
      null,
      1,
      [1, 2, 3],
      [null],
      [1.5],
      [true],
      [['a']],
      ['\0'],
      ['\ud800'],
      ['a', 'b', 'c'],
    ];
    for (const key of forged) {
      const cursor = Buffer.from(JSON.stringify(key)).toString('base64url');
      expectValidationError(await send('GET', `${asking(call.path)}cursor=${cursor}`), { path: ['cursor'] });
    }
    for (const cursor of ['', '%00', 'nonsense', '!'])
      expectValidationError(await send('GET', `${asking(call.path)}cursor=${cursor}`), { path: ['cursor'] });
  });

  it('a forged cursor of the right shape is a 400 or a page, never a 500', async () => {
    const call = await validCall(id, given);
    const parts = [0, -1, 2 ** 31, -(2 ** 40), Number.MAX_SAFE_INTEGER, '', 'zzz', "'; --", '💊'];
    // Each alone, and in either place beside a number and beside a text.
    for (const key of parts.flatMap((one) => [[one], [one, 0], [one, 'zzz'], [0, one], ['zzz', one]])) {
      const cursor = Buffer.from(JSON.stringify(key)).toString('base64url');
      const answer = await make(given, { ...call, path: `${asking(call.path)}cursor=${cursor}` });
      // 410: a place in a feed that was set back.
      expect([200, 400, 410], `cursor ${JSON.stringify(key)}`).toContain(answer.status);
    }
  });
});

/** Somebody else's names: describing one that is new is what these calls are for. */
const createdByNaming = new Set(['putForm form_id', 'putAssignee assignee_id']);

describe.each(withParams)('the address of %s', (id) => {
  const names = Object.keys(declared(id).params?.shape ?? {});

  it('404: for a record that does not exist, and nothing changes', async () => {
    for (const name of names.filter((one) => one !== 'assignee_type')) {
      if (createdByNaming.has(`${id} ${name}`)) continue;
      const call = await validCall(id, given);
      const before = await lastEntry(given.house);
      const path = replaceParam(id, call.path, name, name === 'seq' ? '999999999' : 'no-such-record');
      const answer = await send(
        call.method,
        path,
        call.body === undefined ? undefined : JSON.stringify(call.body),
      );
      expect(answer.status, path).toBe(404);
      expect(answer.body).toMatchObject({ error: 'not_found', statusCode: 404 });
      expect(await lastEntry(given.house)).toBe(before);
    }
  });

  it('400: for an ID that no record can have', async () => {
    for (const name of names) {
      const call = await validCall(id, given);
      const path = replaceParam(id, call.path, name, `${'x'.repeat(256)}`);
      const answer = await send(
        call.method,
        path,
        call.body === undefined ? undefined : JSON.stringify(call.body),
      );
      expectValidationError(answer, { path: [name] });
    }
  });
});

function replaceParam(id: OperatorOperationId, path: string, name: string, value: string): string {
  const template = declared(id).path.split('/');
  const params: Record<string, string> = {};
  path.split('/').forEach((part, at) => {
    const [, param] = /^\{(\w+)\}$/.exec(template[at] ?? '') ?? [];
    if (param) params[param] = decodeURIComponent(part);
  });
  return pathOf(declared(id).path, { ...params, [name]: value });
}

describe('fields of the operator API', () => {
  const post = (path: string, body: unknown) =>
    given.house.send('POST', `/operator/v1${path}`, { token: OPERATOR_TOKEN, body });

  it.each([
    [{ name: '' }, ['name']],
    [{ name: 'x'.repeat(256) }, ['name']],
    [{ name: null }, ['name']],
    [{ name: 'a\0b' }, ['name']],
    [{ id: '-starts-with-a-dash' }, ['id']],
    [{ id: 'has space' }, ['id']],
    [{ id: 'a,b' }, ['id']],
    [{ id: '*' }, ['id']],
    [{ timezone: 'Europe/Atlantis' }, ['timezone']],
    [{ timezone: '+01:00' }, ['timezone']],
    [{ timezone: null }, ['timezone']],
    [{ address: { street: 'x' } }, ['address', 'street']],
    [{ address: { town: 1 } }, ['address', 'town']],
    [{ opening_hours: { monday: [] } }, ['opening_hours', 'monday']],
    [{ opening_hours: { mon: [['09:00', '08:00']] } }, ['opening_hours', 'mon', 0]],
    [{ opening_hours: { mon: [['09:00', '09:00']] } }, ['opening_hours', 'mon', 0]],
    [{ opening_hours: { mon: [['0:00', '10:00']] } }, ['opening_hours', 'mon', 0, 0]],
    [{ opening_hours: { mon: [['08:00', '24:01']] } }, ['opening_hours', 'mon', 0, 1]],
    [{ opening_hours: null }, ['opening_hours']],
    [{ ods_code: '' }, ['ods_code']],
  ])('400: a practice group with %j', async (field, path) => {
    expectValidationError(await post('/practice-groups', { name: 'Fine', ...field }), { path });
  });

  it('400: all problems of a request are reported together', async () => {
    const answer = await post('/keys', {
      scopes: [],
      rate_limit_per_minute: 0,
      expires_at: 'soon',
      extra: 1,
    });
    const paths = answer.body.message.map(({ path }: { path: string[] }) => path.join('.')).sort();
    expect(paths).toEqual([
      'expires_at',
      'extra',
      'partner_id',
      'practice_group_id',
      'rate_limit_per_minute',
      'scopes',
    ]);
  });

  it.each([
    '2026-11-17',
    '2026-11-17T08:00:00',
    '17 Nov 2026 08:00:00 GMT',
    '2026-13-01T00:00:00Z',
    1_800_000_000,
  ])('400: %j is no moment', async (expires_at) => {
    const { partnerId: partner_id, groupId: practice_group_id } = given;
    const answer = await post('/keys', {
      partner_id,
      practice_group_id,
      scopes: ['events:read'],
      expires_at,
    });
    expectValidationError(answer, { path: ['expires_at'] });
  });

  it.each([
    '2026-02-30T00:00:00Z',
    '0000-01-01T00:00:00Z',
    '9999-12-31T23:59:59-23:59',
    '2026-11-17T24:00:00+15:59',
    '2026-11-17T08:00:00+23:59',
    '2030-06-01T12:00:00.123456789Z',
  ])('the odd moment %s never is a 500, in a body or a query', async (moment) => {
    const { partnerId: partner_id, groupId: practice_group_id } = given;
    const key = { partner_id, practice_group_id, scopes: ['events:read'], expires_at: moment };
    expect([201, 400, 422]).toContain((await post('/keys', key)).status);
    for (const name of ['since', 'until']) {
      const path = `/operator/v1/audit?${name}=${encodeURIComponent(moment)}`;
      expect([200, 400]).toContain((await send('GET', path)).status);
    }
  });

  it('400: a partner needs an e-mail address', async () => {
    for (const contact_email of ['', 'nobody', '@', 'a@', 'a b@c', null, `${'x'.repeat(250)}@b.example`])
      expectValidationError(await post('/partners', { name: 'P', contact_email }), {
        path: ['contact_email'],
      });
  });

  it('400: an operator has one of the four roles', async () => {
    for (const role of ['root', 'Admin', '', null])
      expectValidationError(await post('/operators', { name: 'O', role }), { path: ['role'] });
  });

  it('400: what takes no body and no query takes none', async () => {
    expectValidationError(await post(`/keys/${given.keyId}/revoke`, { reason: 'leaked' }), {
      code: 'unrecognized_keys',
      path: ['reason'],
    });
    const asked = await send('GET', `/operator/v1/partners/${given.partnerId}?verbose=1`);
    expectValidationError(asked, { code: 'unrecognized_keys', path: ['verbose'] });
    expect((await post(`/partners/${given.partnerId}/suspend`, {})).status).toBe(200);
  });
});
