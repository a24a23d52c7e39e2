import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { duplicateKeys } from '../../src/http/duplicate-keys.ts';

const pathsIn = (text: string) => duplicateKeys(text).map(({ path }) => path);

describe('fields that are sent more than once', () => {
  it.each<[string, string, (string | number)[][]]>([
    ['none', '{"a":1,"b":{"a":1},"c":[{"a":1},{"a":1}]}', []],
    ['at the top', '{"a":1,"a":2}', [['a']]],
    ['equal values too', '{"a":1,"a":1}', [['a']]],
    ['three times are two too many', '{"a":1,"a":1,"a":1}', [['a'], ['a']]],
    ['deep', '{"x":[0,{"y":{"a":1,"b":2,"a":3}}]}', [['x', 1, 'y', 'a']]],
    ['of the second element', '[{"a":1},{"a":1,"a":2}]', [[1, 'a']]],
    ['of two objects', '{"a":{"b":1,"b":1},"c":1,"c":{"d":1,"d":1}}', [['a', 'b'], ['c'], ['c', 'd']]],
    ['written otherwise', String.raw`{"a":1,"\u0061":2}`, [['a']]],
    ['with a quote in it', String.raw`{"\"":1,"\"":2}`, [['"']]],
    ['with a backslash at its end', String.raw`{"\\":1,"\\":2,"\\\"":3}`, [['\\']]],
    ['empty', '{"":1,"":2}', [['']]],
    ['of every object', '{"__proto__":1,"constructor":2,"toString":3,"__proto__":4}', [['__proto__']]],
    ['with blanks all over', '{ "a" : 1 ,\n\t"a"\r\n: 2 }', [['a']]],
    ['values that look like fields', String.raw`{"a":"b","b":"\"a\":1","c":["a","a"],"d":"a"}`, []],
    ['values that look like objects', '{"a":"{","b":"}","c":"{\\"a\\":1,\\"a\\":2}","a":1}', [['a']]],
    ['after an empty object and an empty array', '{"a":{},"b":[],"a":0}', [['a']]],
    [
      'among many',
      `{${Array.from({ length: 50 }, (_, n) => `"f${n}":1`)},"f3":2,"f40":3}`,
      [['f3'], ['f40']],
    ],
    ['no object', '"a"', []],
  ])('%s', (_what, text, paths) => {
    expect(pathsIn(text)).toEqual(paths);
  });

  it('are told in the shape of every other problem', () => {
    expect(duplicateKeys('{"a":1,"a":2}')).toEqual([
      {
        code: 'duplicate_key',
        expected: 'never',
        path: ['a'],
        message: 'This field is sent more than once. Send it once.',
      },
    ]);
  });

  it('are found as deep as a body can be, and told with the beginning of their path', () => {
    const depth = 30_000;
    expect(pathsIn(`${'['.repeat(depth)}{"a":1,"a":2}${']'.repeat(depth)}`)).toEqual([Array(32).fill(0)]);
  });

  it('are told of up to a hundred, and of fewer where their paths are long', () => {
    const again = (name: string, times: number) => `{${Array(times).fill(`"${name}":1`).join()}}`;
    expect(pathsIn(again('a', 10_000))).toHaveLength(100);
    const long = 'x'.repeat(1_000);
    const told = JSON.stringify(pathsIn(`{"${long}":{"${long}":${again('a', 5_000)}}}`));
    expect(told.length).toBeGreaterThan(2_000);
    expect(told.length).toBeLessThan(20_000);
    expect(pathsIn(`{"${'x'.repeat(50_000)}":${again('a', 3)}}`)).toHaveLength(1);
  });

  it('are those that a parser sees which keeps all fields, whatever the text', () => {
    const name = fc.oneof(fc.constantFrom('a', 'b', '', '"', '\\', '__proto__', ':', '{'), fc.string());
    const { value } = fc.letrec<{ value: Tree }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.oneof(fc.string(), fc.integer(), fc.constantFrom(null, true, false)).map((leaf) => ({ leaf })),
        fc.array(tie('value'), { maxLength: 4 }).map((items) => ({ items })),
        fc.array(fc.tuple(name, fc.nat(3), tie('value')), { maxLength: 5 }).map((fields) => ({ fields })),
      ),
    }));
    fc.assert(
      fc.property(value, fc.constantFrom('', ' ', '\n\t'), (tree, blank) => {
        const text = written(tree, blank);
        JSON.parse(text);
        expect(pathsIn(text)).toEqual(repeatedIn(tree, []));
      }),
      { numRuns: 2_000 },
    );
  });
});

/** The reference: a value that still has all its fields. */
type Tree =
  | { leaf: string | number | boolean | null }
  | { items: Tree[] }
  | { fields: [name: string, spelling: number, value: Tree][] };

function written(tree: Tree, blank: string): string {
  if ('leaf' in tree) return JSON.stringify(tree.leaf);
  if ('items' in tree) return `[${blank}${tree.items.map((one) => written(one, blank)).join(`,${blank}`)}]`;
  const fields = tree.fields.map(
    ([name, spelling, value]) => `${spelled(name, spelling)}${blank}:${blank}${written(value, blank)}`,
  );
  return `{${blank}${fields.join(`${blank},`)}}`;
}

/** The same name in the ways that JSON allows. */
function spelled(name: string, spelling: number): string {
  if (spelling === 0) return JSON.stringify(name);
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const units = name.split('');
  const all = units.map((unit, at) =>
    spelling === 1 || at % 2 === 0 ? escaped(unit) : JSON.stringify(unit).slice(1, -1),
  );
  return `"${all.join('')}"`;
}

function repeatedIn(tree: Tree, path: (string | number)[]): (string | number)[][] {
  if ('leaf' in tree) return [];
  if ('items' in tree) return tree.items.flatMap((one, at) => repeatedIn(one, [...path, at]));
  return tree.fields.flatMap(([name, , value], at) => {
    const own = [...path, name];
    const isRepeated = tree.fields.slice(0, at).some(([before]) => before === name);
    return [...(isRepeated ? [own] : []), ...repeatedIn(value, own)];
  });
}
