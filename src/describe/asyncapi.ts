import { eventNames, eventPayloads } from '../contract/event-payloads.ts';
import { type EventName, events } from '../contract/events.ts';
import { toJsonSchema } from '../contract/json-schema.ts';
import { deliveryExample, eventExamples } from './examples/event-examples.ts';
import type { Node } from './extensions.ts';
import { contactOf, DEFAULT_SUPPORT, type Servers } from './openapi.ts';

export const defaultWebhookServers: Servers = {
  production: 'https://webhooks.porter.example',
  staging: 'https://staging.webhooks.porter.example',
};

/** What a receiver needs to know before the first delivery. Markdown, shown at the top of the document. */
const introduction = `What happened in healthcare practice groups, posted to the addresses that partners register with \`/v1/webhooks\`.

Each event is sent on the channel that is named like it, as a JSON object with exactly the fields given here.

## Security

Deliveries are signed after the Standard Webhooks specification. \`webhook-signature\` holds \`v1,\` and the base64 of
HMAC-SHA-256 over \`{webhook-id}.{webhook-timestamp}.{body}\`, made with the secret that was shown when the webhook was
registered (base64 after \`whsec_\`). While a secret is being rotated there is one signature for each, separated by spaces.
Verify the bytes as they arrived, before parsing them, and refuse a timestamp that is more than five minutes off. Any Standard
Webhooks library does all of this.

## Delivery

Any 2xx within 15 seconds counts as received; redirects are not followed. Everything else is tried again, ten attempts in all
over about three days. A delivery may arrive more than once, always with the same \`webhook-id\`. Events about the same object
arrive in the order in which they were accepted.

## Extensions

Everything with \`x-extension: true\` goes beyond the published specification. Deleting every such node leaves exactly what
is specified: \`/docs/specified/asyncapi.json\`.`;

/** What the objects of events are called, and what there is to say about all events of one. */
const tags: Record<(typeof events)[EventName]['object'], { name: string; description: string }> = {
  Appointment: {
    name: 'Appointments',
    description: 'Appointments that were confirmed, rescheduled or cancelled, or failed to be.',
  },
  EhrHealthStatus: {
    name: 'EHR health',
    description: 'Changes of the EHR connection of a practice group.',
  },
  FormSubmission: { name: 'Form submissions', description: 'Forms that patients submitted.' },
  Patient: { name: 'Patients', description: 'Patients who were added to sequences.' },
  Prescription: { name: 'Prescriptions', description: 'Prescriptions that were issued.' },
  WriteToRecordEntry: {
    name: 'Write to record',
    description: 'Write-to-record jobs that finished or failed.',
  },
};

const deliveryHeaders: Node = {
  'x-extension': true,
  type: 'object',
  description: 'What every delivery carries beside its body, after the Standard Webhooks specification.',
  required: ['webhook-id', 'webhook-timestamp', 'webhook-signature', 'webhook-sequence'],
  properties: {
    'webhook-id': {
      'x-extension': true,
      type: 'string',
      description:
        'Names this delivery: the same in every attempt and every replay. Use it to recognise what you have already handled.',
      examples: [deliveryExample.headers['webhook-id']],
    },
    'webhook-timestamp': {
      'x-extension': true,
      type: 'string',
      pattern: '^[0-9]+$',
      description:
        'When this attempt was made, in seconds since 1970. Refuse what is more than five minutes off.',
      examples: [deliveryExample.headers['webhook-timestamp']],
    },
    'webhook-signature': {
      'x-extension': true,
      type: 'string',
      pattern:
        '^(v1,[A-Za-z0-9+/]{43}=|v1a,[A-Za-z0-9+/]{86}==)( (v1,[A-Za-z0-9+/]{43}=|v1a,[A-Za-z0-9+/]{86}==))*$',
      description:
        '`v1,` and the base64 of HMAC-SHA-256 over `{webhook-id}.{webhook-timestamp}.{body}`. While a secret is being rotated there is one for each, separated by spaces; one that matches is enough. `v1a,` stands before a signature by the key of the service (Ed25519), for webhooks that ask for it.',
      examples: [deliveryExample.headers['webhook-signature']],
    },
    'webhook-sequence': {
      'x-extension': true,
      type: 'string',
      pattern: '^[1-9][0-9]*$',
      description:
        'Counts the deliveries of one webhook: 1, 2, 3, without a gap. A number that stays missing is a delivery to look for.',
      examples: [deliveryExample.headers['webhook-sequence']],
    },
  },
};

/** The 13 events as an AsyncAPI document: the service sends each on the channel that is named like it. */
export function webhookDocument(servers: Servers = defaultWebhookServers, support = DEFAULT_SUPPORT): Node {
  return {
    asyncapi: '3.0.0',
    id: 'urn:porter:webhooks',
    info: {
      title: 'Porter webhook events',
      version: '1.0.0',
      description: introduction,
      // Readers of AsyncAPI want an address to follow beside that of a mailbox.
      contact: { url: `mailto:${support}`, ...contactOf(support) },
      license: { name: 'Proprietary', url: 'https://porter.example/terms' },
      tags: Object.values(tags),
    },
    defaultContentType: 'application/json',
    servers: {
      production: serverOf(servers.production, 'Production: real practices.'),
      staging: serverOf(servers.staging, 'Staging: made-up data only, for building and testing against.'),
    },
    channels: Object.fromEntries(eventNames.map((name) => [name, channelOf(name)])),
    operations: Object.fromEntries(eventNames.map((name) => [`send${typeName(name)}`, operationOf(name)])),
    components: { schemas: { DeliveryHeaders: deliveryHeaders } },
  };
}

function serverOf(url: string, description: string): Node {
  const { protocol, host, pathname } = new URL(url);
  return {
    host,
    ...(pathname !== '/' && { pathname }),
    protocol: protocol.replace(':', ''),
    description,
  };
}

function channelOf(name: EventName): Node {
  const { object, sentWhen } = events[name];
  return {
    address: name,
    title: typeName(name),
    description: sentWhen,
    tags: [{ name: tags[object].name }],
    messages: { [name]: messageOf(name) },
  };
}

function messageOf(name: EventName): Node {
  const { object, sentWhen } = events[name];
  return {
    name,
    title: typeName(name),
    summary: sentWhen,
    contentType: 'application/json',
    tags: [{ name: tags[object].name }],
    headers: { $ref: '#/components/schemas/DeliveryHeaders', 'x-extension': true },
    // Closed: a body has exactly the specified fields and no others.
    payload: toJsonSchema(eventPayloads[name], { io: 'output' }),
    examples: [{ name: 'example', summary: sentWhen, payload: eventExamples[name] }],
  };
}

function operationOf(name: EventName): Node {
  const { object, sentWhen } = events[name];
  return {
    action: 'send',
    channel: { $ref: `#/channels/${name}` },
    title: `Send ${name}`,
    summary: sentWhen,
    description: `${sentWhen} Posted to every active webhook of the practice group that names \`${name}\` among its event types.`,
    tags: [{ name: tags[object].name }],
    bindings: { 'x-extension': true, http: { method: 'POST', bindingVersion: '0.3.0' } },
    messages: [{ $ref: `#/channels/${name}/messages/${name}` }],
  };
}

/** `ehr.health_status.healthy` → `EhrHealthStatusHealthy`: a name that generated code can use. */
function typeName(name: EventName): string {
  return name.replaceAll(/(?:^|[._-])(\w)/g, (_, letter: string) => letter.toUpperCase());
}
