import { z } from 'zod';
import { defineEndpoint } from '../endpoint.ts';
import { eventNames, eventType } from '../event-payloads.ts';
import { line, text, timestamp, webAddress } from '../fields.ts';
import { pageOf, pageQuery } from '../page.ts';
import { WEBHOOKS_MAX } from '../rules.ts';

/** Secrets of one webhook that sign: the newest, and those that were rotated out less than a day ago. */
export const LIVE_SECRETS_MAX = 5;
/** Describes the calls after which deliveries must not begin as before. */
export const STOPS_AFTERWARDS =
  'The call answers after about a second. From then on no delivery begins as before, on any node; a request that was being sent ends within 15 seconds.';
export const SECRET_OVERLAP_HOURS = 24;
/** Counting further would make reading a webhook as slow as its queue is long. */
export const QUEUED_COUNT_MAX = 1_000;

/** Practice groups that a webhook names as withheld. */
export const WITHHELD_GROUPS_MAX = 100;

export const webhookStatuses = ['active', 'paused', 'disabled'] as const;

const signatures = ['hmac', 'ed25519', 'both'] as const;

const withheldReasons = [
  'partner_not_verified',
  'stopped_by_practice',
  'key_revoked',
  'key_expired',
  'scope_missing',
  'out_of_reach',
] as const;

export type WithheldReason = (typeof withheldReasons)[number];

export const withheldReason = () =>
  z.enum(withheldReasons).nullable().meta({
    description:
      'Why deliveries are withheld; null when they are not. partner_not_verified: the partner is suspended. stopped_by_practice: the practice has stopped the partner. key_revoked, key_expired: no key for the practice group works any more. scope_missing: no key, or no network, grants `events:read`. out_of_reach: no key is tied to the practice group, or to one that shares a network with it.',
  });

export const webhookHealth = z
  .object({
    failures: z.int().meta({ description: 'Failed attempts since the last success.' }),
    failing_since: timestamp().nullable().meta({
      description:
        'The time of the first of them; if nothing could be sent meanwhile because access was lost, when it came back.',
    }),
    last_success_at: timestamp()
      .nullable()
      .meta({ description: 'When the receiver last answered with 2xx; null: never.' }),
    queued: z.int().meta({
      description: `Deliveries that are not finished. ${QUEUED_COUNT_MAX} stands for that many or more.`,
    }),
    withheld_since: timestamp().nullable().meta({
      description:
        'Since when nothing is sent because the partner may not receive events of the practice group; null when it may.',
    }),
    withheld_reason: withheldReason(),
    withheld_practice_groups: z
      .array(
        z
          .object({
            practice_group_id: z
              .string()
              .meta({ description: 'The practice group whose events are withheld.' }),
            since: timestamp().meta({ description: 'Since when they are withheld.' }),
            reason: z
              .enum(withheldReasons)
              .meta({ description: 'Why they are withheld, as in `withheld_reason`.' }),
          })
          .meta({ id: 'WithheldPracticeGroup' }),
      )
      .meta({
        description: `Of a webhook for all practice groups: those whose deliveries are withheld, while the others go on. At most the first ${WITHHELD_GROUPS_MAX}.`,
      }),
  })
  .meta({ id: 'WebhookHealth' });

