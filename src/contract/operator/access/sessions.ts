import { z } from 'zod';
import { approvalKinds, roleNames } from '../../access.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { recordId, timestamp } from '../../fields.ts';
import { pageOf, pageQuery } from '../../page.ts';

const session = z
  .object({
    id: z.string(),
    operator_id: z.string(),
    operator_name: z.string(),
    address: z.string().meta({ description: 'From where somebody signed in.' }),
    user_agent: z.string().nullable().meta({ description: 'With which browser.' }),
    is_current: z.boolean().meta({ description: 'Whether this call was made with it.' }),
    created_at: timestamp(),
    last_used_at: timestamp().meta({ description: 'To a minute.' }),
    idle_expires_at: timestamp().meta({ description: 'When it ends unless it is used before.' }),
    expires_at: timestamp().meta({ description: 'When it ends however much it is used.' }),
  })
  .meta({ id: 'Session', description: 'Somebody who is signed in to the console.' });

export type Session = z.infer<typeof session>;

const tag = 'Sessions';

export const getOperatorMe = defineEndpoint({
  operationId: 'getOperatorMe',
  method: 'GET',
  path: '/operator/v1/me',
  tag,
  summary: 'Get yourself',
  description:
    'Who makes the call, with which role, and what this deployment is: what the console begins with.',
  extension: true,
  access: { roles: roleNames },
  response: {
    status: 200,
    description: 'You, and the deployment.',
    body: z
      .object({
        operator: z.object({ id: z.string(), name: z.string(), role: z.enum(roleNames) }),
        session: z
          .object({ id: z.string(), expires_at: timestamp(), idle_expires_at: timestamp() })
          .nullable()
          .meta({ description: 'Null for a call with a token.' }),
        environment: z.enum(['staging', 'production']),
        version: z.string().meta({ description: 'Of the service.' }),
        sign_in: z.enum(['token', 'oidc']).meta({
          description:
            'How people sign in to the console: with an operator token, or through a provider of OpenID Connect.',
        }),
        approvals: z
          .array(z.enum(approvalKinds))
          .meta({ description: 'What is done only when a second person has approved it.' }),
        support_contact: z
          .string()
          .meta({ description: 'Where partners turn to: an e-mail address, or a page.' }),
      })
      .meta({ id: 'OperatorMe' }),
  },
  problems: [],
});

export const listSessions = defineEndpoint({
  operationId: 'listSessions',
  method: 'GET',
  path: '/operator/v1/sessions',
  tag,
  summary: 'List sessions',
  description: 'Those that are not over: your own, or everybody’s for an admin.',
  extension: true,
  access: { roles: roleNames },
  query: z.strictObject(pageQuery),
  response: { status: 200, description: 'One page.', body: pageOf(session) },
  problems: [],
});

export const revokeOwnSessions = defineEndpoint({
  operationId: 'revokeOwnSessions',
  method: 'DELETE',
  path: '/operator/v1/sessions',
  tag,
  summary: 'End all of your own sessions',
  description:
    'Signs you out of the console in every browser, the current one included. Answers when no node accepts the sessions any more, about a second later. Your token keeps working.',
  extension: true,
  access: { roles: roleNames },
  response: { status: 204, description: 'The sessions are over.' },
  problems: [],
});

export const revokeSession = defineEndpoint({
  operationId: 'revokeSession',
  method: 'DELETE',
  path: '/operator/v1/sessions/{id}',
  tag,
  summary: 'End a session',
  description:
    'One of your own, or anybody’s for an admin. Answers when no node accepts it any more, about a second later.',
  extension: true,
  access: { roles: roleNames },
  params: z.strictObject({ id: recordId() }),
  response: { status: 204, description: 'The session is over.' },
  problems: ['not_found'],
});
