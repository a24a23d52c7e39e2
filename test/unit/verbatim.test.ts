import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Verbatim, verbatimText } from '../../src/contract/verbatim.ts';

const schema = z.object({
  data: z.array(z.object({ id: z.string(), payload: z.object({ a: z.number(), b: z.string().optional() }) })),
  count: z.int(),
});

const withPayload = (json: string) => ({ data: [{ id: 'x', payload: new Verbatim(json) }], count: 1 });

describe('a text that is passed through', () => {
  it.each(['{"a":1}', '{ "a" : 1.0 }', '{"b":"\\u00e9\\/","a":1e2}', '{"a":1,\n"b":"…"}'])(
    'leaves byte for byte: %s',
    (json) => {
      expect(verbatimText(schema, withPayload(json))).toBe(
        `{"data":[{"id":"x","payload":${json}}],"count":1}`,
      );
    },
  );

  it('stands among parts that are written as JSON always is', () => {
    const awkward = 'quote " backslash \\ line\nbreak';
    const text = verbatimText(schema, {
      data: [
        { id: awkward, payload: new Verbatim('{"a":1}') },
        { id: 'y', payload: { a: 2 } },
      ],
      count: 2,
    });
    expect(text).toBe(
      `{"data":[{"id":${JSON.stringify(awkward)},"payload":{"a":1}},{"id":"y","payload":{"a":2}}],"count":2}`,
    );
  });

  it.each([
    ['has a field that is not declared', '{"a":1,"secret":"s"}'],
    ['lacks a field', '{"b":"x"}'],
    ['has a field of another type', '{"a":"1"}'],
    ['ends early and goes on with fields of what it stands in', '{"a":1},"secret":{"a":1}'],
    ['ends early and goes on with another entry', '{"a":1}},{"id":"y","secret":1,"payload":{"a":1}'],
  ])('does not leave if it %s', (_what, json) => {
    expect(() => verbatimText(schema, withPayload(json))).toThrow('not what the contract declares');
  });

  it('does not leave if it is no JSON', () => {
    expect(() => verbatimText(schema, withPayload('{"a":1'))).toThrow(SyntaxError);
  });

  it('does not take along a field that is not declared beside it', () => {
    const body = { ...withPayload('{"a":1}'), secret: 's' };
    expect(() => verbatimText(schema, body)).toThrow('not what the contract declares');
  });
});
