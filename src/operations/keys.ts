import type {
  ApiKey,
  getKey as getEndpoint,
  issueKey as issueEndpoint,
  listKeys as listEndpoint,
  revokeKey as revokeEndpoint,
  rotateKey as rotateEndpoint,
} from '../contract/operator/keys.ts';
import { Problem, ValidationProblem } from '../contract/problems.ts';
import { ruleBroken } from '../contract/rules.ts';
import { keyStatus } from '../domain/access.ts';
import { formatKey, keyPrefix, secretHash } from '../domain/api-key.ts';
import { newId, randomBase62 } from '../domain/ids.ts';
import { type Transaction, transact } from '../store/database.ts';
import { findKey, insertKey, listKeyPage, lockKey, type StoredKey, updateKey } from '../store/keys.ts';
import { holdPartner } from '../store/partners.ts';
import { findGroup } from '../store/practice-groups.ts';
import { type Actor, type App, nowIso, type OperatorCall } from './app.ts';

const OVERLAP_SECONDS_DEFAULT = 24 * 3600;
/** The last moment that RFC 3339 can write in UTC; an offset can point past it. */
export const EXPIRY_MAX = Date.parse('9999-12-31T23:59:59.999Z');

export async function issueKey(app: App, call: OperatorCall<typeof issueEndpoint>) {
  const { partner_id, practice_group_id, scopes, expires_at, rate_limit_per_minute } = call.body;
  if (expires_at && Date.parse(expires_at) <= app.clock.now()) throw ruleBroken('expiry_in_the_past');
  if (expires_at && Date.parse(expires_at) > EXPIRY_MAX) throw expiryTooFar();
  return transact(app.db, call.principal, async (tx) => {
    await mustBeVerified(tx, partner_id);
    if (!(await findGroup(tx, practice_group_id))) throw ruleBroken('practice_group_unknown');
    const issued = makeKey(app, tx, {
      partner_id,
      practice_group_id,
      scopes: [...new Set(scopes)],
      rate_limit_per_minute: rate_limit_per_minute ?? null,
      expires_at: expires_at ? new Date(expires_at).toISOString() : null,
    });
    audit(tx, call, nowIso(app), 'key.issue', null, issued.stored);
    return { body: issued.shown };
  });
}

export async function rotateKey(app: App, call: OperatorCall<typeof rotateEndpoint>) {
  const overlapMs = (call.body?.overlap_seconds ?? OVERLAP_SECONDS_DEFAULT) * 1000;
  const shown = await transact(app.db, call.principal, async (tx) => {
    const old = await lockKey(tx, call.params.id);
    if (!old) throw new Problem('not_found');
    if (keyStatus(old, app.clock.now()) !== 'active')
      throw new Problem('conflict', { message: 'The key no longer works; issue a new one instead.' });
    if (old.replaced_by)
      throw new Problem('conflict', {
        message: `The key was rotated already; ${old.replaced_by} replaces it.`,
      });
    await mustBeVerified(tx, old.partner_id);

    const issued = makeKey(app, tx, old);
    const overlapEnds = new Date(app.clock.now() + overlapMs).toISOString();
    // An old key that was to expire sooner still does. Without an overlap it is revoked, since the clock of another
    // node may be behind ours.
    const expires_at = old.expires_at && old.expires_at < overlapEnds ? old.expires_at : overlapEnds;
    const revoked_at = overlapMs === 0 ? overlapEnds : null;
    const after = { ...old, expires_at, revoked_at, replaced_by: issued.stored.id };
    updateKey(tx, after);
    // One moment for both: entries of one transaction are stored with one time.
    const now = nowIso(app);
    audit(tx, call, now, 'key.issue', null, issued.stored);
    audit(tx, call, now, 'key.rotate', old, after);
    return issued.shown;
  });
  // With an overlap, what is remembered is forgotten long before the old key ends.
  if (overlapMs === 0) await app.access.settle();
  return { body: shown };
}

export async function revokeKey(app: App, call: OperatorCall<typeof revokeEndpoint>) {
  const key = await transact(app.db, call.principal, async (tx) => {
    const before = await lockKey(tx, call.params.id);
    if (!before) throw new Problem('not_found');
    if (before.revoked_at) return before;
    const after = { ...before, revoked_at: nowIso(app) };
    updateKey(tx, after);
    audit(tx, call, nowIso(app), 'key.revoke', before, after);
    return after;
  });
  // Also for a key that was revoked before: another node's call may still be waiting out its second.
  await app.access.settle();
  return { body: presentKey(app, key) };
}

export async function listKeys(app: App, call: OperatorCall<typeof listEndpoint>) {
  const page = await transact(app.db, call.principal, (tx) => listKeyPage(tx, call.query));
  return { body: { ...page, data: page.data.map((key) => presentKey(app, key)) } };
}

export async function getKey(app: App, call: OperatorCall<typeof getEndpoint>) {
  const key = await transact(app.db, call.principal, (tx) => findKey(tx, call.params.id));
  if (!key) throw new Problem('not_found');
  return { body: presentKey(app, key) };
}

/** What may be shown of a key. */
function presentKey({ clock }: App, key: StoredKey): ApiKey {
  return { ...key, status: keyStatus(key, clock.now()) };
}

type NewKey = Pick<
  StoredKey,
  'partner_id' | 'practice_group_id' | 'scopes' | 'rate_limit_per_minute' | 'expires_at'
>;

function makeKey(app: App, tx: Transaction, wanted: NewKey) {
  const key = formatKey(app.environment, randomBase62(app.random, 32));
  const stored: StoredKey = {
    id: newId('key', app.clock.now(), app.random),
    partner_id: wanted.partner_id,
    practice_group_id: wanted.practice_group_id,
    scopes: wanted.scopes,
    rate_limit_per_minute: wanted.rate_limit_per_minute,
    expires_at: wanted.expires_at,
    prefix: keyPrefix(app.environment),
    last_four: key.slice(-4),
    revoked_at: null,
    replaced_by: null,
    created_at: nowIso(app),
  };
  insertKey(tx, stored, secretHash(key));
  return { stored, shown: { ...presentKey(app, stored), key } };
}

export function expiryTooFar(): ValidationProblem {
  const message = 'Must lie before the year 10000 in UTC.';
  return new ValidationProblem([{ code: 'too_big', expected: 'string', path: ['expires_at'], message }]);
}

/** And stays so until the key is there: otherwise the audit trail shows keys issued to partners that were suspended before. */
async function mustBeVerified(tx: Transaction, partnerId: string): Promise<void> {
  const partner = await holdPartner(tx, partnerId);
  if (!partner) throw ruleBroken('partner_unknown');
  if (partner.status !== 'verified') throw ruleBroken('partner_not_verified');
}

function audit(
  tx: Transaction,
  { principal, requestId }: Actor,
  at: string,
  action: string,
  before: StoredKey | null,
  after: StoredKey,
): void {
  tx.audit({
    at,
    principal,
    action,
    subject: { type: 'key', id: after.id },
    practiceGroupId: after.practice_group_id,
    requestId,
    before,
    after,
  });
}
