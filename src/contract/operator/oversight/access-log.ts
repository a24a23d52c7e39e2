import { z } from 'zod';
import { readers } from '../../access.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { recordId, reference, timestamp } from '../../fields.ts';
import { pageOf, pageQuery, shortPages } from '../../page.ts';

const accessLogEntry = z
  .object({
    id: z.string().meta({ description: 'Tells entries apart; it is not the same for good.' }),
    kind: z.enum(['received', 'read']).meta({
      description: '`received`: a webhook was sent it. `read`: somebody asked for it.',
    }),
    first_at: timestamp(),
    last_at: timestamp(),
    count: z.int().meta({ description: 'Attempts to deliver, or calls, between the two moments.' }),
    partner_id: z.string().nullable(),
    key_id: z.string().nullable().meta({ description: 'The key of the call.' }),
    operator_id: z.string().nullable(),
    person: z.string().nullable().meta({
      description:
        'Who of the partner read it in the portal, by name; null: a program of the partner did, or an operator.',
    }),
    practice_group_id: z.string().nullable(),
    operation: z.string().meta({ examples: ['listEvents'] }),
    object: z
      .string()
      .nullable()
      .meta({ examples: ['Appointment'] }),
    object_id: z.string().nullable(),
    event_id: z.string().nullable(),
    event: z.string().nullable(),
    webhook_id: z.string().nullable(),
    delivery_id: z.string().nullable(),
    positions: z
      .object({ first: z.int(), last: z.int() })
      .nullable()
      .meta({ description: 'Of what was read from the feed: everything between the two was shown.' }),
    agreement_signed_at: timestamp()
      .nullable()
      .meta({ description: 'When the partner signed the agreement under which it was told.' }),
    through: z
      .array(
        z.object({ key_id: z.string(), network_id: z.string().nullable() }).meta({ id: 'AccessThrough' }),
      )
      .meta({
        description:
          'The keys that allowed it at that moment, each with the network that it reached the practice group through; null for a key of the group itself.',
      }),
    erased_by: z.string().nullable().meta({ description: 'The erasure of the object, if it was erased.' }),
  })
  .meta({ id: 'AccessLogEntry' });

export type AccessLogEntry = z.infer<typeof accessLogEntry>;

const tag = 'Access log';

export const listAccessLog = defineEndpoint({
  operationId: 'listAccessLog',
  method: 'GET',
  path: '/operator/v1/access-log',
  tag,
  summary: 'List who was told what',
  description: `Who was told about a practice group, or about one object of it: when, under which agreement, by which key and through which network. First what webhooks received, newest first, then what was read. Without \`practice_group_id\`, only what was read, and what was received so long ago that its delivery is no longer kept. ${shortPages}`,
  extension: true,
  access: { roles: readers },
  query: z.strictObject({
    ...pageQuery,
    practice_group_id: recordId().optional(),
    object_id: reference().optional(),
    key_id: recordId().optional().meta({ description: 'What was read with this key alone.' }),
  }),
  response: { status: 200, description: 'One page.', body: pageOf(accessLogEntry) },
  problems: [],
});

export const exportAccessLog = defineEndpoint({
  operationId: 'exportAccessLog',
  method: 'GET',
  path: '/operator/v1/access-log/export',
  tag,
  summary: 'Export the access log',
  description:
    "Every batch of reads with its hash, one JSON text on a line, to be verified by `examples/verify-access-log.mjs` without this service. With `practice_group_id`, entries of other practice groups are told by their digests alone, and what that group's partners received follows at the end, as its deliveries tell, and then how many lines that were: an export without that last line was cut off. With `after_batch`, it goes on where an earlier export ended.",
  extension: true,
  access: { roles: readers },
  query: z.strictObject({
    practice_group_id: recordId().optional(),
    after_batch: z
      .string()
      .regex(/^\d{1,15}$/, 'Must be the number of a batch.')
      .optional(),
  }),
  response: { status: 200, description: 'The lines, until the log ends.', lines: true },
  problems: ['not_found'],
});
