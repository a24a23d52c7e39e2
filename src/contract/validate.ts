import { z } from 'zod';

/** One entry of the specified 400 body. All four fields are always there. */
export interface ValidationEntry {
  code: string;
  expected: string;
  path: (string | number)[];
  message: string;
}

/** For what takes no field at all: whatever is sent is not known. */
export const nothing = z.strictObject({});

export type Checked<T> = { ok: true; value: T } | { ok: false; problems: ValidationEntry[] };

/**
 * Checks a value against a schema and reports every problem at once, in the specified shape.
 * `readOnly` names fields that exist but cannot be set, so that a client hears "read only" rather than "unknown".
 */
export function check<S extends z.ZodType>(
  schema: S,
  value: unknown,
  readOnly: readonly string[] = [],
): Checked<z.output<S>> {
  const result = schema.safeParse(value, { reportInput: true });
  if (result.success) return { ok: true, value: result.data };
  return { ok: false, problems: result.error.issues.flatMap((issue) => entries(issue, readOnly)) };
}

export function malformed(message: string): ValidationEntry {
  return { code: 'invalid_json', expected: 'object', path: [], message };
}

function entries(issue: z.core.$ZodIssue, readOnly: readonly string[]): ValidationEntry[] {
  const path = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step));
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) =>
      readOnly.includes(key)
        ? {
            code: 'read_only',
            expected: 'never',
            path: [...path, key],
            message: 'This field is read only. Leave it out.',
          }
        : {
            code: 'unrecognized_keys',
            expected: 'never',
            path: [...path, key],
            message: 'This field is not known. Check its name, or leave it out.',
          },
    );
  }
  const params = issue.code === 'custom' ? issue.params : undefined;
  return [
    {
      code: typeof params?.code === 'string' ? params.code : codeOf(issue),
      expected: typeof params?.expected === 'string' ? params.expected : expectedType(issue),
      path,
      message: issue.code === 'invalid_type' && issue.input === undefined ? 'Required.' : issue.message,
    },
  ];
}

/** Where a field's value decides which shape is due, the value is what is wrong; callers know nothing of unions. */
function codeOf(issue: z.core.$ZodIssue): string {
  return issue.code === 'invalid_union' ? 'invalid_value' : issue.code;
}

function expectedType(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.expected === 'int' || issue.expected === 'number' ? 'integer' : issue.expected;
    case 'too_big':
    case 'too_small':
      return issue.origin === 'int' || issue.origin === 'number' ? 'integer' : issue.origin;
    case 'invalid_value':
      return typeof issue.values[0];
    default:
      return 'string';
  }
}
