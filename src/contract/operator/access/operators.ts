import { z } from 'zod';
import { admins, readers, roleNames } from '../../access.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { line, moment, recordId, timestamp } from '../../fields.ts';
import { pageOf, pageQuery } from '../../page.ts';

const operator = z
  .object({
    id: z.string(),
    name: z.string(),
    kind: z.enum(['token', 'person']).meta({
      description: 'Whether it has a token, or is a person whom the provider of OpenID Connect knows.',
    }),
    role: z.enum(roleNames).meta({ description: 'Of a person, as the provider said at the last sign-in.' }),
    label: z.string().nullable().meta({ description: 'What the token is for, or where it is kept.' }),
    issuer: z.string().nullable().meta({ description: 'Of a person: the provider that knows it.' }),
    subject: z.string().nullable().meta({ description: 'Of a person: as whom the provider knows it.' }),
    emergency: z.boolean().meta({
      description: 'Whether its token signs in to the console although people come in through a provider.',
    }),
    status: z.enum(['active', 'expired', 'revoked']),
    expires_at: timestamp().nullable(),
    last_used_at: timestamp().nullable().meta({
      description: 'When the token was last used, to five minutes, or the person signed in; null: never.',
    }),
    created_at: timestamp(),
    revoked_at: timestamp().nullable(),
  })
  .meta({ id: 'Operator', description: 'A person or system of the operator, with a token and a role.' });

export type Operator = z.infer<typeof operator>;

const settable = {
  label: line({ min: 1, max: 255 }).nullable().optional(),
  expires_at: moment()
    .nullable()
    .optional()
    .meta({ description: 'Null, or left out: the token does not expire.' }),
};

const byId = z.strictObject({ id: recordId() });
const tag = 'Operators';

export const createOperator = defineEndpoint({
  operationId: 'createOperator',
  method: 'POST',
  path: '/operator/v1/operators',
  tag,
  summary: 'Create an operator',
  description: 'Gives a person or a system a token with one role, for good or until it expires.',
  extension: true,
  access: { roles: admins },
  approval: 'operators',
  body: z.strictObject({
    name: line({ min: 1, max: 255 }),
    role: z.enum(roleNames),
    emergency: z.boolean().optional().meta({
      description:
        'For when the provider of OpenID Connect cannot be reached: the token signs in to the console all the same. False unless given.',
    }),
    ...settable,
  }),
  response: {
    status: 201,
    description: 'The operator with the token, shown this once.',
    body: operator
      .extend({ token: z.string().meta({ description: 'Shown here once and never again.' }) })
      .meta({ id: 'NewOperator' }),
  },
  problems: ['business_rule_violation'],
  rules: ['expiry_in_the_past'],
});

export const listOperators = defineEndpoint({
  operationId: 'listOperators',
  method: 'GET',
  path: '/operator/v1/operators',
  tag,
  summary: 'List operators',
  extension: true,
  access: { roles: readers },
  query: z.strictObject(pageQuery),
  response: { status: 200, description: 'One page.', body: pageOf(operator) },
  problems: [],
});

export const getOperator = defineEndpoint({
  operationId: 'getOperator',
  method: 'GET',
  path: '/operator/v1/operators/{id}',
  tag,
  summary: 'Get an operator',
  extension: true,
  access: { roles: readers },
  params: byId,
  response: { status: 200, description: 'The operator.', body: operator },
  problems: ['not_found'],
});

export const updateOperator = defineEndpoint({
  operationId: 'updateOperator',
  method: 'PATCH',
  path: '/operator/v1/operators/{id}',
  tag,
  summary: 'Update an operator',
  description:
    'Changes the label, or when the token expires. With `PORTER_APPROVALS=operators`, a later expiry, or none, waits for a second person.',
  extension: true,
  access: { roles: admins },
  approval: 'operators',
  approvalFor: 'widening',
  params: byId,
  body: z.strictObject(settable),
  response: { status: 200, description: 'The operator.', body: operator },
  problems: ['not_found', 'conflict', 'business_rule_violation'],
  rules: ['expiry_in_the_past'],
});

export const revokeOperator = defineEndpoint({
  operationId: 'revokeOperator',
  method: 'POST',
  path: '/operator/v1/operators/{id}/revoke',
  tag,
  summary: 'Revoke an operator',
  description:
    'Answers when no node accepts the token, or a session, any more. A person who is revoked here is kept out whatever the provider says. Invitations by this operator that nobody has used are withdrawn. The last admin that does not expire cannot be revoked, nor be given an expiry.',
  extension: true,
  access: { roles: admins },
  params: byId,
  response: { status: 200, description: 'The operator.', body: operator },
  problems: ['not_found', 'conflict'],
});
