import Fastify from 'fastify';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Endpoint } from '../../src/contract/endpoint.ts';
import { toJsonSchema, toReferencedSchema } from '../../src/contract/json-schema.ts';
import { operatorEndpoints } from '../../src/contract/operator/index.ts';
import { partnerEndpoints } from '../../src/contract/partner/index.ts';
import { problemBody, validationErrorBody } from '../../src/contract/problems.ts';

const endpoints: Endpoint[] = [...Object.values(partnerEndpoints), ...Object.values(operatorEndpoints)];

/** Sends a value through the very serialiser that the service uses. */
async function serialised(schema: z.ZodType, value: unknown): Promise<unknown> {
  const app = Fastify();
  app.get('/', { schema: { response: { 200: toJsonSchema(schema, { io: 'output' }) } } }, async () => value);
  const answer = await app.inject('/');
  await app.close();
  expect(answer.statusCode, answer.body).toBe(200);
  return JSON.parse(answer.body);
}

const group = {
  id: 'pg_1',
  name: 'Larkhill "Medical" Centre',
  ods_code: null,
  timezone: 'Europe/London',
  address: null,
  networks: [{ id: 'net_1', name: 'Plain' }],
  ehr_status: 'unknown',
  created_at: '2026-11-14T08:00:00.000Z',
  updated_at: '2026-11-14T08:00:00.000Z',
};
const address = { line_1: '12 Orchard Lane', line_2: null, town: null, county: null, postcode: 'ZZ99 1AA' };

describe('through the serialiser', () => {
  test('a nullable object is written both as null and as a value, and unknown fields are left out', async () => {
    const { body } = partnerEndpoints.listPracticeGroups.response;
    const value = { data: [group, { ...group, ods_code: 'Z99001', address }], count: 2 };
    expect(await serialised(body, value)).toEqual(value);
    expect(await serialised(body, { ...value, data: [{ ...group, secret: 1 }], spare: 2 })).toEqual({
      data: [group],
      count: 2,
    });
  });

  test('nullable texts, numbers, enumerations and timestamps are written both ways', async () => {
    const { body } = partnerEndpoints.updateSubmissionType.response;
    const empty = {
      id: 'st_1',
      pathway_id: 'p',
      form_id: null,
      title: 'Sick note 🤒',
      description: null,
      in_hours: true,
      out_of_hours: false,
      suspended: false,
      external_url: null,
      external_url_name: null,
      type: null,
      default_priority: 'low',
      daily_limit: null,
      patient_eligibility_check: true,
      assignee_id: null,
      assignee_type: null,
      order: null,
      created_at: null,
      updated_at: null,
    };
    expect(await serialised(body, empty)).toEqual(empty);
    const full = {
      ...empty,
      form_id: 'f',
      type: 'admin_request',
      daily_limit: 0,
      forms_submitted_today: 3,
      assignee_type: 'AdminTeam',
      order: 1.5,
      created_at: '2026-11-14T08:00:00.000Z',
    };
    expect(await serialised(body, full)).toEqual(full);
  });

  test('both kinds of error body, and values of any shape', async () => {
    const path = ['events', 0, 'id'];
    const problem = {
      error: 'business_rule_violation',
      statusCode: 422,
      message: 'No.',
      request_id: 'r',
      doc_url: 'https://x.test',
      path,
    };
    expect(await serialised(problemBody, problem)).toEqual(problem);
    const invalid = {
      error: true,
      statusCode: 400,
      message: [{ code: 'invalid_type', expected: 'string', path, message: 'No.' }],
    };
    expect(await serialised(validationErrorBody, invalid)).toEqual(invalid);
    const anything = z.object({ before: z.unknown(), after: z.unknown() });
    expect(await serialised(anything, { before: null, after: { a: [1, 'x', null] } })).toEqual({
      before: null,
      after: { a: [1, 'x', null] },
    });
  });
});

test('a compiled request schema accepts and refuses what the declaration does', async () => {
  const app = Fastify({
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, strict: true } },
  });
  const body = toJsonSchema(partnerEndpoints.updateSubmissionType.body, { io: 'input' });
  app.patch('/', { schema: { body } }, async () => 'ok');
  const status = async (payload: object) =>
    (await app.inject({ method: 'PATCH', url: '/', payload })).statusCode;
  for (const good of [{}, { type: null, daily_limit: null }, { type: 'admin_request', daily_limit: 0 }]) {
    expect(await status(good), JSON.stringify(good)).toBe(200);
  }
  for (const bad of [
    { titel: 'x' },
    { title: null },
    { type: 'x' },
    { daily_limit: 1.5 },
    { order: 2_147_483_648 },
  ]) {
    expect(await status(bad), JSON.stringify(bad)).toBe(400);
  }
  await app.close();
});

test('every declared schema is inlined, closed and free of unions', () => {
  for (const { operationId, body, query, params, response } of endpoints) {
    for (const [schema, io] of [
      [body, 'input'],
      [query, 'output'],
      [params, 'output'],
      // What is written by hand needs no serialiser, and may be any of several shapes.
      [response.verbatim || response.stream ? undefined : response.body, 'output'],
    ] as const) {
      if (!schema) continue;
      const text = JSON.stringify(toJsonSchema(schema, { io }));
      expect(text, operationId).not.toMatch(/"(\$ref|\$defs|\$schema|prefixItems|x-[a-z]+)":/);
      // What is read is never put through a serialiser, and may be any of several shapes too.
      if (io === 'output') expect(text, operationId).not.toMatch(/"(anyOf|oneOf)":/);
      expect(text.split('"properties":').length, operationId).toBe(
        text.split('"additionalProperties":false').length,
      );
    }
  }
});

test('what cannot be said is refused rather than said wrongly', () => {
  const uneven = z.tuple([z.string(), z.int()]);
  expect(() => toJsonSchema(uneven, { io: 'output' })).toThrow(/tuples/);
  const components = new Map();
  const named = (inner: z.ZodType) => z.object({ a: inner }).meta({ id: 'Same' });
  toReferencedSchema(named(z.string()), { io: 'output', components });
  expect(() => toReferencedSchema(named(z.int()), { io: 'output', components })).toThrow(
    /share the id "Same"/,
  );
});

test('a union is turned into a list of types only where that means the same', () => {
  const said = (schema: z.ZodType) => toJsonSchema(schema, { io: 'output' });
  expect(said(z.union([z.string(), z.int()]))).toEqual({ type: ['string', 'integer'] });
  expect(said(z.literal('a').nullable())).toEqual({ type: ['string', 'null'], enum: ['a', null] });
  expect(said(z.unknown())).toEqual({});
  expect(said(z.union([z.string().min(2), z.int()]))).toEqual({
    anyOf: [{ type: 'string', minLength: 2 }, { type: 'integer' }],
  });
});
