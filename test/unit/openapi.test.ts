import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Endpoint, scopesFor } from '../../src/contract/endpoint.ts';
import { toJsonSchema } from '../../src/contract/json-schema.ts';
import { operatorEndpoints } from '../../src/contract/operator/index.ts';
import { partnerEndpoints } from '../../src/contract/partner/index.ts';
import { portalEndpoints } from '../../src/contract/portal/index.ts';
import { practiceEndpoints } from '../../src/contract/practice/index.ts';
import { problemCatalogue } from '../../src/contract/problems.ts';
import { check } from '../../src/contract/validate.ts';
import { isNode, type Node, stripExtensions } from '../../src/describe/extensions.ts';
import {
  operatorDocument,
  partnerDocument,
  portalDocument,
  practiceDocument,
} from '../../src/describe/openapi.ts';
import { brokenRule } from '../../src/domain/practices/submission-type.ts';

const root = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);
const documents = {
  partner: partnerDocument(),
  operator: operatorDocument(),
  portal: portalDocument(),
  practice: practiceDocument(),
};
const endpoints: Record<keyof typeof documents, Endpoint[]> = {
  partner: Object.values(partnerEndpoints),
  operator: Object.values(operatorEndpoints),
  portal: Object.values<Endpoint>({ ...portalEndpoints, ...partnerEndpoints }).filter(
    ({ access, portal }) => portal || 'guests' in access,
  ),
  practice: Object.values(practiceEndpoints),
};
const audiences = ['partner', 'operator', 'portal', 'practice'] as const;

/** The node at a path of keys, with references into the same document followed. */
function at(document: Node, ...keys: (string | number)[]): Node {
  let node: Node = document;
  for (const key of keys) {
    const child = node[key];
    if (!isNode(child)) throw new Error(`Nothing at ${keys.join(' > ')} (${key})`);
    node = resolved(document, child);
  }
  return node;
}

const resolved = (document: Node, node: Node): Node =>
  typeof node.$ref === 'string' ? at(document, ...node.$ref.replace('#/', '').split('/')) : node;

/** Every object of a document, however deep. */
function nodesOf(value: unknown): Node[] {
  if (Array.isArray(value)) return value.flatMap(nodesOf);
  return isNode(value) ? [value, ...Object.values(value).flatMap(nodesOf)] : [];
}

const valuesOf = (value: unknown, key: string): unknown[] =>
  nodesOf(value).flatMap((node) => (key in node ? [node[key]] : []));

const pathOf = (endpoint: Endpoint) => ['paths', endpoint.path, endpoint.method.toLowerCase()] as const;
const operation = (document: Node, endpoint: Endpoint) => at(document, ...pathOf(endpoint));

/** Type and allowed values of each property: what the specification's tables say of a field. */
function fieldsOf(schema: Node): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(at(schema, 'properties')).map(([name, property]) => {
      const { type, enum: allowed } = isNode(property) ? property : {};
      return [name, allowed ? { type, allowed } : { type }];
    }),
  );
}

