import { isDeepStrictEqual } from 'node:util';
import type { AuditAction } from '../../contract/audit-actions.ts';
import {
  type ApiKey,
  getKey as getEndpoint,
  issueKey as issueEndpoint,
  issueKeys as issueManyEndpoint,
  listKeys as listEndpoint,
  revokeKey as revokeEndpoint,
  rotateKey as rotateEndpoint,
  updateKey as updateEndpoint,
} from '../../contract/operator/access/keys.ts';
import { Problem, ValidationProblem } from '../../contract/problems.ts';
import { ruleBroken } from '../../contract/rules.ts';
import { keyStatus, rateLimitOf } from '../../domain/access/access.ts';
import { newestInForce } from '../../domain/access/agreement.ts';
import { formatKey, keyPrefix, secretHash } from '../../domain/access/api-key.ts';
import { NeedsApproval } from '../../domain/access/approval.ts';
import { widensKey } from '../../domain/access/widening.ts';
import { newId, randomBase62 } from '../../domain/ids.ts';
import { etagOf, ifMatchHolds } from '../../domain/practices/etag.ts';
import { agreementsOf } from '../../store/access/agreements.ts';
import {
  findKey,
  findKeysById,
  insertKeys,
  listKeyPage,
  lockKey,
  type StoredKey,
  updateKeyRow,
} from '../../store/access/keys.ts';
import { holdPartner } from '../../store/access/partners.ts';
import { type Transaction, transact } from '../../store/database.ts';
import { findGroup, findUnknownGroups } from '../../store/practices/practice-groups.ts';
import { type Actor, type App, nowIso, type OperatorCall, operation } from '../app.ts';

const OVERLAP_SECONDS_DEFAULT = 24 * 3600;
/** The last moment that RFC 3339 can write in UTC; an offset can point past it. */
const EXPIRY_MAX = Date.parse('9999-12-31T23:59:59.999Z');

export const issueKey = operation(issueEndpoint, async (app, call) => {
  const { partner_id, practice_group_id, scopes, ...given } = call.body;
  const expires_at = expiryOf(app, given.expires_at);
  refuseTooFar(given.expires_at);
  return transact(app.db, call.principal, async (tx) => {
    await mustBeVerified(tx, partner_id);
    if (!(await findGroup(tx, practice_group_id))) throw ruleBroken('practice_group_unknown');
    const agreement_id = await agreementFor(app, tx, partner_id, given.agreement_id);
    const wanted = { partner_id, practice_group_id, expires_at, agreement_id, ...settingsOf(scopes, given) };
    requireCompleteProof(app, wanted);
    const issued = makeKey(app, wanted);
    insertKeys(tx, [issued]);
    auditKey(tx, call, nowIso(app), 'key.issue', null, issued.stored);
    return { body: issued.shown };
  });
});

/** One for each practice group: all of them, or none. */
export const issueKeys = operation(issueManyEndpoint, async (app, call) => {
  const { partner_id, practice_group_ids: groupIds, scopes, ...given } = call.body;
  const expires_at = expiryOf(app, given.expires_at);
  refuseTooFar(given.expires_at);
  return transact(app.db, call.principal, async (tx) => {
    await mustBeVerified(tx, partner_id);
    refuseGroups(groupIds, new Set(await findUnknownGroups(tx, groupIds)));
    const agreement_id = await agreementFor(app, tx, partner_id, given.agreement_id);
    const settings = { partner_id, expires_at, agreement_id, ...settingsOf(scopes, given) };
    requireCompleteProof(app, settings);
    const issued = groupIds.map((practice_group_id) => makeKey(app, { ...settings, practice_group_id }));
    insertKeys(tx, issued);
    const now = nowIso(app);
    for (const { stored } of issued) auditKey(tx, call, now, 'key.issue', null, stored);
    const data = issued.map(({ shown: { id, practice_group_id, key } }) => ({ id, practice_group_id, key }));
    return { body: { data } };
  });
});

function refuseGroups(groupIds: readonly string[], unknown: ReadonlySet<string>): void {
  const seen = new Set<string>();
  const problems = groupIds.flatMap((id, at) => {
    const isTwice = seen.has(id);
    seen.add(id);
    if (!isTwice && !unknown.has(id)) return [];
    const message = isTwice
      ? `The practice group ${id} is named before. Name each once.`
      : `There is no practice group ${id}. Check the ID.`;
    return { code: 'invalid_value', expected: 'string', path: ['practice_group_ids', at], message };
  });
  if (problems.length > 0) throw new ValidationProblem(problems);
}

type Given = Omit<
  OperatorCall<typeof issueManyEndpoint>['body'],
  'partner_id' | 'practice_group_ids' | 'scopes'
>;

function settingsOf(scopes: NewKey['scopes'], given: Given) {
  return {
    scopes: [...new Set(scopes)],
    label: given.label ?? null,
    rate_limit_per_minute: given.rate_limit_per_minute ?? null,
    allowed_addresses: given.allowed_addresses ?? null,
    proof: given.proof ?? ('none' as const),
    certificate_fingerprints: given.certificate_fingerprints ?? [],
    jwks: given.jwks ?? null,
  };
}

