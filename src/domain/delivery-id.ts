import { toBase62 } from './ids.ts';

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
/** As in other IDs. */
const TIME_LENGTH = 9;
/** Fifteen digits are exact in a number and more than any queue will count to. */
const SHAPE = /^dlv_([0-9A-Za-z]+)_([1-9]\d{0,14})_[0-9A-Za-z]{9}$/;

/** Where to look for it. What is found there has this name, or is another delivery. */
export function parseDeliveryId(id: string): { webhookId: string; sequence: number } | undefined {
  const [, webhook, sequence] = SHAPE.exec(id) ?? [];
  return webhook === undefined
    ? undefined
    : { webhookId: WEBHOOK_PREFIX + webhook, sequence: Number(sequence) };
}
