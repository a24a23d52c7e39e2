import { describe, expect, test } from 'vitest';
import type { Endpoint } from '../../../src/contract/endpoint.ts';
import { operatorEndpoints } from '../../../src/contract/operator/index.ts';
import { partnerEndpoints } from '../../../src/contract/partner/index.ts';
import { operatorDocument, partnerDocument } from '../../../src/describe/openapi.ts';
import { pathOf } from '../../support/operator-calls.ts';
import { type Loose, OPERATOR_TOKEN, type Send, serviceForTests } from '../../support/service.ts';

/** What a clumsy caller gets, whatever the operation, is in the document. */

const { house, world } = await serviceForTests();
const partner = { key: world.key, group: world.groupId };
const operator = { token: OPERATOR_TOKEN };

const sides: [name: string, document: Loose, endpoints: Endpoint[], who: Send][] = [
  ['partner', partnerDocument(), Object.values(partnerEndpoints), partner],
  ['operator', operatorDocument(), Object.values(operatorEndpoints), operator],
];

const clumsy: Record<string, (endpoint: Endpoint) => Send> = {
  'no body': () => ({}),
  'a body that is no JSON': () => ({ raw: 'suspended', headers: { 'content-type': 'text/plain' } }),
  'a body that ends too early': () => ({ raw: '{"suspended":' }),
  'a body that is too large': ({ bodyBytesMax = 64 * 1024 }) => ({ raw: ' '.repeat(bodyBytesMax + 1) }),
  'headers that cannot be': () => ({ headers: { 'if-match': '?', 'idempotency-key': 'a b' } }),
};

describe.each(sides)('the %s document', (_name, document, endpoints, who) => {
  // A stream would begin, and go on for ever.
  const ending = endpoints.filter(({ response }) => !response.stream);
  const cases = ending.flatMap((endpoint) => Object.keys(clumsy).map((name) => ({ endpoint, name })));

  test.each(cases)('$endpoint.operationId: $name', async ({ endpoint, name }) => {
    const { method, path } = endpoint;
    const answer = await house.send(method, pathOf(path, { id: 'missing' }), {
      ...who,
      ...clumsy[name]?.(endpoint),
    });
    const documented = document.paths[path][method.toLowerCase()].responses;
    expect(Object.keys(documented), answer.text.slice(0, 200)).toContain(String(answer.status));
  });
});