/**
 * Whatever is named but the label, the door has to know: it answers once every node has forgotten what was before. Also when nothing has changed:
 * whoever says it again may not have heard the answer.
 */
export const updateKey = operation(updateEndpoint, async (app, call) => {
  const { scopes, expires_at, ...given } = call.body;
  refuseTooFar(expires_at);
  const key = await transact(app.db, call.principal, async (tx) => {
    const before = await lockKey(tx, call.params.id);
    if (!before) throw new Problem('not_found');
    if (!ifMatchHolds(call.ifMatch, etagOf(before.version))) throw new Problem('precondition_failed');
    mustWork(app, before);
    const merged: StoredKey = {
      ...before,
      ...(given as Partial<StoredKey>),
      ...(scopes && { scopes: [...new Set(scopes)] }),
      ...(expires_at !== undefined && { expires_at: expiryOf(app, expires_at) }),
    };
    if (isDeepStrictEqual(merged, before)) return before;
    requireCompleteProof(app, merged);
    if (merged.agreement_id !== before.agreement_id && given.agreement_id !== undefined) {
      await holdPartner(tx, before.partner_id);
      await agreementFor(app, tx, before.partner_id, given.agreement_id);
    }
    if (app.refusesWidening && (await widens(tx, before, merged))) throw new NeedsApproval();
    return changeKey(tx, call, nowIso(app), 'key.update', before, merged);
  });
  if (Object.keys(call.body).some((name) => name !== 'label')) await app.access.settle();
  return { body: presentKey(app, key), etag: etagOf(key.version) };
});

async function widens(tx: Transaction, before: StoredKey, after: StoredKey): Promise<boolean> {
  const [record] = await findKeysById(tx, [before.id]);
  if (!record) throw new Error('a locked key is not there');
  const limited = (key: StoredKey) => ({
    ...key,
    rateLimit: rateLimitOf({ ...record, rate_limit_per_minute: key.rate_limit_per_minute }),
  });
  return widensKey(limited(before), limited(after));
}

export const rotateKey = operation(rotateEndpoint, async (app, call) => {
  const overlapMs = (call.body?.overlap_seconds ?? OVERLAP_SECONDS_DEFAULT) * 1000;
  const rotated = transact(app.db, call.principal, async (tx) => {
    const old = await lockKey(tx, call.params.id);
    if (!old) throw new Problem('not_found');
    mustWork(app, old);
    if (old.replaced_by)
      throw new Problem('conflict', {
        message: `The key was rotated already; ${old.replaced_by} replaces it.`,
      });
    await mustBeVerified(tx, old.partner_id);

    const issued = makeKey(app, old);
    insertKeys(tx, [issued]);
    const overlapEnds = new Date(app.clock.now() + overlapMs).toISOString();
    // An old key that was to expire sooner still does. Without an overlap it is revoked, since the clock of another
    // node may be behind ours.
    const expires_at = old.expires_at && old.expires_at < overlapEnds ? old.expires_at : overlapEnds;
    const revoked_at = overlapMs === 0 ? overlapEnds : null;
    // One moment for both: entries of one transaction are stored with one time.
    const now = nowIso(app);
    auditKey(tx, call, now, 'key.issue', null, issued.stored);
    const ending = { ...old, expires_at, revoked_at, replaced_by: issued.stored.id };
    changeKey(tx, call, now, 'key.rotate', old, ending);
    return issued.shown;
  });
  // With an overlap, what is remembered is forgotten long before the old key ends. Without one, a refusal may say that the key has ended already.
  const shown = await (overlapMs === 0 ? rotated.finally(() => app.access.settle()) : rotated);
  return { body: shown };
});

export const revokeKey = operation(revokeEndpoint, async (app, call) => {
  const key = await transact(app.db, call.principal, async (tx) => {
    const before = await lockKey(tx, call.params.id);
    if (!before) throw new Problem('not_found');
    if (before.revoked_at) return before;
    const now = nowIso(app);
    return changeKey(tx, call, now, 'key.revoke', before, { ...before, revoked_at: now });
  });
  // Also for a key that was revoked before: another node's call may still be waiting out its second.
  await app.access.settle();
  return { body: presentKey(app, key) };
});

export const listKeys = operation(listEndpoint, async (app, call) => {
  const page = await transact(app.db, call.principal, (tx) => listKeyPage(tx, call.query, nowIso(app)));
  return { body: { ...page, data: page.data.map((key) => presentKey(app, key)) } };
});

export const getKey = operation(getEndpoint, async (app, call) => {
  const key = await transact(app.db, call.principal, (tx) => findKey(tx, call.params.id));
  if (!key) throw new Problem('not_found');
  return { body: presentKey(app, key), etag: etagOf(key.version) };
});

