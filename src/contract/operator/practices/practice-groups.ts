import { z } from 'zod';
import { admins, readers } from '../../access.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { line, recordId, timeZone } from '../../fields.ts';
import { pageOf, pageQuery } from '../../page.ts';
import { practiceGroup } from '../../partner/practice-groups.ts';

const clockTime = () =>
  z
    .string()
    .regex(/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/, 'Must be a time of day such as 08:00; 24:00 ends a day.')
    .meta({ examples: ['08:00'] });

const interval = z.tuple([clockTime(), clockTime()]).refine(([from, to]) => from < to, {
  error: 'The opening time must be before the closing time.',
  params: { code: 'invalid_value', expected: 'array' },
});

const day = () => z.array(interval).max(6).optional();

const openingHours = z
  .strictObject({ mon: day(), tue: day(), wed: day(), thu: day(), fri: day(), sat: day(), sun: day() })
  .meta({
    id: 'OpeningHours',
    description: "Opening hours by weekday, in the group's own time zone; a day that is left out is closed.",
    examples: [{ mon: [['08:00', '18:30']], sat: [['09:00', '12:00']] }],
  });

export type OpeningHours = z.infer<typeof openingHours>;

const addressLine = () => line({ max: 255 }).nullable().optional();

/** What an operator may say of a practice group. */
export const practiceGroupFields = {
  name: line({ min: 1, max: 255 }),
  ods_code: line({ min: 1, max: 32 }).nullable(),
  timezone: timeZone(),
  address: z
    .strictObject({
      line_1: addressLine(),
      line_2: addressLine(),
      town: addressLine(),
      county: addressLine(),
      postcode: addressLine(),
    })
    .nullable(),
  opening_hours: openingHours,
};

const operatorPracticeGroup = practiceGroup
  .extend({ opening_hours: openingHours })
  .meta({ id: 'OperatorPracticeGroup' });

export type OperatorPracticeGroup = z.infer<typeof operatorPracticeGroup>;

const group = { status: 200, description: 'The practice group.', body: operatorPracticeGroup } as const;
const byId = z.strictObject({ id: recordId() });

export const createPracticeGroup = defineEndpoint({
  operationId: 'createPracticeGroup',
  method: 'POST',
  path: '/operator/v1/practice-groups',
  tag: 'Practice groups',
  summary: 'Create a practice group',
  extension: true,
  access: { roles: admins },
  body: z.strictObject({
    id: recordId().optional(),
    name: practiceGroupFields.name,
    ods_code: practiceGroupFields.ods_code.optional(),
    timezone: practiceGroupFields.timezone.optional(),
    address: practiceGroupFields.address.optional(),
    opening_hours: practiceGroupFields.opening_hours.optional(),
  }),
  response: { ...group, status: 201 },
  problems: ['conflict'],
});

export const updatePracticeGroup = defineEndpoint({
  operationId: 'updatePracticeGroup',
  method: 'PATCH',
  path: '/operator/v1/practice-groups/{id}',
  tag: 'Practice groups',
  summary: 'Update a practice group',
  description:
    'The body is a merge patch, except that opening_hours are replaced as a whole. The ETag covers what can be changed here, so it holds while the EHR status or the networks change. After a change of the time zone, earlier form submissions keep the day that they were counted on.',
  extension: true,
  access: { roles: admins },
  params: byId,
  body: z.strictObject(practiceGroupFields).partial(),
  conditional: true,
  response: group,
  problems: ['not_found', 'precondition_failed'],
});

export const listAllPracticeGroups = defineEndpoint({
  operationId: 'listAllPracticeGroups',
  method: 'GET',
  path: '/operator/v1/practice-groups',
  tag: 'Practice groups',
  summary: 'List practice groups',
  extension: true,
  access: { roles: readers },
  query: z.strictObject(pageQuery),
  response: { status: 200, description: 'One page.', body: pageOf(operatorPracticeGroup) },
  problems: [],
});

export const getPracticeGroup = defineEndpoint({
  operationId: 'getPracticeGroup',
  method: 'GET',
  path: '/operator/v1/practice-groups/{id}',
  tag: 'Practice groups',
  summary: 'Get a practice group',
  extension: true,
  access: { roles: readers },
  params: byId,
  conditional: true,
  response: group,
  problems: ['not_found'],
});

export const deletePracticeGroup = defineEndpoint({
  operationId: 'deletePracticeGroup',
  method: 'DELETE',
  path: '/operator/v1/practice-groups/{id}',
  tag: 'Practice groups',
  summary: 'Delete a practice group',
  description:
    'The answer is 409 while anything of it is in use: keys that work, webhooks, networks, submission types, forms, assignees, a write-through, write-to-record jobs that are queued; `used_by` names them. Its events, form submissions and audit entries are kept as long as any, so give its ID to no other practice.',
  extension: true,
  access: { roles: admins },
  params: byId,
  conditional: true,
  response: { status: 204, description: 'The practice group is deleted.' },
  problems: ['not_found', 'precondition_failed', 'conflict'],
});
