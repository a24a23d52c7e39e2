import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { expectInvalid, expectProblem } from '../../support/answers.ts';
import { type Answer, OPERATOR_TOKEN, type Send, serviceForTests } from '../../support/service.ts';

const PATH = '/v1/care-nav/submission-types/type-1';
const { house, world } = await serviceForTests();

const send = (options: Send): Promise<Answer> => {
  house.clock.advance(1_000);
  return house.send('PATCH', PATH, { key: world.key, group: world.groupId, ...options });
};

describe('unknown and read-only fields', () => {
  it('400: one unrecognized_keys entry for each unknown field', async () => {
    const answer = await send({ body: { titel: 'x', practice_group_id: 'g', version: 3, '': 1, 'a.b': 2 } });
    expectInvalid(
      answer,
      ['titel', 'practice_group_id', 'version', '', 'a.b'].map((field) => ({
        code: 'unrecognized_keys',
        path: [field],
      })),
    );
  });

  it.each(['id', 'pathway_id', 'forms_submitted_today', 'created_at', 'updated_at'])(
    '400: %s is known and read only, whatever the value',
    async (field) => {
      for (const value of ['x', null, 0])
        expectInvalid(await send({ body: { [field]: value } }), [{ code: 'read_only', path: [field] }]);
    },
  );

  it('400: a read-only field with its present value is refused too', async () => {
    expectInvalid(await send({ body: { id: 'type-1' } }), [{ code: 'read_only', path: ['id'] }]);
  });

  it.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'])(
    '400: %s is an unknown field like any other',
    async (field) => {
      for (const value of ['{"title":"Polluted"}', '1', 'null'])
        expectInvalid(await send({ raw: `{"${field}":${value}}` }), [
          { code: 'unrecognized_keys', path: [field] },
        ]);
      expect(({} as Record<string, unknown>).title).toBeUndefined();
      expect((await send({ body: {} })).body.title).toBe('Type one');
    },
  );

  it('400: a name that differs in case is unknown', async () => {
    expectInvalid(await send({ body: { Title: 'x' } }), [{ code: 'unrecognized_keys', path: ['Title'] }]);
  });
});

describe('all problems at once', () => {
  it('400: every problem of the body has an entry with code, expected, path and message', async () => {
    const before = await house.send('GET', PATH, { key: world.key, group: world.groupId });
    const answer = await send({
      body: {
        title: 42,
        description: false,
        in_hours: null,
        suspended: 'no',
        external_url: 'example.org',
        type: 'urgent',
        default_priority: 1,
        daily_limit: -1,
        order: 2_147_483_648,
        titel: 'x',
        id: 'y',
        patient_eligibility_check: true,
      },
    });
    expectInvalid(answer, [
      { code: 'invalid_type', expected: 'string', path: ['title'] },
      { code: 'invalid_type', expected: 'string', path: ['description'] },
      { code: 'invalid_type', expected: 'boolean', path: ['in_hours'] },
      { code: 'invalid_type', expected: 'boolean', path: ['suspended'] },
      { code: 'invalid_format', expected: 'string', path: ['external_url'] },
      { code: 'invalid_value', expected: 'string', path: ['type'] },
      { code: 'invalid_value', expected: 'string', path: ['default_priority'] },
      { code: 'too_small', expected: 'integer', path: ['daily_limit'] },
      { code: 'too_big', expected: 'integer', path: ['order'] },
      { code: 'unrecognized_keys', path: ['titel'] },
      { code: 'read_only', path: ['id'] },
    ]);
    // The one good field of a refused body is not written either.
    const after = await house.send('GET', PATH, { key: world.key, group: world.groupId });
    expect(after.body).toEqual(before.body);
    expect(after.headers.etag).toBe(before.headers.etag);
  });

  it('400: the missing header, the path and the body are reported together', async () => {
    const answer = await house.send('PATCH', `/v1/care-nav/submission-types/${'x'.repeat(256)}`, {
      key: world.key,
      body: { title: 1 },
    });
    expectInvalid(answer, [
      { path: ['id'] },
      { path: ['title'] },
      { code: 'invalid_type', expected: 'string', path: ['x-practice-group-id'] },
    ]);
  });
});

