import { describe, expect, it } from 'vitest';
import {
  hasExpired,
  holderOf,
  type KeyRecord,
  keyStatus,
  refusedKey,
} from '../../src/domain/access/access.ts';

const NOON = Date.parse('2026-11-16T12:00:00.000Z');
const at = (ms: number) => new Date(ms).toISOString();
const maybeAt = (ms: number | null) => (ms === null ? null : at(ms));

const key: KeyRecord = {
  id: 'key_1',
  partner_id: 'ptn_1',
  practice_group_id: 'group-1',
  scopes: ['events:read'],
  rate_limit_per_minute: null,
  expires_at: null,
  revoked_at: null,
  is_leaked: false,
  allowed_addresses: null,
  proof: 'none',
  certificate_fingerprints: [],
  jwks: null,
  partner_status: 'verified',
  agreed_rate_limit_per_minute: null,
};

describe('who holds a key', () => {
  it('is what the door must know of it', () => {
    expect(holderOf({ ...key, expires_at: at(NOON) })).toEqual({
      keyId: 'key_1',
      partnerId: 'ptn_1',
      homeGroupId: 'group-1',
      scopes: new Set(['events:read']),
      rateLimitPerMinute: 300,
      expiresAt: NOON,
      allowedFrom: undefined,
      proof: { kind: 'none' },
    });
  });

  it.each(['applied', 'agreement_signed', 'suspended'] as const)(
    'is nobody while the partner is %s',
    (partner_status) => {
      expect(holderOf({ ...key, partner_status })).toBeUndefined();
    },
  );

  it('is nobody once it is revoked, whenever that was', () => {
    expect(holderOf({ ...key, revoked_at: at(0) })).toBeUndefined();
    expect(holderOf({ ...key, revoked_at: '9999-12-31T23:59:59.999Z' })).toBeUndefined();
  });

  it('is told as refused with the reason that counts', () => {
    const reasonOf = (more: Partial<KeyRecord>) => refusedKey({ ...key, ...more });
    const whose = { keyId: 'key_1', partnerId: 'ptn_1' };
    const revoked_at = at(0);
    expect(reasonOf({ revoked_at })).toEqual({ ...whose, reason: 'revoked' });
    expect(reasonOf({ revoked_at, is_leaked: true })).toEqual({ ...whose, reason: 'leaked' });
    expect(reasonOf({ revoked_at, partner_status: 'suspended' }).reason).toBe('revoked');
    expect(reasonOf({ partner_status: 'suspended' }).reason).toBe('partner_not_verified');
  });

  it("has the rate of the key, else the partner's, else the usual one", () => {
    const rateOf = (own: number | null, partners: number | null) =>
      holderOf({ ...key, rate_limit_per_minute: own, agreed_rate_limit_per_minute: partners })
        ?.rateLimitPerMinute;
    expect([rateOf(7, 9), rateOf(null, 9), rateOf(7, null), rateOf(null, null)]).toEqual([7, 9, 7, 300]);
  });
});

describe('expiry', () => {
  it('comes at the instant that is written, not after it', () => {
    const expired = (now: number) => hasExpired({ expiresAt: NOON }, now);
    expect([NOON - 1, NOON, NOON + 1].map(expired)).toEqual([false, true, true]);
  });

  it('never comes for a key without one', () => {
    const holder = holderOf(key);
    expect(holder && hasExpired(holder, Number.MAX_SAFE_INTEGER)).toBe(false);
  });
});

describe('the status that operators are shown', () => {
  it.each([
    ['active', null, null],
    ['active', null, NOON + 1],
    ['expired', null, NOON],
    ['expired', null, NOON - 1],
    ['revoked', NOON, null],
    ['revoked', NOON, NOON + 1],
    ['revoked', NOON, NOON - 1],
  ] as const)('is %s: revoked at %s, expires at %s', (status, revoked, expires) => {
    const moments = { revoked_at: maybeAt(revoked), expires_at: maybeAt(expires) };
    expect(keyStatus(moments, NOON)).toBe(status);
  });
});
