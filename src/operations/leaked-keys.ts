import type { ReportedKey, reportLeakedKeys as reportEndpoint } from '../contract/operator/leaked-keys.ts';
import { isKey, secretHash } from '../domain/api-key.ts';
import { redact } from '../platform/logger.ts';
import { transact } from '../store/database.ts';
import { lockKeysByHash, type StoredKey } from '../store/keys.ts';
import { type App, nowIso, type OperatorCall } from './app.ts';
import { changeKey } from './keys.ts';

/**
 * Keys that somebody has found in public. One that is known is revoked, whatever its partner is doing with it, and marked: from then on its
 * refusals say why, to whoever still uses it and in the list of refused requests.
 */
export async function reportLeakedKeys(app: App, call: OperatorCall<typeof reportEndpoint>) {
  const reports = Array.isArray(call.body) ? call.body : [call.body];
  const secrets = reports.map((report) => ('token' in report ? report.token : report.key));
  const data = await transact(app.db, call.principal, async (tx) => {
    const now = nowIso(app);
    const keys = await lockKeysByHash(tx, secrets.map(secretHash));
    /** Of one that is reported twice in a call, as the first report has left it. */
    const left = new Map<string, StoredKey>();
    return reports.map(({ source, url }, at): ReportedKey => {
      const secret = secrets[at] ?? '';
      const found = keys[at];
      const last_four = secret.slice(-4);
      if (!found)
        return {
          outcome: isKey(secret) ? 'unknown' : 'not_a_key',
          last_four,
          key_id: null,
          partner_id: null,
        };
      const key = left.get(found.id) ?? found;
      const outcome = key.revoked_at ? ('already_revoked' as const) : ('revoked' as const);
      if (!key.leak) {
        const leak = { reported_at: now, source: kept(source), url: kept(url) };
        const marked = { ...key, leak, revoked_at: key.revoked_at ?? now };
        left.set(key.id, changeKey(tx, call, now, 'key.report-leak', key, marked));
      }
      return { outcome, last_four, key_id: key.id, partner_id: key.partner_id };
    });
  });
  // Also for one that was revoked before: another node's call may still be waiting out its second.
  if (data.some(({ key_id }) => key_id !== null)) await app.access.settle();
  return { body: { data, count: data.length } };
}

/** An address of a leak may well hold the key. */
function kept(text: string | undefined): string | null {
  return text ? redact(text) : null;
}
