import { z } from 'zod';
import { readers, support } from '../../access.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { recordId } from '../../fields.ts';
import { pageOf, pageQuery, shortPages, spanQuery } from '../../page.ts';
import { delivery, deliveryStatuses } from '../../partner/webhook-deliveries.ts';

const partnerDelivery = delivery
  .extend({ webhook_id: z.string(), partner_id: z.string(), practice_group_id: z.string() })
  .meta({ id: 'PartnerDelivery' });

export type PartnerDelivery = z.infer<typeof partnerDelivery>;

const byId = z.strictObject({ id: recordId() });
const tag = 'Deliveries';

export const listDeliveries = defineEndpoint({
  operationId: 'listDeliveries',
  method: 'GET',
  path: '/operator/v1/deliveries',
  tag,
  summary: 'List deliveries',
  description: `What was sent to whom, with every attempt. Newest events first; with \`webhook_id\`, in the order in which that webhook gets them. ${shortPages} \`since\` and \`until\` go by when the event was accepted. Find deliveries of test events by \`webhook_id\` or \`event_id\`: \`practice_group_id\` alone leaves them out.`,
  extension: true,
  access: { roles: readers },
  query: z.strictObject({
    ...pageQuery,
    ...spanQuery,
    webhook_id: recordId().optional(),
    event_id: recordId().optional(),
    practice_group_id: recordId().optional(),
    partner_id: recordId().optional(),
    status: z.enum(deliveryStatuses).optional(),
  }),
  response: { status: 200, description: 'One page.', body: pageOf(partnerDelivery) },
  problems: [],
});

export const getDelivery = defineEndpoint({
  operationId: 'getDelivery',
  method: 'GET',
  path: '/operator/v1/deliveries/{id}',
  tag,
  summary: 'Get a delivery',
  extension: true,
  access: { roles: readers },
  params: byId,
  response: { status: 200, description: 'The delivery.', body: partnerDelivery },
  problems: ['not_found'],
});

export const retryDelivery = defineEndpoint({
  operationId: 'retryDelivery',
  method: 'POST',
  path: '/operator/v1/deliveries/{id}/retry',
  tag,
  summary: 'Retry a delivery',
  description:
    'Sends the delivery again with the same `webhook-id`, whatever its status. It is sent now, or as soon as its webhook is no longer paused and earlier events about the same object are finished. The answer is 409 when its partner may no longer receive events of the practice group, or when its webhook is disabled: activate it first.',
  extension: true,
  access: { roles: support },
  params: byId,
  response: { status: 202, description: 'The delivery as it is now.', body: partnerDelivery },
  problems: ['not_found', 'conflict'],
});
