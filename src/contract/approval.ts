import { z } from 'zod';
import { approvalKinds } from './access.ts';
import { timestamp } from './fields.ts';

/** For so long something waits for a second person, and its answer for whoever asked. */
export const APPROVAL_HOURS = 72;

const somebody = z.object({ id: z.string(), name: z.string() });

export const approvalStatuses = ['pending', 'approved', 'declined', 'expired'] as const;

export const approval = z
  .object({
    id: z.string(),
    kind: z.enum(approvalKinds),
    operation: z.string().meta({ description: 'The operation that waits.', examples: ['issueKey'] }),
    summary: z.string().meta({ description: 'The same in words.', examples: ['Issue a key'] }),
    params: z
      .record(z.string(), z.string())
      .meta({ description: 'The parameters of its path, as they were sent.' }),
    body: z.unknown().meta({ description: 'Its body, as it was sent; null: it had none.' }),
    status: z.enum(approvalStatuses),
    requested_by: somebody,
    requested_at: timestamp(),
    expires_at: timestamp().meta({ description: 'Until when it can be approved.' }),
    decided_by: somebody.nullable(),
    decided_at: timestamp().nullable(),
    reason: z.string().nullable().meta({ description: 'Why it was declined.' }),
    is_collectable: z.boolean().meta({
      description: 'Whether the answer is there for whoever asked, who collects it once.',
    }),
  })
  .meta({ id: 'Approval', description: 'Something that is done when a second person has approved it.' });

export type Approval = z.infer<typeof approval>;

/** What an operation answers that waits. */
export const waitingResponse = {
  status: 202,
  description:
    'It waits for a second person: this deployment asks for one (`PORTER_APPROVALS`). Nothing was done yet.',
  body: approval,
} as const;
