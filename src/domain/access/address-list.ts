import { BlockList, isIP } from 'node:net';

/** Addresses and ranges, IPv4 and IPv6. */
export type AddressList = BlockList;

/** Builds a list from addresses and CIDR ranges; throws on anything else. */
export function listOf(entries: readonly string[]): AddressList {
  const list = new BlockList();
  for (const entry of entries) {
    // A length that is left out after the slash would count as 0 and so mean everybody.
    const [, address = '', prefix] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(entry) ?? [];
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (isIP(address) === 0 || Number(prefix ?? 0) > (family === 'ipv6' ? 128 : 32))
      throw new Error(`"${entry}" is not an address or a range such as 10.0.0.0/8`);
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

/** Returns whether the outer range contains each address of the inner range. */
export function rangeIsWithin(inner: string, outer: string): boolean {
  const [first = ''] = inner.split('/');
  return (
    isIP(first) === isIP(outer.split('/')[0] ?? '') &&
    bitsOf(inner) >= bitsOf(outer) &&
    contains(listOf([outer]), first)
  );
}

/** Counts the fixed bits of an address or a range. */
function bitsOf(range: string): number {
  const [address = '', bits] = range.split('/');
  return bits === undefined ? (isIP(address) === 6 ? 128 : 32) : Number(bits);
}

export function contains(list: AddressList, address: string): boolean {
  return isIP(address) === 6 ? list.check(address, 'ipv6') : list.check(address, 'ipv4');
}
