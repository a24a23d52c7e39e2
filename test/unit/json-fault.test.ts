import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonFault } from '../../src/http/json-fault.ts';

const parses = (text: string) => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

describe('where a text is no JSON', () => {
  it.each([
    ['', 1, 1],
    ['{', 1, 2],
    ['nonsense', 1, 1],
    ['nul', 1, 1],
    ['{"a":1,}', 1, 8],
    ['[1,]', 1, 4],
    ['{"a" 1}', 1, 6],
    ["{'a': 1}", 1, 2],
    ['{"a": 1} {', 1, 10],
    ['{\n  "title": "x"\n  "order": 1\n}', 3, 3],
    ['{\r\n"a": tru\r\n}', 2, 6],
    ['{"a": "one\ntwo"}', 1, 11],
    ['{"a": "\\q"}', 1, 8],
    ['{"a": 01}', 1, 8],
    ['{"😀": x}', 1, 7],
    ['[1, 2', 1, 6],
    ['{"a": NaN}', 1, 7],
    ['// note\n{}', 1, 1],
    [']', 1, 1],
    ['"never ends', 1, 12],
  ])('%j: line %d, column %d', (text, line, column) => {
    expect(parses(text)).toBe(false);
    expect(jsonFault(text)).toEqual({ line, column });
  });

  it('is at the end of what some JSON text could begin with, and no further', () => {
    const damaged = fc
      .tuple(
        fc.jsonValue(),
        fc.nat(),
        fc.constantFrom('', ' ', ',', '"', '}', ']', ':', '\\', '\n', '0', 'x'),
      )
      .map(([value, at, one]) => {
        const text = JSON.stringify(value, null, 1);
        const place = at % (text.length + 1);
        return text.slice(0, place) + one + text.slice(place + 1);
      })
      .filter((text) => !parses(text));
    fc.assert(
      fc.property(damaged, (text) => {
        const { line, column } = jsonFault(text);
        const before =
          text
            .split('\n')
            .slice(0, line - 1)
            .join('\n').length + (line > 1 ? 1 : 0);
        const fault = before + [...text.slice(before)].slice(0, column - 1).join('').length;
        // The same fault wherever the text goes on: nothing after it was looked at.
        expect(jsonFault(`${text.slice(0, fault)}\u0001`)).toEqual({ line, column });
        expect(fault).toBeLessThanOrEqual(text.length);
      }),
      { numRuns: 2_000 },
    );
  });

  it('is found in 2 MiB of brackets or of one string', () => {
    const size = 2 * 1024 * 1024;
    expect(jsonFault('['.repeat(size))).toEqual({ line: 1, column: size + 1 });
    expect(jsonFault(`"${'x'.repeat(size)}`)).toEqual({ line: 1, column: size + 2 });
  });
});
