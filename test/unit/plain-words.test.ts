import { describe, expect, test } from 'vitest';
import type { Endpoint } from '../../src/contract/endpoint.ts';
import { toJsonSchema } from '../../src/contract/json-schema.ts';
import { operatorEndpoints } from '../../src/contract/operator/index.ts';
import { partnerEndpoints } from '../../src/contract/partner/index.ts';
import { check } from '../../src/contract/validate.ts';

/** What is wrong with a request is said in plain words, whatever is sent for whichever field. */

const endpoints: Endpoint[] = [...Object.values(partnerEndpoints), ...Object.values(operatorEndpoints)];
const JUNK = [null, true, -1, 1.5, 1e20, '', 'x', '\0', 'y'.repeat(10_000), [], [null], [7], {}, { a: 1 }];
const TYPES = ['string', 'integer', 'number', 'boolean', 'array', 'object', 'never', 'null'];
/** Words of a validator. */
const ITS_OWN = /expected|received|invalid|too (small|big)|>=|<=|\||undefined|NaN/i;
const WORDS: Record<string, RegExp> = {
  string: /string/,
  integer: /integer/,
  number: /number/,
  boolean: /boolean/,
  array: /array/,
  object: /object/,
};

const parts = endpoints.flatMap(({ operationId, body, query }) => [
  ...(body ? [{ name: `${operationId} body`, schema: body }] : []),
  ...(query ? [{ name: `${operationId} query`, schema: query }] : []),
]);

describe.each(parts)('$name', ({ schema }) => {
  const fields = Object.keys((toJsonSchema(schema, { io: 'input' }).properties as object | undefined) ?? {});
  const sent = [...JUNK, ...fields.flatMap((field) => JUNK.map((value) => ({ [field]: value })))];

  test('every problem is a sentence that agrees with what is expected', () => {
    for (const value of sent) {
      const result = check(schema, value);
      for (const { code, expected, message } of result.ok ? [] : result.problems) {
        const told = JSON.stringify([value, expected, message]).slice(0, 300);
        expect(message, told).toMatch(/^[A-Z].*[.-]$/su);
        // Values that are allowed are named as they are.
        expect(message.replace(/^Must be one of: .*/, ''), told).not.toMatch(ITS_OWN);
        expect(TYPES, told).toContain(expected);
        if (code === 'invalid_type' && message !== 'Required.')
          expect(message, told).toMatch(WORDS[expected] ?? /^$/);
      }
    }
  });
});
