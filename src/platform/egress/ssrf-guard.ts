import { BlockList, isIP, isIPv4 } from 'node:net';

/**
 * The SSRF guard (server-side request forgery): which addresses may be called. Partners name the addresses, and the service
 * stands inside a network that they must not reach through it. A URL is judged when it is registered; the address that its
 * name resolves to is judged again on every connection (dial.ts), since names change.
 */

/** `public`: https to public addresses. `loopback`: this machine as well, by http too; for staging. */
export type Reach = 'public' | 'loopback';

/**
 * The same for everybody, or, for addresses that the operator itself names, also networks of its own: there by https, and under names that only
 * those networks know.
 */
export type Targets = Reach | { reach: Reach; networks: BlockList };

const reachOf = (targets: Targets): Reach => (typeof targets === 'string' ? targets : targets.reach);

const URL_LENGTH_MAX = 2048;

/** Not public by the IANA's registry of special-purpose addresses, and what clouds keep for themselves. */
const notPublic4 = subnets('ipv4', [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // shared by the customers of a carrier
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // Azure's own services inside each virtual machine
  '169.254.0.0/16', // link-local, with the metadata of most clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments, with the metadata of Oracle's cloud
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // relays of 6to4
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarking
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
]);

/** The only part of IPv6 that is given out. What wraps an IPv4 address lies outside, or below. */
const global6 = subnets('ipv6', ['2000::/3']);
const notPublic6 = subnets('ipv6', [
  '2001::/23', // protocol assignments: Teredo, benchmarking, ORCHID
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4: an IPv4 address in disguise
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation
]);

const loopback4 = subnets('ipv4', ['127.0.0.0/8']);
const loopback6 = subnets('ipv6', ['::1/128']);

/** Names that stand for this machine or for a network without names of its own in the public DNS. */
const PRIVATE_NAME =
  /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|private|corp|home|lan|home\.arpa|onion)$/;

/** Why this URL may not be called, in words for the partner; undefined: it may. */
export function refuseTarget(text: string, targets: Targets): string | undefined {
  if (text.length > URL_LENGTH_MAX) return `The address is longer than ${URL_LENGTH_MAX} characters.`;
  // The parser drops line breaks, trims spaces and takes \ for /: what it understood would not be what was written.
  if (/[\s\p{Cc}\\]/u.test(text)) return 'The address holds a space, a control character or a backslash.';
  const [, authority] = /^https?:\/\/([^/?#]+)/i.exec(text) ?? [];
  const url = URL.parse(text);
  if (!authority || !url) return 'The address is not an absolute https URL.';
  if (authority.includes('@')) return 'The address holds a user name or password; leave it out.';
  if (text.includes('#')) return 'The address has a fragment (#…), which is never sent; leave it out.';

  const host = url.hostname;
  if (host.endsWith('.')) return 'The host name ends in a dot; leave it out.';
  if (reachOf(targets) === 'loopback' && isLoopbackHost(host))
    return refusePort(url, url.protocol === 'http:');
  if (url.protocol !== 'https:') return 'The address must begin with https://.';
  return refuseHost(host, targets) ?? refusePort(url, false);
}

function refuseHost(host: string, targets: Targets): string | undefined {
  const address = literalAddress(host);
  if (address !== undefined) {
    if (mayDial(address, targets)) return undefined;
    return typeof targets === 'string'
      ? `${address} is not a public address.`
      : `${address} is neither a public address nor in PORTER_OPERATOR_TARGETS.`;
  }
  // What it resolves to is looked at when it is dialled.
  if (typeof targets !== 'string') return undefined;
  if (PRIVATE_NAME.test(host)) return `${host} is a name for private networks; a public one is needed.`;
  if (!host.includes('.')) return `${host} is not a full host name such as hooks.example.com.`;
  return undefined;
}

function refusePort(url: URL, plain: boolean): string | undefined {
  const port = url.port === '' ? (plain ? 80 : 443) : Number(url.port);
  if (port >= 1024 || port === (plain ? 80 : 443)) return undefined;
  return `Port ${port} is not called; use ${plain ? 80 : 443}, or one from 1024 on.`;
}

function isLoopbackHost(host: string): boolean {
  const address = literalAddress(host);
  return address === undefined ? /(?:^|\.)localhost$/.test(host) : isLoopback(address);
}

/** The parser has brought every spelling (decimal, octal, hexadecimal, short) into the usual one. */
export function literalAddress(host: string): string | undefined {
  const bare = host.startsWith('[') ? host.slice(1, -1) : host;
  return isIP(bare) ? bare : undefined;
}

export function mayDial(address: string, targets: Targets): boolean {
  if (isPublicAddress(address) || (reachOf(targets) === 'loopback' && isLoopback(address))) return true;
  return typeof targets !== 'string' && isIn(targets.networks, address);
}

/** A zone (fe80::1%eth0) belongs to an address of the local network. */
function isIn(networks: BlockList, address: string): boolean {
  if (isIPv4(address)) return networks.check(address, 'ipv4');
  return isIP(address) !== 0 && !address.includes('%') && networks.check(address, 'ipv6');
}

export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !notPublic4.check(address, 'ipv4');
  // A zone (fe80::1%eth0) belongs to an address of the local network.
  if (!isIP(address) || address.includes('%')) return false;
  return global6.check(address, 'ipv6') && !notPublic6.check(address, 'ipv6');
}

function isLoopback(address: string): boolean {
  if (isIPv4(address)) return loopback4.check(address, 'ipv4');
  return isIP(address) !== 0 && !address.includes('%') && loopback6.check(address, 'ipv6');
}

function subnets(family: 'ipv4' | 'ipv6', all: string[]): BlockList {
  const list = new BlockList();
  for (const subnet of all) {
    const [network = '', prefix] = subnet.split('/');
    list.addSubnet(network, Number(prefix), family);
  }
  return list;
}
