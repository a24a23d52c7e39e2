import { z } from 'zod';
import { alertQuery, partnerKindNames } from '../alerts.ts';
import { defineEndpoint } from '../endpoint.ts';
import { recordId, text, timestamp } from '../fields.ts';
import { refusalCodes } from '../operator/oversight/requests.ts';
import { pageOf, pageQuery, shortPages, spanQuery } from '../page.ts';
import { alert } from '../partner/alerts.ts';
import { refusedRequest, requestId } from '../partner/requests.ts';
import { webhook } from '../partner/webhooks.ts';
import { way } from './account.ts';

/** What people of a partner see of what goes to and fro, whichever key it belongs to. */

const tag = 'Portal';

const portalWebhook = webhook
  .extend({
    practice_group_name: z.string().nullable().meta({ description: 'null for a webhook for all practices.' }),
    oldest_queued_at: timestamp().nullable(),
    way: way.nullable().meta({
      description: 'The key with which the portal looks after it; null: none that works can.',
    }),
  })
  .meta({ id: 'PortalWebhook' });

export const listPortalWebhooks = defineEndpoint({
  operationId: 'listPortalWebhooks',
  method: 'GET',
  path: '/portal/v1/webhooks',
  tag,
  summary: 'List webhooks',
  extension: true,
  access: { guests: 'partner' },
  query: z.strictObject(pageQuery),
  response: { status: 200, description: 'One page.', body: pageOf(portalWebhook) },
  problems: [],
});

export const getPortalWebhook = defineEndpoint({
  operationId: 'getPortalWebhook',
  method: 'GET',
  path: '/portal/v1/webhooks/{id}',
  tag,
  summary: 'Get a webhook',
  extension: true,
  access: { guests: 'partner' },
  params: z.strictObject({ id: recordId() }),
  conditional: true,
  response: { status: 200, description: 'The webhook.', body: portalWebhook },
  problems: ['not_found'],
});

const URL_MAX = 2_048;

export const checkPortalAddress = defineEndpoint({
  operationId: 'checkPortalAddress',
  method: 'POST',
  path: '/portal/v1/address-checks',
  tag,
  summary: 'Try out the address of a webhook',
  description:
    'Looks its name up, connects to it and, for https, looks at its certificate, as a delivery would. Nothing is sent to it. Only public addresses are tried.',
  extension: true,
  access: { guests: 'partner' },
  idempotency: 'own',
  body: z.strictObject({ url: text({ min: 1, max: URL_MAX }) }),
  response: {
    status: 200,
    description: 'Whether a webhook may have it, and whether it can be reached.',
    body: z
      .object({
        outcome: z.enum(['reached', 'not_reached', 'not_tried', 'refused']).meta({
          description:
            '`refused`: a webhook with this address would not be created. `not_tried`: it would, but the address is not a public one.',
        }),
        message: z.string().meta({ description: 'What was found, and what to do about it.' }),
      })
      .meta({ id: 'AddressCheck' }),
  },
  problems: [],
});

const portalRefusal = refusedRequest
  .extend({
    key_id: z.string(),
    practice_group_id: z.string().nullable(),
    address: z.string().nullable().meta({ description: 'Where the call came from.' }),
  })
  .meta({ id: 'PortalRefusedRequest' });

export const listPortalRefusals = defineEndpoint({
  operationId: 'listPortalRefusals',
  method: 'GET',
  path: '/portal/v1/requests',
  tag,
  summary: 'List refused calls',
  description: `Newest first, each with what to do about it. ${shortPages}`,
  extension: true,
  access: { guests: 'partner' },
  query: z.strictObject({
    ...pageQuery,
    ...spanQuery,
    key_id: recordId().optional(),
    error: z.enum(refusalCodes).optional(),
    request_id: requestId.optional(),
  }),
  response: { status: 200, description: 'One page.', body: pageOf(portalRefusal), verbatim: true },
  problems: [],
});

export const listPortalAlerts = defineEndpoint({
  operationId: 'listPortalAlerts',
  method: 'GET',
  path: '/portal/v1/alerts',
  tag,
  summary: 'List alerts',
  extension: true,
  access: { guests: 'partner' },
  query: z.strictObject({ ...pageQuery, ...alertQuery, kind: z.enum(partnerKindNames).optional() }),
  response: { status: 200, description: 'One page.', body: pageOf(alert) },
  problems: [],
});
