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
    id: z.string().meta({
      description: 'The ID of the submission type.',
    }),
    pathway_id: z.string().meta({ description: 'The ID of its care navigation pathway.' }),
    form_id: z
      .string()
      .nullable()
      .meta({ description: 'The ID of the form that patients fill in; null: none.' }),
    title: z.string().meta({ description: 'The title. Patients may see it.' }),
    description: z
      .string()
      .nullable()
      .meta({ description: 'A longer text. Patients may see it. null: none.' }),
    in_hours: z.boolean().meta({ description: 'Takes forms during opening hours.' }),
    out_of_hours: z.boolean().meta({ description: 'Takes forms outside opening hours.' }),
    suspended: z.boolean().meta({ description: 'Whether the submission type takes no forms for now.' }),
    external_url: z
      .string()
      .nullable()
      .meta({ description: 'A link that patients are offered; null: none.' }),
    external_url_name: z.string().nullable().meta({ description: 'The text of the link; null: none.' }),
    type: z.enum(requestTypes).nullable().meta({ description: 'The kind of request; null: not set.' }),
    default_priority: z.enum(priorities).meta({ description: 'The priority of a new request.' }),
    daily_limit: z
      .int()
      .nullable()
      .meta({ description: 'The most forms that are taken on one day; null: no cap.' }),
    forms_submitted_today: z
      .int()
      .optional()
      .meta({ description: 'Forms submitted on the current day, in the time zone of the practice group.' }),
    patient_eligibility_check: z
      .boolean()
      .meta({ description: 'Whether patients are checked for eligibility.' }),
    assignee_id: z
      .string()
      .nullable()
      .meta({ description: 'The ID of the person or team that requests are assigned to; null: none.' }),
    assignee_type: z
      .enum(assigneeTypes)
      .nullable()
      .meta({ description: 'Admin: a person. AdminTeam: a team. null: none.' }),
    order: z.number().nullable().meta({ description: 'Sort position.' }),
    created_at: timestamp().nullable().meta({ description: 'When the submission type was created.' }),
    updated_at: timestamp().nullable().meta({ description: 'When the submission type was last changed.' }),
  })
  .meta({ id: 'SubmissionType', description: 'A category of patient request that care navigation handles.' });

export type SubmissionType = z.infer<typeof submissionType>;

export const submissionTypePatch = z
  .strictObject({
    title: line({ min: 1, max: 255 }).optional().meta({
      description: 'The title. Patients may see it.',
    }),
    description: paragraphs({ max: 5000 })
      .nullable()
      .optional()
      .meta({ description: 'A longer text. Patients may see it. null clears it.' }),
    in_hours: z.boolean().optional().meta({ description: 'Whether to take forms during opening hours.' }),
    out_of_hours: z
      .boolean()
      .optional()
      .meta({ description: 'Whether to take forms outside opening hours.' }),
    suspended: z.boolean().optional().meta({ description: 'Whether to take no forms for now.' }),
    form_id: reference()
      .nullable()
      .optional()
      .meta({ description: 'The ID of a form of the practice group; null clears it.' }),
    external_url: linkAddress().nullable().optional().meta({
      description: 'A link to offer to patients: an absolute http, https, tel or mailto URL; null clears it.',
    }),
    external_url_name: line({ max: 255 })
      .nullable()
      .optional()
      .meta({ description: 'The text of the link, which needs `external_url`; null clears it.' }),
    type: z
      .enum(requestTypes)
      .nullable()
      .optional()
      .meta({ description: 'The kind of request; null clears it.' }),
    default_priority: z.enum(priorities).optional().meta({ description: 'The priority of a new request.' }),
    daily_limit: wholeNumber(0, 100_000)
      .nullable()
      .optional()
      .meta({ description: 'The most forms to take on one day. 0: closed today; null: no cap.' }),
    patient_eligibility_check: z
      .boolean()
      .optional()
      .meta({ description: 'Whether to check patients for eligibility.' }),
    assignee_id: reference().nullable().optional().meta({
      description:
        'The ID of a person or team of the practice group. Set it together with `assignee_type`; null clears it.',
    }),
    assignee_type: z.enum(assigneeTypes).nullable().optional().meta({
      description: 'Admin: a person. AdminTeam: a team. Set it together with `assignee_id`; null clears it.',
    }),
    order: place().optional().meta({ description: 'The sort position.' }),
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
