import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createSealer } from '../../src/platform/sealing.ts';
import { sealedForNobody } from '../support/sealed-for-nobody.ts';

const key = (letter: string) => Buffer.alloc(32, letter);
const sealer = createSealer({ current: key('a'), previous: [key('b')] });

describe('sealing', () => {
  it('opens what it sealed, and what a previous key sealed', () => {
    for (const plain of [randomBytes(32), Buffer.alloc(0), randomBytes(1_000)]) {
      expect(sealer.open(sealer.seal(plain, 'a'), 'a')).toEqual(plain);
      const old = createSealer({ current: key('b'), previous: [] });
      expect(sealer.open(old.seal(plain, 'a'), 'a')).toEqual(plain);
    }
  });

  it('opens into memory that holds nothing else, for those who remember many secrets', () => {
    const plain = randomBytes(32);
    expect(sealer.open(sealer.seal(plain, 'a'), 'a').buffer.byteLength).toBe(plain.length);
  });

  it('names the key by the beginning of its hash', () => {
    const id = (of: Buffer) => createHash('sha256').update(of).digest('hex').slice(0, 8);
    expect(sealer.keyId).toBe(id(key('a')));
    expect(sealer.keyIds).toEqual([id(key('a')), id(key('b'))]);
    expect(sealer.seal(Buffer.from('x'), 'a').keyId).toBe(id(key('a')));
  });

  it('seals the same text differently each time, and shows nothing of it', () => {
    const plain = Buffer.from('a secret that is easy to find');
    const sealed = Array.from({ length: 100 }, () => sealer.seal(plain, 'a').sealed);
    expect(new Set(sealed.map((one) => one.toString('hex'))).size).toBe(100);
    expect(new Set(sealed.map((one) => one.subarray(0, 12).toString('hex'))).size).toBe(100);
    for (const one of sealed) expect(one.includes('secret')).toBe(false);
  });

  it('refuses what was altered, in any bit', () => {
    const { sealed, keyId } = sealer.seal(Buffer.from('secret'), 'a');
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const altered = Buffer.from(sealed);
      altered[bit >> 3] = (altered[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(() => sealer.open({ sealed: altered, keyId }, 'a')).toThrow(/altered/);
    }
    for (const length of [0, 11, 12, 27, 28, sealed.length - 1])
      expect(() => sealer.open({ sealed: sealed.subarray(0, length), keyId }, 'a')).toThrow();
  });

  it('refuses a tag that was cut short, also where nothing stands behind it', () => {
    const { sealed, keyId } = sealer.seal(Buffer.alloc(0), 'a');
    for (let length = 12; length < sealed.length; length++)
      expect(() => sealer.open({ sealed: sealed.subarray(0, length), keyId }, 'a')).toThrow();
  });

  it('refuses a secret under the name of another key', () => {
    const { sealed } = sealer.seal(Buffer.from('secret'), 'a');
    expect(() => sealer.open({ sealed, keyId: sealer.keyIds[1] ?? '' }, 'a')).toThrow(/altered/);
  });

  it('names a key that it does not have', () => {
    const { sealed } = sealer.seal(Buffer.from('secret'), 'a');
    expect(() => sealer.open({ sealed, keyId: '0badf00d' }, 'a')).toThrow(
      'The master key 0badf00d is not configured.',
    );
  });

  it('refuses a secret in the place of another owner, also where old ones are let in', () => {
    const sealed = sealer.seal(Buffer.from('secret'), 'a');
    for (const owner of ['b', '', 'a ', `${sealer.keyId} a`]) {
      expect(() => sealer.open(sealed, owner)).toThrow(/belongs to something else/);
      expect(() => sealer.openForResealing(sealed, owner)).toThrow(/belongs to something else/);
    }
  });

  it('opens what was sealed for nobody in particular only to seal it anew', () => {
    const old = sealedForNobody(key('b'), Buffer.from('secret'));
    expect(() => sealer.open(old, 'a')).toThrow(/belongs to something else/);
    expect(sealer.openForResealing(old, 'a')).toEqual(Buffer.from('secret'));
  });

  it('finds a text again by its hash under each key, also after the key was changed, and by none of another', () => {
    const before = createSealer({ current: key('b'), previous: [] });
    expect(sealer.hashesOf('x')).toEqual(sealer.hashesOf('x'));
    expect(sealer.hashesOf('x')[1]).toEqual(before.hashesOf('x')[0]);
    const all = [...sealer.hashesOf('x'), ...sealer.hashesOf('y')].map((one) => one.toString('hex'));
    expect(new Set(all).size).toBe(4);
  });
});
