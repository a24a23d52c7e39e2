import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { eventPayloads } from '../../src/contract/event-payloads.ts';
import type { EventName } from '../../src/contract/events.ts';
import { webhookDocument } from '../../src/describe/asyncapi.ts';
import { eventReference } from '../../src/describe/event-reference.ts';
import { deliveryExample, eventExamples } from '../../src/describe/examples/event-examples.ts';
import { isNode, type Node, stripExtensions } from '../../src/describe/extensions.ts';

const root = resolve(import.meta.dirname, '../..');
const document = webhookDocument();
const specified = stripExtensions(document);

/** The specification's tables of events and of additional fields, copied by hand. */
const common = ['object', 'id', 'practice_group_id', 'event'];
const resource = [...common, 'resource', 'resource_id'];
const failure = ['failure_reason', 'code'];
const table: [event: EventName, object: string, required: string[], optional: string[]][] = [
  ['appointment.confirmed', 'Appointment', common, []],
  ['appointment.rescheduled', 'Appointment', common, []],
  ['appointment.cancelled', 'Appointment', common, []],
  ['appointment.booking-failed', 'Appointment', common, failure],
  ['appointment.cancel-failed', 'Appointment', common, failure],
  ['appointment.reschedule-failed', 'Appointment', common, failure],
  ['form-submission.created', 'FormSubmission', common, []],
  ['prescription.issued', 'Prescription', common, []],
  ['patient.added-to-sequence', 'Patient', common, []],
  ['write-to-record.succeeded', 'WriteToRecordEntry', resource, []],
  ['write-to-record.failed', 'WriteToRecordEntry', resource, []],
  ['ehr.health_status.healthy', 'EhrHealthStatus', common, []],
  ['ehr.health_status.unhealthy', 'EhrHealthStatus', common, []],
];
const names = table.map(([event]) => event);

function at(node: Node, ...keys: string[]): Node {
  return keys.reduce((found, key) => {
    const child = found[key];
    if (!isNode(child)) throw new Error(`Nothing at ${keys.join(' > ')} (${key})`);
    return child;
  }, node);
}

const messageOf = (from: Node, event: string) => at(from, 'channels', event, 'messages', event);

// The validator that the HTTP serialiser brings along; it reads draft 7, as AsyncAPI does.
const require = createRequire(import.meta.url);
const { default: Ajv } = createRequire(require.resolve('fast-json-stringify'))('ajv');
const accepts = (schema: Node, value: unknown): boolean => new Ajv({ strict: true }).validate(schema, value);

