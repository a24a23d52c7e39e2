import { describe, expect, test } from 'vitest';
import type { Endpoint } from '../../../src/contract/endpoint.ts';
import { operatorEndpoints } from '../../../src/contract/operator/index.ts';
import { partnerEndpoints } from '../../../src/contract/partner/index.ts';
import type { Node } from '../../../src/describe/extensions.ts';
import { operatorDocument, partnerDocument } from '../../../src/describe/openapi.ts';
import { furnish, make, newDelivery, pathOf, validCall } from '../../support/operator-calls.ts';
import { type Loose, startHarness } from '../../support/service.ts';

/** What the references show is sent as it stands, to the demo world that a newcomer has. */

const house = await startHarness({ env: { PORTER_DEMO: 'on', PORTER_WEBHOOK_TARGETS: 'public' } });
const key = house.service.demoKey;
const group = 'riverside-surgery';
const documents: Record<'partner' | 'operator', Loose> = {
  partner: partnerDocument(),
  operator: operatorDocument(),
};

const operationOf = (document: Loose, { path, method }: Endpoint): Loose =>
  document.paths[path][method.toLowerCase()];

/** Each body that the reference offers, or none. */
function bodiesOf(operation: Loose): [name: string, body: unknown][] {
  const examples: Record<string, Node> = operation.requestBody?.content['application/json']?.examples ?? {};
  const bodies = Object.entries(examples).map(([name, { value }]): [string, unknown] => [name, value]);
  return bodies.length > 0 ? bodies : [['without a body', undefined]];
}

/** The IDs that the reference fills in; undefined if it leaves one to the reader. */
function shownParams({ parameters }: Loose): Record<string, string> | undefined {
  const inPath = parameters.filter((one: Loose) => one.in === 'path');
  if (inPath.some(({ example }: Loose) => example === undefined)) return undefined;
  return Object.fromEntries(inPath.map(({ name, example }: Loose) => [name, example]));
}

const casesOf = (document: Loose, endpoints: Record<string, Endpoint>) =>
  Object.values(endpoints).flatMap((endpoint) => {
    const operation = operationOf(document, endpoint);
    const params = shownParams(operation);
    return bodiesOf(operation).map(([name, body]) => ({
      endpoint,
      id: endpoint.operationId,
      name,
      params,
      body,
    }));
  });

/** The answer has each field that the example of the reference has, and no other. */
function expectShape(document: Loose, endpoint: Endpoint, answer: Loose): void {
  const { content } = operationOf(document, endpoint).responses[endpoint.response.status];
  const examples: Node[] = Object.values(content?.['application/json']?.examples ?? {});
  const shown = examples.map(({ value }) => shapeOf(value));
  if (shown.length > 0 && answer) expect(shown).toContainEqual(shapeOf(answer));
}

const shapeOf = (value: Loose) => Object.keys(value).sort();

describe('the partner reference', () => {
  // A stream would go on for ever: test/service/events/event-stream.test.ts reads it.
  const cases = casesOf(documents.partner, partnerEndpoints).filter(
    ({ endpoint }) => !endpoint.response.stream,
  );
  const send = (method: string, path: string, body?: unknown) =>
    house.send(method, path, { key, group, body });

  /** What the reader makes first: the references cannot know its ID. */
  async function madeParams(id: string): Promise<Record<string, string>> {
    if (id === 'getRefusedRequest') {
      const refused = await send('GET', '/v1/care-nav/submission-types/nonsense');
      return { request_id: String(refused.headers['x-request-id']) };
    }
    if (id === 'updateOwnContact') return { id: 'first' };
    const { body } = await send('POST', '/v1/webhooks', { url: 'https://partner.example/porter' });
    const test = await send('POST', `/v1/webhooks/${body.id}/test`, { event: 'appointment.confirmed' });
    return { id: body.id, delivery_id: test.body.delivery_id };
  }

  test.each(cases)('$id: $name', async ({ endpoint, params, body }) => {
    const { operationId, method, path, response } = endpoint;
    const named = params ?? (await madeParams(operationId));
    const answer = await send(method, pathOf(path, named), body);
    expect(answer.status, answer.text).toBe(response.status);
    expectShape(documents.partner, endpoint, answer.body);
  });
});

describe('the operator reference', async () => {
  const cases = casesOf(documents.operator, operatorEndpoints);
  const furnished = await furnish(house);
  await newDelivery(furnished);

  test.each(cases)('$id: $name', async ({ endpoint, id, params, body }) => {
    // A copy has records of its own: what one example pauses, another finds active.
    const given = { ...furnished };
    const valid = await validCall(id as keyof typeof operatorEndpoints, given);
    const path = params && endpoint.path.includes('{') ? pathOf(endpoint.path, params) : valid.path;
    const call = { ...valid, path, ...(valid.lines === undefined && { body }) };
    const answer = await make(given, call);
    expect(answer.status, answer.text).toBe(endpoint.response.status);
    expectShape(documents.operator, endpoint, answer.body);
  });
});
