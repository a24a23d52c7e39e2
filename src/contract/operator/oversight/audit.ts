import { z } from 'zod';
import { readers } from '../../access.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { moment, reference, timestamp } from '../../fields.ts';
import { pageOf, pageQuery, shortPages } from '../../page.ts';

const auditEntry = z
  .object({
    seq: z.int(),
    at: timestamp(),
    actor: z.object({
      type: z.enum(['partner', 'operator', 'guest', 'system']).meta({
        description: 'guest: somebody of a partner or of a practice who was invited into the console.',
      }),
      id: z.string().meta({ description: 'The key, the operator or the invitation.' }),
      name: z.string().optional().meta({
        description: 'Of a person; of a key, whoever acted with it in the portal.',
      }),
      session_id: z.string().optional().meta({ description: 'Of a person who was invited.' }),
      approved_by: z
        .object({ id: z.string(), name: z.string() })
        .optional()
        .meta({ description: 'The second person, where one had to approve it.' }),
    }),
    action: z.string().meta({ examples: ['submission_type.update'] }),
    subject: z.object({ type: z.string(), id: z.string() }),
    practice_group_id: z.string().nullable(),
    request_id: z.string().nullable(),
    before: z.unknown().meta({ description: 'The changed fields as they were; null for something new.' }),
    after: z.unknown().meta({ description: 'The changed fields as they are; null for something deleted.' }),
    erased_by: z
      .string()
      .optional()
      .meta({ description: 'The erasure that took identifiers out of this entry, if one did.' }),
    hash: z
      .string()
      .meta({ description: 'SHA-256 over the hash of the entry before and this entry, in hex.' }),
  })
  .meta({ id: 'AuditEntry' });

export type AuditEntry = z.infer<typeof auditEntry>;

const seq = () => z.string().regex(/^[1-9]\d{0,14}$/, 'Must be the number of an entry.');
const tag = 'Audit';

export const listAudit = defineEndpoint({
  operationId: 'listAudit',
  method: 'GET',
  path: '/operator/v1/audit',
  tag,
  summary: 'List audit entries',
  description: `Who changed what, newest first. ${shortPages}`,
  extension: true,
  access: { roles: readers },
  query: z.strictObject({
    ...pageQuery,
    actor_id: reference().optional(),
    action: reference().optional(),
    subject_id: reference().optional(),
    practice_group_id: reference().optional(),
    since: moment().optional(),
    until: moment().optional(),
  }),
  response: { status: 200, description: 'One page.', body: pageOf(auditEntry) },
  problems: [],
});

export const getAuditEntry = defineEndpoint({
  operationId: 'getAuditEntry',
  method: 'GET',
  path: '/operator/v1/audit/{seq}',
  tag,
  summary: 'Get an audit entry',
  extension: true,
  access: { roles: readers },
  params: z.strictObject({ seq: seq() }),
  response: { status: 200, description: 'The entry.', body: auditEntry },
  problems: ['not_found'],
});

export const getAuditAnchor = defineEndpoint({
  operationId: 'getAuditAnchor',
  method: 'GET',
  path: '/operator/v1/audit/anchor',
  tag,
  summary: 'Get an anchor of the audit trail',
  description:
    'Where the hash chain ends at this moment, signed (Ed25519). Keep the `line` in a place that the service cannot write to: whoever has one can tell whether the trail was cut or written anew since.',
  extension: true,
  access: { roles: readers },
  response: {
    status: 200,
    description: 'The anchor.',
    body: z
      .object({
        seq: z.int().meta({ description: 'The number of the last entry.' }),
        hash: z.string().meta({ description: 'Its hash, in hex.' }),
        at: timestamp(),
        key: z.string().meta({ description: 'The public key, in base64url.' }),
        line: z.string().meta({ description: 'All of it with the signature, to be kept.' }),
      })
      .meta({ id: 'AuditAnchor' }),
  },
  problems: [],
});

export const verifyAudit = defineEndpoint({
  operationId: 'verifyAudit',
  method: 'GET',
  path: '/operator/v1/audit/verify',
  tag,
  summary: 'Verify the audit trail',
  description:
    'Checks the whole hash chain. It shows any entry that was altered, removed or moved: `first_bad` is the number of the first. An entry that an erasure redacted must read as the erasure left it. With an `anchor` that was given out before, it also shows whether the chain was cut or written anew since. The check runs once for all who ask at a time.',
  extension: true,
  access: { roles: readers },
  query: z.strictObject({
    anchor: z.string().max(1_000).optional().meta({ description: 'One line, as it was given out.' }),
  }),
  long: true,
  response: {
    status: 200,
    description: 'The verdict.',
    body: z
      .object({
        ok: z.boolean(),
        entries: z.int(),
        first_bad: z.int().optional(),
        anchor: z
          .object({
            seq: z.int(),
            at: z.string(),
            key_known: z.boolean().meta({
              description:
                'Whether its key comes from the master key, or from one in PORTER_MASTER_KEY_PREVIOUS.',
            }),
            problem: z.enum(['not_genuine', 'cut', 'rewritten']).optional().meta({
              description:
                '`not_genuine`: the line was altered. `cut`: the chain ends before it. `rewritten`: the chain has another entry in its place.',
            }),
          })
          .optional(),
      })
      .meta({ id: 'AuditVerdict' }),
  },
  problems: [],
});
