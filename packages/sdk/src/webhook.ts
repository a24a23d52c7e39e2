import { join } from './body.ts';
import { readEvent } from './event.ts';
import type { EventPayload } from './generated/types.ts';

/** What a receiver is sent, after the Standard Webhooks specification: HMAC-SHA-256 (`v1`) or Ed25519 (`v1a`) over `id.timestamp.body`. */

export type WebhookHeaders =
  | { get(name: string): string | null }
  | { readonly [name: string]: string | readonly string[] | undefined };

/** A delivery as it arrived: a fetch `Request`, or its headers and the bytes of its body before anybody parsed them. */
export type WebhookRequest =
  | { headers: { get(name: string): string | null }; arrayBuffer(): Promise<ArrayBuffer> }
  | { headers: WebhookHeaders; body: string | ArrayBufferView | ArrayBuffer };

export interface VerifiedWebhook {
  /** The same in every attempt and every replay: what you have handled under this name need not be handled again. */
  webhookId: string;
  /**
   * Counts the deliveries of one webhook without a gap. It is part of `webhookId`, which is signed. (What `porter listen` forwards has the ID
   * of its event instead, and only the header tells the sequence.)
   */
  sequence: number | undefined;
  /** When this attempt was made. */
  timestamp: Date;
  /** What happened: switch on `data.event`. */
  data: EventPayload;
}

export type WebhookFailure =
  | 'missing_header'
  | 'invalid_header'
  | 'timestamp_too_old'
  | 'timestamp_too_new'
  | 'no_matching_signature'
  | 'invalid_body';

/** Do not act on what was posted. Answer 400 or 401; `message` may be shown to the sender. */
export class WebhookVerificationError extends Error {
  override name = 'WebhookVerificationError';
  readonly reason: WebhookFailure;

  constructor(reason: WebhookFailure, message: string) {
    super(message);
    this.reason = reason;
  }
}

const TOLERANCE_SECONDS = 5 * 60;

/**
 * Verifies that Porter sent it in the last five minutes: with the secret of the webhook (`whsec_…`), or with a public key of the service
 * (`whpk_…`, from `/.well-known/webhook-keys`). While one is being replaced, give both: one that fits is enough.
 */
export async function verifyWebhook(
  request: WebhookRequest,
  secret: string | readonly string[],
  { now = Date.now }: { now?: (() => number) | undefined } = {},
): Promise<VerifiedWebhook> {
  const keys = secretBytes(secret);
  const id = header(request.headers, 'webhook-id');
  const seconds = header(request.headers, 'webhook-timestamp');
  const signatures = header(request.headers, 'webhook-signature');
  checkAge(seconds, now());

  const body = bytesOf('arrayBuffer' in request ? await request.arrayBuffer() : request.body);
  await checkSignature(keys, `${id}.${seconds}.`, body, signatures);
  return {
    webhookId: id,
    sequence: provenSequence(id, find(request.headers, 'webhook-sequence')),
    timestamp: new Date(Number(seconds) * 1000),
    data: parse(body),
  };
}

/** Throws at once if a secret cannot be one, so that a receiver does not start with it. */
export function secretBytes(secret: string | readonly string[]): VerificationKey[] {
  const secrets = [secret].flat();
  if (secrets.length === 0) throw new TypeError('A webhook is verified with at least one secret.');
  return secrets.map((one) => {
    const [, kind, base64] = /^(whsec|whpk)_([A-Za-z0-9+/]{43}=)$/.exec(one) ?? [];
    if (base64 === undefined)
      throw new TypeError(
        'The secret of a webhook begins with whsec_, a public key with whpk_, and 44 characters follow: copy it whole, as it was shown.',
      );
    return { isPublic: kind === 'whpk', bytes: bytesOfBase64(base64) };
  });
}

interface VerificationKey {
  isPublic: boolean;
  bytes: ArrayBuffer;
}

const bytesOfBase64 = (base64: string): ArrayBuffer =>
  Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)).buffer;

function find(headers: WebhookHeaders, name: string): string | undefined {
  if (typeof headers.get === 'function') return headers.get(name) ?? undefined;
  const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? [];
  return Array.isArray(value) ? value.join(' ') : value;
}