describe('without its extensions, the partner document is the specification', () => {
  const specified = stripExtensions(documents.partner);
  const patch = ['paths', '/v1/care-nav/submission-types/{id}', 'patch'] as const;
  const nullable = (type: string) => ({ type: [type, 'null'] });
  const requestType = ['admin_request', 'clinical_request', 'other_request'];
  const priority = ['lowest', 'low', 'medium', 'high', 'highest'];
  const assignee = ['Admin', 'AdminTeam'];

  test('it has the two specified operations and no other', () => {
    const operations = Object.entries(at(specified, 'paths')).map(([path, item]) => [
      path,
      Object.keys(isNode(item) ? item : {}),
    ]);
    expect(operations).toEqual([
      ['/v1/practice-groups', ['get']],
      ['/v1/care-nav/submission-types/{id}', ['patch']],
    ]);
  });

  test('both headers are required together, and nothing else is sent', () => {
    expect(specified.security).toEqual([{ ApiKey: [], PracticeGroupId: [] }]);
    const schemes = Object.values(at(specified, 'components', 'securitySchemes'));
    expect(schemes).toEqual([
      expect.objectContaining({ type: 'apiKey', in: 'header', name: 'x-api-key' }),
      expect.objectContaining({ type: 'apiKey', in: 'header', name: 'x-practice-group-id' }),
    ]);
    expect(at(specified, 'paths', '/v1/practice-groups', 'get').parameters).toEqual([]);
    expect(at(specified, 'paths', '/v1/practice-groups', 'get')).not.toHaveProperty('requestBody');
    expect(at(specified, ...patch).parameters).toEqual([
      expect.objectContaining({
        name: 'id',
        in: 'path',
        required: true,
        schema: expect.objectContaining({ type: 'string' }),
      }),
    ]);
  });

  test('the statuses are those of the tables', () => {
    expect(Object.keys(at(specified, ...patch, 'responses'))).toEqual(
      // The operation's own table, and 403 from the service's Errors.
      ['200', '400', '401', '403', '404', '422', '429', '500'],
    );
    expect(Object.keys(at(specified, 'paths', '/v1/practice-groups', 'get', 'responses'))).toEqual(
      // 200 is its own; the others hold for the whole service.
      ['200', '400', '401', '403', '429', '500'],
    );
  });

  test('the specified codes are named with their statuses', () => {
    const description = (status: number) => at(specified, ...patch, 'responses', status).description;
    expect(description(401)).toContain('`invalid_credentials`');
    expect(description(403)).toContain('`insufficient_permissions`');
    expect(description(403)).toContain('`forbidden`');
    expect(description(403)).not.toContain('https_required');
    expect(description(429)).toContain('`rate_limit_exceeded`');
  });

  test('the request of the update has exactly the specified fields, all of them optional', () => {
    const body = at(specified, ...patch, 'requestBody');
    expect(Object.keys(at(body, 'content'))).toEqual(['application/json']);
    const schema = at(specified, ...patch, 'requestBody', 'content', 'application/json', 'schema');
    expect(schema.required ?? []).toEqual([]);
    expect(fieldsOf(schema)).toEqual({
      title: { type: 'string' },
      description: nullable('string'),
      in_hours: { type: 'boolean' },
      out_of_hours: { type: 'boolean' },
      suspended: { type: 'boolean' },
      form_id: nullable('string'),
      external_url: nullable('string'),
      external_url_name: nullable('string'),
      type: { ...nullable('string'), allowed: [...requestType, null] },
      default_priority: { type: 'string', allowed: priority },
      daily_limit: nullable('integer'),
      patient_eligibility_check: { type: 'boolean' },
      assignee_id: nullable('string'),
      assignee_type: { ...nullable('string'), allowed: [...assignee, null] },
      order: { type: 'integer' },
    });
  });

  test('the fields of the update stand in the order of the specification', () => {
    const schema = at(specified, ...patch, 'requestBody', 'content', 'application/json', 'schema');
    const names =
      'title description in_hours out_of_hours suspended form_id external_url external_url_name type default_priority daily_limit patient_eligibility_check assignee_id assignee_type order';
    expect(Object.keys(at(schema, 'properties'))).toEqual(names.split(' '));
  });

  test('the answer of the update has exactly the specified fields; only forms_submitted_today may be absent', () => {
    const schema = at(specified, ...patch, 'responses', 200, 'content', 'application/json', 'schema');
    const fields = fieldsOf(schema);
    expect(fields).toEqual({
      id: { type: 'string' },
      pathway_id: { type: 'string' },
      form_id: nullable('string'),
      title: { type: 'string' },
      description: nullable('string'),
      in_hours: { type: 'boolean' },
      out_of_hours: { type: 'boolean' },
      suspended: { type: 'boolean' },
      external_url: nullable('string'),
      external_url_name: nullable('string'),
      type: { ...nullable('string'), allowed: [...requestType, null] },
      default_priority: { type: 'string', allowed: priority },
      daily_limit: nullable('integer'),
      forms_submitted_today: { type: 'integer' },
      patient_eligibility_check: { type: 'boolean' },
      assignee_id: nullable('string'),
      assignee_type: { ...nullable('string'), allowed: [...assignee, null] },
      order: nullable('number'),
      created_at: nullable('string'),
      updated_at: nullable('string'),
    });
    expect(schema.required).toEqual(Object.keys(fields).filter((name) => name !== 'forms_submitted_today'));
  });

  test('the 400 body is the specified one', () => {
    const schema = at(specified, ...patch, 'responses', 400, 'content', 'application/json', 'schema');
    expect(schema.required).toEqual(['error', 'statusCode', 'message']);
    expect(at(schema, 'properties')).toMatchObject({
      error: { type: 'boolean', const: true },
      statusCode: { type: 'number', minimum: 400, maximum: 400 },
      message: { type: 'array' },
    });
    const entry = at(schema, 'properties', 'message', 'items');
    expect(fieldsOf(entry)).toEqual({
      code: { type: 'string' },
      expected: { type: 'string' },
      path: { type: 'array' },
      message: { type: 'string' },
    });
    expect(entry.required).toEqual(['code', 'expected', 'path', 'message']);
  });

  test('bodies that the specification does not show are JSON without a shape', () => {
    const groups = at(specified, 'paths', '/v1/practice-groups', 'get', 'responses', 200);
    const shapeless = {
      description: expect.any(String),
      headers: {},
      content: { 'application/json': { examples: {} } },
    };
    expect(groups).toEqual(shapeless);
    for (const status of [401, 403, 404, 422, 429, 500])
      expect(at(specified, ...patch, 'responses', status)).toEqual(shapeless);
  });

  test('it has exactly the components that it refers to', () => {
    const { securitySchemes: _named, ...components } = at(specified, 'components');
    const left = Object.entries(components).flatMap(([section, entries]) =>
      Object.keys(isNode(entries) ? entries : {}).map((name) => `#/components/${section}/${name}`),
    );
    expect(left).toEqual([...new Set(valuesOf(specified, '$ref'))].toSorted());
    expect(left).toHaveLength(9);
  });

  test('each required field is declared', () => {
    const schemas = nodesOf(specified).filter(({ required }) => Array.isArray(required));
    expect(schemas).toHaveLength(3);
    for (const { required, properties } of schemas)
      expect(Object.keys(isNode(properties) ? properties : {})).toEqual(
        expect.arrayContaining(required as string[]),
      );
  });

  test('the only annotation left is an empty list of code samples', () => {
    const annotations = nodesOf(specified).flatMap((node) =>
      Object.entries(node).filter(([key]) => key.startsWith('x-')),
    );
    expect(new Map(annotations)).toEqual(new Map([['x-codeSamples', []]]));
  });

  test('the operator document is an extension from end to end', () => {
    expect(stripExtensions(documents.operator)).toMatchObject({ paths: {}, tags: [] });
  });
});

