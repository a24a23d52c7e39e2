import {
  secretBytes,
  type VerifiedWebhook,
  verifyWebhook,
  type WebhookHeaders,
  WebhookVerificationError,
} from './webhook.ts';

/** What every receiver does, whatever server it is part of. */

export interface WebhookHandlerOptions {
  /** `whsec_…`; several while a secret is being replaced. */
  secret: string | readonly string[];
  /** What you do with an event. If it throws, the delivery is answered with 500 and comes again. */
  onEvent(webhook: VerifiedWebhook): unknown;
  /** Is called with what `onEvent` threw, and with a `WebhookVerificationError` and its `reason`; `console.error` unless given. */
  onError?: ((error: unknown) => void) | undefined;
  /** Milliseconds since 1970, for tests. */
  now?: (() => number) | undefined;
}

/** The body is what Porter shows in the log of its deliveries. */
interface ReceiverAnswer {
  status: 204 | 400 | 401 | 413 | 500;
  body: string;
}

export type Receive = (
  headers: WebhookHeaders,
  body: string | ArrayBufferView | AsyncIterable<Uint8Array>,
) => Promise<ReceiverAnswer>;

/** Far more than any event has: whoever sends more is somebody else. */
const BODY_BYTES_MAX = 1_048_576;
const BODY_BYTES_USUAL = 4_096;

export function receiver(options: WebhookHandlerOptions): Receive {
  const { secret, now } = options;
  secretBytes(secret);
  const report = (error: unknown) => {
    if (options.onError) options.onError(error);
    else console.error(error);
  };
  return async (headers, given) => {
    let webhook: VerifiedWebhook;
    try {
      const body = typeof given === 'string' || ArrayBuffer.isView(given) ? given : await collect(given);
      if (body === undefined)
        return { status: 413, body: `The body is larger than ${BODY_BYTES_MAX} bytes.` };
      webhook = await verifyWebhook({ headers, body }, secret, { now });
    } catch (error) {
      if (!(error instanceof WebhookVerificationError)) throw error;
      report(error);
      return refusal(error);
    }
    try {
      await options.onEvent(webhook);
      return { status: 204, body: '' };
    } catch (error) {
      report(error);
      return { status: 500, body: 'The receiver failed. Its log says why.' };
    }
  };
}

function refusal({ reason, message }: WebhookVerificationError): ReceiverAnswer {
  const isForged = reason === 'no_matching_signature' || reason.startsWith('timestamp');
  return { status: isForged ? 401 : 400, body: `${reason}: ${message}` };
}

/** Puts them together as they come: kept one by one, pieces of one byte would take hundreds of times their size. */
async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array | undefined> {
  let body = new Uint8Array(BODY_BYTES_USUAL);
  let length = 0;
  for await (const chunk of chunks) {
    const end = length + chunk.length;
    if (end > BODY_BYTES_MAX) return undefined;
    if (end > body.length) {
      const larger = new Uint8Array(2 * end);
      larger.set(body);
      body = larger;
    }
    body.set(chunk, length);
    length = end;
  }
  return body.subarray(0, length);
}
