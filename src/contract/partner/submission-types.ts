import { z } from 'zod';
import { defineEndpoint } from '../endpoint.ts';
import { line, linkAddress, paragraphs, place, reference, text, timestamp, wholeNumber } from '../fields.ts';
import { pageOf, pageQuery } from '../page.ts';
import { submissionTypeRules } from '../rules.ts';

export const requestTypes = ['admin_request', 'clinical_request', 'other_request'] as const;
export const priorities = ['lowest', 'low', 'medium', 'high', 'highest'] as const;
export const assigneeTypes = ['Admin', 'AdminTeam'] as const;

export const submissionType = z
  .object({
    id: z.string(),
    pathway_id: z.string(),
    form_id: z.string().nullable(),
    title: z.string(),
    description: z.string().nullable(),
    in_hours: z.boolean().meta({ description: 'Takes forms during opening hours.' }),
    out_of_hours: z.boolean().meta({ description: 'Takes forms outside opening hours.' }),
    suspended: z.boolean(),
    external_url: z.string().nullable(),
    external_url_name: z.string().nullable(),
    type: z.enum(requestTypes).nullable(),
    default_priority: z.enum(priorities),
    daily_limit: z.int().nullable().meta({ description: 'Forms taken on one day; null: no cap.' }),
    forms_submitted_today: z
      .int()
      .optional()
      .meta({ description: 'Forms submitted on the current day, in the time zone of the practice group.' }),
    patient_eligibility_check: z.boolean(),
    assignee_id: z.string().nullable(),
    assignee_type: z.enum(assigneeTypes).nullable(),
    order: z.number().nullable().meta({ description: 'Sort position.' }),
    created_at: timestamp().nullable(),
    updated_at: timestamp().nullable(),
  })
  .meta({ id: 'SubmissionType', description: 'A category of patient request that care navigation handles.' });

export type SubmissionType = z.infer<typeof submissionType>;

export const submissionTypePatch = z
  .strictObject({
    title: line({ min: 1, max: 255 }).optional(),
    description: paragraphs({ max: 5000 }).nullable().optional(),
    in_hours: z.boolean().optional(),
    out_of_hours: z.boolean().optional(),
    suspended: z.boolean().optional(),
    form_id: reference().nullable().optional(),
    external_url: linkAddress().nullable().optional(),
    external_url_name: line({ max: 255 }).nullable().optional(),
    type: z.enum(requestTypes).nullable().optional(),
    default_priority: z.enum(priorities).optional(),
    daily_limit: wholeNumber(0, 100_000)
      .nullable()
      .optional()
      .meta({ description: 'null: no cap; 0: closed today.' }),
    patient_eligibility_check: z.boolean().optional(),
    assignee_id: reference().nullable().optional(),
    assignee_type: z.enum(assigneeTypes).nullable().optional(),
    order: place().optional(),
  })
  .meta({
    id: 'SubmissionTypePatch',
    description: 'A merge patch: what is left out stays as it is, null clears a nullable field.',
  });

export type SubmissionTypePatch = z.infer<typeof submissionTypePatch>;

export const submissionTypeReadOnly = [
  'id',
  'pathway_id',
  'forms_submitted_today',
  'created_at',
  'updated_at',
] as const;

const byId = z.strictObject({ id: text({ min: 1, max: 255 }).meta({ examples: ['symptoms'] }) });

export const updateSubmissionType = defineEndpoint({
  operationId: 'updateSubmissionType',
  method: 'PATCH',
  path: '/v1/care-nav/submission-types/{id}',
  tag: 'Submission types',
  summary: 'Update a submission type',
  description:
    'Changes the fields that the body names and leaves the others alone. Business rules are checked on the merged result; a rule is checked only when the request touches one of its fields.',
  extension: false,
  access: { scope: 'submission-types:write' },
  params: byId,
  body: submissionTypePatch,
  readOnly: submissionTypeReadOnly,
  conditional: true,
  response: { status: 200, description: 'The submission type as it is now.', body: submissionType },
  problems: ['not_found', 'precondition_failed', 'business_rule_violation'],
  rules: [...submissionTypeRules, 'practice_software'],
});

export const listSubmissionTypes = defineEndpoint({
  operationId: 'listSubmissionTypes',
  method: 'GET',
  path: '/v1/care-nav/submission-types',
  tag: 'Submission types',
  summary: 'List submission types',
  description: 'Sorted by `order`; submission types without one come last.',
  extension: true,
  access: { scope: 'submission-types:read' },
  query: z.strictObject(pageQuery),
  response: { status: 200, description: 'One page.', body: pageOf(submissionType) },
  problems: [],
});

export const getSubmissionType = defineEndpoint({
  operationId: 'getSubmissionType',
  method: 'GET',
  path: '/v1/care-nav/submission-types/{id}',
  tag: 'Submission types',
  summary: 'Get a submission type',
  extension: true,
  access: { scope: 'submission-types:read' },
  params: byId,
  conditional: true,
  response: { status: 200, description: 'The submission type.', body: submissionType },
  problems: ['not_found'],
});
