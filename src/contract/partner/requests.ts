import { z } from 'zod';
import { defineEndpoint } from '../endpoint.ts';
import { text, timestamp } from '../fields.ts';
import { problemBody, validationErrorBody } from '../problems.ts';

/** Callers may choose it themselves. */
export const requestId = text({ min: 1, max: 128 }).meta({ description: 'The x-request-id of the call.' });

export const refusedRequest = z
  .object({
    request_id: z.string(),
    at: timestamp(),
    method: z.string(),
    path: z.string().meta({ description: 'Without its query.' }),
    operation: z.string().meta({ examples: ['updateSubmissionType'] }),
    status: z.int(),
    error: z.string().meta({
      description: 'The code of the refusal; `validation_error` for a 400.',
      examples: ['business_rule_violation'],
    }),
    answer: z
      .union([validationErrorBody, problemBody])
      .meta({ description: 'The body of the refusal. Of a 400 with very many problems, the first 100.' }),
    explanation: z.string().meta({ description: 'The cause and what to do about it, in plain words.' }),
  })
  .meta({ id: 'RefusedRequest' });

export const getRefusedRequest = defineEndpoint({
  operationId: 'getRefusedRequest',
  method: 'GET',
  path: '/v1/requests/{request_id}',
  tag: 'Requests',
  summary: 'Get a refused request',
  description:
    'Tells why a call of your own was refused, and what to do about it. Give the `x-request-id` of the call; if several calls had the same ID, the last one is shown. Calls that succeeded are not kept.',
  extension: true,
  access: { anyKey: true },
  params: z.strictObject({ request_id: requestId }),
  response: { status: 200, description: 'The call and its refusal.', verbatim: true, body: refusedRequest },
  problems: ['not_found'],
});
