import { z } from 'zod';
import { readers } from '../../access.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { requestId } from '../../partner/requests.ts';
import { named } from '../named.ts';
import { partnerRefusedRequest } from './requests.ts';

/** In the order in which the door makes them. */
export const checkNames = [
  'transport',
  'size',
  'key',
  'rate',
  'scope',
  'network',
  'validation',
  'operation',
] as const;
export type CheckName = (typeof checkNames)[number];

const check = z
  .object({
    check: z.enum(checkNames).meta({
      description:
        'transport: over HTTPS. size: of the body. key: known, valid, from an allowed address, with its proof. rate: calls a minute. scope: of the key. network: whether the key reaches the practice group, and the practice has not stopped the partner. validation: path, query, headers and body. operation: what the operation itself refuses: rules, conditions, things that are not there.',
    }),
    outcome: z.enum(['passed', 'refused', 'not_reached']),
    found: z
      .string()
      .nullable()
      .meta({
        description: 'What the check met, as a sentence; null where it was not reached.',
        examples: ['The key has the scope submission-types:read.'],
      }),
    needed: z
      .string()
      .nullable()
      .meta({
        description: 'What would have passed; null unless it refused.',
        examples: ['A key with the scope submission-types:write.'],
      }),
  })
  .meta({ id: 'RequestCheck' });

export type RequestCheck = z.infer<typeof check>;

const explanation = z
  .object({
    request: partnerRefusedRequest,
    partner: named,
    key: named.nullable().meta({ description: 'The key of the call, by its label or its ending.' }),
    practice_group: named.nullable().meta({ description: 'null: it named none, or none that there is.' }),
    checks: z.array(check).meta({ description: 'All of them, in the order in which they are made.' }),
  })
  .meta({ id: 'RequestExplanation' });

export const explainRequest = defineEndpoint({
  operationId: 'explainRequest',
  method: 'GET',
  path: '/operator/v1/requests/{request_id}/explanation',
  tag: 'Requests',
  summary: 'Explain a refused request',
  description:
    'Goes through the checks of the door in their order: which the call passed, which one refused it, and what would have passed. What a key or network grants is told as it is now. If several calls had the same ID, the last one is explained.',
  extension: true,
  access: { roles: readers },
  params: z.strictObject({ request_id: requestId }),
  response: { status: 200, description: 'The call, check by check.', body: explanation, verbatim: true },
  problems: ['not_found'],
});
