import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listOf } from '../../src/domain/access/address-list.ts';
import { isPublicAddress, mayDial, refuseTarget } from '../../src/platform/egress/ssrf-guard.ts';

/** Where no partner may send us, and the word that its refusal holds. */
const HOSTILE: [url: string, reason: string][] = [
  // Not https, or not a URL.
  ['http://hooks.example.com/', 'https'],
  ['ftp://hooks.example.com/', 'https'],
  ['file:///etc/passwd', 'https'],
  ['gopher://hooks.example.com:11211/_stats', 'https'],
  ['javascript:alert(1)', 'https'],
  ['data:text/plain,hello', 'https'],
  ['ws://hooks.example.com/', 'https'],
  ['//hooks.example.com/', 'https'],
  ['/hooks', 'https'],
  ['', 'https'],
  ['https://', 'https'],
  ['https:///hooks.example.com/', 'https'],
  ['https:hooks.example.com', 'https'],
  ['https://?x', 'https'],
  ['https://hooks.example.com:99999/', 'https'],
  ['https://hooks.example.com:port/', 'https'],
  ['https://%/', 'https'],
  ['https://[::1', 'https'],
  ['https://[fe80::1%25eth0]/', 'https'],
  ['https://1.2.3.4.5/', 'https'],
  ['https://256.256.256.256/', 'https'],
  ['https://0x100000000/', 'https'],
  // Written so that two readers understand two things.
  ['https:\\\\hooks.example.com\\', 'backslash'],
  ['https://hooks.example.com\\@10.0.0.1/', 'backslash'],
  [' https://hooks.example.com/', 'space'],
  ['https://hooks.example.com/ x', 'space'],
  ['https://hooks.exa\tmple.com/', 'control'],
  ['https://hooks.example.com/\r\nHost: internal', 'control'],
  ['https://hooks.example.com/\0', 'control'],
  ['https://user:pass@hooks.example.com/', 'password'],
  ['https://user@hooks.example.com/', 'user name'],
  ['https://@hooks.example.com/', 'user name'],
  ['https://hooks.example.com:443@10.0.0.1/', 'user name'],
  ['https://hooks.example.com/#here', 'fragment'],
  [`https://hooks.example.com/${'x'.repeat(2048)}`, '2048'],
  // Names of this machine, of private networks, and of none.
  ['https://localhost/', 'private'],
  ['https://LOCALHOST/', 'private'],
  ['https://localhost./', 'dot'],
  ['https://a.localhost/', 'private'],
  ['https://localhost.localdomain/', 'private'],
  ['https://metadata.google.internal/', 'private'],
  ['https://METADATA.Google.Internal./', 'dot'],
  ['https://printer.local/', 'private'],
  ['https://wiki.corp/', 'private'],
  ['https://router.home.arpa/', 'private'],
  ['https://hooks.example.com./', 'dot'],
  ['https://hooks.example.com../', 'dot'],
  ['https://intranet/', 'private'],
  ['https://postgres/', 'full host name'],
  ['https://ｌｏｃａｌｈｏｓｔ/', 'private'],
  // Addresses in every spelling.
  ['https://127.0.0.1/', '127.0.0.1 is not a public'],
  ['https://127.1/', '127.0.0.1 is not a public'],
  ['https://127.0.0.1./', '127.0.0.1 is not a public'],
  ['https://2130706433/', '127.0.0.1 is not a public'],
  ['https://0x7f000001/', '127.0.0.1 is not a public'],
  ['https://0x7f.1/', '127.0.0.1 is not a public'],
  ['https://0177.0.0.1/', '127.0.0.1 is not a public'],
  ['https://017700000001/', '127.0.0.1 is not a public'],
  ['https://１２７.０.０.１/', '127.0.0.1 is not a public'],
  ['https://127。0。0。1/', '127.0.0.1 is not a public'],
  ['https://%31%32%37.0.0.1/', '127.0.0.1 is not a public'],
  ['https://0/', '0.0.0.0 is not a public'],
  ['https://10.1.2.3/', 'not a public'],
  ['https://172.31.255.255/', 'not a public'],
  ['https://192.168.0.1/', 'not a public'],
  ['https://100.64.0.1/', 'not a public'],
  ['https://100.100.100.200/', 'not a public'],
  ['https://169.254.169.254/latest/meta-data/', 'not a public'],
  ['https://0xA9FEA9FE/', '169.254.169.254 is not a public'],
  ['https://2852039166/', '169.254.169.254 is not a public'],
  ['https://168.63.129.16/', 'not a public'],
  ['https://192.0.0.192/', 'not a public'],
  ['https://198.18.0.1/', 'not a public'],
  ['https://224.0.0.1/', 'not a public'],
  ['https://255.255.255.255/', 'not a public'],
  ['https://[::]/', 'not a public'],
  ['https://[::1]/', 'not a public'],
  ['https://[0:0:0:0:0:0:0:1]/', '::1 is not a public'],
  ['https://[::ffff:127.0.0.1]/', 'not a public'],
  ['https://[::ffff:7f00:1]/', 'not a public'],
  ['https://[::ffff:8.8.8.8]/', 'not a public'],
  ['https://[::127.0.0.1]/', 'not a public'],
  ['https://[::ffff:0:127.0.0.1]/', 'not a public'],
  ['https://[64:ff9b::a9fe:a9fe]/', 'not a public'],
  ['https://[64:ff9b:1::1]/', 'not a public'],
  ['https://[2002:7f00:1::]/', 'not a public'],
  ['https://[2001:0:7f00:1::]/', 'not a public'],
  ['https://[fd00:ec2::254]/', 'not a public'],
  ['https://[fe80::1]/', 'not a public'],
  ['https://[fec0::1]/', 'not a public'],
  ['https://[ff02::1]/', 'not a public'],
  ['https://[2001:db8::1]/', 'not a public'],
  // Ports where other things than receivers listen.
  ['https://hooks.example.com:22/', 'Port 22'],
  ['https://hooks.example.com:25/', 'Port 25'],
  ['https://hooks.example.com:80/', 'Port 80'],
  ['https://hooks.example.com:0/', 'Port 0'],
  ['https://hooks.example.com:1023/', 'Port 1023'],
];

