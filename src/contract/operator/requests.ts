import { z } from 'zod';
import { readers } from '../access.ts';
import { defineEndpoint } from '../endpoint.ts';
import { recordId } from '../fields.ts';
import { pageOf, pageQuery, shortPages } from '../page.ts';
import { refusedRequest, requestId } from '../partner/requests.ts';

const partnerRefusedRequest = refusedRequest
  .extend({
    partner_id: z.string(),
    key_id: z.string(),
    practice_group_id: z
      .string()
      .nullable()
      .meta({ description: 'The practice group that the call was for; null if it named none.' }),
  })
  .meta({ id: 'PartnerRefusedRequest' });

export type PartnerRefusedRequest = z.infer<typeof partnerRefusedRequest>;

export const listRefusedRequests = defineEndpoint({
  operationId: 'listRefusedRequests',
  method: 'GET',
  path: '/operator/v1/requests',
  tag: 'Requests',
  summary: 'Why were their calls refused?',
  description: `Calls of partners that were refused, newest first, with the answer as it was. With more than one filter, a page looks through a stretch. ${shortPages} Calls without a valid key belong to nobody; they are in the log alone.`,
  extension: true,
  access: { roles: readers },
  query: z.strictObject({
    ...pageQuery,
    request_id: requestId.optional(),
    partner_id: recordId().optional(),
    practice_group_id: recordId().optional(),
  }),
  response: { status: 200, description: 'One page.', body: pageOf(partnerRefusedRequest), verbatim: true },
  problems: [],
});
