/** Randomness is an argument, like time. */
export type RandomBytes = (count: number) => Uint8Array;

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Bytes from here on would make the first letters more likely than the others. */
const FAIR_BELOW = 256 - (256 % 62);

export function randomBase62(random: RandomBytes, length: number): string {
  let out = '';
  while (out.length < length) {
    for (const byte of random(length)) {
      if (byte < FAIR_BELOW && out.length < length) out += BASE62[byte % 62];
    }
  }
  return out;
}

export function toBase62(value: number, length: number): string {
  let out = '';
  for (let rest = value; out.length < length; rest = Math.floor(rest / 62)) out = BASE62[rest % 62] + out;
  return out;
}

/**
 * An ID such as `key_0C5N8Z…`: a prefix that says what it is, nine characters of time, so that IDs made later sort
 * later, and 16 random ones (95 bits), so that nobody guesses one.
 */
export function newId(prefix: string, now: number, random: RandomBytes): string {
  return `${prefix}_${toBase62(now, 9)}${randomBase62(random, 16)}`;
}