describe.each(audiences)('the %s document', (audience) => {
  const document = documents[audience];

  test.each(endpoints[audience].map((endpoint) => [endpoint.operationId, endpoint] as const))(
    '%s says who may call it, and shows bodies that its own schema accepts',
    (_id, endpoint) => {
      const { access } = endpoint;
      const described = operation(document, endpoint);
      if ('guests' in access) expect(described.description).toContain(`people of a ${access.guests}`);
      else {
        const needed = 'roles' in access ? [...access.roles] : scopesFor(endpoint);
        if ('roles' in access) expect(at(described, 'x-required-roles').any_of).toEqual(needed);
        else expect(at(described, 'x-required-scopes').all_of).toEqual(needed);
        for (const name of needed) expect(described.description).toContain(`\`${name}\``);
      }

      if (endpoint.body) {
        const examples = at(described, 'requestBody', 'content', 'application/json', 'examples');
        expect(Object.keys(examples).length).toBeGreaterThan(0);
        for (const name of Object.keys(examples)) {
          expect(check(endpoint.body, at(examples, name).value), name).toMatchObject({ ok: true });
        }
      }
      const { status, body, lines } = endpoint.response;
      const success = at(described, 'responses', status);
      expect('content' in success).toBe(body !== undefined || lines === true);
      if (lines) expect(at(success, 'content', 'application/x-ndjson').schema).toEqual({ type: 'string' });
      if (body && endpoint.response.stream) {
        const { value } = at(success, 'content', 'text/event-stream', 'examples', 'stream');
        const data = [...String(value).matchAll(/^data: (.*)$/gm)].map(([, text = '']) => JSON.parse(text));
        expect(data.map((one) => body.parse(one))).toEqual(data);
        expect(data).not.toEqual([]);
      } else if (body && 'examples' in at(success, 'content', 'application/json')) {
        const examples = at(success, 'content', 'application/json', 'examples');
        // Parsing drops unknown fields, so equality also shows that the example has none.
        for (const name of Object.keys(examples)) {
          expect(body.parse(at(examples, name).value)).toEqual(at(examples, name).value);
        }
      }
    },
  );

  test('every refusal that an endpoint declares is documented, with an example of its code', () => {
    const undocumented = endpoints[audience].flatMap((endpoint) =>
      endpoint.problems
        .filter((code) => !examplesOf(endpoint, problemCatalogue[code].status).includes(code))
        .map((code) => `${endpoint.operationId}: ${code}`),
    );
    expect(undocumented).toEqual([]);
  });

  test('every operation documents what any call can meet', () => {
    const shared = [
      'invalid_credentials',
      'insufficient_permissions',
      'https_required',
      'rate_limit_exceeded',
    ];
    if (audience === 'partner' || audience === 'portal') shared.push('forbidden');
    for (const endpoint of endpoints[audience]) {
      const statuses = endpoint.body ? [401, 403, 413, 415, 429, 500, 503] : [401, 403, 429, 500, 503];
      const codes = statuses.flatMap((status) => examplesOf(endpoint, status));
      const wanted = endpoint.body ? [...shared, 'payload_too_large'] : shared;
      expect(codes, endpoint.operationId).toEqual(expect.arrayContaining(wanted));
      expect(Object.keys(at(operation(document, endpoint), 'responses'))).toContain('400');
    }
  });

  test('every answer carries a request ID, and those that say "later" say when', () => {
    for (const endpoint of endpoints[audience]) {
      for (const status of Object.keys(at(operation(document, endpoint), 'responses'))) {
        const headers = Object.keys(at(document, ...pathOf(endpoint), 'responses', status, 'headers'));
        expect(headers).toContain('x-request-id');
        expect(headers.includes('Retry-After')).toBe(status === '429' || status === '503');
        // What cannot be read is not counted.
        expect(headers.includes('RateLimit')).toBe(status !== '408' && status !== '431');
      }
    }
  });

  test('every answer has an example, and each example is one that the contract allows', () => {
    for (const { operationId, ...endpoint } of endpoints[audience]) {
      const { status, body } = endpoint.response;
      const { content = {} } = at(document, ...pathOf({ operationId, ...endpoint }), 'responses', status);
      const kinds = Object.entries(content as Node).filter(([type]) => type !== 'text/html');
      const shown = kinds.flatMap(([, kind]) => Object.values((kind as Node).examples ?? {}) as Node[]);
      expect(shown.length > 0, operationId).toBe(status !== 204);
      if (!body || endpoint.response.stream) continue;
      for (const { value } of shown)
        expect([operationId, strictly(body).safeParse(value).error?.issues]).toEqual([
          operationId,
          undefined,
        ]);
    }
  });

  test('so has each that is no success, or not the usual one', () => {
    for (const endpoint of endpoints[audience]) {
      const { responses } = operation(document, endpoint);
      for (const status of Object.keys(responses as Node)) {
        const { content = {} } = at(document, ...pathOf(endpoint), 'responses', status);
        const { 'application/json': json } = content as Record<string, Node>;
        if (json) expect(json, `${endpoint.operationId} ${status}`).toHaveProperty('examples');
      }
    }
  });

  test('a body of lines may have none', () => {
    for (const endpoint of endpoints[audience].filter(({ lines }) => lines === 'only'))
      expect(at(operation(document, endpoint), 'requestBody').required).toBe(false);
  });

  test('a call that cannot be read is documented, too', () => {
    for (const endpoint of endpoints[audience]) {
      const { responses } = operation(document, endpoint);
      expect(Object.keys(responses as Node)).toEqual(expect.arrayContaining(['408', '431']));
    }
  });

  test('cursors, entity tags and event IDs say what they look like', () => {
    const found = new Set<string>();
    for (const endpoint of endpoints[audience])
      for (const parameter of operation(document, endpoint).parameters as Node[]) {
        const { name, schema } = resolved(document, parameter);
        if (!['cursor', 'If-Match', 'Last-Event-ID'].includes(String(name))) continue;
        found.add(String(name));
        const pattern = new RegExp(String((schema as Node).pattern), 'u');
        const good = name === 'If-Match' ? ['"7"', '*', '"7", "8"', 'W/"7"'] : ['WzQyLCJhIl0'];
        for (const text of good) expect(pattern.test(text), `${name} ${text}`).toBe(true);
        for (const text of ['7 8', 'a"b', '']) expect(pattern.test(text), `${name} ${text}`).toBe(false);
      }
    const changes = audience === 'practice' ? [] : ['If-Match'];
    expect([...found].sort()).toEqual([...changes, 'Last-Event-ID', 'cursor']);
  });

  test('null is part of a type, or the alternative to a reference', () => {
    const isNull = (choice: unknown) => isNode(choice) && choice.type === 'null';
    expect((valuesOf(document, 'anyOf') as unknown[][]).filter((choices) => choices.some(isNull))).toEqual(
      [],
    );
    const alternatives = (valuesOf(document, 'oneOf') as Node[][]).filter((choices) => choices.some(isNull));
    for (const choices of alternatives)
      expect(choices).toEqual([{ $ref: expect.anything() }, { type: 'null' }]);
    expect(alternatives.length).toBeGreaterThan(0);
  });

  test('the names of events are listed once', () => {
    const lists = nodesOf(document).filter((node) => [node.enum].flat().includes('prescription.issued'));
    expect(lists).toEqual(
      audience === 'practice' ? [] : [at(document, 'components', 'schemas', 'EventType')],
    );
  });

  test('no type is a choice of several but for null, which makers of clients cannot read', () => {
    const choices: unknown[] = [];
    const look = (node: unknown): void => {
      if (Array.isArray(node)) node.forEach(look);
      if (!isNode(node)) return;
      if (Array.isArray(node.type) && node.type.filter((type) => type !== 'null').length > 1)
        choices.push(node);
      Object.values(node).forEach(look);
    };
    look(document);
    expect(choices).toEqual([]);
  });

  function examplesOf(endpoint: Endpoint, status: number): unknown[] {
    const path = ['responses', status, 'content', 'application/json', 'examples'] as const;
    const examples = at(document, ...pathOf(endpoint), ...path);
    return Object.keys(examples).map((name) => at(examples, name, 'value').error);
  }
});