export const webhook = z
  .object({
    id: z.string().meta({
      description: 'The ID of the webhook.',
      examples: ['wh_0VkQ3yXbTm1c8Zr4Hn6Lp2WsE'],
    }),
    url: z.string().meta({ description: 'The URL that receives the events.' }),
    description: z.string().nullable().meta({ description: 'A note of your own; null: none.' }),
    event_types: z.array(eventType).meta({ description: 'The events that the webhook subscribes to.' }),
    status: z.enum(webhookStatuses).meta({
      description:
        'paused: by you, or by the operator, as `status_reason` then says. disabled: by the service, because the receiver answered 410 or failed for five days. In both cases deliveries queue up for as long as events are kept, and are sent once the webhook is active again.',
    }),
    status_reason: z.string().nullable().meta({
      description: 'Why the service disabled it, or who else paused or activated it and why, as a sentence.',
    }),
    signature: z.enum(signatures).meta({
      description:
        'How deliveries are signed. hmac: with the secret of the webhook (`v1`). ed25519: with the key of this deployment (`v1a`), whose public part is at `/.well-known/webhook-keys`. both: each.',
    }),
    header_names: z
      .array(z.string())
      .meta({ description: 'The headers of your own that it is sent. Their values are not shown.' }),
    practice_group_id: z.string().nullable().meta({
      description: 'The practice group whose events it receives; null for a webhook for all of them.',
    }),
    practice_groups: z.literal('all').nullable().meta({
      description:
        'all: it receives the events of every practice group that you may act for with the scope `events:read`, those that are added later included.',
    }),
    practice_group_ids: z.array(z.string()).nullable().meta({
      description: 'Of a webhook for all practice groups: those that it is narrowed to; null: it is not.',
    }),
    health: webhookHealth.meta({ description: 'The state of its deliveries.' }),
    created_at: timestamp().meta({ description: 'When the webhook was created.' }),
    updated_at: timestamp().meta({ description: 'When the webhook was last changed.' }),
  })
  .meta({
    id: 'Webhook',
    description: 'An address that receives the events of one practice group, or of all of them.',
  });

export type Webhook = z.infer<typeof webhook>;

export const secret = () =>
  z.string().meta({
    description: 'Verifies signatures (Standard Webhooks). Shown here once and never again.',
    examples: ['whsec_…'],
  });

const createdWebhook = webhook.extend({ secret: secret() }).meta({ id: 'CreatedWebhook' });

const eventTypes = () =>
  z
    .array(eventType)
    .min(1)
    .max(eventNames.length)
    .refine((names) => new Set(names).size === names.length, {
      error: 'Name each event once.',
      params: { code: 'invalid_value', expected: 'array' },
    })
    .meta({ uniqueItems: true });

const url = () =>
  webAddress().meta({
    description: 'Public and https. Redirects are not followed.',
    examples: ['https://partner.example/porter'],
  });
const description = () =>
  line({ max: 255 }).nullable().meta({ description: 'A note of your own; null: none.' });
const GROUPS_MAX = 1_000;
const groupIds = () =>
  z
    .array(text({ min: 1, max: 255 }))
    .min(1)
    .max(GROUPS_MAX)
    .nullable()
    .meta({ description: 'Only the events of these. For a webhook for all practice groups.' });

const HEADERS_MAX = 10;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;
const HEADER_VALUE = /^[!-~]([ -~]{0,1022}[!-~])?$/;
/** What the service, HTTP itself or proxies on the way have to say. */
const OWN_HEADERS =
  /^(host|content-.*|transfer-encoding|connection|keep-alive|proxy-.*|te|trailers?|upgrade|expect|webhook-.*|user-agent|accept-encoding|cookie2?|date|via|forwarded|x-forwarded-.*|x-real-ip)$/i;

const headers = () =>
  z
    .record(z.string().meta({ maxLength: 64 }), z.string().meta({ maxLength: 1_024 }))
    .check((ctx) => {
      const refuse = (path: PropertyKey[], message: string, code = 'invalid_value') =>
        ctx.issues.push({
          code: 'custom',
          input: ctx.value,
          path,
          message,
          params: { code, expected: path.length > 0 ? 'string' : 'record' },
        });
      const entries = Object.entries(ctx.value);
      if (entries.length > HEADERS_MAX) refuse([], `Must have at most ${HEADERS_MAX} headers.`, 'too_big');
      const seen = new Set<string>();
      for (const [name, value] of entries) {
        if (!HEADER_NAME.test(name)) refuse([name], 'The name must be 1 to 64 characters that HTTP allows.');
        else if (OWN_HEADERS.test(name)) refuse([name], `${name} is not yours to set. Choose another name.`);
        if (seen.has(name.toLowerCase())) refuse([name], 'The same name is there in other letters.');
        seen.add(name.toLowerCase());
        if (!HEADER_VALUE.test(value))
          refuse(
            [name],
            'The value must be 1 to 1,024 printable ASCII characters, without a blank at either end.',
          );
      }
    })
    .meta({
      description: `Headers of your own, up to ${HEADERS_MAX}, that each delivery is sent with, such as the token that your gateway asks for. Kept sealed, and never shown again; \`header_names\` has their names.`,
      maxProperties: HEADERS_MAX,
      examples: [{ authorization: 'Bearer …' }],
    });

