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
  // Zod tells whole numbers and others apart while it makes the message, and no longer afterwards.
  const fractions = new Set<string>();
  const result = schema.safeParse(value, {
    reportInput: true,
    error: (issue) => {
      if (mayHaveFraction(issue)) fractions.add(JSON.stringify(issue.path));
      return sentenceOf(issue, mayHaveFraction(issue) ? 'number' : 'integer');
    },
  });
  if (result.success) return { ok: true, value: result.data };
  const { issues } = result.error;
  const pathOf = ({ path }: z.core.$ZodIssue) => JSON.stringify(path);
  // Zod checks the length of a text as if it were the list that belongs there: a second problem of one value.
  const mistyped = new Set(issues.filter(({ code }) => code === 'invalid_type').map(pathOf));
  return {
    ok: false,
    problems: issues
      .filter((issue) => issue.code === 'invalid_type' || !mistyped.has(pathOf(issue)))
      .flatMap((issue) => entries(issue, readOnly, fractions.has(pathOf(issue)) ? 'number' : 'integer')),
  };
}

export function malformed(message: string): ValidationEntry {
  return { code: 'invalid_json', expected: 'object', path: [], message };
}

function entries(
  issue: z.core.$ZodIssue,
  readOnly: readonly string[],
  number: NumberType,
): ValidationEntry[] {
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
      expected: typeof params?.expected === 'string' ? params.expected : expectedType(issue, number),
      path,
      message: issue.message,
    },
  ];
}

/** Where a field's value decides which shape is due, the value is what is wrong; callers know nothing of unions. */
function codeOf(issue: z.core.$ZodIssue): string {
  return issue.code === 'invalid_union' ? 'invalid_value' : issue.code;
}

function expectedType(issue: z.core.$ZodRawIssue | z.core.$ZodIssue, number: NumberType): string {
  switch (issue.code) {
    case 'invalid_type':
      return typeName(issue.expected, number);
    case 'too_big':
    case 'too_small':
      return typeName(issue.origin, number);
    case 'invalid_value':
      return typeof issue.values[0];
    default:
      return 'string';
  }
}

type NumberType = 'integer' | 'number';

function typeName(zods: string, number: NumberType): string {
  if (zods === 'int' || zods === 'number') return number;
  return zods === 'record' ? 'object' : zods === 'tuple' ? 'array' : zods;
}

function mayHaveFraction({ schema, inst }: z.core.$ZodRawIssue & { schema?: unknown }): boolean {
  const { def } = ((schema ?? inst) as Partial<z.core.$ZodNumber> | undefined)?._zod ?? {};
  return def?.type === 'number' && !('format' in def);
}

/** In the words of `expected`, and of people; zod's own are those of a program. Undefined: the schema has a message of its own. */
function sentenceOf(issue: z.core.$ZodRawIssue, number: NumberType): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'Required.' : `Must be ${typeSentence(issue, number)}.`;
    case 'too_small':
      return boundSentence(issue.origin, issue.inclusive === false ? 'more than' : 'at least', issue.minimum);
    case 'too_big':
      return boundSentence(issue.origin, issue.inclusive === false ? 'less than' : 'at most', issue.maximum);
    case 'invalid_value':
      return issue.values.length === 1
        ? `Must be ${String(issue.values[0])}.`
        : `Must be one of: ${issue.values.join(', ')}.`;
    case 'invalid_union':
      return Array.isArray(issue.options)
        ? `Must be one of: ${issue.options.join(', ')}.`
        : 'Must be of a known kind.';
    default:
      return undefined;
  }
}

const typeWords: Record<string, string> = {
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'a boolean, true or false',
  array: 'an array',
  object: 'an object',
};

function typeSentence(issue: z.core.$ZodRawIssue, number: NumberType): string {
  const expected = expectedType(issue, number);
  const { input } = issue;
  const sent = input === null ? 'null' : Array.isArray(input) ? 'array' : typeof input;
  const words = typeWords[expected] ?? expected;
  // A number of the wrong kind: a fraction, or 1e400, which JSON can write and no double can hold.
  if (sent === 'number' && expected === 'integer') return words;
  if (sent === 'number' && expected === 'number') return 'a finite number';
  return `${words}, not ${typeWords[sent]?.replace(/,.*/, '') ?? sent}`;
}

function boundSentence(origin: string, bound: string, limit: number | bigint): string {
  if (origin === 'string') return `Must be ${bound} ${limit} characters long.`;
  if (origin !== 'array') return `Must be ${bound} ${limit}.`;
  return `Must have ${bound} ${limit} ${Number(limit) === 1 ? 'entry' : 'entries'}.`;
}