/** The same schema with no field beside the declared ones, however deep. */
function strictly(schema: z.ZodType): z.ZodType {
  return z.fromJSONSchema(toJsonSchema(schema, { io: 'output' }) as Parameters<typeof z.fromJSONSchema>[0]);
}

/** What a caller could make as long as it likes: in the schema of a body, or of a parameter. Headers have a limit together. */
function unlimited(document: Node, node: unknown, path: string): string[] {
  if (!isNode(node)) return [];
  const schema = resolved(document, node);
  const choices = ['anyOf', 'oneOf', 'allOf'].flatMap((name) => (schema[name] ?? []) as Node[]);
  if (choices.length > 0) return choices.flatMap((one) => unlimited(document, one, path));
  if ('enum' in schema || 'const' in schema) return [];
  const types = [schema.type].flat();
  const length = Number(schema.maxLength ?? Number.POSITIVE_INFINITY);
  // The body has a limit, and so has the text that is stored.
  const isShortened = String(schema.description).includes('a longer text is shortened');
  const isFixed = typeof schema.pattern === 'string' && /^\^[^*+]*\$$/.test(schema.pattern);
  const items = isNode(schema.items) ? resolved(document, schema.items) : {};
  const properties = isNode(schema.properties) ? Object.entries(schema.properties) : [];
  const others = schema.additionalProperties;
  const isCounted =
    isNode(others) &&
    'maxProperties' in schema &&
    isNode(schema.propertyNames) &&
    'maxLength' in schema.propertyNames;
  return [
    ...(types.includes('string') && length > 5_000 && !isFixed && !isShortened ? [path] : []),
    ...(types.some((type) => type === 'integer' || type === 'number') && !('maximum' in schema)
      ? [path]
      : []),
    ...(types.includes('array') && !('maxItems' in schema) && !('enum' in items) ? [path] : []),
    ...(types.includes('object') && others !== false && !isCounted ? [path] : []),
    ...unlimited(document, others, `${path}.*`),
    ...unlimited(document, schema.items, `${path}[]`),
    ...properties.flatMap(([name, one]) => unlimited(document, one, `${path}.${name}`)),
  ];
}

