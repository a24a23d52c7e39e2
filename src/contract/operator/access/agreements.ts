import { z } from 'zod';
import { readers, support } from '../../access.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { line, moment, rateLimit, recordId, timestamp, webAddress } from '../../fields.ts';
import { pageOf, pageQuery } from '../../page.ts';
import { sla, slaTargets } from '../../sla.ts';

const ENDS =
  'From when on it no longer holds; null: until further notice. Keys that were issued under it go on working.';

export const agreement = z
  .object({
    id: z.string().meta({ description: 'The ID of the agreement.' }),
    partner_id: z.string().meta({ description: 'The partner that signed it.' }),
    version: z.string().nullable().meta({ description: 'Which text was signed.' }),
    document_url: z.string().nullable().meta({ description: 'Where the signed document is.' }),
    signatory: z.string().nullable().meta({ description: 'Who signed for the partner.' }),
    signed_at: timestamp().meta({ description: 'When the agreement was signed.' }),
    ends_at: timestamp().nullable().meta({ description: ENDS }),
    status: z
      .enum(['in_force', 'ended'])
      .meta({ description: 'in_force: its end has not come. ended: its end has passed.' }),
    rate_limit_per_minute: z.int().nullable().meta({
      description: 'Of each key that was issued under it and has none of its own; null: the default limit.',
    }),
    sla: z.string().nullable().meta({ description: 'In words.' }),
    sla_targets: slaTargets.nullable().meta({
      description: 'What is measured month by month; null: the SLA is words alone, or there is none.',
    }),
    active_keys: z.int().min(0).meta({
      description:
        'Keys issued under it that are neither revoked nor expired. Of an ended one: whose terms have run out.',
    }),
    created_at: timestamp().meta({ description: 'When the agreement was recorded.' }),
    updated_at: timestamp().meta({ description: 'When the record was last changed.' }),
  })
  .meta({ id: 'Agreement', description: 'What a partner signed, and the terms.' });

export type Agreement = z.infer<typeof agreement>;

/** What may be said about an agreement, when it is recorded and later. */
const details = {
  version: line({ min: 1, max: 64 }),
  document_url: webAddress(),
  signatory: line({ min: 1, max: 255 }),
  rate_limit_per_minute: rateLimit(),
  sla: sla(),
};

/** For the step of onboarding, which asks for nothing. */
export const agreementDetails = z
  .strictObject({ ...details, signed_at: moment(), ends_at: moment() })
  .partial();

const ofPartner = z.strictObject({ id: recordId() });
const oneOfPartner = z.strictObject({ id: recordId(), agreement_id: recordId() });
const tag = 'Partners';
const answer = { status: 200, description: 'The agreement.', body: agreement } as const;

export const createAgreement = defineEndpoint({
  operationId: 'createAgreement',
  method: 'POST',
  path: '/operator/v1/partners/{id}/agreements',
  tag,
  summary: 'Record an agreement',
  description:
    'Of several agreements, the one that was signed last gives the terms of the partner, and new keys are issued under it. Keys that there are stay under theirs: move one with `agreement_id` of `PATCH /operator/v1/keys/{id}`. A partner who has applied has signed with it.',
  extension: true,
  access: { roles: support },
  params: ofPartner,
  body: z.strictObject({
    version: details.version,
    document_url: details.document_url.nullable().optional(),
    signatory: details.signatory,
    signed_at: moment(),
    ends_at: moment().nullable().optional().meta({ description: ENDS }),
    rate_limit_per_minute: details.rate_limit_per_minute.nullable().optional(),
    sla: details.sla.nullable().optional(),
  }),
  response: { ...answer, status: 201 },
  problems: ['not_found', 'business_rule_violation'],
  rules: ['signed_in_the_future', 'ends_before_signed'],
});

export const listAgreements = defineEndpoint({
  operationId: 'listAgreements',
  method: 'GET',
  path: '/operator/v1/partners/{id}/agreements',
  tag,
  summary: 'List agreements',
  description: 'Those of one partner, in the order in which they were recorded.',
  extension: true,
  access: { roles: readers },
  params: ofPartner,
  query: z.strictObject(pageQuery),
  response: { status: 200, description: 'One page.', body: pageOf(agreement) },
  problems: ['not_found'],
});

export const getAgreement = defineEndpoint({
  operationId: 'getAgreement',
  method: 'GET',
  path: '/operator/v1/partners/{id}/agreements/{agreement_id}',
  tag,
  summary: 'Get an agreement',
  extension: true,
  access: { roles: readers },
  params: oneOfPartner,
  conditional: true,
  response: answer,
  problems: ['not_found'],
});

export const updateAgreement = defineEndpoint({
  operationId: 'updateAgreement',
  method: 'PATCH',
  path: '/operator/v1/partners/{id}/agreements/{agreement_id}',
  tag,
  summary: 'Update an agreement',
  description:
    'Ends it, amends its terms, or completes what is known of it. The body is a merge patch; `sla` is replaced as a whole. A new rate limit holds for the keys under it; the call answers when it holds on every node, about a second later.',
  extension: true,
  access: { roles: support },
  params: oneOfPartner,
  body: z
    .strictObject({
      version: details.version,
      document_url: details.document_url.nullable(),
      signatory: details.signatory,
      ends_at: moment().nullable().meta({ description: ENDS }),
      rate_limit_per_minute: details.rate_limit_per_minute.nullable(),
      sla: details.sla.nullable(),
    })
    .partial(),
  readOnly: [
    'id',
    'partner_id',
    'signed_at',
    'status',
    'sla_targets',
    'active_keys',
    'created_at',
    'updated_at',
  ],
  conditional: true,
  response: { ...answer, description: 'The agreement as it is now.' },
  problems: ['not_found', 'precondition_failed', 'business_rule_violation'],
  rules: ['ends_before_signed'],
});
