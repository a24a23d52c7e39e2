import { type AddressInfo, isIPv6 } from 'node:net';
import type { DetailedPeerCertificate } from 'node:tls';
import { errors } from 'undici';

/** What is to be posted. The headers go out as they are given. */
export interface PostRequest {
  url: string;
  /** POST unless said otherwise. */
  method?: 'PUT' | 'POST';
  headers: Record<string, string>;
  body: string;
  /** The trace that it is a part of, if anybody traces. */
  traceparent?: string | undefined;
  /**
   * Called when the connection is established, before the first byte. If it returns true, no byte is sent and the outcome has the code `stale`;
   * the connection stays open for the next request.
   */
  isStale?: () => boolean;
}

/** The steps of a call, in their order; `address`: it was not made, because the address is not one to call. */
export type Phase = 'address' | 'dns' | 'connect' | 'tls' | 'send' | 'answer';

export interface Failure {
  phase: Phase;
  /** A word for machines, such as `tls_certificate_expired`. */
  code: string;
  /** What a person needs besides the code: which address, which date. */
  detail: string;
}

/** How a call went. Every status is an outcome like any other here; whether it is a success is for others to say. */
export interface PostOutcome {
  status: number | undefined;
  /** The header `Retry-After`, as it was sent. */
  retryAfter: string | undefined;
  /** The beginning of the body, as text that can be stored and shown. */
  answer: string;
  durationMs: number;
  failure: Failure | undefined;
  /** Somebody was dialled, or tried to be, at an address that is not public: with `public` targets it would have been refused. */
  isLocal: boolean;
  /** It went out once before, over a connection that broke: whatever became of this try, that one may have arrived. */
  wasRepeated?: true;
}

/** Whether the host was there to be spoken to, whatever came of it. */
export function wasReached({ failure }: PostOutcome): boolean {
  return failure === undefined || failure.phase === 'send' || failure.phase === 'answer';
}

/** An error on the way out that already knows what it means. */
export class CallFailed extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.code);
    this.failure = failure;
  }
}

export function failed(phase: Phase, code: string, detail: string): Failure {
  return { phase, code, detail };
}

/** Errors of Node and of undici have a code; which ones, neither of them promises. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const NAME_UNKNOWN = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME', 'ENOENT']);

export function lookupFailure(error: unknown, host: string): Failure {
  const code = codeOf(error);
  if (NAME_UNKNOWN.has(code)) return failed('dns', 'dns_not_found', host);
  if (code === 'ETIMEOUT') return failed('dns', 'dns_timeout', host);
  return failed('dns', 'dns_failed', `${host}: ${code || messageOf(error)}`);
}

const CONNECT_CODES: Record<string, string> = {
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_reset',
  ETIMEDOUT: 'connect_timeout',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
};

/** `where`: the addresses that were tried. */
export function connectFailure(error: unknown, where: string): Failure {
  const code = codeOf(error);
  const known = CONNECT_CODES[code];
  return known
    ? failed('connect', known, where)
    : failed('connect', 'connect_failed', `${where}: ${code || messageOf(error)}`);
}

const TLS_CODES: Record<string, string> = {
  CERT_NOT_YET_VALID: 'tls_certificate_not_yet_valid',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls_self_signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls_self_signed',
  UNABLE_TO_GET_ISSUER_CERT: 'tls_untrusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'tls_untrusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'tls_untrusted',
  CERT_UNTRUSTED: 'tls_untrusted',
  CERT_REJECTED: 'tls_untrusted',
  CERT_CHAIN_TOO_LONG: 'tls_untrusted',
  INVALID_CA: 'tls_untrusted',
  INVALID_PURPOSE: 'tls_untrusted',
};

/** `certificate`: the receiver's, unless it showed none. */
export function tlsFailure(
  error: unknown,
  host: string,
  certificate: DetailedPeerCertificate | undefined,
): Failure {
  const code = codeOf(error);
  if (code === 'CERT_HAS_EXPIRED') return failed('tls', 'tls_certificate_expired', expiredOn(certificate));
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return failed('tls', 'tls_hostname_mismatch', `${host}, but it is for ${namesOn(certificate)}`);
  const known = TLS_CODES[code];
  // After the semicolon Node advises whoever runs it.
  if (known) return failed('tls', known, messageOf(error).replace(/;.*/s, ''));
  // The message of OpenSSL is a line of its innards; the reason is in it.
  const reason = error instanceof Error && 'reason' in error ? String(error.reason) : messageOf(error);
  return failed('tls', 'tls_failed', reason);
}

/** The day, as in 2026-05-01, of the first certificate of the chain that has expired: most often the receiver's own. */
function expiredOn(certificate: DetailedPeerCertificate | undefined): string {
  const now = Date.now();
  for (let one = certificate; one?.valid_to; one = one.issuerCertificate) {
    const validTo = Date.parse(one.valid_to);
    if (validTo < now) return new Date(validTo).toISOString().slice(0, 10);
    // A root is its own issuer.
    if (one.issuerCertificate === one) break;
  }
  return '';
}

function namesOn(certificate: DetailedPeerCertificate | undefined): string {
  const names = certificate?.subjectaltname ?? '';
  return names.replaceAll(/(?:DNS|IP Address):/g, '').slice(0, 200) || 'no name at all';
}

const BROKEN = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT']);

/** Whether the connection was gone, rather than the answer wrong. */
export function isConnectionLost(error: unknown): boolean {
  return BROKEN.has(codeOf(error)) || (error instanceof errors.SocketError && !isNonsense(error));
}

/** Not HTTP, or an answer that nobody asked for: a switch of protocols, one 100 Continue too many. */
function isNonsense(error: unknown): boolean {
  return (
    error instanceof errors.HTTPParserError ||
    error instanceof errors.HeadersOverflowError ||
    (error instanceof errors.SocketError && /^bad (?:response|upgrade)$/.test(error.message))
  );
}

interface Progress {
  /** Bytes of the request are still waiting to go out. */
  isSending: boolean;
  status: number | undefined;
}

export function exchangeFailure(error: unknown, { isSending, status }: Progress): Failure {
  const phase = isSending ? 'send' : 'answer';
  if (BROKEN.has(codeOf(error))) return failed(phase, 'connection_reset', codeOf(error));
  if (isNonsense(error)) return failed('answer', 'invalid_http', messageOf(error));
  // undici says so of a body that is too short, but also of every other mistake once a length was given.
  if (error instanceof errors.ResponseContentLengthMismatchError && status === undefined)
    return failed('answer', 'invalid_http', 'headers that contradict each other');
  if (error instanceof errors.SocketError || error instanceof errors.ResponseContentLengthMismatchError)
    return failed(phase, 'closed_early', messageOf(error));
  return failed(phase, 'failed', messageOf(error));
}

export function authority({ address, port }: Pick<AddressInfo, 'address' | 'port'>): string {
  return isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`;
}
