import { z } from 'zod';
import { admins, readers, roleNames } from '../../access.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { line, recordId, reference, text } from '../../fields.ts';
import { pageOf, pageQuery } from '../../page.ts';
import {
  submissionType,
  submissionTypePatch,
  submissionTypeReadOnly,
} from '../../partner/submission-types.ts';
import { submissionTypeRules } from '../../rules.ts';

const ofGroup = z.strictObject({ id: recordId() });
const oneOfGroup = z.strictObject({ id: recordId(), submission_type_id: text({ min: 1, max: 255 }) });
const tag = 'Submission types';

export const createSubmissionType = defineEndpoint({
  operationId: 'createSubmissionType',
  method: 'POST',
  path: '/operator/v1/practice-groups/{id}/submission-types',
  tag,
  summary: 'Create a submission type',
  extension: true,
  access: { roles: admins },
  params: ofGroup,
  body: z.strictObject({
    ...submissionTypePatch.shape,
    id: recordId().optional(),
    pathway_id: reference(),
    title: line({ min: 1, max: 255 }),
  }),
  response: { status: 201, description: 'The submission type.', body: submissionType },
  problems: ['not_found', 'conflict', 'business_rule_violation'],
  rules: submissionTypeRules,
});

export const listGroupSubmissionTypes = defineEndpoint({
  operationId: 'listGroupSubmissionTypes',
  method: 'GET',
  path: '/operator/v1/practice-groups/{id}/submission-types',
  tag,
  summary: 'List submission types',
  extension: true,
  access: { roles: readers },
  params: ofGroup,
  query: z.strictObject(pageQuery),
  response: { status: 200, description: 'One page.', body: pageOf(submissionType) },
  problems: ['not_found'],
});

export const getGroupSubmissionType = defineEndpoint({
  operationId: 'getGroupSubmissionType',
  method: 'GET',
  path: '/operator/v1/practice-groups/{id}/submission-types/{submission_type_id}',
  tag,
  summary: 'Get a submission type',
  extension: true,
  access: { roles: readers },
  params: oneOfGroup,
  conditional: true,
  response: { status: 200, description: 'The submission type.', body: submissionType },
  problems: ['not_found'],
});

export const updateGroupSubmissionType = defineEndpoint({
  operationId: 'updateGroupSubmissionType',
  method: 'PATCH',
  path: '/operator/v1/practice-groups/{id}/submission-types/{submission_type_id}',
  tag,
  summary: 'Update a submission type',
  description:
    'Changes the fields that the body names and leaves the others alone, by the same rules as for partners. It is no change by a partner.',
  extension: true,
  access: { roles: admins },
  params: oneOfGroup,
  body: submissionTypePatch,
  readOnly: submissionTypeReadOnly,
  conditional: true,
  response: { status: 200, description: 'The submission type as it is now.', body: submissionType },
  problems: ['not_found', 'precondition_failed', 'business_rule_violation'],
  rules: submissionTypeRules,
});

export const deleteSubmissionType = defineEndpoint({
  operationId: 'deleteSubmissionType',
  method: 'DELETE',
  path: '/operator/v1/practice-groups/{id}/submission-types/{submission_type_id}',
  tag,
  summary: 'Delete a submission type',
  description: 'The forms that were sent stay, and so does their count of the day.',
  extension: true,
  access: { roles: admins },
  params: oneOfGroup,
  conditional: true,
  response: { status: 204, description: 'The submission type is deleted.' },
  problems: ['not_found', 'precondition_failed'],
});

const NAMED_MAX = 1_000;

const availability = z
  .object({
    submission_type_id: z.string(),
    allowed: z.boolean().meta({ description: 'A form sent at this moment would carry no mark.' }),
    reasons: z.array(z.enum(['over_limit', 'suspended', 'outside_hours'])).meta({
      description: 'Why it is not allowed; empty when it is.',
    }),
    remaining_today: z.int().min(0).nullable().meta({
      description:
        'Forms that the day has room for, whatever else speaks against them; null: there is no cap.',
    }),
  })
  .meta({ id: 'SubmissionTypeAvailability' });

export const getAvailability = defineEndpoint({
  operationId: 'getAvailability',
  method: 'POST',
  path: '/operator/v1/practice-groups/{id}/submission-types/availability',
  tag,
  summary: 'Ask which submission types may be offered',
  description:
    'Whether each submission type of the practice takes a form at this moment, in the order of the list of submission types; with `submission_type_ids`, only those. What is allowed now is not marked when it is sent now.',
  extension: true,
  access: { roles: roleNames },
  params: ofGroup,
  body: z.strictObject({
    submission_type_ids: z
      .array(text({ min: 1, max: 255 }))
      .max(NAMED_MAX)
      .optional(),
  }),
  bodyOptional: true,
  response: {
    status: 200,
    description: 'Each submission type that was asked about.',
    body: z.object({ data: z.array(availability) }).meta({ id: 'SubmissionTypeAvailabilityList' }),
  },
  problems: ['not_found', 'business_rule_violation'],
  rules: ['submission_types_unknown'],
});