const WELCOME = [
  'https://hooks.example.com',
  'https://hooks.example.com/porter?tenant=1&x=%20y',
  'HTTPS://Hooks.Example.COM/',
  'https://hooks.example.com:443/',
  'https://hooks.example.com:1024/',
  'https://hooks.example.com:8443/',
  'https://hooks.example.com:65535/',
  'https://localhost.example.com/',
  'https://10.0.0.1.example.com/',
  'https://bücher.example/',
  'https://8.8.8.8/',
  'https://[2606:4700::6810:84e5]/',
  `https://hooks.example.com/${'x'.repeat(2048 - 26)}`,
];

describe('a URL that may be called', () => {
  it.each(WELCOME)('%s', (url) => {
    expect(refuseTarget(url, 'public')).toBeUndefined();
    expect(refuseTarget(url, 'loopback')).toBeUndefined();
  });
});

describe('a URL that may not be called', () => {
  it.each(HOSTILE)('%j: %s', (url, reason) => {
    expect(refuseTarget(url, 'public')).toContain(reason);
  });

  it('is one of a good many', () => {
    expect(new Set(HOSTILE.map(([url]) => url)).size).toBeGreaterThan(90);
  });

  it('whatever the text, gets an answer', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.webUrl()), (text) => {
        const reason = refuseTarget(text, 'public');
        if (reason === undefined) expect(new URL(text).protocol).toBe('https:');
        else expect(reason).toMatch(/\.$/);
      }),
    );
  });
});

describe('loopback, where a staging deployment allows it', () => {
  it.each([
    'http://localhost/',
    'http://localhost:3000/hooks',
    'http://LOCALHOST:3000/',
    'http://app.localhost:3000/',
    'http://127.0.0.1:3000/',
    'http://127.8.9.10/',
    'http://2130706433:3000/',
    'http://[::1]:3000/',
    'https://localhost/',
    'https://localhost:8443/',
  ])('allows %s', (url) => {
    expect(refuseTarget(url, 'loopback')).toBeUndefined();
    expect(refuseTarget(url, 'public')).toBeDefined();
  });

  it.each([
    ['http://hooks.example.com/', 'https'],
    ['http://8.8.8.8/', 'https'],
    ['http://10.0.0.1/', 'https'],
    ['http://localhost.example.com/', 'https'],
    ['http://0.0.0.0:3000/', 'https'],
    ['http://[::ffff:127.0.0.1]:3000/', 'https'],
    ['http://localhost:22/', 'Port 22'],
    ['http://localhost:443/', 'Port 443'],
    ['https://localhost:80/', 'Port 80'],
    ['http://user@localhost:3000/', 'user name'],
    ['http://localhost.:3000/', 'dot'],
    ['https://10.0.0.1/', 'not a public'],
    ['https://169.254.169.254/', 'not a public'],
    ['https://[::ffff:127.0.0.1]/', 'not a public'],
    ['https://[fd00::1]/', 'not a public'],
    ['https://printer.local/', 'private'],
  ])('still refuses %s', (url, reason) => {
    expect(refuseTarget(url, 'loopback')).toContain(reason);
  });
});

