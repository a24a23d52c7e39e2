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

/** Enough for milliseconds until far beyond the year 9999. */
const TIME_LENGTH = 9;

/**
 * An ID such as `key_0C5N8Z…`: a prefix that says what it is, nine characters of time, so that IDs made later sort
 * later, and 16 random ones (95 bits), so that nobody guesses one.
 */
export function newId(prefix: string, now: number, random: RandomBytes): string {
  return `${prefix}_${toBase62(now, TIME_LENGTH)}${randomBase62(random, 16)}`;
}

/**
 * A delivery is named by its webhook, its place in that webhook's queue, and when its event was accepted:
 * `dlv_0C5N8Z…_42_00Vb7tC4e`. The same name goes out as `webhook-id` with every attempt and every replay, so a receiver can
 * tell a repetition from news. The place alone would not do: a database that was restored, or a standby that had not heard of
 * the last ones, gives it to another event, and receivers would take that one for what they have.
 */
export function deliveryId(webhookId: string, sequence: number, acceptedMs: number): string {
  return `dlv_${webhookId.slice(WEBHOOK_PREFIX.length)}_${sequence}_${toBase62(acceptedMs, TIME_LENGTH)}`;
}

const WEBHOOK_PREFIX = 'wh_';
/** Fifteen digits are exact in a number and more than any queue will count to. */
const SHAPE = /^dlv_([0-9A-Za-z]+)_([1-9]\d{0,14})_[0-9A-Za-z]{9}$/;

/** Where to look for it. What is found there has this name, or is another delivery. */
export function parseDeliveryId(id: string): { webhookId: string; sequence: number } | undefined {
  const [, webhook, sequence] = SHAPE.exec(id) ?? [];
  return webhook === undefined
    ? undefined
    : { webhookId: WEBHOOK_PREFIX + webhook, sequence: Number(sequence) };
}
