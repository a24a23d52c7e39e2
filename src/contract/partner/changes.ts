import { z } from 'zod';
import { defineEndpoint } from '../endpoint.ts';
import { text, timestamp } from '../fields.ts';
import { pageOf, pageQuery, shortPages } from '../page.ts';

export const changeStates = ['pending', 'applied', 'rejected'] as const;
export type ChangeState = (typeof changeStates)[number];

const submissionTypeChange = z
  .object({
    id: z.string().meta({ description: 'The ID of the change.', examples: ['chg_2a_9f86d081884c7d65'] }),
    state: z.enum(changeStates).meta({
      description:
        "pending: the practice's own software has not said yet what became of it. applied: it has the change, too. rejected: it does not take it; `reason` says why.",
    }),
    reason: z
      .string()
      .nullable()
      .meta({ description: 'Why the practice software rejected the change; null: it did not.' }),
    request_id: z
      .string()
      .nullable()
      .meta({ description: 'The `x-request-id` of the call that made the change.' }),
    at: timestamp().meta({ description: 'When you made it.' }),
    ended_at: timestamp().nullable().meta({ description: 'When it was applied or rejected.' }),
  })
  .meta({ id: 'SubmissionTypeChange', description: 'A change that you made to a submission type.' });

export type SubmissionTypeChange = z.infer<typeof submissionTypeChange>;

export const listSubmissionTypeChanges = defineEndpoint({
  operationId: 'listSubmissionTypeChanges',
  method: 'GET',
  path: '/v1/care-nav/submission-types/{id}/changes',
  tag: 'Submission types',
  summary: 'List your changes of a submission type',
  description: `What became of the changes that you made: whether the practice's own software has them, too. Newest first; those of other partners are not shown. A change is listed a moment after it was made. ${shortPages}`,
  extension: true,
  access: { scope: 'submission-types:read' },
  params: z.strictObject({ id: text({ min: 1, max: 255 }).meta({ examples: ['symptoms'] }) }),
  query: z.strictObject(pageQuery),
  response: { status: 200, description: 'One page.', body: pageOf(submissionTypeChange) },
  problems: ['not_found'],
});
