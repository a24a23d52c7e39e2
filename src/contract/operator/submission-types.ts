import { z } from 'zod';
import { admins, readers } from '../access.ts';
import { defineEndpoint } from '../endpoint.ts';
import { recordId, reference, text } from '../fields.ts';
import { pageOf, pageQuery } from '../page.ts';
import { submissionType, submissionTypePatch } from '../partner/submission-types.ts';
import { submissionTypeRules } from '../rules.ts';

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
    title: text({ min: 1, max: 255 }),
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
  response: { status: 200, description: 'The submission type.', body: submissionType },
  problems: ['not_found'],
});
