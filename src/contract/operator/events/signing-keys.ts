import { z } from 'zod';
import { admins, readers } from '../../access.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { timestamp, wholeNumber } from '../../fields.ts';

const DAY = 24 * 3_600;

const signingKey = z
  .object({
    id: z.string(),
    public_key: z.string().meta({ description: 'What receivers verify with.', examples: ['whpk_…'] }),
    created_at: timestamp(),
    expires_at: timestamp().nullable().meta({ description: 'Until then it signs; null for the newest.' }),
  })
  .meta({ id: 'SigningKey', description: 'A key pair (Ed25519) that signs deliveries of this deployment.' });

const tag = 'Webhooks';

export const listSigningKeys = defineEndpoint({
  operationId: 'listSigningKeys',
  method: 'GET',
  path: '/operator/v1/signing-keys',
  tag,
  summary: 'List signing keys',
  description: 'Those that sign at this moment, the newest first. There are a few at most.',
  extension: true,
  access: { roles: readers },
  response: { status: 200, description: 'All of them.', body: z.object({ data: z.array(signingKey) }) },
  problems: [],
});

export const rotateSigningKey = defineEndpoint({
  operationId: 'rotateSigningKey',
  method: 'POST',
  path: '/operator/v1/signing-keys/rotate',
  tag,
  summary: 'Rotate the signing key',
  description:
    'Makes a new key pair. Deliveries are signed with both until the overlap ends, and both public keys are at `/.well-known/webhook-keys`: receivers change over in that time. At most four sign at once.',
  extension: true,
  access: { roles: admins },
  body: z.strictObject({
    overlap_seconds: wholeNumber(0, 90 * DAY)
      .optional()
      .meta({ description: 'Seven days unless given; 0 ends the old key at once.' }),
  }),
  response: { status: 201, description: 'The new key.', body: signingKey },
  problems: ['conflict'],
});