describe('an address', () => {
  it.each([
    ['1.0.0.0', true],
    ['9.255.255.255', true],
    ['10.0.0.0', false],
    ['10.255.255.255', false],
    ['11.0.0.0', true],
    ['100.63.255.255', true],
    ['100.64.0.0', false],
    ['100.127.255.255', false],
    ['100.128.0.0', true],
    ['126.255.255.255', true],
    ['127.255.255.255', false],
    ['128.0.0.0', true],
    ['168.63.129.15', true],
    ['168.63.129.16', false],
    ['169.253.255.255', true],
    ['169.254.0.0', false],
    ['172.15.255.255', true],
    ['172.16.0.0', false],
    ['172.31.255.255', false],
    ['172.32.0.0', true],
    ['192.0.0.255', false],
    ['192.0.1.0', true],
    ['192.0.2.1', false],
    ['192.31.195.255', true],
    ['192.31.196.0', false],
    ['192.31.196.255', false],
    ['192.31.197.0', true],
    ['192.52.193.1', false],
    ['192.88.99.1', false],
    ['192.167.255.255', true],
    ['192.168.255.255', false],
    ['192.175.48.1', false],
    ['198.17.255.255', true],
    ['198.18.0.0', false],
    ['198.19.255.255', false],
    ['198.20.0.0', true],
    ['198.51.100.7', false],
    ['203.0.113.7', false],
    ['223.255.255.255', true],
    ['224.0.0.0', false],
    ['240.0.0.0', false],
    ['255.255.255.255', false],
    ['0.0.0.0', false],
    ['::', false],
    ['::1', false],
    ['::2', false],
    ['::8.8.8.8', false],
    ['::ffff:8.8.8.8', false],
    ['::ffff:0:8.8.8.8', false],
    ['64:ff9b::8.8.8.8', false],
    ['64:ff9b:1::1', false],
    ['100::1', false],
    ['1fff:ffff::1', false],
    ['2000::1', true],
    ['2001::1', false],
    ['2001:1ff:ffff::1', false],
    ['2001:200::1', true],
    ['2001:db7:ffff::1', true],
    ['2001:db8::1', false],
    ['2001:db9::1', true],
    ['2002::1', false],
    ['2003::1', true],
    ['2606:4700::1111', true],
    ['2620:4f:7fff::1', true],
    ['2620:4f:8000::1', false],
    ['2620:4f:8001::1', true],
    ['3ffe::1', true],
    ['3fff::1', false],
    ['3fff:fff:ffff::1', false],
    ['3fff:1000::1', true],
    ['4000::1', false],
    ['5f00::1', false],
    ['fc00::1', false],
    ['fd00:ec2::254', false],
    ['fe80::1', false],
    ['fe80::1%eth0', false],
    ['2606:4700::1111%eth0', false],
    ['fec0::1', false],
    ['ff02::1', false],
    ['', false],
    ['hooks.example.com', false],
    ['0177.0.0.1', false],
  ])('%s is public: %s', (address, isPublic) => {
    expect(isPublicAddress(address)).toBe(isPublic);
    expect(mayDial(address, 'public')).toBe(isPublic);
  });

  it('of the loopback is dialled where that is allowed, and nothing else is added', () => {
    for (const address of ['127.0.0.1', '127.255.255.255', '::1']) {
      expect(mayDial(address, 'loopback')).toBe(true);
      expect(mayDial(address, 'public')).toBe(false);
    }
    for (const address of [
      '0.0.0.0',
      '10.0.0.1',
      '::',
      '::ffff:127.0.0.1',
      '::1%lo',
      'fe80::1',
      'localhost',
      '',
    ])
      expect(mayDial(address, 'loopback')).toBe(false);
    expect(mayDial('8.8.8.8', 'loopback')).toBe(true);
  });
});

describe("networks of the operator's own", () => {
  const own = { reach: 'public' as const, networks: listOf(['10.20.0.0/16', 'fd12:3456::/32']) };

  it.each([
    'https://10.20.0.1/hook',
    'https://[fd12:3456::1]:8443/',
    'https://ehr.internal/hook',
    'https://ehr/hook',
    'https://hooks.example.com/',
  ])('%s may be named: what a name stands for is looked at when it is dialled', (url) => {
    expect(refuseTarget(url, own)).toBeUndefined();
  });

  it.each([
    ['https://10.21.0.1/hook', 'PORTER_OPERATOR_TARGETS'],
    ['https://127.0.0.1/', 'PORTER_OPERATOR_TARGETS'],
    ['https://169.254.169.254/', 'PORTER_OPERATOR_TARGETS'],
    ['http://10.20.0.1/', 'https'],
    ['https://10.20.0.1:22/', 'Port 22'],
    ['https://user@10.20.0.1/', 'user name'],
    ['https://10.20.0.1/#x', 'fragment'],
  ])('%s may not: %s', (url, reason) => {
    expect(refuseTarget(url, own)).toContain(reason);
  });

  it('are dialled, and nothing else is added', () => {
    for (const address of ['10.20.0.1', '10.20.255.255', 'fd12:3456::9', '8.8.8.8'])
      expect(mayDial(address, own)).toBe(true);
    for (const address of [
      '10.19.255.255',
      '127.0.0.1',
      '::1',
      '169.254.169.254',
      'fd12:3456::1%eth0',
      'ehr',
      '',
    ])
      expect(mayDial(address, own)).toBe(false);
    expect(mayDial('127.0.0.1', { ...own, reach: 'loopback' })).toBe(true);
  });
});
