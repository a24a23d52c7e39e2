import { z } from 'zod';
import { readers, support } from '../../access.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { emailAddress, line, rateLimit, recordId, timestamp } from '../../fields.ts';
import { pageOf, pageQuery } from '../../page.ts';
import { sla } from '../../sla.ts';
import { agreementDetails } from './agreements.ts';

export const partnerStatuses = ['applied', 'agreement_signed', 'verified', 'suspended'] as const;
export type PartnerStatus = (typeof partnerStatuses)[number];

const partner = z
  .object({
    id: z.string(),
    name: z.string(),
    contact_email: z.string(),
    status: z.enum(partnerStatuses),
    rate_limit_per_minute: z
      .int()
      .nullable()
      .meta({ description: 'From the agreement that was signed last; null: the default limit.' }),
    sla: z.string().nullable().meta({ description: 'From the agreement that was signed last, in words.' }),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'Partner', description: 'A company that works on behalf of practice groups.' });

export type Partner = z.infer<typeof partner>;

const byId = z.strictObject({ id: recordId() });
const partnerName = () => line({ min: 1, max: 255 });
const answer = { status: 200, description: 'The partner.', body: partner } as const;
const tag = 'Partners';

export const createPartner = defineEndpoint({
  operationId: 'createPartner',
  method: 'POST',
  path: '/operator/v1/partners',
  tag,
  summary: 'Create a partner',
  description:
    'Onboarding begins here. Next, record the signed partner agreement, and then verify the partner: keys are issued to verified partners only.',
  extension: true,
  access: { roles: support },
  body: z.strictObject({ name: partnerName(), contact_email: emailAddress() }),
  response: { ...answer, status: 201 },
  problems: [],
});

export const listPartners = defineEndpoint({
  operationId: 'listPartners',
  method: 'GET',
  path: '/operator/v1/partners',
  tag,
  summary: 'List partners',
  extension: true,
  access: { roles: readers },
  query: z.strictObject({ ...pageQuery, status: z.enum(partnerStatuses).optional() }),
  response: { status: 200, description: 'One page.', body: pageOf(partner) },
  problems: [],
});

export const getPartner = defineEndpoint({
  operationId: 'getPartner',
  method: 'GET',
  path: '/operator/v1/partners/{id}',
  tag,
  summary: 'Get a partner',
  extension: true,
  access: { roles: readers },
  params: byId,
  conditional: true,
  response: answer,
  problems: ['not_found'],
});

export const updatePartner = defineEndpoint({
  operationId: 'updatePartner',
  method: 'PATCH',
  path: '/operator/v1/partners/{id}',
  tag,
  summary: 'Update a partner',
  description:
    'Changes the name, the contact or the terms. The body is a merge patch. Terms are those of the agreement that was signed last, and are changed there: a new rate limit holds for every key that was issued under it and has none of its own. With another `contact_email`, invitations to the one before are withdrawn as when a contact is removed. The call answers when it holds on every node, about a second later.',
  extension: true,
  access: { roles: support },
  params: byId,
  body: z
    .strictObject({
      name: partnerName(),
      contact_email: emailAddress(),
      rate_limit_per_minute: rateLimit().nullable(),
      sla: sla().nullable(),
    })
    .partial(),
  readOnly: ['id', 'status', 'created_at', 'updated_at'],
  conditional: true,
  response: { ...answer, description: 'The partner as it is now.' },
  problems: ['not_found', 'precondition_failed'],
});

export const signAgreement = defineEndpoint({
  operationId: 'signAgreement',
  method: 'POST',
  path: '/operator/v1/partners/{id}/sign-agreement',
  tag,
  summary: 'Record a signed partner agreement',
  description:
    'The first agreement of a partner, as far as it is known: see `POST /operator/v1/partners/{id}/agreements` for the next ones. It may set a rate limit of its own and an SLA.',
  extension: true,
  access: { roles: support },
  params: byId,
  body: agreementDetails,
  bodyOptional: true,
  response: answer,
  problems: ['not_found', 'conflict', 'business_rule_violation'],
  rules: ['signed_in_the_future', 'ends_before_signed'],
});

export const verifyPartner = defineEndpoint({
  operationId: 'verifyPartner',
  method: 'POST',
  path: '/operator/v1/partners/{id}/verify',
  tag,
  summary: 'Verify a partner',
  description: 'Ends the onboarding, or lifts a suspension.',
  extension: true,
  access: { roles: support },
  params: byId,
  response: answer,
  problems: ['not_found', 'conflict'],
});

export const suspendPartner = defineEndpoint({
  operationId: 'suspendPartner',
  method: 'POST',
  path: '/operator/v1/partners/{id}/suspend',
  tag,
  summary: 'Suspend a partner',
  description: 'Answers when no node accepts a key of this partner any more.',
  extension: true,
  access: { roles: support },
  params: byId,
  response: answer,
  problems: ['not_found', 'conflict'],
});
