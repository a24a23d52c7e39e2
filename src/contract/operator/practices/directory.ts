import { z } from 'zod';
import { admins, readers } from '../../access.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { line, recordId, reference, timestamp } from '../../fields.ts';
import { pageOf, pageQuery } from '../../page.ts';
import { assigneeTypes } from '../../partner/submission-types.ts';

/** What a submission type may point to: a group's forms, and the people and teams who work on requests. */

const form = z
  .object({ id: z.string(), title: z.string(), created_at: timestamp(), updated_at: timestamp() })
  .meta({ id: 'Form' });

export type Form = z.infer<typeof form>;

const assignee = z
  .object({
    id: z.string(),
    type: z.enum(assigneeTypes),
    name: z.string(),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'Assignee', description: 'A person (Admin) or a team (AdminTeam).' });

export type Assignee = z.infer<typeof assignee>;

const ofGroup = z.strictObject({ id: recordId() });
const formParams = z.strictObject({ id: recordId(), form_id: reference() });
const assigneeParams = z.strictObject({
  id: recordId(),
  assignee_type: z.enum(assigneeTypes),
  assignee_id: reference(),
});

export const putForm = defineEndpoint({
  operationId: 'putForm',
  method: 'PUT',
  path: '/operator/v1/practice-groups/{id}/forms/{form_id}',
  tag: 'Forms',
  summary: 'Create or update a form',
  extension: true,
  access: { roles: admins },
  params: formParams,
  body: z.strictObject({ title: line({ min: 1, max: 255 }) }),
  response: { status: 200, description: 'The form.', body: form },
  problems: ['not_found'],
});

export const listForms = defineEndpoint({
  operationId: 'listForms',
  method: 'GET',
  path: '/operator/v1/practice-groups/{id}/forms',
  tag: 'Forms',
  summary: 'List forms',
  extension: true,
  access: { roles: readers },
  params: ofGroup,
  query: z.strictObject(pageQuery),
  response: { status: 200, description: 'One page.', body: pageOf(form) },
  problems: ['not_found'],
});

export const getForm = defineEndpoint({
  operationId: 'getForm',
  method: 'GET',
  path: '/operator/v1/practice-groups/{id}/forms/{form_id}',
  tag: 'Forms',
  summary: 'Get a form',
  extension: true,
  access: { roles: readers },
  params: formParams,
  response: { status: 200, description: 'The form.', body: form },
  problems: ['not_found'],
});

export const deleteForm = defineEndpoint({
  operationId: 'deleteForm',
  method: 'DELETE',
  path: '/operator/v1/practice-groups/{id}/forms/{form_id}',
  tag: 'Forms',
  summary: 'Delete a form',
  description: 'The answer is 409 while a submission type uses it; `used_by` names them.',
  extension: true,
  access: { roles: admins },
  params: formParams,
  response: { status: 204, description: 'The form is deleted.' },
  problems: ['not_found', 'conflict'],
});

export const putAssignee = defineEndpoint({
  operationId: 'putAssignee',
  method: 'PUT',
  path: '/operator/v1/practice-groups/{id}/assignees/{assignee_type}/{assignee_id}',
  tag: 'Assignees',
  summary: 'Create or update an assignee',
  extension: true,
  access: { roles: admins },
  params: assigneeParams,
  body: z.strictObject({ name: line({ min: 1, max: 255 }) }),
  response: { status: 200, description: 'The assignee.', body: assignee },
  problems: ['not_found'],
});

export const listAssignees = defineEndpoint({
  operationId: 'listAssignees',
  method: 'GET',
  path: '/operator/v1/practice-groups/{id}/assignees',
  tag: 'Assignees',
  summary: 'List assignees',
  extension: true,
  access: { roles: readers },
  params: ofGroup,
  query: z.strictObject(pageQuery),
  response: { status: 200, description: 'One page.', body: pageOf(assignee) },
  problems: ['not_found'],
});

export const getAssignee = defineEndpoint({
  operationId: 'getAssignee',
  method: 'GET',
  path: '/operator/v1/practice-groups/{id}/assignees/{assignee_type}/{assignee_id}',
  tag: 'Assignees',
  summary: 'Get an assignee',
  extension: true,
  access: { roles: readers },
  params: assigneeParams,
  response: { status: 200, description: 'The assignee.', body: assignee },
  problems: ['not_found'],
});

export const deleteAssignee = defineEndpoint({
  operationId: 'deleteAssignee',
  method: 'DELETE',
  path: '/operator/v1/practice-groups/{id}/assignees/{assignee_type}/{assignee_id}',
  tag: 'Assignees',
  summary: 'Delete an assignee',
  description: 'The answer is 409 while a submission type uses it; `used_by` names them.',
  extension: true,
  access: { roles: admins },
  params: assigneeParams,
  response: { status: 204, description: 'The assignee is deleted.' },
  problems: ['not_found', 'conflict'],
});
