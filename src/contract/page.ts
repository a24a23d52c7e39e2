import { z } from 'zod';
import { text } from './fields.ts';

export const PAGE_SIZE_DEFAULT = 50;
const PAGE_SIZE_MAX = 100;

/** Query values arrive as text; `page_size=20` is the number 20, and `page_size=x` is refused as not an integer. */
const pageSize = z
  .preprocess(
    (value) => (typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value),
    z.int().min(1).max(PAGE_SIZE_MAX),
  )
  .optional()
  .meta({ description: `Entries on a page; ${PAGE_SIZE_DEFAULT} unless given.`, default: PAGE_SIZE_DEFAULT });

export const pageQuery = {
  page_size: pageSize,
  cursor: text({ min: 1, max: 1024 }).optional().meta({ description: 'The next_cursor of the page before.' }),
};

export interface PageQuery {
  page_size?: number | undefined;
  cursor?: string | undefined;
}

/** Named after what it holds: a page of `Network` is a `NetworkPage`. */
export const pageOf = <T extends z.ZodType>(item: T) =>
  z
    .object({
      data: z.array(item),
      count: z.int().min(0).meta({ description: 'How many entries this page holds.' }),
      next_cursor: z
        .string()
        .nullable()
        .meta({ description: 'Send it as `cursor` to get the next page; null on the last one.' }),
    })
    .meta({ id: `${item.meta()?.id}Page` });

export interface Page<T> {
  data: T[];
  count: number;
  next_cursor: string | null;
}
