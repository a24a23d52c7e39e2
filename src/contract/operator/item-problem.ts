import { z } from 'zod';

/** Why one of many items is refused, in an outcome of its own. */
export const itemProblem = z.object({
  error: z.string().meta({ description: 'A code of the error reference.' }),
  message: z.string(),
  rule: z.string().optional(),
  path: z.array(z.union([z.string(), z.int()])).optional(),
  entries: z
    .array(
      z.object({
        code: z.string(),
        expected: z.string(),
        path: z.array(z.union([z.string(), z.int()])),
        message: z.string(),
      }),
    )
    .optional()
    .meta({
      description:
        'With validation_error: what is wrong with the item, at most 20 entries for each item and 1,000 for each thousand items. A name of more than 100 characters is shortened.',
    }),
  more_entries: z.int().optional().meta({ description: 'The number of entries that are not listed.' }),
  used_by: z.array(z.object({ type: z.string(), count: z.int(), ids: z.array(z.string()) })).optional(),
});

export type ItemProblem = z.infer<typeof itemProblem>;
