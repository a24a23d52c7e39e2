import { z } from 'zod';
import { admins, readers, support } from '../../access.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { emailAddress, line, recordId, timestamp } from '../../fields.ts';
import { pageOf, pageQuery } from '../../page.ts';

/** For so long the link in a message works. */
export const INVITATION_HOURS = 72;

const invitation = z
  .object({
    id: z.string(),
    partner_id: z.string().nullable(),
    practice_group_id: z.string().nullable(),
    email: z.string(),
    name: z.string(),
    status: z.enum(['waiting', 'undeliverable', 'sent', 'expired', 'entered', 'withdrawn']),
    invited_by: z.object({ id: z.string(), name: z.string() }),
    created_at: timestamp(),
    sent_at: timestamp().nullable(),
    expires_at: timestamp().nullable().meta({ description: 'Until when the link works.' }),
    entered_at: timestamp().nullable(),
    error: z.string().nullable().meta({ description: 'Why the message could not be sent, or cannot be.' }),
  })
  .meta({ id: 'Invitation', description: 'Of somebody of a partner or a practice, into the console.' });

export type Invitation = z.infer<typeof invitation>;

const byId = z.strictObject({ id: recordId() });
const invited = z.strictObject({ email: emailAddress(), name: line({ min: 1, max: 255 }) });
const made = {
  status: 201,
  description: 'The invitation. Its link is in the message alone.',
  body: invitation,
} as const;
const tag = 'Invitations';
const sent = `Somebody gets an e-mail with a link that works once, for ${INVITATION_HOURS} hours. It is sent within half a minute, where the deployment sends mail.`;

export const createPartnerInvitation = defineEndpoint({
  operationId: 'createPartnerInvitation',
  method: 'POST',
  path: '/operator/v1/partners/{id}/invitations',
  tag,
  summary: 'Invite somebody of a partner',
  description: sent,
  extension: true,
  access: { roles: support },
  params: byId,
  body: invited,
  response: made,
  problems: ['not_found'],
});

export const createPracticeInvitation = defineEndpoint({
  operationId: 'createPracticeInvitation',
  method: 'POST',
  path: '/operator/v1/practice-groups/{id}/invitations',
  tag,
  summary: 'Invite somebody of a practice',
  description: sent,
  extension: true,
  access: { roles: admins },
  params: byId,
  body: invited,
  response: made,
  problems: ['not_found'],
});

export const listInvitations = defineEndpoint({
  operationId: 'listInvitations',
  method: 'GET',
  path: '/operator/v1/invitations',
  tag,
  summary: 'List invitations',
  description: 'Newest first.',
  extension: true,
  access: { roles: readers },
  query: z.strictObject({
    ...pageQuery,
    partner_id: recordId().optional(),
    practice_group_id: recordId().optional(),
  }),
  response: { status: 200, description: 'One page.', body: pageOf(invitation) },
  problems: [],
});

export const withdrawInvitation = defineEndpoint({
  operationId: 'withdrawInvitation',
  method: 'POST',
  path: '/operator/v1/invitations/{id}/withdraw',
  tag,
  summary: 'Withdraw an invitation',
  description:
    'Its link works no more, and neither do the sessions that it began. Answers when that holds on every node, about a second later. Withdrawing twice is no error.',
  extension: true,
  access: { roles: support },
  params: byId,
  response: { status: 200, description: 'The invitation.', body: invitation },
  problems: ['not_found'],
});
