import { z } from 'zod';

export const named = z
  .object({ id: z.string(), name: z.string() })
  .meta({ id: 'Named', description: 'Something by its ID and by what people call it.' });
