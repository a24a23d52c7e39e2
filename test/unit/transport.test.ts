import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listOf } from '../../src/domain/access/address-list.ts';
import { addressKey, isAllowed, readTransport } from '../../src/http/transport.ts';

/** 10.0.0.0/8 and one IPv6 address are our proxies; everybody else is not. */
const trusted = listOf(['10.0.0.0/8', '2001:db8:ffff::1']);
const byte = fc.nat(255);
const proxy = fc.oneof(
  fc.tuple(byte, byte, byte).map(([a, b, c]) => `10.${a}.${b}.${c}`),
  fc.constant('2001:db8:ffff::1'),
);
const outside = fc.oneof(
  fc.tuple(fc.integer({ min: 11, max: 126 }), byte, byte, byte).map((parts) => parts.join('.')),
  fc.tuple(byte, byte).map(([a, b]) => `2001:db8:${a.toString(16)}::${b.toString(16)}`),
);
const nonsense = fc.oneof(
  fc.string(),
  fc.constantFrom(
    '',
    'unknown',
    '_hidden',
    '10.0.0.1:443',
    '[2001:db8::1]',
    '10.0.0',
    '010.0.0.1',
    '::ffff:',
  ),
  fc.constantFrom('127.0.0.1', '::1', '0.0.0.0', '::', '::ffff:127.0.0.1', 'localhost', '10.0.0.1\t'),
);
/** What an attacker may put in front: any text that a header can carry. */
const hostile = fc
  .array(fc.oneof(nonsense, outside, proxy), { maxLength: 6 })
  .map((parts) => parts.join(','));
const proto = fc.oneof(
  fc.constantFrom('https', 'http', 'HTTPS', ' https ', 'https,http', 'http, https', 'wss', ''),
  hostile,
);

interface Call {
  peer: string;
  encrypted?: boolean | undefined;
  forwardedFor?: string | undefined;
  proto?: string | undefined;
}

function read({ peer, encrypted = false, forwardedFor, proto: scheme }: Call) {
  const socket = encrypted ? { remoteAddress: peer, encrypted } : { remoteAddress: peer };
  const headers = {
    ...(forwardedFor !== undefined && { 'x-forwarded-for': forwardedFor }),
    ...(scheme !== undefined && { 'x-forwarded-proto': scheme }),
  };
  return readTransport({ socket, headers } as unknown as IncomingMessage, trusted);
}

describe('readTransport', () => {
  it('believes nothing that a peer says whom nobody named as a proxy', () => {
    fc.assert(
      fc.property(
        outside,
        fc.boolean(),
        fc.option(hostile, { nil: undefined }),
        fc.option(proto, { nil: undefined }),
        (peer, encrypted, forwardedFor, scheme) => {
          const transport = read({ peer, encrypted, forwardedFor, proto: scheme });
          expect(transport).toEqual({ secure: encrypted, address: peer, loopback: false });
        },
      ),
      { numRuns: 500 },
    );
  });

  it('takes nobody for a caller on this machine when the call was forwarded', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1'),
        hostile,
        (peer, text) => {
          expect(read({ peer }).loopback).toBe(true);
          expect(read({ peer, forwardedFor: text }).loopback).toBe(false);
          expect(read({ peer, proto: text }).loopback).toBe(false);
        },
      ),
    );
  });

  it('finds the caller that the nearest proxy saw, whatever the caller itself put in front', () => {
    fc.assert(
      fc.property(
        hostile,
        outside,
        fc.array(proxy, { maxLength: 3 }),
        proxy,
        (inFront, caller, hops, peer) => {
          const forwardedFor = [inFront, caller, ...hops].join(', ');
          expect(read({ peer, forwardedFor }).address).toBe(caller);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('answers with an address that stands in the header or is the peer, and with no other text, ever', () => {
    fc.assert(
      fc.property(hostile, proxy, (forwardedFor, peer) => {
        const { address } = read({ peer, forwardedFor });
        expect(isIP(address)).toBeGreaterThan(0);
        const named = forwardedFor.split(',').map((part) => part.trim().replace(/^::ffff:/, ''));
        expect([...named, peer]).toContain(address);
      }),
      { numRuns: 1_000 },
    );
  });

  it('believes only the last entry of x-forwarded-proto', () => {
    fc.assert(
      fc.property(hostile, fc.constantFrom('https', 'HTTPS', ' https '), proxy, (inFront, https, peer) => {
        expect(read({ peer, proto: `${inFront},${https}` }).secure).toBe(true);
        expect(read({ peer, proto: `https,${inFront},http` }).secure).toBe(false);
        expect(read({ peer, encrypted: true, proto: 'http' }).secure).toBe(false);
        expect(read({ peer, encrypted: true, forwardedFor: '192.0.2.1' }).secure).toBe(true);
      }),
    );
  });

  it('knows an IPv4 peer also when it comes through an IPv6 socket', () => {
    const forwardedFor = '192.0.2.7';
    expect(read({ peer: '::ffff:10.1.2.3', forwardedFor, proto: 'https' })).toEqual({
      secure: true,
      address: '192.0.2.7',
      loopback: false,
    });
  });

  it('lets plain HTTP in only on staging from this machine', () => {
    const transport = fc.record({
      secure: fc.boolean(),
      loopback: fc.boolean(),
      address: fc.constant('::1'),
    });
    fc.assert(
      fc.property(transport, (one) => {
        expect(isAllowed(one, 'production')).toBe(one.secure);
        expect(isAllowed(one, 'staging')).toBe(one.secure || one.loopback);
      }),
    );
  });
});

describe('addressKey', () => {
  const group = fc.nat(0xffff).map((value) => value.toString(16));
  const half = fc.tuple(group, group, group, group);
  /** As the operating system writes it. */
  const canonical = (groups: readonly string[]) =>
    new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
  const sparse = fc.tuple(...Array.from({ length: 4 }, () => fc.oneof(fc.constant('0'), group)));

  it('counts a whole IPv6 /64 as one and two /64s as two, however the address is shortened', () => {
    fc.assert(
      fc.property(fc.oneof(half, sparse), fc.oneof(half, sparse), half, (net, otherNet, host) => {
        const key = addressKey(canonical([...net, ...host]));
        expect(addressKey(canonical([...net, '0', '0', '0', '1']))).toBe(key);
        expect(addressKey([...net, ...host].join(':'))).toBe(key);
        if (net.join() !== otherNet.join())
          expect(addressKey(canonical([...otherNet, ...host]))).not.toBe(key);
      }),
      { numRuns: 1_000 },
    );
  });

  it('counts each IPv4 address by itself, and anything else as it is', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.string()), (address) => {
        fc.pre(isIP(address) !== 6);
        expect(addressKey(address)).toBe(address);
      }),
    );
  });

  it('never throws, whatever it is given', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV6(), fc.string(), nonsense), (address) => {
        expect(typeof addressKey(address)).toBe('string');
      }),
    );
  });
});

describe('listOf', () => {
  it('refuses what is neither an address nor a range', () => {
    for (const entry of ['', 'localhost', '10.0.0', '10.0.0.0/33', '10.0.0.0/x', '::/129', 'all'])
      expect(() => listOf([entry]), entry).toThrow();
  });
});