function header(headers: WebhookHeaders, name: string): string {
  const value = find(headers, name);
  if (!value) throw new WebhookVerificationError('missing_header', `The header ${name} is missing.`);
  return value;
}

function checkAge(seconds: string, now: number): void {
  if (!/^\d{1,12}$/.test(seconds))
    throw new WebhookVerificationError('invalid_header', 'webhook-timestamp is not a number of seconds.');
  const age = Math.floor(now / 1000) - Number(seconds);
  if (age > TOLERANCE_SECONDS)
    throw new WebhookVerificationError('timestamp_too_old', `It was sent ${age} seconds ago.`);
  if (age < -TOLERANCE_SECONDS)
    throw new WebhookVerificationError(
      'timestamp_too_new',
      `It was sent ${-age} seconds from now. Check this clock.`,
    );
}

async function checkSignature(
  keys: VerificationKey[],
  head: string,
  body: Uint8Array,
  signatures: string,
): Promise<void> {
  const signed = join([new TextEncoder().encode(head), body]);
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  for (const { isPublic, bytes } of keys) {
    if (isPublic) {
      if (await isSignedBy(bytes, signed, signatures)) return;
      continue;
    }
    const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign']);
    const mac = new Uint8Array(await crypto.subtle.sign('HMAC', key, signed));
    const expected = `v1,${btoa(String.fromCharCode(...mac))}`;
    // Headers that came twice are joined with a comma.
    if (signatures.split(/,? +/).some((signature) => isEqual(signature, expected))) return;
  }
  throw new WebhookVerificationError(
    'no_matching_signature',
    'No signature fits. Check the secret, and that the body is verified as it arrived, before it is parsed.',
  );
}

async function isSignedBy(publicKey: ArrayBuffer, signed: ArrayBuffer, signatures: string): Promise<boolean> {
  const algorithm = { name: 'Ed25519' };
  const key = await crypto.subtle.importKey('raw', publicKey, algorithm, false, ['verify']);
  for (const [, base64 = ''] of signatures.matchAll(/(?:^|[ ,])v1a,([A-Za-z0-9+/]{86}==)(?=[ ,]|$)/g))
    if (await crypto.subtle.verify(algorithm, key, bytesOfBase64(base64), signed)) return true;
  return false;
}

/** `dlv_<webhook>_<sequence>_<time>`: the header only repeats what is signed, and whoever changed it on the way is found out. */
function provenSequence(id: string, told: string | undefined): number | undefined {
  const [, signed] = /^dlv_[0-9A-Za-z]+_([1-9]\d{0,14})_[0-9A-Za-z]+$/.exec(id) ?? [];
  if (signed !== undefined && told !== undefined && told !== signed)
    throw new WebhookVerificationError('invalid_header', 'webhook-sequence is not the one in webhook-id.');
  const sequence = Number(signed ?? told);
  return Number.isSafeInteger(sequence) && sequence > 0 ? sequence : undefined;
}

/** Takes as long for any two texts of one length, so that nobody can guess their way, a character at a time. */
function isEqual(given: string, expected: string): boolean {
  let difference = given.length ^ expected.length;
  for (let at = 0; at < expected.length; at++) difference |= given.charCodeAt(at) ^ expected.charCodeAt(at);
  return difference === 0;
}

function bytesOf(body: string | ArrayBufferView | ArrayBuffer): Uint8Array {
  if (typeof body === 'string') return new TextEncoder().encode(body);
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  // Not instanceof: a test runner or a sandbox may have an ArrayBuffer of its own.
  if (Object.prototype.toString.call(body) === '[object ArrayBuffer]') return new Uint8Array(body);
  throw new TypeError(
    'The body of a webhook is verified as it arrived: give its text or its bytes, not what a parser made of it. ' +
      'In Express, use express.raw() for this route, or the webhookHandler of @porter/sdk/express.',
  );
}

function parse(body: Uint8Array): EventPayload {
  try {
    const event = readEvent(JSON.parse(new TextDecoder().decode(body)));
    if (event) return event;
  } catch {}
  throw new WebhookVerificationError('invalid_body', 'The body is signed, but it is no event.');
}
