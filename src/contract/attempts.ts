import { z } from 'zod';
import { timestamp } from './fields.ts';

/** Where an attempt broke off: the address is not one to call, or one of the steps on the way failed. */
const attemptPhases = ['address', 'dns', 'connect', 'tls', 'send', 'answer'] as const;

export type AttemptPhase = (typeof attemptPhases)[number];

/** One attempt to deliver. */
export const attempt = z
  .object({
    at: timestamp().meta({ description: 'When the attempt began.' }),
    outcome: z
      .enum(['delivered', 'failed'])
      .meta({ description: 'delivered: the receiver answered with 2xx. failed: everything else.' }),
    status: z
      .int()
      .nullable()
      .meta({
        description:
          'The status that the receiver answered with; null when no answer began. Partners see `outcome` alone for a receiver on the machine of the service, unless this staging service may call its own machine.',
        examples: [204],
      }),
    phase: z
      .enum(attemptPhases)
      .nullable()
      .meta({ description: 'Where the attempt broke off; null when an answer arrived.' }),
    code: z
      .string()
      .nullable()
      .meta({
        description: 'Machine-readable reason why it broke off; null when an answer arrived.',
        examples: ['tls_certificate_expired'],
      }),
    diagnosis: z.string().meta({
      description: 'What happened, as a sentence.',
      examples: ['TLS certificate expired on 1 May 2026. Renew it.'],
    }),
    duration_ms: z.int().meta({ description: 'From the start of the attempt to its end.', examples: [42] }),
    answer: z
      .string()
      .nullable()
      .meta({ description: 'The first 1 KiB of the answer as text; null when it had none.' }),
  })
  .meta({ id: 'DeliveryAttempt' });

export type Attempt = z.infer<typeof attempt>;
