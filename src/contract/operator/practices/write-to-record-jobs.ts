import { z } from 'zod';
import { readers, sources } from '../../access.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { recordId, reference, timestamp } from '../../fields.ts';
import { pageOf, pageQuery } from '../../page.ts';

const jobStatuses = ['queued', 'succeeded', 'failed'] as const;
export type JobStatus = (typeof jobStatuses)[number];

const job = z
  .object({
    id: z.string(),
    practice_group_id: z.string(),
    resource: z.string().meta({ description: 'The type of the resource that is to be written.' }),
    resource_id: z.string(),
    status: z.enum(jobStatuses),
    failed_attempts: z.int().meta({ description: 'How often it was reported as failed.' }),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({
    id: 'WriteToRecordJob',
    description: "A resource that is to be written to a practice group's EHR.",
  });

export type WriteToRecordJob = z.infer<typeof job>;

const byId = z.strictObject({ id: recordId() });
const answer = { status: 200, description: 'The job.', body: job } as const;
const tag = 'Write to record';

export const createWriteToRecordJob = defineEndpoint({
  operationId: 'createWriteToRecordJob',
  method: 'POST',
  path: '/operator/v1/write-to-record-jobs',
  tag,
  summary: 'Create a write-to-record job',
  extension: true,
  access: { roles: sources },
  body: z.strictObject({
    practice_group_id: reference(),
    resource: reference(),
    resource_id: reference(),
  }),
  idempotency: 'gathered',
  response: { ...answer, status: 201 },
  problems: ['business_rule_violation'],
  rules: ['practice_group_unknown'],
});

export const listWriteToRecordJobs = defineEndpoint({
  operationId: 'listWriteToRecordJobs',
  method: 'GET',
  path: '/operator/v1/write-to-record-jobs',
  tag,
  summary: 'List write-to-record jobs',
  extension: true,
  access: { roles: readers },
  query: z.strictObject({
    ...pageQuery,
    practice_group_id: reference().optional(),
    status: z.enum(jobStatuses).optional(),
  }),
  response: { status: 200, description: 'One page.', body: pageOf(job) },
  problems: [],
});

export const getWriteToRecordJob = defineEndpoint({
  operationId: 'getWriteToRecordJob',
  method: 'GET',
  path: '/operator/v1/write-to-record-jobs/{id}',
  tag,
  summary: 'Get a write-to-record job',
  extension: true,
  access: { roles: readers },
  params: byId,
  response: answer,
  problems: ['not_found'],
});

export const succeedWriteToRecordJob = defineEndpoint({
  operationId: 'succeedWriteToRecordJob',
  method: 'POST',
  path: '/operator/v1/write-to-record-jobs/{id}/succeed',
  tag,
  summary: 'Report that a write-to-record job succeeded',
  description: 'Sends `write-to-record.succeeded`. The answer is 409 when the job is not queued any more.',
  extension: true,
  access: { roles: sources },
  params: byId,
  idempotency: 'gathered',
  response: answer,
  problems: ['not_found', 'conflict'],
});

export const failWriteToRecordJob = defineEndpoint({
  operationId: 'failWriteToRecordJob',
  method: 'POST',
  path: '/operator/v1/write-to-record-jobs/{id}/fail',
  tag,
  summary: 'Report that a write-to-record job failed',
  description:
    'With `permanent`, the job has failed for good, and `write-to-record.failed` is sent. Without, the job stays queued, the failure is counted, and nothing is sent. The answer is 409 when the job is not queued any more.',
  extension: true,
  access: { roles: sources },
  params: byId,
  body: z.strictObject({ permanent: z.boolean() }),
  idempotency: 'gathered',
  response: answer,
  problems: ['not_found', 'conflict'],
});
