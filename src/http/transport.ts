import type { IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Environment } from '../contract/access.ts';
import { type AddressList, contains, listOf } from '../domain/access/address-list.ts';

/** How a call came in: whether it may be answered at all, and from whose address. */
export interface Transport {
  /** It came over HTTPS, to us or to a proxy that we trust. */
  secure: boolean;
  /** The caller's address, as far as the chain of trusted proxies can be believed. */
  address: string;
  /** The caller is on this machine, and no proxy stands in between. */
  loopback: boolean;
}

const loopbackAddresses = listOf(['127.0.0.0/8', '::1']);

/** IPv4 through an IPv6 socket arrives as ::ffff:192.0.2.1. */
export const plainAddress = (address: string) => (address.startsWith('::ffff:') ? address.slice(7) : address);

export function readTransport(request: IncomingMessage, trusted: AddressList): Transport {
  const socket = request.socket as Socket | TLSSocket;
  const peer = plainAddress(socket.remoteAddress ?? '');
  const encrypted = 'encrypted' in socket && socket.encrypted === true;
  const loopback = isLoopback(peer) && !Object.keys(request.headers).some(isOfProxies);
  const forwardedFor = request.headers['x-forwarded-for'];
  const forwardedProto = request.headers['x-forwarded-proto'];

  const isForwarded = forwardedFor !== undefined || forwardedProto !== undefined;
  if (!isForwarded || !contains(trusted, peer)) return { secure: encrypted, address: peer, loopback };
  return {
    // The proxy nearest to us wrote the last entry; what stands before it came from outside.
    secure: forwardedProto === undefined ? encrypted : lastEntry(forwardedProto) === 'https',
    address: forwardedFor === undefined ? peer : firstUntrusted(forwardedFor, trusted, peer),
    loopback,
  };
}

/**
 * Headers that proxies, balancers and content delivery networks add: Forwarded, X-Forwarded-*, X-Real-IP, True-Client-IP and their like.
 * A request that carries one did not start on this machine, whether or not its value is believed.
 */
const OF_PROXIES =
  /^(?:x-)?(?:original-)?forwarded(?:-.+)?$|-ip(?:v6)?$|^(?:via|cdn-loop|x-azure-clientip|x-envoy-external-address)$/;

const isOfProxies = (name: string) => OF_PROXIES.test(name);

/**
 * Whether the Host header has a name of the public DNS or another IP address. A proxy may add no header of its own and still forward the
 * host name that it was called by. Another site may let its name point to this machine (DNS rebinding).
 */
export function namesAnotherHost(host = ''): boolean {
  const name = URL.parse(`http://${host}`)?.hostname.replace(/^\[|\]$/g, '') ?? '';
  return /[.:]/.test(name) && !name.endsWith('.localhost') && !isLoopback(name);
}

export function isLoopback(address: string): boolean {
  return (
    address === '127.0.0.1' ||
    address === '::1' ||
    (isIP(address) > 0 && contains(loopbackAddresses, address))
  );
}

function lastEntry(header: string | string[]): string | undefined {
  return header.toString().split(',').at(-1)?.trim().toLowerCase();
}

/** From the nearest hop outwards, the first address that is not a trusted proxy. */
function firstUntrusted(header: string | string[], trusted: AddressList, peer: string): string {
  let nearest = peer;
  for (const entry of header.toString().split(',').reverse()) {
    const address = plainAddress(entry.trim());
    if (isIP(address) === 0) return nearest;
    nearest = address;
    if (!contains(trusted, address)) return address;
  }
  return nearest;
}

/** Plain HTTP is for a developer's own machine: a staging deployment, called from the loopback. */
export function isAllowed(transport: Transport, environment: Environment): boolean {
  return transport.secure || (environment === 'staging' && transport.loopback);
}

/** One subscriber usually holds a whole IPv6 /64, so that is what counts as one address. */
export function addressKey(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = '', tail] = address.split('::');
  const groups = head.split(':').filter(Boolean);
  const rest = tail === undefined ? [] : tail.split(':').filter(Boolean);
  while (tail !== undefined && groups.length + rest.length < 8) groups.push('0');
  return [...groups, ...rest].slice(0, 4).join(':');
}
