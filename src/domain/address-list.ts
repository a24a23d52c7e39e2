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

export function contains(list: AddressList, address: string): boolean {
  return isIP(address) === 6 ? list.check(address, 'ipv6') : list.check(address, 'ipv4');
}
