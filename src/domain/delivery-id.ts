/**
 * A delivery is named by its webhook and its place in that webhook's queue: `dlv_0C5N8Z…_42`. The same name goes out as
 * `webhook-id` with every attempt and every replay, so a receiver can tell a repetition from news.
 */
export function deliveryId(webhookId: string, sequence: number): string {
  return `dlv_${webhookId.slice(WEBHOOK_PREFIX.length)}_${sequence}`;
}

const WEBHOOK_PREFIX = 'wh_';
/** Fifteen digits are exact in a number and more than any queue will count to. */
const SHAPE = /^dlv_([0-9A-Za-z]+)_([1-9]\d{0,14})$/;

export function parseDeliveryId(id: string): { webhookId: string; sequence: number } | undefined {
  const [, webhook, sequence] = SHAPE.exec(id) ?? [];
  return webhook === undefined
    ? undefined
    : { webhookId: WEBHOOK_PREFIX + webhook, sequence: Number(sequence) };
}
