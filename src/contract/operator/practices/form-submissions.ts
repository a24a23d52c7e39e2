import { z } from 'zod';
import { readers, sources } from '../../access.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { recordId, text, timestamp } from '../../fields.ts';
import { pageOf, pageQuery } from '../../page.ts';

const formSubmission = z
  .object({
    id: z.string(),
    practice_group_id: z.string(),
    submission_type_id: z.string(),
    local_day: z.string().meta({
      description: "The day it counts towards, in the group's time zone.",
      examples: ['2026-03-29'],
    }),
    submitted_at: timestamp(),
    over_limit: z.boolean().meta({
      description: 'The submission type had reached its daily_limit before this form.',
    }),
    suspended: z.boolean().meta({ description: 'The submission type was suspended.' }),
    outside_hours: z.boolean().meta({ description: 'The submission type took no forms at that hour.' }),
  })
  .meta({ id: 'FormSubmission' });

export type FormSubmission = z.infer<typeof formSubmission>;

const ofGroup = z.strictObject({ id: recordId() });
const tag = 'Form submissions';

export const createFormSubmission = defineEndpoint({
  operationId: 'createFormSubmission',
  method: 'POST',
  path: '/operator/v1/practice-groups/{id}/form-submissions',
  tag,
  summary: 'Create a form submission',
  description:
    'Records a form that a patient submitted: counts it in forms_submitted_today, and sends `form-submission.created`. What has happened is never refused: a form of a type that is suspended, closed at that hour or past its daily_limit is recorded all the same, and marked with `suspended`, `outside_hours`, `over_limit`. Whether a type may be offered is asked before, with `…/submission-types/availability`.',
  extension: true,
  access: { roles: sources },
  params: ofGroup,
  body: z.strictObject({ submission_type_id: text({ min: 1, max: 255 }), id: recordId().optional() }),
  idempotency: 'gathered',
  response: { status: 201, description: 'The form submission.', body: formSubmission },
  problems: ['not_found', 'conflict', 'business_rule_violation'],
  rules: ['submission_type_unknown'],
});

export const listFormSubmissions = defineEndpoint({
  operationId: 'listFormSubmissions',
  method: 'GET',
  path: '/operator/v1/practice-groups/{id}/form-submissions',
  tag,
  summary: 'List form submissions',
  extension: true,
  access: { roles: readers },
  params: ofGroup,
  query: z.strictObject(pageQuery),
  response: { status: 200, description: 'One page.', body: pageOf(formSubmission) },
  problems: ['not_found'],
});

export const getFormSubmission = defineEndpoint({
  operationId: 'getFormSubmission',
  method: 'GET',
  path: '/operator/v1/practice-groups/{id}/form-submissions/{form_submission_id}',
  tag,
  summary: 'Get a form submission',
  extension: true,
  access: { roles: readers },
  params: z.strictObject({ id: recordId(), form_submission_id: recordId() }),
  response: { status: 200, description: 'The form submission.', body: formSubmission },
  problems: ['not_found'],
});