test.each(audiences)('everything that the %s API takes has a limit', (audience) => {
  const document = documents[audience];
  const taken = endpoints[audience].flatMap((endpoint) => {
    const { operationId, parameters = [], requestBody } = operation(document, endpoint);
    const inAddress = (parameters as Node[]).filter((one) => one.in === 'query' || one.in === 'path');
    // Lines have a limit each, which is no matter of a schema.
    const isOfLines = 'lines' in endpoint && endpoint.lines === 'only';
    const body =
      requestBody && !isOfLines
        ? at(document, ...pathOf(endpoint), 'requestBody', 'content', 'application/json')
        : {};
    return [
      ...inAddress.map((one): [string, unknown] => [`${operationId} ${one.name}`, one.schema]),
      [`${operationId} body`, body.schema] as [string, unknown],
    ];
  });
  expect(taken.length).toBeGreaterThan(5);
  expect(taken.flatMap(([path, schema]) => unlimited(document, schema, path))).toEqual([]);
});

test('every field and parameter of the partner API has a description', () => {
  const fields = nodesOf(documents.partner).flatMap((node): [string, unknown][] => {
    if ('type' in node && isNode(node.properties)) return Object.entries(node.properties);
    return 'in' in node ? [[String(node.name), node]] : [];
  });
  expect(fields.length).toBeGreaterThan(300);
  expect(fields.filter(([, field]) => !isNode(field) || !field.description)).toEqual([]);
});

