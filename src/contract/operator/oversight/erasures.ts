import { z } from 'zod';
import { admins, readers } from '../../access.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { recordId, reference, timestamp } from '../../fields.ts';
import { pageOf, pageQuery } from '../../page.ts';

const count = () => z.int().min(0);

const erasure = z
  .object({
    id: z.string().meta({ description: 'Stands where the ID of the object stood.' }),
    practice_group_id: z.string(),
    object: z.string(),
    operator_id: z.string(),
    created_at: timestamp(),
    finished: z.boolean().meta({
      description:
        'false: it is under way, or was broken off, and tells what it has come to so far. The same call again goes on with it.',
    }),
    erased: z
      .object({
        events: count(),
        deliveries: count(),
        deliveries_withdrawn: count().meta({
          description: 'Of these, still queued: they are not sent any more.',
        }),
        form_submissions: count(),
        write_to_record_jobs: count(),
        audit_entries: count(),
        refused_requests: count(),
        idempotency_keys: count(),
        access_log_entries: count(),
      })
      .meta({ id: 'ErasedCounts' }),
    recipients: z
      .array(
        z
          .object({
            partner_id: z.string(),
            deliveries: count().meta({ description: 'That its webhooks were sent.' }),
            under_way: count().meta({
              description:
                'Others that may have been on their way at that moment: they may have arrived, and what came of them is not known.',
            }),
            reads: count().meta({
              description:
                'Calls that showed it the object: pages of the feed, the stream, delivery logs, the portal.',
            }),
            last_at: timestamp().meta({
              description: 'When it was told last; of what was under way, when that was erased.',
            }),
          })
          .meta({ id: 'ErasureRecipient' }),
      )
      .meta({
        description:
          'Partners that were sent events about the object, may have been, or read it, as far as deliveries and the access log are kept: tell them to erase it too.',
      }),
  })
  .meta({ id: 'Erasure' });

export type Erasure = z.infer<typeof erasure>;

const tag = 'Erasures';

export const createErasure = defineEndpoint({
  operationId: 'createErasure',
  method: 'POST',
  path: '/operator/v1/erasures',
  tag,
  summary: 'Erase an object',
  description:
    'Takes the identifiers of one object out of everything that is kept: events and their payloads, the feed, deliveries and what receivers answered, form submissions, write-to-record jobs, the audit, refused calls, answers kept for idempotency keys, and the access log. What is still queued is not sent: once the call has answered, no delivery of it begins; one whose request was being sent ends within 15 seconds. The audit stays verifiable. It answers when it is done; one that was broken off goes on with the same call made again, whose answer tells of all of it. After that, the same call again finds nothing more. An event that is published about the object afterwards is new.',
  extension: true,
  idempotency: 'afterwards',
  access: { roles: admins },
  body: z.strictObject({
    practice_group_id: recordId(),
    object: reference()
      .refine((object) => object.toLowerCase() !== 'ehrhealthstatus', {
        error: 'Must be an object of a patient. EhrHealthStatus is about a practice group.',
        params: { code: 'invalid_value', expected: 'string' },
      })
      .meta({
        description:
          'As events name it (`object`), or write-to-record jobs (`resource`), in capitals or not. What is nearly the name of an object, and no resource of a job, is refused.',
        examples: ['Appointment'],
      }),
    object_id: reference().meta({ examples: ['apt_1042'] }),
  }),
  response: { status: 200, description: 'What was erased.', body: erasure },
  problems: ['business_rule_violation'],
  rules: ['practice_group_unknown'],
});

export const listErasures = defineEndpoint({
  operationId: 'listErasures',
  method: 'GET',
  path: '/operator/v1/erasures',
  tag,
  summary: 'List erasures',
  extension: true,
  access: { roles: readers },
  query: z.strictObject({ ...pageQuery, practice_group_id: recordId().optional() }),
  response: { status: 200, description: 'One page.', body: pageOf(erasure) },
  problems: [],
});

export const getErasure = defineEndpoint({
  operationId: 'getErasure',
  method: 'GET',
  path: '/operator/v1/erasures/{id}',
  tag,
  summary: 'Get an erasure',
  extension: true,
  access: { roles: readers },
  params: z.strictObject({ id: recordId() }),
  response: { status: 200, description: 'The erasure.', body: erasure },
  problems: ['not_found'],
});