const webhookPatch = z
  .strictObject({
    url: url().optional(),
    event_types: eventTypes().optional().meta({ description: 'The events to subscribe to from now on.' }),
    description: description().optional(),
    practice_group_ids: groupIds().optional(),
    signature: z
      .enum(signatures)
      .optional()
      .meta({ description: 'The signature of deliveries from now on: `hmac`, `ed25519` or `both`.' }),
    headers: headers().nullable().optional().meta({
      description:
        'Replaced as a whole; null takes them away, and so does an address at another host: their values are shown to nobody, that one included.',
    }),
    status: z
      .enum(['active', 'paused'])
      .optional()
      .meta({ description: 'Activating a disabled webhook resets its count of failures.' }),
  })
  .meta({
    id: 'WebhookPatch',
    description:
      'A merge patch: what is left out stays as it is; null clears the description, or `practice_group_ids`.',
  });

export type WebhookPatch = z.infer<typeof webhookPatch>;

export const webhookById = z.strictObject({ id: text({ min: 1, max: 255 }) });
export const tag = 'Webhooks';

export const createWebhook = defineEndpoint({
  operationId: 'createWebhook',
  method: 'POST',
  path: '/v1/webhooks',
  tag,
  summary: 'Create a webhook',
  description: `From now on, events of the practice group acted for are posted to \`url\`, signed with \`secret\`. Only for as long as a key of yours with the scope \`events:read\` may act for that group: else deliveries are withheld. A partner may have ${WEBHOOKS_MAX} webhooks for each practice group, and as many for all.\n\nWith \`practice_groups: "all"\`, one webhook receives the events of every practice group that a key of yours with that scope may act for, now and later, in one sequence. Each payload names its practice group. Deliveries of a group that you may not act for any more are withheld, and those of the others go on.`,
  extension: true,
  portal: true,
  access: { scope: 'webhooks:write', and: 'events:read' },
  body: z
    .strictObject({
      url: url(),
      event_types: eventTypes().optional().meta({ description: 'All of them unless given.' }),
      description: description().optional(),
      practice_groups: z
        .literal('all')
        .optional()
        .meta({ description: 'For every practice group that you may act for; else for the one acted for.' }),
      practice_group_ids: groupIds().optional(),
      signature: z.enum(signatures).optional().meta({ description: 'hmac unless given.' }),
      headers: headers().optional(),
    })
    .refine(({ practice_groups, practice_group_ids }) => practice_groups || !practice_group_ids, {
      error: 'Only a webhook for all practice groups can be narrowed: send practice_groups: "all" as well.',
      path: ['practice_group_ids'],
      params: { code: 'invalid_value', expected: 'undefined' },
    }),
  readOnly: [
    'id',
    'status',
    'status_reason',
    'header_names',
    'practice_group_id',
    'health',
    'created_at',
    'updated_at',
  ],
  response: {
    status: 201,
    description: 'The webhook with its secret, shown this once.',
    body: createdWebhook,
  },
  problems: ['business_rule_violation'],
  rules: ['webhook_target_refused', 'webhook_group_unreached', 'webhooks_max'],
});

export const listWebhooks = defineEndpoint({
  operationId: 'listWebhooks',
  method: 'GET',
  path: '/v1/webhooks',
  tag,
  summary: 'List webhooks',
  description: 'Your webhooks for the practice group acted for, and those for all practice groups.',
  extension: true,
  access: { scope: 'webhooks:read' },
  query: z.strictObject(pageQuery),
  response: { status: 200, description: 'One page.', body: pageOf(webhook) },
  problems: [],
});

