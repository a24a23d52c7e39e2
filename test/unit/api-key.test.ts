import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Environment } from '../../src/contract/access.ts';
import { formatKey, isWellFormedKey, keyPrefix } from '../../src/domain/access/api-key.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const environment = fc.constantFrom<Environment>('staging', 'production');
const secret = fc
  .array(fc.constantFrom(...BASE62), { minLength: 32, maxLength: 32 })
  .map((letters) => letters.join(''));
const other = (env: Environment): Environment => (env === 'staging' ? 'production' : 'staging');

describe('the format of a key', () => {
  it('is the prefix of its environment, 32 random characters and 6 of checksum, and is recognised', () => {
    fc.assert(
      fc.property(environment, secret, (env, random) => {
        const key = formatKey(env, random);
        expect(key).toMatch(/^ptr_(live|test)_[0-9A-Za-z]{38}$/);
        expect(key.startsWith(`ptr_${env === 'production' ? 'live' : 'test'}_${random}`)).toBe(true);
        expect(key.startsWith(keyPrefix(env))).toBe(true);
        expect(isWellFormedKey(env, key)).toBe(true);
        expect(isWellFormedKey(other(env), key)).toBe(false);
      }),
    );
  });

  it('refuses any single character changed', () => {
    const letter = fc.oneof(
      fc.constantFrom(...BASE62),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    );
    fc.assert(
      fc.property(environment, secret, fc.nat(46), letter, (env, random, index, changed) => {
        const key = formatKey(env, random);
        fc.pre(key[index] !== changed);
        const mistyped = key.slice(0, index) + changed + key.slice(index + 1);
        expect(isWellFormedKey(env, mistyped)).toBe(false);
        expect(isWellFormedKey(other(env), mistyped)).toBe(false);
      }),
      { numRuns: 1_500 },
    );
  });

  it('refuses every other letter at every place of one key', () => {
    const key = formatKey('staging', 'aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF');
    for (let index = 0; index < key.length; index++) {
      for (const letter of BASE62) {
        if (letter === key[index]) continue;
        expect(isWellFormedKey('staging', key.slice(0, index) + letter + key.slice(index + 1))).toBe(false);
      }
    }
  });

  it('refuses two neighbours swapped, a character lost or doubled, and the wrong case', () => {
    fc.assert(
      fc.property(environment, secret, fc.nat(45), (env, random, index) => {
        const key = formatKey(env, random);
        const [before, here, next, after] = [
          key.slice(0, index),
          key[index] as string,
          key[index + 1] as string,
          key.slice(index + 2),
        ];
        if (here !== next) expect(isWellFormedKey(env, before + next + here + after)).toBe(false);
        expect(isWellFormedKey(env, before + here + after)).toBe(false);
        expect(isWellFormedKey(env, before + here + here + next + after)).toBe(false);
        if (key !== key.toUpperCase()) expect(isWellFormedKey(env, key.toUpperCase())).toBe(false);
      }),
    );
  });

  it('refuses any text that nobody issued', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ minLength: 38, maxLength: 38 }).map((rest) => `ptr_test_${rest}`),
      secret.map((letters) => `ptr_test_${letters}000000`),
      fc.constantFrom('', 'ptr_test_', 'ptr_live_', ' ', '\n'),
    );
    fc.assert(
      fc.property(environment, text, (env, guess) => {
        // A guess has the right checksum once in 62⁶; the generators above cannot be that lucky in practice.
        expect(isWellFormedKey(env, guess)).toBe(false);
      }),
    );
    const key = formatKey('staging', 'aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF');
    for (const around of [`${key}\n`, ` ${key}`, `${key} `, `${key}\0`, `${key}, ${key}`])
      expect(isWellFormedKey('staging', around)).toBe(false);
  });
});
