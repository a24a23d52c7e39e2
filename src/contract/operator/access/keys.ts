import { z } from 'zod';
import { readers, scopeList, scopeNames, support } from '../../access.ts';
import { defineEndpoint } from '../../endpoint.ts';
import {
  addressRange,
  line,
  moment,
  rateLimit,
  recordId,
  text,
  timestamp,
  wholeNumber,
} from '../../fields.ts';
import { pageOf, pageQuery } from '../../page.ts';
import { withCommas } from '../../wording.ts';

/** What a caller must show beside the key itself. */
export const proofs = ['none', 'mtls', 'private_key_jwt'] as const;

const ADDRESSES_MAX = 100;
/** As many as a change of certificates or signing keys needs, with room to spare. */
const CREDENTIALS_MAX = 10;

const base64url = (max: number) =>
  z
    .string()
    .regex(/^[A-Za-z0-9_-]+$/, 'Must be base64url without padding.')
    .max(max);

const RSA_BITS_MIN = 2_048;
const RSA_BITS_MAX = 4_096;

const publicKey = z
  .strictObject({
    kty: z.literal('RSA'),
    kid: text({ min: 1, max: 128 }).meta({ description: 'Assertions name it in their header.' }),
    n: base64url(Math.ceil((RSA_BITS_MAX / 8) * 1.5))
      .refine(isModulus, {
        error: `Must be the modulus of an RSA key of ${RSA_BITS_MIN} to ${RSA_BITS_MAX} bits.`,
        params: { code: 'invalid_value', expected: 'string' },
      })
      .meta({ description: `${RSA_BITS_MIN} to ${RSA_BITS_MAX} bits.` }),
    e: base64url(6).refine(isExponent, {
      error: 'Must be the exponent of an RSA key, such as AQAB.',
      params: { code: 'invalid_value', expected: 'string' },
    }),
    alg: z.literal('RS512').optional(),
    use: z.literal('sig').optional(),
  })
  .meta({ id: 'PublicKey', description: 'An RSA public key as JWK. No private part may be sent.' });

/** Odd, and of at most four bytes. */
function isExponent(value: string): boolean {
  const exponent = Number.parseInt(Buffer.from(value, 'base64url').toString('hex'), 16);
  return exponent >= 3 && exponent % 2 === 1;
}

/** Leading zeros do not count. The product of two odd primes is odd. */
function isModulus(value: string): boolean {
  const hex = Buffer.from(value, 'base64url').toString('hex').replace(/^0+/, '');
  const bits = hex.length * 4;
  const isOdd = /[13579bdf]$/.test(hex);
  return isOdd && bits >= RSA_BITS_MIN && bits <= RSA_BITS_MAX;
}

const jwks = z
  .strictObject({
    keys: z
      .array(publicKey)
      .min(1)
      .max(CREDENTIALS_MAX)
      .refine((keys) => new Set(keys.map(({ kid }) => kid)).size === keys.length, {
        error: 'Each key needs a kid of its own.',
        params: { code: 'invalid_value', expected: 'array' },
      }),
  })
  .meta({ id: 'PublicKeys', description: 'The public keys that sign assertions, as a JWK set.' });

/** As OpenSSL prints it, or without the colons; kept without, in lower case. */
const fingerprint = () =>
  z
    .string()
    .regex(/^([0-9A-Fa-f]{64}|[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){31})$/, 'Must be a SHA-256 in hex.')
    .transform((value) => value.replaceAll(':', '').toLowerCase());

/** What an operator may set, when a key is issued and later. */
const settings = {
  label: line({ min: 1, max: 100 })
    .nullable()
    .meta({ description: 'What people call it, such as "booking service, production".' }),
  allowed_addresses: z.array(addressRange()).min(1).max(ADDRESSES_MAX).nullable().meta({
    description: 'Addresses and ranges that the key may be used from; null: anywhere.',
  }),
  proof: z.enum(proofs).meta({
    description:
      'What a call must show beside the key. `mtls`: a client certificate with one of `certificate_fingerprints`. `private_key_jwt`: an assertion in `x-client-assertion`, signed by one of `jwks`.',
  }),
  certificate_fingerprints: z
    .array(fingerprint())
    .max(CREDENTIALS_MAX)
    .meta({ description: 'SHA-256 of the client certificates that are taken.' }),
  jwks: jwks.nullable(),
};

const leak = z
  .object({
    reported_at: timestamp(),
    source: z.string().nullable().meta({ description: 'Who found it.' }),
    url: z.string().nullable().meta({ description: 'Where it was found.' }),
  })
  .meta({ id: 'Leak' });

export const keyStatuses = ['active', 'expired', 'revoked'] as const;

