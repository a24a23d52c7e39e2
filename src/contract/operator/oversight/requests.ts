import { z } from 'zod';
import { readers } from '../../access.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { recordId } from '../../fields.ts';
import { pageOf, pageQuery, shortPages, spanQuery } from '../../page.ts';
import { refusedRequest, requestId } from '../../partner/requests.ts';
import { problemCodes, validationEntry } from '../../problems.ts';

export const refusalCodes = [...problemCodes, validationEntry.code] as const;
export type RefusalCode = (typeof refusalCodes)[number];

export const partnerRefusedRequest = refusedRequest
  .extend({
    partner_id: z.string(),
    key_id: z.string(),
    practice_group_id: z
      .string()
      .nullable()
      .meta({ description: 'The practice group that the call was for; null if it named none.' }),
    address: z.string().nullable().meta({ description: 'Where the call came from.' }),
  })
  .meta({ id: 'PartnerRefusedRequest' });

export type PartnerRefusedRequest = z.infer<typeof partnerRefusedRequest>;

export const listRefusedRequests = defineEndpoint({
  operationId: 'listRefusedRequests',
  method: 'GET',
  path: '/operator/v1/requests',
  tag: 'Requests',
  summary: 'List refused requests',
  description: `Tells why calls of partners were refused, newest first, each with the answer that was sent. ${shortPages} Those with a key that is known but was refused have a \`reason\`. Calls without a key that is known belong to no partner: look for them in the log.`,
  extension: true,
  access: { roles: readers },
  query: z.strictObject({
    ...pageQuery,
    ...spanQuery,
    request_id: requestId.optional(),
    partner_id: recordId().optional(),
    practice_group_id: recordId().optional(),
    key_id: recordId().optional(),
    status: z
      .preprocess(
        (value) => (typeof value === 'string' && /^[45]\d\d$/.test(value) ? Number(value) : value),
        z.int().min(400).max(599),
      )
      .optional()
      .meta({ description: 'The status that was answered.', examples: [403] }),
    error: z
      .enum(refusalCodes)
      .optional()
      .meta({ description: 'The code of the refusal.', examples: ['insufficient_permissions'] }),
  }),
  response: { status: 200, description: 'One page.', body: pageOf(partnerRefusedRequest), verbatim: true },
  problems: [],
});