test('every code of the catalogue is shown somewhere, but for the one that no documented call can meet', () => {
  const text = JSON.stringify(documents);
  const unseen = Object.keys(problemCatalogue).filter((code) => !text.includes(`"error":"${code}"`));
  expect(unseen).toEqual(['method_not_allowed']);
});

test('every business rule of an update has an example', () => {
  const unset = {
    assignee_id: null,
    assignee_type: null,
    form_id: null,
    external_url: null,
    external_url_name: null,
  };
  const nothing = { hasForm: () => false, hasAssignee: () => false };
  const broken = [
    { assignee_id: 'a' },
    { assignee_id: 'a', assignee_type: 'Admin' as const },
    { form_id: 'f' },
    { external_url_name: 'n' },
  ].map((patch) => brokenRule({ ...unset, ...patch }, patch, nothing));
  const path = ['responses', 422, 'content', 'application/json', 'examples'] as const;
  const examples = at(documents.partner, ...pathOf(partnerEndpoints.updateSubmissionType), ...path);
  // The last is no rule of ours, but what the software of a practice says where it is asked.
  const rules = [...broken, 'practice_software'];
  expect(Object.keys(examples)).toEqual(rules);
  expect(Object.keys(examples).map((name) => at(examples, name, 'value').rule)).toEqual(rules);
});

test('the configured addresses are the servers', () => {
  const document = partnerDocument({ production: 'https://a.test', staging: 'https://b.test' });
  expect(document.servers).toMatchObject([{ url: 'https://a.test' }, { url: 'https://b.test' }]);
  expect(JSON.stringify(document)).toContain('https://a.test/docs/errors/not_found');
});

test('the committed documents are those of the contract', async () => {
  await run(process.execPath, ['src/describe/generate.ts', '--check'], { cwd: root });
  for (const file of ['spec/openapi.json', 'spec/operator.openapi.json', 'docs/reference/errors.md']) {
    expect(readFileSync(join(root, file), 'utf8')).toMatch(/[^\n]\n$/);
  }
});
