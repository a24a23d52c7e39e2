import { z } from 'zod';
import { readers, scopeList, scopeNames, support } from '../access.ts';
import { defineEndpoint } from '../endpoint.ts';
import { moment, recordId, timestamp, wholeNumber } from '../fields.ts';
import { pageOf, pageQuery } from '../page.ts';
import { rateLimit } from './partners.ts';

const apiKey = z
  .object({
    id: z.string(),
    partner_id: z.string(),
    practice_group_id: z.string(),
    scopes: z.array(z.enum(scopeNames)),
    prefix: z.string().meta({ description: 'How the key begins.', examples: ['ptr_live_'] }),
    last_four: z.string(),
    status: z.enum(['active', 'expired', 'revoked']),
    rate_limit_per_minute: z
      .int()
      .nullable()
      .meta({ description: "null: the partner's limit, or the default one." }),
    expires_at: timestamp().nullable(),
    revoked_at: timestamp().nullable(),
    replaced_by: z
      .string()
      .nullable()
      .meta({ description: 'The key that a rotation issued in place of this one.' }),
    created_at: timestamp(),
  })
  .meta({ id: 'ApiKey' });

export type ApiKey = z.infer<typeof apiKey>;

const issuedKey = apiKey
  .extend({ key: z.string().meta({ description: 'The key itself: shown here once and never again.' }) })
  .meta({ id: 'IssuedApiKey' });

const byId = z.strictObject({ id: recordId() });
const tag = 'Keys';

export const issueKey = defineEndpoint({
  operationId: 'issueKey',
  method: 'POST',
  path: '/operator/v1/keys',
  tag,
  summary: 'Issue a key',
  extension: true,
  access: { roles: support },
  body: z.strictObject({
    partner_id: recordId(),
    practice_group_id: recordId(),
    scopes: scopeList(),
    expires_at: moment().nullable().optional(),
    rate_limit_per_minute: rateLimit().nullable().optional(),
  }),
  response: { status: 201, description: 'The key, shown this once.', body: issuedKey },
  problems: ['business_rule_violation'],
  rules: ['partner_unknown', 'partner_not_verified', 'practice_group_unknown', 'expiry_in_the_past'],
});

export const rotateKey = defineEndpoint({
  operationId: 'rotateKey',
  method: 'POST',
  path: '/operator/v1/keys/{id}/rotate',
  tag,
  summary: 'Rotate a key',
  description:
    'Issues a key with the same practice group and scopes. The old key keeps working for the overlap. With an overlap of 0, the call answers when no node accepts the old key any more.',
  extension: true,
  access: { roles: support },
  params: byId,
  body: z.strictObject({
    overlap_seconds: wholeNumber(0, 30 * 24 * 3600)
      .optional()
      .meta({ description: '24 hours unless given; 0 ends the old key at once.' }),
  }),
  bodyOptional: true,
  response: { status: 201, description: 'The new key, shown this once.', body: issuedKey },
  problems: ['not_found', 'conflict', 'business_rule_violation'],
  rules: ['partner_not_verified'],
});

export const revokeKey = defineEndpoint({
  operationId: 'revokeKey',
  method: 'POST',
  path: '/operator/v1/keys/{id}/revoke',
  tag,
  summary: 'Revoke a key',
  description:
    'Answers when no node accepts the key any more, about a second later. Revoking twice is no error.',
  extension: true,
  access: { roles: support },
  params: byId,
  response: { status: 200, description: 'The revoked key.', body: apiKey },
  problems: ['not_found'],
});

export const listKeys = defineEndpoint({
  operationId: 'listKeys',
  method: 'GET',
  path: '/operator/v1/keys',
  tag,
  summary: 'List keys',
  extension: true,
  access: { roles: readers },
  query: z.strictObject({
    ...pageQuery,
    partner_id: recordId().optional(),
    practice_group_id: recordId().optional(),
  }),
  response: { status: 200, description: 'One page.', body: pageOf(apiKey) },
  problems: [],
});

export const getKey = defineEndpoint({
  operationId: 'getKey',
  method: 'GET',
  path: '/operator/v1/keys/{id}',
  tag,
  summary: 'Get a key',
  extension: true,
  access: { roles: readers },
  params: byId,
  response: { status: 200, description: 'The key, without its secret.', body: apiKey },
  problems: ['not_found'],
});
