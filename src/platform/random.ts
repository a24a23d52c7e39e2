import { randomFillSync } from 'node:crypto';

const POOL_BYTES = 8_192;

/** Random bytes drawn from the system many at a time: asked for the sixteen of an ID alone, it takes 3 µs each time. */
export function pooledRandomBytes(): (count: number) => Uint8Array {
  const pool = new Uint8Array(POOL_BYTES);
  let used = POOL_BYTES;
  return (count) => {
    if (count > POOL_BYTES) return randomFillSync(new Uint8Array(count));
    if (used + count > POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    const bytes = pool.slice(used, used + count);
    // What became a secret does not stay behind here.
    pool.fill(0, used, used + count);
    used += count;
    return bytes;
  };
}
