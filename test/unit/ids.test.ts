import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId, randomBase62, toBase62 } from '../../src/domain/ids.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const moment = fc.integer({ min: 0, max: Date.parse('9999-12-31T23:59:59.999Z') });

/** Compares as PostgreSQL's C collation does. */
const bytewise = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

describe('toBase62', () => {
  it('is the number in base 62, filled up with zeros', () => {
    fc.assert(
      fc.property(moment, (value) => {
        const text = toBase62(value, 9);
        expect(text).toMatch(/^[0-9A-Za-z]{9}$/);
        expect([...text].reduce((sum, letter) => sum * 62n + BigInt(BASE62.indexOf(letter)), 0n)).toBe(
          BigInt(value),
        );
      }),
    );
  });
});

describe('randomBase62', () => {
  it('has the length asked for and only letters and digits', () => {
    fc.assert(
      fc.property(fc.nat(80), (length) => {
        const text = randomBase62(randomBytes, length);
        expect(text).toHaveLength(length);
        expect(text).toMatch(/^[0-9A-Za-z]*$/);
      }),
    );
  });

  it('favours no letter: of all 256 values of a byte, each letter stands for exactly four', () => {
    let next = 0;
    const everyByteInTurn = (count: number) => Uint8Array.from({ length: count }, () => next++ % 256);
    const seen = new Map<string, number>();
    for (const letter of randomBase62(everyByteInTurn, 248)) seen.set(letter, (seen.get(letter) ?? 0) + 1);
    expect(seen.size).toBe(62);
    expect(new Set(seen.values())).toEqual(new Set([4]));
  });

  it('asks again when bytes were unusable, and never ends short', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ minLength: 1, maxLength: 20 }), { maxLength: 5 }), (chunks) => {
        let call = 0;
        const text = randomBase62((count) => chunks[call++] ?? new Uint8Array(count), 16);
        expect(text).toMatch(/^[0-9A-Za-z]{16}$/);
        const fair = chunks.flatMap((chunk) => [...chunk]).filter((byte) => byte < 248);
        const expected = fair.slice(0, 16).map((byte) => BASE62[byte % 62]);
        expect(text.slice(0, expected.length)).toBe(expected.join(''));
      }),
    );
  });
});

describe('newId', () => {
  it('sorts by time, byte by byte, whatever the random part is', () => {
    fc.assert(
      fc.property(moment, moment, (one, two) => {
        fc.pre(one !== two);
        const [earlier, later] = one < two ? [one, two] : [two, one];
        const last = () => new Uint8Array(16).fill(61);
        const first = () => new Uint8Array(16).fill(0);
        expect(bytewise(newId('key', earlier, last), newId('key', later, first))).toBe(-1);
      }),
    );
  });

  it('is safe in a path, a header and a tenant list', () => {
    fc.assert(
      fc.property(moment, (now) => {
        expect(newId('st', now, randomBytes)).toMatch(/^st_[0-9A-Za-z]{25}$/);
      }),
    );
  });

  it('does not repeat within one millisecond', () => {
    const ids = new Set(Array.from({ length: 10_000 }, () => newId('key', 1_794_000_000_000, randomBytes)));
    expect(ids.size).toBe(10_000);
  });
});