/** What may be shown of a key. */
function presentKey({ clock }: App, { version: _version, ...key }: StoredKey): ApiKey {
  return { ...key, status: keyStatus(key, clock.now()) };
}

type NewKey = Pick<
  StoredKey,
  | 'partner_id'
  | 'practice_group_id'
  | 'label'
  | 'scopes'
  | 'rate_limit_per_minute'
  | 'agreement_id'
  | 'allowed_addresses'
  | 'proof'
  | 'certificate_fingerprints'
  | 'jwks'
  | 'expires_at'
>;

function makeKey(app: App, wanted: NewKey) {
  const key = formatKey(app.environment, randomBase62(app.random, 32));
  const stored: StoredKey = {
    id: newId('key', app.clock.now(), app.random),
    partner_id: wanted.partner_id,
    practice_group_id: wanted.practice_group_id,
    label: wanted.label,
    scopes: wanted.scopes,
    rate_limit_per_minute: wanted.rate_limit_per_minute,
    agreement_id: wanted.agreement_id,
    allowed_addresses: wanted.allowed_addresses,
    proof: wanted.proof,
    certificate_fingerprints: wanted.certificate_fingerprints,
    jwks: wanted.jwks,
    expires_at: wanted.expires_at,
    prefix: keyPrefix(app.environment),
    last_four: key.slice(-4),
    last_used_at: null,
    last_used_from: null,
    revoked_at: null,
    leak: null,
    replaced_by: null,
    version: 1,
    created_at: nowIso(app),
  };
  return { stored, hash: secretHash(key), shown: { ...presentKey(app, stored), key } };
}

function mustWork({ clock }: App, key: StoredKey): void {
  if (keyStatus(key, clock.now()) !== 'active')
    throw new Problem('conflict', { message: 'The key no longer works; issue a new one instead.' });
}

function expiryOf({ clock }: App, expiresAt: string | null | undefined): string | null {
  if (!expiresAt) return null;
  if (Date.parse(expiresAt) <= clock.now()) throw ruleBroken('expiry_in_the_past');
  return new Date(expiresAt).toISOString();
}

export function refuseTooFar(moment: string | null | undefined, field = 'expires_at'): void {
  if (moment && Date.parse(moment) > EXPIRY_MAX) throw tooFar(field);
}

function tooFar(field: string): ValidationProblem {
  const message = 'Must lie before the year 10000 in UTC.';
  return new ValidationProblem([{ code: 'too_big', expected: 'string', path: [field], message }]);
}

/** A key that could never be let in is a mistake, and its partner would be the one to find out. */
function requireCompleteProof(
  { takesCertificates }: App,
  { proof, certificate_fingerprints, jwks }: Pick<StoredKey, 'proof' | 'certificate_fingerprints' | 'jwks'>,
): void {
  if (proof === 'mtls' && !takesCertificates)
    throw ruleBroken(
      'proof_incomplete',
      'This deployment asks for no client certificates. Set PORTER_CLIENT_CERTIFICATES first.',
    );
  if (proof === 'mtls' && certificate_fingerprints.length === 0) throw ruleBroken('proof_incomplete');
  if (proof === 'private_key_jwt' && jwks === null) throw ruleBroken('proof_incomplete');
}

/** And stays so until the key is there: otherwise the audit trail shows keys issued to partners that were suspended before. */
async function mustBeVerified(tx: Transaction, partnerId: string): Promise<void> {
  const partner = await holdPartner(tx, partnerId);
  if (!partner) throw ruleBroken('partner_unknown');
  if (partner.status !== 'verified') throw ruleBroken('partner_not_verified');
}

/** What a key is issued under. The partner's row is held, so its agreements stay as they are. Null: its partner has signed none that is a record. */
async function agreementFor(
  { clock }: App,
  tx: Transaction,
  partnerId: string,
  wanted: string | undefined,
): Promise<string | null> {
  const agreements = await agreementsOf(tx, partnerId);
  if (wanted === undefined && agreements.length === 0) return null;
  const named = wanted === undefined ? agreements : agreements.filter(({ id }) => id === wanted);
  if (named.length === 0) throw ruleBroken('agreement_unknown');
  const found = newestInForce(named, clock.now());
  if (!found) throw ruleBroken('agreement_ended');
  return found.id;
}

/** Writes a change with its entry, and tells the key as it is from then on. */
export function changeKey(
  tx: Transaction,
  actor: Actor,
  at: string,
  action: AuditAction,
  before: StoredKey,
  changed: StoredKey,
): StoredKey {
  const after = { ...changed, version: before.version + 1 };
  updateKeyRow(tx, after);
  auditKey(tx, actor, at, action, before, after);
  return after;
}

function auditKey(
  tx: Transaction,
  { principal, requestId }: Actor,
  at: string,
  action: AuditAction,
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
    before: before && auditable(before),
    after: auditable(after),
  });
}

/** That it was used is no change of it. */
function auditable({ version: _version, last_used_at: _at, last_used_from: _from, ...key }: StoredKey) {
  return key;
}
