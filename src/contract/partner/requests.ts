import { z } from 'zod';
import { defineEndpoint } from '../endpoint.ts';
import { text, timestamp } from '../fields.ts';
import { problemBody, validationErrorBody } from '../problems.ts';

/** Callers may choose it themselves. */
export const requestId = text({ min: 1, max: 128 }).meta({ description: 'The x-request-id of the call.' });

/** Why a key that is known was refused, with what to do. Of the key itself the answer of such a call tells nothing. */
export const refusalReasons = {
  expired: 'The key has expired. Ask support for a new one.',
  revoked:
    'The key was revoked, or rotated without an overlap. Use the key that replaces it, or ask support.',
  leaked:
    'The key was reported as leaked and was revoked. Ask support for a new one, and find out how it got out.',
  partner_not_verified: 'The partner is not verified, or is suspended. Support has to verify it.',
  address_not_allowed:
    'The call came from an address that the key may not be used from. Call from one of its allowed_addresses, or have the list changed.',
  proof_missing:
    'The key needs more than itself, and it was not sent: a client certificate (proof mtls) or an assertion in x-client-assertion (proof private_key_jwt).',
  proof_invalid:
    'The client certificate is not one that is registered for the key, or the assertion does not hold: check its signature, iss, sub, aud, exp and jti.',
  stopped_by_practice:
    'The practice has stopped the partner. The practice lifts the stop, or an admin for it; other practice groups are reached as before.',
  proof_replayed: 'The assertion was used before. Sign a new one, with another jti, for each call.',
} as const;

export type RefusalReason = keyof typeof refusalReasons;
const reasonNames = Object.keys(refusalReasons) as [RefusalReason, ...RefusalReason[]];

export const refusedRequest = z
  .object({
    request_id: z.string().meta({ description: 'The `x-request-id` of the call.' }),
    at: timestamp().meta({ description: 'When the call was refused.' }),
    method: z.string().meta({ description: 'The HTTP method.' }),
    path: z.string().meta({ description: 'Without its query.' }),
    operation: z
      .string()
      .meta({ description: 'The operation that was called.', examples: ['updateSubmissionType'] }),
    status: z.int().meta({ description: 'The HTTP status of the answer.' }),
    error: z.string().meta({
      description: 'The code of the refusal; `validation_error` for a 400.',
      examples: ['business_rule_violation'],
    }),
    reason: z.enum(reasonNames).nullable().meta({
      description:
        'Why the key was refused, at all or for this practice group; null if that was not why the call was.',
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
    'Tells why a call of your own was refused, and what to do about it. Give the `x-request-id` of the call; if several calls had the same ID, the last one is shown. Calls that succeeded are not kept. A call with another key of yours that was refused, because the key had expired for instance, is found with a key that works.',
  extension: true,
  access: { anyKey: true },
  params: z.strictObject({ request_id: requestId }),
  response: { status: 200, description: 'The call and its refusal.', verbatim: true, body: refusedRequest },
  problems: ['not_found'],
});