const apiKey = z
  .object({
    id: z.string(),
    partner_id: z.string(),
    practice_group_id: z.string(),
    label: settings.label,
    scopes: z.array(z.enum(scopeNames)),
    prefix: z.string().meta({ description: 'How the key begins.', examples: ['ptr_live_'] }),
    last_four: z.string(),
    status: z.enum(keyStatuses),
    rate_limit_per_minute: z
      .int()
      .nullable()
      .meta({ description: 'null: the limit of its agreement, or the default one.' }),
    agreement_id: z.string().nullable().meta({
      description: "What it was issued under; null: that is not known, and the partner's terms hold.",
    }),
    allowed_addresses: z
      .array(z.string())
      .nullable()
      .meta({ description: 'The addresses that it may be used from; null: anywhere.' }),
    proof: settings.proof,
    certificate_fingerprints: z.array(z.string()),
    jwks: settings.jwks,
    last_used_at: timestamp()
      .nullable()
      .meta({ description: 'When a call with it was last let in, up to a minute late; null: never.' }),
    last_used_from: z.string().nullable().meta({ description: 'The address of that call.' }),
    expires_at: timestamp().nullable(),
    revoked_at: timestamp().nullable(),
    leak: leak.nullable().meta({ description: 'The report that it was leaked; null: there is none.' }),
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
const changeable = z.strictObject({
  scopes: scopeList(),
  expires_at: moment().nullable(),
  rate_limit_per_minute: rateLimit().nullable(),
  agreement_id: recordId().meta({
    description:
      'An agreement of the partner that is in force. Unless given when the key is issued: the one that was signed last.',
  }),
  ...settings,
});

export const issueKey = defineEndpoint({
  operationId: 'issueKey',
  method: 'POST',
  path: '/operator/v1/keys',
  tag,
  summary: 'Issue a key',
  extension: true,
  access: { roles: support },
  approval: 'keys',
  body: z.strictObject({
    partner_id: recordId(),
    practice_group_id: recordId(),
    ...changeable.partial().shape,
    scopes: scopeList(),
  }),
  response: { status: 201, description: 'The key, shown this once.', body: issuedKey },
  problems: ['business_rule_violation'],
  rules: [
    'partner_unknown',
    'partner_not_verified',
    'practice_group_unknown',
    'expiry_in_the_past',
    'proof_incomplete',
    'agreement_unknown',
    'agreement_ended',
  ],
});

/** Keys in one call. */
const BULK_MAX = 1_000;

export const issueKeys = defineEndpoint({
  operationId: 'issueKeys',
  method: 'POST',
  path: '/operator/v1/keys/bulk',
  tag,
  summary: 'Issue keys for many practice groups',
  description: `One key for each practice group, up to ${withCommas(BULK_MAX)}, all with the same scopes and settings: all of them or none. Practice groups that do not exist, or are named twice, are told together, each with its place in the list (400).`,
  extension: true,
  access: { roles: support },
  approval: 'keys',
  body: z.strictObject({
    partner_id: recordId(),
    practice_group_ids: z.array(recordId()).min(1).max(BULK_MAX),
    ...changeable.partial().shape,
    scopes: scopeList(),
  }),
  bodyBytesMax: 512 * 1024,
  response: {
    status: 201,
    description: 'The keys in the order of the practice groups, shown this once.',
    body: z
      .object({
        data: z.array(
          z
            .object({
              id: z.string(),
              practice_group_id: z.string(),
              key: z.string().meta({ description: 'The key itself: shown here once and never again.' }),
            })
            .meta({ id: 'KeyOfMany' }),
        ),
      })
      .meta({ id: 'IssuedApiKeys' }),
  },
  problems: ['business_rule_violation'],
  rules: ['partner_unknown', 'partner_not_verified', 'expiry_in_the_past', 'proof_incomplete'],
});

export const updateKey = defineEndpoint({
  operationId: 'updateKey',
  method: 'PATCH',
  path: '/operator/v1/keys/{id}',
  tag,
  summary: 'Update a key',
  description:
    'The body is a merge patch; lists and `jwks` are replaced as a whole. Answers when the change holds on every node, about a second later. A key that no longer works cannot be changed. With `PORTER_APPROVALS=keys`, a change that widens waits for a second person: another scope, a later expiry or none, a higher rate limit, another agreement, an address that was not allowed, or a weaker proof.',
  extension: true,
  access: { roles: support },
  approval: 'keys',
  approvalFor: 'widening',
  params: byId,
  body: changeable.partial(),
  readOnly: [
    'id',
    'partner_id',
    'practice_group_id',
    'prefix',
    'last_four',
    'status',
    'last_used_at',
    'last_used_from',
    'revoked_at',
    'leak',
    'replaced_by',
    'created_at',
  ],
  conditional: true,
  response: { status: 200, description: 'The key as it is now.', body: apiKey },
  problems: ['not_found', 'conflict', 'precondition_failed', 'business_rule_violation'],
  rules: ['expiry_in_the_past', 'proof_incomplete', 'agreement_unknown', 'agreement_ended'],
});

export const rotateKey = defineEndpoint({
  operationId: 'rotateKey',
  method: 'POST',
  path: '/operator/v1/keys/{id}/rotate',
  tag,
  summary: 'Rotate a key',
  description:
    'Issues a key with the same practice group, scopes and settings. The old key keeps working for the overlap. With an overlap of 0, the call answers when no node accepts the old key any more.',
  extension: true,
  access: { roles: support },
  approval: 'keys',
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
    'Answers when no node accepts the key any more, about a second later. From then on no delivery begins that only this key allowed; one whose request was being sent ends within 15 seconds. Revoking twice is no error.',
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
    status: z.enum(keyStatuses).optional(),
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
  conditional: true,
  response: { status: 200, description: 'The key, without its secret.', body: apiKey },
  problems: ['not_found'],
});
