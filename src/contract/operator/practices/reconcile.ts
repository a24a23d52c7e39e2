import { z } from 'zod';
import { admins } from '../../access.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { recordId, text } from '../../fields.ts';
import { itemKeys } from './import.ts';

/** Of the whole item: see `digestOf` in the domain. */
const digest = text({ min: 64, max: 64 }).refine((value) => /^[0-9a-f]{64}$/.test(value), {
  error: 'Must be a SHA-256 in lower-case hex.',
  params: { code: 'invalid_format', expected: 'string' },
});

/** What the practice software has of an item, by its kind. */
export const digestedItems = {
  practice_group: z.strictObject({ ...itemKeys.practice_group, digest }),
  form: z.strictObject({ ...itemKeys.form, digest }),
  assignee: z.strictObject({ ...itemKeys.assignee, digest }),
  submission_type: z.strictObject({ ...itemKeys.submission_type, digest }),
};

export const reconcileItems = defineEndpoint({
  operationId: 'reconcileItems',
  method: 'POST',
  path: '/operator/v1/reconcile',
  tag: 'Import',
  summary: 'Compare with what the practice software has',
  description:
    'Takes a line for each item, `{kind, id, practice_group_id, digest}` (and `assignee_type`), in any order, and answers with a line for each difference: `missing_here`, `differs`, and at the end `missing_there` for what only Porter has. With `practice_group_id`, only that practice is compared. With `include=items`, the lines carry `item`, what Porter has, in the words of the import. A line that cannot be read is answered with its `index` and a `problem`. The manual, "Import and reconcile", defines the digest.',
  extension: true,
  access: { roles: admins },
  query: z.strictObject({
    practice_group_id: recordId().optional(),
    include: z.enum(['items']).optional(),
  }),
  lines: 'only',
  response: { status: 200, description: 'A line for each difference.', lines: true },
  problems: [],
});
