import { describe, expect, it } from 'vitest';
import { pooledRandomBytes } from '../../src/platform/random.ts';

describe('random bytes from the pool', () => {
  it('are as many as asked for, also more than the pool holds', () => {
    const random = pooledRandomBytes();
    for (const count of [0, 1, 16, 8_192, 8_193, 100_000]) expect(random(count)).toHaveLength(count);
  });

  it('are handed out once', () => {
    const random = pooledRandomBytes();
    const seen = new Set(Array.from({ length: 20_000 }, () => Buffer.from(random(16)).toString('hex')));
    expect(seen.size).toBe(20_000);
    expect(seen).not.toContain('0'.repeat(32));
  });

  it('stay what they are when the pool is filled again', () => {
    const random = pooledRandomBytes();
    const kept = random(32);
    const before = Buffer.from(kept).toString('hex');
    for (let n = 0; n < 2_000; n++) random(32);
    expect(Buffer.from(kept).toString('hex')).toBe(before);
  });

  it('use every value', () => {
    expect(new Set(pooledRandomBytes()(8_192)).size).toBe(256);
  });
});
