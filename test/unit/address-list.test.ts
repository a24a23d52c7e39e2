import { describe, expect, it } from 'vitest';
import { contains, listOf } from '../../src/domain/access/address-list.ts';

describe('a list of addresses', () => {
  const list = listOf(['203.0.113.0/24', '192.0.2.7', '2001:db8::/32', '::1']);

  it.each(['203.0.113.0', '203.0.113.255', '192.0.2.7', '2001:db8:ffff::1', '::1'])('holds %s', (address) => {
    expect(contains(list, address)).toBe(true);
  });

  it.each(['203.0.114.0', '192.0.2.8', '2001:db9::', '::2', '', 'unknown', 'fe80::1%eth0'])(
    'does not hold "%s"',
    (address) => {
      expect(contains(list, address)).toBe(false);
    },
  );

  it.each(['', '10.0.0.0/', '10.0.0.0/33', '::/129', '10.0.0.0/8/8', 'localhost'])(
    'refuses "%s"',
    (entry) => {
      expect(() => listOf([entry])).toThrow('is not an address or a range');
    },
  );
});