describe('fields that are sent more than once', () => {
  it('400: each has an entry beside all other problems, and nothing is changed', async () => {
    const before = await house.send('GET', PATH, { key: world.key, group: world.groupId });
    for (const raw of ['{"title":"one","title":"two"}', String.raw`{"title":"same","\u0074itle":"same"}`])
      expectInvalid(await send({ raw }), [{ code: 'duplicate_key', path: ['title'] }]);
    expectInvalid(await send({ raw: '{"title":1,"title":2,"titel":{"a":1,"a":2}}' }), [
      { code: 'duplicate_key', path: ['title'] },
      { code: 'duplicate_key', path: ['titel', 'a'] },
      { code: 'invalid_type', path: ['title'] },
      { code: 'unrecognized_keys', path: ['titel'] },
    ]);
    const after = await house.send('GET', PATH, { key: world.key, group: world.groupId });
    expect(after.body).toEqual(before.body);
  });

  it('400: in the depths of a batch of events too', async () => {
    const event = `{"object":"Appointment","id":"a","practice_group_id":"${world.groupId}","event":"appointment.confirmed"}`;
    const twice = event.replace('"id":"a"', '"id":"a","id":"b"');
    const answer = await house.send('POST', '/operator/v1/events', {
      token: OPERATOR_TOKEN,
      raw: `{"events":[${event},${twice}]}`,
    });
    expectInvalid(answer, [{ code: 'duplicate_key', path: ['events', 1, 'id'] }]);
  });
});

describe('bodies that are no JSON object', () => {
  it.each([
    '{',
    '{"title":}',
    '{title:"x"}',
    "{'title':'x'}",
    '{"title":"x",}',
    'title',
    'NaN',
    '{"order":01}',
    '\u00a0{}',
  ])('400: malformed JSON %j has the path []', async (raw) => {
    expectInvalid(await send({ raw }), [{ code: 'invalid_json', expected: 'object', path: [] }]);
  });

  it.each(['[]', '[{"title":"x"}]', 'null', '"title"', '5', 'true'])(
    '400: the root %s is of the wrong type and has the path []',
    async (raw) => {
      expectInvalid(await send({ raw }), [{ code: 'invalid_type', expected: 'object', path: [] }]);
    },
  );

  it('400: no body, with or without a Content-Type, has the path []', async () => {
    expectInvalid(await send({}), [{ path: [] }]);
    expectInvalid(await send({ headers: { 'content-type': 'application/json' } }), [{ path: [] }]);
    expectInvalid(await send({ raw: '' }), [{ path: [] }]);
    expectInvalid(await send({ raw: ' \n ' }), [{ path: [] }]);
  });

  it('400: bytes that are no UTF-8 have the path []', async () => {
    for (const bytes of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0x80], [0xf5, 0x80, 0x80, 0x80]]) {
      const raw = Buffer.concat([Buffer.from('{"title":"'), Buffer.from(bytes), Buffer.from('"}')]);
      expectInvalid(await send({ raw }), [{ code: 'invalid_json', path: [] }]);
    }
    expectInvalid(await send({ raw: Buffer.from('{"title":"x"}', 'utf16le') }), [{ path: [] }]);
  });

  it('400: tens of thousands of brackets neither break nor stall the service', async () => {
    expectInvalid(await send({ raw: '['.repeat(60_000) }), [{ path: [] }]);
    expectInvalid(await send({ raw: `{"title":${'['.repeat(30_000)}${']'.repeat(30_000)}}` }), [
      { code: 'invalid_type', path: ['title'] },
    ]);
  });
});

describe('media types', () => {
  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'Application/JSON; Charset="utf-8"',
  ])('200: %s', async (type) => {
    const answer = await send({ raw: '{}', headers: { 'content-type': type } });
    expect(answer.status, answer.text).toBe(200);
  });

  it.each([
    'text/plain',
    'text/json',
    'application/merge-patch+json',
    'application/jsonp',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json; charset=iso-8859-1',
    'application/json, text/plain',
    '',
  ])('415: %j', async (type) => {
    expectProblem(
      await send({ raw: '{"title":"x"}', headers: { 'content-type': type } }),
      415,
      'unsupported_media_type',
    );
  });

  it('415: a body without a Content-Type', async () => {
    const answer = await fetch(`${house.url}${PATH}`, {
      method: 'PATCH',
      headers: { 'x-api-key': world.key, 'x-practice-group-id': world.groupId },
      body: Buffer.from('{"title":"x"}'),
    });
    expect(answer.status).toBe(415);
  });

  it('415: a compressed body, even if it would be JSON', async () => {
    for (const encoding of ['gzip', 'br', 'deflate'])
      expectProblem(
        await send({ raw: gzipSync('{}'), headers: { 'content-encoding': encoding } }),
        415,
        'unsupported_media_type',
      );
    expect((await send({ raw: '{}', headers: { 'content-encoding': 'identity' } })).status).toBe(200);
  });
});