describe('without its extensions, the document is the specification', () => {
  test('it is an AsyncAPI 3.0 document of version 1.0.0', () => {
    expect(specified).toMatchObject({ asyncapi: '3.0.0', info: { version: '1.0.0' } });
  });

  test('there are 13 channels, each with the name of its event', () => {
    const channels = at(specified, 'channels');
    expect(Object.keys(channels)).toEqual(names);
    expect(Object.keys(channels).map((name) => at(channels, name).address)).toEqual(names);
  });

  test('the service sends on each channel, and receives on none', () => {
    const operations = Object.values(at(specified, 'operations'));
    expect(operations).toEqual(
      names.map((name) =>
        expect.objectContaining({
          action: 'send',
          channel: { $ref: `#/channels/${name}` },
          messages: [{ $ref: `#/channels/${name}/messages/${name}` }],
        }),
      ),
    );
  });

  test.each(table)('%s is about %s and has exactly its fields', (event, object, required, optional) => {
    expect(Object.keys(at(specified, 'channels', event, 'messages'))).toEqual([event]);
    const message = messageOf(specified, event);
    expect(message).toMatchObject({ name: event, contentType: 'application/json' });
    expect(message).not.toHaveProperty('headers');

    const payload = at(message, 'payload');
    expect(payload).toMatchObject({ type: 'object', additionalProperties: false });
    expect(payload.required).toEqual(required);
    expect(Object.keys(at(payload, 'properties'))).toEqual([...required, ...optional]);
    for (const field of [...required, ...optional])
      expect(at(payload, 'properties', field)).toMatchObject({ type: 'string' });
    expect(at(payload, 'properties', 'object')).toMatchObject({ const: object });
    expect(at(payload, 'properties', 'event')).toMatchObject({ const: event });
  });

  test('nothing that only extensions used is left behind', () => {
    expect(specified.components).toEqual({ schemas: {} });
    expect(JSON.stringify(specified)).not.toMatch(/"x-|webhook-sequence/);
  });
});

test('both servers are those that were configured', () => {
  const { servers } = webhookDocument({
    production: 'https://a.test:8443/hooks',
    staging: 'http://b.test',
  });
  expect(servers).toEqual({
    production: expect.objectContaining({ host: 'a.test:8443', pathname: '/hooks', protocol: 'https' }),
    staging: expect.objectContaining({ host: 'b.test', protocol: 'http' }),
  });
  expect(at(document, 'servers')).toMatchObject({
    production: { host: 'webhooks.porter.example', protocol: 'https' },
    staging: { host: 'staging.webhooks.porter.example', protocol: 'https' },
  });
});

describe.each(table)('the example of %s', (event, _object, required, optional) => {
  const payload = at(messageOf(document, event), 'payload');
  const example = eventExamples[event];

  test('is the one that is shown, and shows every field', () => {
    const { examples } = messageOf(document, event);
    expect(examples).toEqual([expect.objectContaining({ payload: example })]);
    expect(Object.keys(example)).toEqual([...required, ...optional]);
    expect(eventReference()).toContain(JSON.stringify(example, null, 2));
  });

  test('is what the schema accepts, and nothing less or more is', () => {
    expect(accepts(payload, example)).toBe(true);
    expect(eventPayloads[event].parse(example)).toEqual(example);
    for (const field of required)
      expect(accepts(payload, { ...example, [field]: undefined }), field).toBe(false);
    for (const field of optional) {
      const { [field as keyof typeof example]: _left, ...rest } = example;
      expect(accepts(payload, rest), field).toBe(true);
    }
    for (const field of [...failure, 'resource', 'accepted_at'])
      if (!(field in example)) expect(accepts(payload, { ...example, [field]: 'x' }), field).toBe(false);
    for (const other of names)
      if (other !== event) expect(accepts(payload, { ...example, event: other })).toBe(false);
  });
});

describe('the headers of a delivery', () => {
  const schema = at(document, 'components', 'schemas', 'DeliveryHeaders');

  test('are extensions, and stand beside every payload', () => {
    expect(schema['x-extension']).toBe(true);
    const own = ['webhook-id', 'webhook-timestamp', 'webhook-signature', 'webhook-sequence'];
    expect(schema.required).toEqual(own);
    expect(Object.keys(at(schema, 'properties'))).toEqual(own);
    for (const name of own) expect(at(schema, 'properties', name)['x-extension']).toBe(true);
    for (const event of names)
      expect(messageOf(document, event).headers).toEqual({
        $ref: '#/components/schemas/DeliveryHeaders',
        'x-extension': true,
      });
  });

  test('are shown with a signature that is genuine', () => {
    const { secret, headers, body } = deliveryExample;
    const sentAt = new Date(Number(headers['webhook-timestamp']) * 1000);
    expect(new Webhook(secret).sign(headers['webhook-id'], sentAt, body)).toBe(headers['webhook-signature']);
    for (const [name, value] of Object.entries(headers)) {
      expect(at(schema, 'properties', name).examples).toEqual([value]);
      expect(eventReference()).toContain(`${name}: ${value}`);
      const { 'x-extension': _mark, ...header } = at(schema, 'properties', name);
      expect(accepts(header, value), name).toBe(true);
    }
    expect(eventReference()).toContain(secret);
  });
});

test.each([
  ['spec/asyncapi.json', document],
  ['spec/specified/asyncapi.json', specified],
])('%s is what the contract says', (file, made) => {
  expect(readFileSync(join(root, file), 'utf8')).toBe(`${JSON.stringify(made, null, 2)}\n`);
});
