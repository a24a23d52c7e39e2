import { z } from 'zod';
import { paragraphs, timestamp } from './fields.ts';

/** That a practice has stopped a partner, as both the practice and the operator know it. */

const REASON_LENGTH_MAX = 1_000;

/** Why somebody stops a partner, or lets it again. */
export const stopReason = () =>
  paragraphs({ min: 1, max: REASON_LENGTH_MAX }).meta({ description: 'The reason, in words.' });

export const stopFields = {
  id: z.string().meta({ description: 'The ID of the stop.', examples: ['stp_0VkQ3yXbTm1c8Zr4Hn6Lp2WsE'] }),
  reason: z.string().meta({ description: 'Why the practice stopped the partner.' }),
  stopped_at: timestamp().meta({ description: 'When the practice stopped the partner.' }),
  stopped_by: z.string().meta({ description: 'The name of whoever did it.', examples: ['Ada Marsh'] }),
  lifted_at: timestamp().nullable().meta({ description: 'Null: it is in force.' }),
  lifted_by: z.string().nullable().meta({ description: 'The name of whoever did it.' }),
  lifted_reason: z
    .string()
    .nullable()
    .meta({ description: 'What an admin said who lifted it. The practice itself need not say.' }),
};
