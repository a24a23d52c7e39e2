import { Resolver } from 'node:dns/promises';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type DetailedPeerCertificate, type SecureContext } from 'node:tls';
import {
  authority,
  codeOf,
  connectFailure,
  type Failure,
  failed,
  lookupFailure,
  type Phase,
  tlsFailure,
} from './outcome.ts';
import { isPublicAddress, mayDial, type Targets } from './ssrf-guard.ts';

/** All addresses of a name. */
export type Lookup = (host: string) => Promise<readonly string[]>;

export interface Peer {
  /** A name, or a literal address without brackets. */
  host: string;
  port: number;
  secure: boolean;
}

export interface DialOptions {
  targets: Targets;
  lookup: Lookup;
  secureContext: SecureContext;
}

type Opened = (failure: Failure | undefined, socket: Socket | undefined, isLocal: boolean) => void;

/** One address that does not answer gets this long before the next one of the same name is tried. */
const NEXT_ADDRESS_AFTER_MS = 500;

/**
 * One connection being made: name → addresses → TCP → TLS. Only addresses that may be called are dialled, and before a
 * byte is sent the one that the socket really reached is looked at again, so that a name which changes its mind
 * between the question and the call gains nothing.
 */
export class Dialling {
  /** How far it has come, for whoever loses patience. */
  phase: Extract<Phase, 'dns' | 'connect' | 'tls'> = 'dns';
  detail: string;
  /** Whether what is dialled, or one of several that may be, is not a public address. */
  isLocal = false;
  readonly #peer: Peer;
  readonly #options: DialOptions;
  #opened: Opened | undefined;
  readonly #sockets: Socket[] = [];

  constructor(peer: Peer, options: DialOptions, opened: Opened) {
    this.#peer = peer;
    this.#options = options;
    this.#opened = opened;
    this.detail = peer.host;
    if (isIP(peer.host)) this.#connect([peer.host]);
    else
      options.lookup(peer.host).then(
        (addresses) => this.#connect(addresses),
        (error) => this.#fail(lookupFailure(error, peer.host)),
      );
  }

  cancel(): void {
    this.#opened = undefined;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Ends the connection that was made. The kernel discards the bytes that it has not sent yet: after `destroy` it would repeat them for minutes. */
  reset(): void {
    this.#sockets[0]?.resetAndDestroy();
  }

  #connect(addresses: readonly string[]): void {
    if (!this.#opened) return;
    const { host, port, secure } = this.#peer;
    const allowed = addresses.filter((address) => mayDial(address, this.#options.targets));
    if (allowed.length === 0) {
      if (addresses.length > 0) this.#refuse();
      else this.#fail(failed('dns', 'dns_not_found', host));
      return;
    }

    this.phase = 'connect';
    this.isLocal = !allowed.every(isPublicAddress);
    this.detail = allowed.map((address) => authority({ address, port })).join(', ');
    const socket = connectTcp({
      host,
      port,
      noDelay: true,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
      // With autoSelectFamily, Node asks for all of them.
      lookup: (_host, _options, answer) =>
        answer(
          null,
          allowed.map((address) => ({ address, family: isIP(address) })),
        ),
    });
    this.#sockets.push(socket);
    socket.on('error', (error) => this.#fail(connectFailure(error, this.detail)));
    socket.once('connect', () => {
      const { remoteAddress = '' } = socket;
      this.isLocal = !isPublicAddress(remoteAddress);
      if (!mayDial(remoteAddress, this.#options.targets)) this.#refuse();
      else if (secure) this.#secure(socket, remoteAddress);
      else this.#succeed(socket);
    });
  }

  #secure(plain: Socket, address: string): void {
    const { host, port } = this.#peer;
    this.phase = 'tls';
    this.detail = authority({ address, port });
    const socket = connectTls({
      socket: plain,
      host,
      ...(!isIP(host) && { servername: host }),
      secureContext: this.#options.secureContext,
      rejectUnauthorized: true,
      ALPNProtocols: ['http/1.1'],
    });
    this.#sockets.push(socket);
    let certificate: DetailedPeerCertificate | undefined;
    // Before Node judges the certificate: once it has refused one, the certificate is gone, and with it the date.
    socket.prependListener('secure', () => {
      certificate = socket.getPeerCertificate(true);
    });
    socket.on('error', (error) => this.#fail(tlsFailure(error, host, certificate)));
    socket.once('close', () => this.#fail(failed('tls', 'tls_failed', 'closed during the handshake')));
    socket.once('secureConnect', () => this.#succeed(socket));
  }

  /** What the name resolves to is told to nobody, the log included: it would be a map of the network that the service stands in. */
  #refuse(): void {
    const { host } = this.#peer;
    const what = isIP(host) ? `${host} is not` : `${host} does not resolve to`;
    this.isLocal = false;
    this.#fail(failed('address', 'address_refused', `${what} a public address.`));
  }

  #fail(failure: Failure): void {
    const opened = this.#opened;
    this.cancel();
    opened?.(failure, undefined, this.isLocal);
  }

  #succeed(socket: Socket): void {
    const opened = this.#opened;
    this.#opened = undefined;
    if (opened) opened(undefined, socket, this.isLocal);
    else socket.destroy();
  }
}

/**
 * Asks the name servers directly, without a thread: `dns.lookup` blocks one of the four that a process has, so that
 * four names whose servers are silent would hold up every other lookup, and every file.
 */
export function createLookup(): Lookup {
  const resolver = new Resolver({ timeout: 2_000, tries: 3 });
  return async (host) => {
    // By RFC 6761 never asked for: it is this machine.
    if (/(?:^|\.)localhost$/.test(host)) return ['127.0.0.1', '::1'];
    const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const addresses = [four, six].flatMap((found) => (found.status === 'fulfilled' ? found.value : []));
    if (addresses.length > 0) return addresses;
    const failures = [four, six].flatMap((found) => (found.status === 'rejected' ? [found.reason] : []));
    // That one kind of address does not exist says less than that the servers were out of reach for the other.
    throw failures.find((error) => codeOf(error) !== 'ENODATA') ?? failures[0];
  };
}
