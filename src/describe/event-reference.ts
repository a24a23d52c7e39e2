import { eventNames } from '../contract/event-payloads.ts';
import { events } from '../contract/events.ts';
import { deliveryExample, eventExamples } from './examples/event-examples.ts';

/** Beside the four that every event has. */
const FURTHER_FIELDS = {
  none: '',
  failure: '`failure_reason` and `code`, both optional',
  resource: '`resource` and `resource_id`',
} as const;

/** What to do with an ID, by the kind of thing that it names. A kind without an answer does not compile. */
const ABOUT_THE_ID: Record<(typeof events)[keyof typeof events]['object'], string> = {
  Appointment:
    'that of the appointment in the practice software. No operation of this API reads it: keep it with your own booking when you make one, and find that booking by it. For one that you did not make, the ID tells later events about it apart, and the practice can look it up.',
  FormSubmission:
    'that of the submitted form. No operation of this API reads it. How many were sent today is in `forms_submitted_today` of the [submission type](../guides/updating-submission-types.md).',
  Prescription:
    'that of the prescription in the practice software. No operation of this API reads it: it tells events about one prescription from those about another, and the practice can look it up.',
  Patient:
    'that of the patient in the practice software. No operation of this API reads it: find your own record of the patient by it, if the practice has given you the ID, and otherwise ask the practice. It names a person: keep it as you keep a name.',
  WriteToRecordEntry:
    'that of the job. No operation of this API reads it. What was written is named by `resource` and `resource_id`: those are IDs of the system that asked for it, yours perhaps.',
  EhrHealthStatus:
    'that of the practice group. `GET /v1/practice-groups` with this ID in `x-practice-group-id` has the present state in `ehr_status`.',
};

const VERIFY_IN_TYPESCRIPT = [
  "import { Webhook } from 'standardwebhooks';",
  '',
  'const event = new Webhook(secret).verify(rawBody, headers); // throws unless it is genuine and fresh',
].join('\n');

/** The 13 events and how they arrive, as one Markdown page. */
export function eventReference(): string {
  return [
    '<!-- Made by `npm run generate` from src/contract/events.ts and src/describe/event-reference.ts. Change it there. -->',
    '',
    '# Events',
    '',
    'The 13 events of a practice group, as webhooks receive them and the feed holds them. Each is a small JSON object that says what',
    'happened to what. Step by step: [Receiving webhooks](../guides/receiving-webhooks.md).',
    '',
    'Every event has `object`, the kind of thing that it is about, its `id`, the `practice_group_id`, and `event`, the name of the',
    'event and of its channel. A body has these, the further fields listed here, and no others. Every field is a string. The same',
    'for machines: [`spec/asyncapi.json`](../../spec/asyncapi.json), served at `/docs/asyncapi.json`.',
    '',
    '| Event | `object` | Sent when | Further fields |',
    '|---|---|---|---|',
    ...eventNames.map((name) => {
      const { object, sentWhen, fields } = events[name];
      return `| [\`${name}\`](#${anchorOf(name)}) | \`${object}\` | ${sentWhen} | ${FURTHER_FIELDS[fields]} |`;
    }),
    '',
    ...theIds(),
    '',
    ...firstEvent(),
    '',
    delivery(),
    '',
    '## An example of each',
    ...eventNames.flatMap((name) => [
      '',
      `### ${name}`,
      '',
      `${events[name].sentWhen} [What to do with its \`id\`](#what-to-do-with-an-id)`,
      '',
      ...exampleOf(name),
    ]),
    '',
  ].join('\n');
}

function theIds(): string[] {
  return [
    '## What to do with an id',
    '',
    'An event says that something happened, and to what; it carries no details. The `id` is the same in every event about the same thing. It is,',
    '',
    ...Object.entries(ABOUT_THE_ID).map(([object, text]) => `- with \`${object}\`: ${text}`),
    '',
    'In a test event it begins with `test_` and names nothing.',
  ];
}

const FEED = {
  data: [
    {
      id: 'evt_00Vb1rC4xNpLs8KdWz0TgYhJq',
      created_at: '2026-11-15T09:56:15.299Z',
      data: {
        ...eventExamples['appointment.confirmed'],
        id: 'test_00Vb2Bldhk5K2OG1rAV1uuD4I',
        practice_group_id: 'riverside-surgery',
      },
    },
  ],
  count: 1,
  next_cursor: 'WzEsIjAtMTliMmMzZDRlNWYtOWY4NmQwODE4ODRjN2Q2NSJd',
  has_more: false,
};

