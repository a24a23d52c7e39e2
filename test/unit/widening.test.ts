import { expect, it } from 'vitest';
import { rangeIsWithin } from '../../src/domain/access/address-list.ts';
import { widensKey } from '../../src/domain/access/widening.ts';

it.each([
  ['10.0.0.0/8', '10.0.0.0/8', true],
  ['10.1.2.3', '10.0.0.0/8', true],
  ['10.1.2.3/32', '10.1.2.3', true],
  ['10.0.0.0/8', '10.0.0.0/9', false],
  ['11.0.0.0/8', '10.0.0.0/8', false],
  ['0.0.0.0/0', '10.0.0.0/8', false],
  ['2001:db8:1::/48', '2001:db8::/32', true],
  ['::/0', '0.0.0.0/0', false],
  ['10.0.0.1', '::/0', false],
  ['::ffff:a00:1', '10.0.0.0/8', false],
])('%s within %s: %s', (inner, outer, isWithin) => {
  expect(rangeIsWithin(inner, outer)).toBe(isWithin);
});

it('mtls asks for certificates that were accepted before; nothing that the proof does not look at widens', () => {
  const key = {
    scopes: [],
    expires_at: null,
    agreement_id: null,
    allowed_addresses: null,
    proof: 'mtls' as const,
    certificate_fingerprints: ['a', 'b'],
    jwks: null,
    rateLimit: 300,
  };
  expect(widensKey(key, { ...key, certificate_fingerprints: ['b'] })).toBe(false);
  expect(widensKey(key, { ...key, certificate_fingerprints: ['b', 'c'] })).toBe(true);
  expect(widensKey(key, { ...key, jwks: { keys: [] } })).toBe(false);
  expect(widensKey(key, { ...key, proof: 'private_key_jwt' })).toBe(true);
  expect(widensKey({ ...key, proof: 'none' }, { ...key, certificate_fingerprints: ['c'] })).toBe(false);
  expect(widensKey(key, { ...key, agreement_id: 'other' })).toBe(true);
});
