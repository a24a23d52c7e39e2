import { z } from 'zod';
import { moment, text } from './fields.ts';
import { ValidationProblem } from './problems.ts';

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

/** IDs that others chose have up to 255 characters, which JSON and base64 make eight times as long. */
const CURSOR_LENGTH_MAX = 4_096;
/** Base64url. */
export const CURSOR = /^[A-Za-z0-9_-]+$/;
const NOT_A_CURSOR =
  'Send the next_cursor of the page before, or the ID of an event of the stream, unchanged.';

export const pageQuery = {
  page_size: pageSize,
  cursor: text({ min: 1, max: CURSOR_LENGTH_MAX })
    .refine((cursor) => cursor === '' || cursor.length > CURSOR_LENGTH_MAX || parseCursor(cursor), {
      error: NOT_A_CURSOR,
      params: { code: 'invalid_value', expected: 'string' },
    })
    .optional()
    .meta({
      minLength: 1,
      maxLength: CURSOR_LENGTH_MAX,
      pattern: CURSOR.source,
      description: 'The next_cursor of the page before.',
    }),
};

/** Of a list of what happened at a moment. */
export const spanQuery = {
  since: moment().optional().meta({ description: 'Not before this moment.' }),
  until: moment().optional().meta({ description: 'Before this moment.' }),
};

/** For keyset pagination with a filter that no index supports: a page looks through a limited stretch. */
export const shortPages =
  'A page may hold fewer entries than asked for, even none, and still have a next_cursor.';

/** The key in a cursor of keyset pagination. The reader of the list checks whether it is one of that list. */
function parseCursor(cursor: string): unknown[] | undefined {
  if (!CURSOR.test(cursor)) return undefined;
  try {
    const key: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(key) ? key : undefined;
  } catch {
    return undefined;
  }
}

/** The sort key of an entry, after which a page begins: nulls before the first page. */
export type Key = readonly (string | number | null)[];

export function encodeCursor(key: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url');
}

/** A type that ends with `?` may be missing at the end. `name`: of the parameter or header that the cursor was sent as. */
export function decodeCursor(cursor: string | undefined, types: readonly string[], name = 'cursor'): Key {
  if (cursor === undefined) return types.map(() => null);
  const key = parseCursor(cursor);
  if (key && key.length <= types.length && types.every((type, i) => isKeyPart(key[i], type)))
    return key as Key;
  throw new ValidationProblem([
    { code: 'invalid_value', expected: 'string', path: [name], message: NOT_A_CURSOR },
  ]);
}

/** The last that RFC 3339 can write. */
const LAST_MOMENT_MS = Date.parse('9999-12-31T23:59:59.999Z');
/** In the place of a number: after all others. */
export const AFTER_ALL = Number.MAX_SAFE_INTEGER;

/** A `moment` is in milliseconds since 1970. A `decimal` may have a fraction. */
function isKeyPart(part: unknown, type: string): boolean {
  if (part === undefined) return type.endsWith('?');
  if (type === 'moment' && typeof part === 'number')
    return Number.isInteger(part) && ((part >= 0 && part <= LAST_MOMENT_MS) || part === AFTER_ALL);
  if (type === 'decimal') return Number.isFinite(part);
  if (typeof part === 'number') return type.startsWith('number') && Number.isSafeInteger(part);
  return type.startsWith('string') && typeof part === 'string' && part.isWellFormed() && !part.includes('\0');
}

export interface PageQuery {
  page_size?: number | undefined;
  cursor?: string | undefined;
}

/** Named after what it holds: a page of `Network` is a `NetworkPage`. */
export const pageOf = <T extends z.ZodType>(item: T) =>
  z
    .object({
      data: z.array(item).meta({ description: 'The entries of this page.' }),
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
