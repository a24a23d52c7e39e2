import { z } from 'zod';
import { admins } from '../../access.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { anyPlace, line, recordId, reference, text, wholeNumber } from '../../fields.ts';
import { oneOfShapes } from '../../json-schema.ts';
import { assigneeTypes, submissionTypePatch } from '../../partner/submission-types.ts';
import { submissionTypeRules } from '../../rules.ts';
import { itemProblem } from '../item-problem.ts';
import { practiceGroupFields } from './practice-groups.ts';

/** What the practice software sends: whole items, so that what is left out is at its default, not as it was. */

export const itemKinds = ['practice_group', 'form', 'assignee', 'submission_type'] as const;
export type ItemKind = (typeof itemKinds)[number];

/** A whole number, because of two texts nobody can say which is newer; times are sent as milliseconds or microseconds since 1970. */
const sourceVersion = () => wholeNumber(0, 9_000_000_000_000_000).optional();
const ofGroup = { practice_group_id: recordId() };
const common = { source_version: sourceVersion(), delete: z.literal(false).optional() };
const gone = { source_version: sourceVersion(), delete: z.literal(true) };

/** The keys of an item, by which it is found. */
export const itemKeys = {
  practice_group: { kind: z.literal('practice_group'), id: recordId() },
  form: { kind: z.literal('form'), id: reference(), ...ofGroup },
  assignee: {
    kind: z.literal('assignee'),
    id: reference(),
    assignee_type: z.enum(assigneeTypes),
    ...ofGroup,
  },
  submission_type: { kind: z.literal('submission_type'), id: text({ min: 1, max: 255 }), ...ofGroup },
};

const { name, ...optional } = practiceGroupFields;

/** An item to be made or changed, by its kind. */
export const wholeItems = {
  practice_group: z
    .strictObject({ ...itemKeys.practice_group, ...common, name, ...z.object(optional).partial().shape })
    .meta({ id: 'ImportedPracticeGroup' }),
  form: z
    .strictObject({ ...itemKeys.form, ...common, title: line({ min: 1, max: 255 }) })
    .meta({ id: 'ImportedForm' }),
  assignee: z
    .strictObject({ ...itemKeys.assignee, ...common, name: line({ min: 1, max: 255 }) })
    .meta({ id: 'ImportedAssignee' }),
  submission_type: z
    .strictObject({
      ...itemKeys.submission_type,
      ...common,
      ...submissionTypePatch.shape,
      pathway_id: reference(),
      title: line({ min: 1, max: 255 }),
      order: anyPlace().nullable().optional(),
    })
    .meta({ id: 'ImportedSubmissionType' }),
};

/** An item to be removed, by its kind. */
export const removedItems = {
  practice_group: z
    .strictObject({ ...itemKeys.practice_group, ...gone })
    .meta({ id: 'RemovedPracticeGroup' }),
  form: z.strictObject({ ...itemKeys.form, ...gone }).meta({ id: 'RemovedForm' }),
  assignee: z.strictObject({ ...itemKeys.assignee, ...gone }).meta({ id: 'RemovedAssignee' }),
  submission_type: z
    .strictObject({ ...itemKeys.submission_type, ...gone })
    .meta({ id: 'RemovedSubmissionType' }),
};

export type WholeItem = z.infer<(typeof wholeItems)[ItemKind]>;
export type RemovedItem = z.infer<(typeof removedItems)[ItemKind]>;

/** Each is checked by itself, and refused by itself: here, only its shapes are told. It is left as it came, for a record of zod's has no `__proto__`. */
const anyItem = z
  .unknown()
  .superRefine((input, { addIssue }) => {
    if (typeof input !== 'object' || input === null || Array.isArray(input))
      addIssue({ code: 'invalid_type', expected: 'object', input });
  })
  .meta({
    id: 'ImportItem',
    type: 'object',
    ...oneOfShapes([...Object.values(wholeItems), ...Object.values(removedItems)]),
  });

export const ITEMS_MAX = 1_000;
const IMPORT_BYTES_MAX = 2 * 1024 * 1024;

const outcome = z
  .object({
    index: z
      .int()
      .min(0)
      .meta({ description: 'The place of the item in the list, or of its line, from 0 on.' }),
    id: z.string().nullable().meta({ description: 'Null when it could not be read.' }),
    outcome: z.enum(['created', 'updated', 'unchanged', 'stale', 'deleted', 'refused']).meta({
      description: '`stale`: a newer source_version was here before.',
    }),
    problem: itemProblem.optional().meta({ description: 'With `refused`: why.' }),
  })
  .meta({ id: 'ImportOutcome' });

export type ImportOutcome = z.infer<typeof outcome>;

export const importItems = defineEndpoint({
  operationId: 'importItems',
  method: 'POST',
  path: '/operator/v1/import',
  tag: 'Import',
  summary: 'Import practice groups, forms, assignees and submission types',
  description:
    'Takes whole items: `{items: […]}` up to 1,000, or one on a line as `application/x-ndjson`, any number, with an outcome on a line for each, in order. Each has a `kind` (`practice_group`, `form`, `assignee`, `submission_type`), an `id`, its `practice_group_id` (and `assignee_type`), its fields or `delete: true`, and may have a `source_version`, a whole number: an older one never takes the place of a newer one, also after a removal. Sending the same again changes nothing. An item that is refused keeps no other from being imported. The manual, "Import and reconcile", has the fields.',
  extension: true,
  access: { roles: admins },
  body: z.strictObject({ items: z.array(anyItem).min(1).max(ITEMS_MAX) }),
  bodyBytesMax: IMPORT_BYTES_MAX,
  lines: 'also',
  response: {
    status: 200,
    description: 'What came of each item.',
    body: z.object({ outcomes: z.array(outcome) }).meta({ id: 'ImportOutcomes' }),
  },
  problems: ['business_rule_violation', 'conflict'],
  rules: [...submissionTypeRules, 'practice_group_unknown'],
});