/** In staging, anybody can make one happen. */
function firstEvent(): string[] {
  const headers = ["-H 'x-api-key: ptr_test_YOUR_KEY'", "-H 'x-practice-group-id: riverside-surgery'"];
  return [
    '## Trigger a test event',
    '',
    'In staging, trigger an event. It reaches you alone:',
    '',
    '```sh',
    'curl -sS http://127.0.0.1:8080/v1/test-events \\',
    ...headers.map((header) => `  ${header} \\`),
    "  -H 'content-type: application/json' \\",
    `  -d '{"event": "appointment.confirmed"}'`,
    '```',
    '',
    '```json output',
    '{ "event_id": "evt_00Vb1rC4xNpLs8KdWz0TgYhJq" }',
    '```',
    '',
    'Then read the feed, the oldest first:',
    '',
    '```sh',
    'curl -sS http://127.0.0.1:8080/v1/events \\',
    `  ${headers.join(' \\\n  ')}`,
    '```',
    '',
    '```json output',
    JSON.stringify(FEED, null, 2),
    '```',
  ];
}

function exampleOf(name: keyof typeof eventExamples): string[] {
  return ['```json', JSON.stringify(eventExamples[name], null, 2), '```'];
}

/** As GitHub and most other renderers make it from a heading. */
function anchorOf(name: string): string {
  return name.replaceAll('.', '');
}

function delivery(): string {
  const { secret, headers, body } = deliveryExample;
  return `## How a delivery arrives

A \`POST\` to the address of the webhook:

\`\`\`http
content-type: application/json
user-agent: Porter/1.0
${Object.entries(headers)
  .map(([name, value]) => `${name}: ${value}`)
  .join('\n')}

${body}
\`\`\`

| Header | Meaning |
|---|---|
| \`webhook-id\` | names this delivery, the same in every attempt and every replay: you need not handle again what you handled under this name |
| \`webhook-timestamp\` | when this attempt was made, in seconds since 1970 |
| \`webhook-signature\` | \`v1,\` and the signature; while a secret is being rotated one for each, separated by spaces |
| \`webhook-sequence\` | counts the deliveries of one webhook: 1, 2, 3, without a gap; the same number is part of \`webhook-id\`, which is signed |

These headers are extensions of the published specification; the body is exactly as specified.

## The signature

[Standard Webhooks](https://www.standardwebhooks.com): HMAC-SHA-256 over \`{webhook-id}.{webhook-timestamp}.{body}\`, in base64.
The key is the secret that was shown when the webhook was created, decoded from the base64 after \`whsec_\`. Verify the body
as it arrived, byte for byte, before anything parses it, and refuse a timestamp that is more than five minutes off. One
signature that matches is enough. The libraries do all of this.

In TypeScript (\`npm install standardwebhooks\`; there is a function in Python in
[the guide](../guides/receiving-webhooks.md#verify-every-delivery)):

\`\`\`ts
${VERIFY_IN_TYPESCRIPT}
\`\`\`

By hand, for the delivery above. The secret is \`${secret}\`, and this prints the signature after \`v1,\`:

\`\`\`sh
secret='${secret}'
key=$(printf %s "\${secret#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \\n')
printf '%s.%s.%s' '${headers['webhook-id']}' '${headers['webhook-timestamp']}' \\
  '${body}' |
  openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | openssl base64 -A
\`\`\`

## Success and retries

Any 2xx within 15 seconds is a success; connecting counts towards that time. Everything else is a failure: another status, no
answer in time, an answer that breaks off, a certificate that is not valid. Redirects are not followed. Of the answer
at most 16 KiB are read, and the first 1 KiB is kept for the delivery log.

There are ten attempts, about three days from the first to the last. Each wait is counted from the failure before it, and is up
to 10 % shorter or longer.

| Attempt | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 |
|---|---|---|---|---|---|---|---|---|---|---|
| Made after | at once | 5 s | 5 min | 30 min | 2 h | 5 h | 10 h | 14 h | 20 h | 24 h |

- A \`Retry-After\` on a 429 or 503 is honoured if it asks for a longer wait, up to 24 hours.
- A 410 disables the webhook at once: the address is gone.
- Five days without one success disable the webhook. Its \`status_reason\` says so.
- Nothing queued is lost while a webhook is paused or disabled: once it is active again, deliveries go on where they stopped. A
  replay sends what had been given up.

## Order

Events about the same object arrive in the order in which they were accepted: a later one waits until the earlier one is
delivered or given up. Events about different objects do not wait for each other, so a higher \`webhook-sequence\` may arrive
before a lower one. A number that stays missing is a delivery to look for.

Delivery is at least once: when your answer is lost, the same delivery comes again, with the same \`webhook-id\`.

## Other ways to the same events

\`GET /v1/events\` reads them in order behind a cursor, \`GET /v1/events/stream\` sends them as they happen:
[the guide](../guides/receiving-webhooks.md#list-events) shows both.`;
}
