import { z } from 'zod';
import { readers, support } from '../../access.ts';
import { APPROVAL_HOURS, approval, approvalStatuses } from '../../approval.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { paragraphs, recordId } from '../../fields.ts';
import { pageOf, pageQuery } from '../../page.ts';

const byId = z.strictObject({ id: recordId() });
const tag = 'Approvals';
const answer = { status: 200, description: 'The approval as it is now.', body: approval } as const;

export const listApprovals = defineEndpoint({
  operationId: 'listApprovals',
  method: 'GET',
  path: '/operator/v1/approvals',
  tag,
  summary: 'List approvals',
  description: 'What waits for a second person, and what has; newest first.',
  extension: true,
  access: { roles: readers },
  query: z.strictObject({
    ...pageQuery,
    status: z.enum(approvalStatuses).optional(),
  }),
  response: { status: 200, description: 'One page.', body: pageOf(approval) },
  problems: [],
});

export const getApproval = defineEndpoint({
  operationId: 'getApproval',
  method: 'GET',
  path: '/operator/v1/approvals/{id}',
  tag,
  summary: 'Get an approval',
  extension: true,
  access: { roles: readers },
  params: byId,
  response: { status: 200, description: 'The approval.', body: approval },
  problems: ['not_found'],
});

export const approveApproval = defineEndpoint({
  operationId: 'approveApproval',
  method: 'POST',
  path: '/operator/v1/approvals/{id}/approve',
  tag,
  summary: 'Approve',
  description:
    'Carries it out as it was asked for, in the name of both. You need the role that the operation needs. You must not be the operator who asked, and must have been an operator before the request. If people sign in through a provider, only a person approves, and not the person who created the token that asked. If the key, the settings of the network or the operator changed since the request, the answer is 409. If it cannot be carried out any more, the answer says why, and it goes on waiting.',
  extension: true,
  access: { roles: support },
  params: byId,
  idempotency: 'afterwards',
  response: answer,
  problems: ['not_found', 'conflict', 'precondition_failed', 'business_rule_violation'],
  rules: [
    'partner_unknown',
    'partner_not_verified',
    'practice_group_unknown',
    'expiry_in_the_past',
    'proof_incomplete',
    'agreement_unknown',
    'agreement_ended',
    'members_unknown',
    'partners_unknown',
    'network_full',
  ],
});

export const declineApproval = defineEndpoint({
  operationId: 'declineApproval',
  method: 'POST',
  path: '/operator/v1/approvals/{id}/decline',
  tag,
  summary: 'Decline',
  description: 'Nothing is done. Whoever asked may decline it, too: then it is withdrawn.',
  extension: true,
  access: { roles: support },
  params: byId,
  body: z.strictObject({
    reason: paragraphs({ min: 1, max: 1_000 }).meta({ description: 'For whoever asked, as a sentence.' }),
  }),
  response: answer,
  problems: ['not_found', 'conflict'],
});

export const collectApproval = defineEndpoint({
  operationId: 'collectApproval',
  method: 'POST',
  path: '/operator/v1/approvals/{id}/collect',
  tag,
  summary: 'Collect what was approved',
  description: `What the operation answered, such as the new key: for whoever asked and nobody else, once, within ${APPROVAL_HOURS} hours of the approval.`,
  extension: true,
  access: { roles: support },
  params: byId,
  response: {
    status: 200,
    description: 'The answer, shown this once.',
    body: z
      .object({
        operation: z.string(),
        answer: z.unknown().meta({
          description: 'As the operation answers without an approval; null where it answers nothing.',
        }),
      })
      .meta({ id: 'CollectedAnswer' }),
  },
  problems: ['not_found', 'conflict'],
});