export const getWebhook = defineEndpoint({
  operationId: 'getWebhook',
  method: 'GET',
  path: '/v1/webhooks/{id}',
  tag,
  summary: 'Get a webhook',
  description: 'Shows its health, too.',
  extension: true,
  portal: true,
  access: { scope: 'webhooks:read' },
  params: webhookById,
  conditional: true,
  response: { status: 200, description: 'The webhook.', body: webhook },
  problems: ['not_found'],
});

export const updateWebhook = defineEndpoint({
  operationId: 'updateWebhook',
  method: 'PATCH',
  path: '/v1/webhooks/{id}',
  tag,
  summary: 'Update a webhook',
  description: `Changes, pauses or activates a webhook. While it is paused, its deliveries stay queued. After a change of \`url\`, queued deliveries are sent to the new address; at another host without the \`headers\` of before, unless they are sent again with it. ${STOPS_AFTERWARDS}`,
  extension: true,
  portal: true,
  access: { scope: 'webhooks:write', and: 'events:read' },
  params: webhookById,
  body: webhookPatch,
  readOnly: [
    'id',
    'status_reason',
    'header_names',
    'practice_group_id',
    'practice_groups',
    'health',
    'created_at',
    'updated_at',
  ],
  conditional: true,
  response: { status: 200, description: 'The webhook as it is now.', body: webhook },
  problems: ['not_found', 'precondition_failed', 'business_rule_violation'],
  rules: ['webhook_target_refused', 'webhook_of_one_group', 'webhook_group_unreached'],
});

export const deleteWebhook = defineEndpoint({
  operationId: 'deleteWebhook',
  method: 'DELETE',
  path: '/v1/webhooks/{id}',
  tag,
  summary: 'Delete a webhook',
  description: `Deletes its deliveries, too: queued ones are not sent any more. ${STOPS_AFTERWARDS}`,
  extension: true,
  portal: true,
  access: { scope: 'webhooks:write' },
  params: webhookById,
  conditional: true,
  response: { status: 204, description: 'The webhook is deleted.' },
  problems: ['not_found', 'precondition_failed'],
});

export const rotateWebhookSecret = defineEndpoint({
  operationId: 'rotateWebhookSecret',
  method: 'POST',
  path: '/v1/webhooks/{id}/rotate-secret',
  tag,
  summary: 'Rotate a webhook secret',
  description: `Signs deliveries with the new secret from now on, and with the old one as well for ${SECRET_OVERLAP_HOURS} hours: change over in that time. A webhook has at most ${LIVE_SECRETS_MAX} secrets that sign.`,
  extension: true,
  portal: true,
  access: { scope: 'webhooks:write', and: 'events:read' },
  params: webhookById,
  response: {
    status: 200,
    description: 'The new secret, shown this once.',
    body: z
      .object({
        id: z.string().meta({ description: 'The webhook.' }),
        secret: secret(),
        previous_secret_expires_at: timestamp().meta({
          description: 'Until then, deliveries are signed with the previous secret, too.',
        }),
      })
      .meta({ id: 'RotatedWebhookSecret' }),
  },
  problems: ['not_found', 'conflict'],
});

export const testWebhook = defineEndpoint({
  operationId: 'testWebhook',
  method: 'POST',
  path: '/v1/webhooks/{id}/test',
  tag,
  summary: 'Send a test event',
  description:
    'Delivers an event with example values to this webhook alone, whatever its event_types. It is signed and retried like any other. The ID of its object begins with `test_`. The event is not in the event feed.',
  extension: true,
  portal: true,
  access: { scope: 'webhooks:write', and: 'events:read' },
  params: webhookById,
  body: z.strictObject({ event: eventType.meta({ description: 'The event to send.' }) }),
  response: {
    status: 202,
    description: 'The test event will be sent.',
    body: z
      .object({
        event_id: z.string().meta({ description: 'The ID of the test event.' }),
        delivery_id: z.string().meta({ description: 'The ID of its delivery, sent as `webhook-id`.' }),
      })
      .meta({ id: 'TestDelivery' }),
  },
  problems: ['not_found', 'conflict'],
});
