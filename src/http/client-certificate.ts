import { createHash, X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { type AddressList, contains } from '../domain/access/address-list.ts';
import { plainAddress } from './transport.ts';

/**
 * How the service learns which client certificate a call came with: from its own TLS, or from a header that a trusted proxy writes after it
 * has seen the certificate itself.
 *
 *   x-client-cert-sha256      the fingerprint in hex (HAProxy: `%[ssl_c_der,sha2(256),hex]`)
 *   x-forwarded-client-cert   Envoy's: the `Hash` of the last element, which the nearest proxy wrote
 *   x-client-cert             the certificate as PEM, percent-encoded (nginx: `$ssl_client_escaped_cert`)
 */
export const certificateSources = [
  'off',
  'tls',
  'x-client-cert-sha256',
  'x-forwarded-client-cert',
  'x-client-cert',
] as const;

export type CertificateSource = (typeof certificateSources)[number];

/** The SHA-256 of the certificate that the caller has shown, in lower-case hex; undefined if it has shown none that is valid at `now`. */
export type FingerprintOf = (request: IncomingMessage, now: number) => string | undefined;

export function fingerprints(source: CertificateSource, trusted: AddressList): FingerprintOf {
  if (source === 'off') return () => undefined;
  if (source === 'tls') return fromTls;
  return (request, now) => {
    if (!contains(trusted, plainAddress(request.socket.remoteAddress ?? ''))) return undefined;
    // Node joins what was sent several times with a comma. Envoy's may have one, and its last element counts; the other two have none.
    const header = request.headers[source];
    return typeof header === 'string' ? readers[source](header, now) : undefined;
  };
}

/** The handshake has shown that the caller has the private key. Who signed the certificate says nothing: its fingerprint was registered. */
function fromTls({ socket }: IncomingMessage, now: number): string | undefined {
  const certificate = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined;
  return certificate && fingerprintOf(certificate, now);
}

function fingerprintOf(
  { raw, validFromDate, validToDate }: X509Certificate,
  now: number,
): string | undefined {
  if (now < validFromDate.getTime() || now > validToDate.getTime()) return undefined;
  return createHash('sha256').update(raw).digest('hex');
}

const SHA256 = /^[0-9a-f]{64}$/i;
/** One certificate and nothing else: of several the parser reads the first, which the caller may have put before the proxy's. */
const ONE_PEM = /^-----BEGIN CERTIFICATE-----\s[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----\s*$/;

const readers = {
  'x-client-cert-sha256': (header) => (SHA256.test(header) ? header.toLowerCase() : undefined),
  'x-forwarded-client-cert': (header) => {
    // Values that hold a comma or a semicolon stand in quotation marks, and a quotation mark in them behind a backslash.
    const parts: string[] = header.match(/(?:"(?:[^"\\]|\\.)*"|[^",;\\])+|[,;]/g) ?? [];
    // What is left over was not written by a proxy: with a quotation mark that it never closes, a caller would make the proxy's part a value of its own.
    if (parts.join('') !== header) return undefined;
    const end = parts.lastIndexOf(',') + 1;
    // Envoy writes names as a certificate has them, without quotation marks: a comma in one would begin an element of the caller's own.
    if (parts.slice(0, end).some((part) => /^\s*(uri|dns)=/i.test(part))) return undefined;
    const last = parts.slice(end);
    const [hash, ...others] = last.flatMap(
      (part) => /^\s*hash="?([0-9a-f]{64})"?\s*$/i.exec(part)?.[1] ?? [],
    );
    return others.length === 0 ? hash?.toLowerCase() : undefined;
  },
  'x-client-cert': (header, now) => {
    try {
      const pem = decodeURIComponent(header);
      return ONE_PEM.test(pem) ? fingerprintOf(new X509Certificate(pem), now) : undefined;
    } catch {
      return undefined;
    }
  },
} satisfies Record<
  Exclude<CertificateSource, 'off' | 'tls'>,
  (header: string, now: number) => string | undefined
>;
