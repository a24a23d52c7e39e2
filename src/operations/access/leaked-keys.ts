import {
  type ReportedKey,
  reportLeakedKeys as reportEndpoint,
} from '../../contract/operator/access/leaked-keys.ts';
import { isKey, secretHash } from '../../domain/access/api-key.ts';
import { newId } from '../../domain/ids.ts';
import { noDetails } from '../../domain/oversight/alerts.ts';
import { redact } from '../../platform/logger.ts';
import { lockKeysByHash, type StoredKey } from '../../store/access/keys.ts';
import { type Transaction, transact } from '../../store/database.ts';
import { beginAlerts } from '../../store/oversight/alerts.ts';
import { type App, nowIso, operation } from '../app.ts';
import { changeKey } from './keys.ts';

/**
 * Keys that somebody has found in public. One that is known is revoked, whatever its partner is doing with it, and marked: from then on its
 * refusals say why, to whoever still uses it and in the list of refused requests.
 */
export const reportLeakedKeys = operation(reportEndpoint, async (app, call) => {
  const reports = Array.isArray(call.body) ? call.body : [call.body];
  const secrets = reports.map((report) => ('token' in report ? report.token : report.key));
  const data = await transact(app.db, call.principal, async (tx) => {
    const now = nowIso(app);
    const keys = await lockKeysByHash(tx, secrets.map(secretHash));
    /** Of one that is reported twice in a call, as the first report has left it. */
    const left = new Map<string, StoredKey>();
    const outcomes = reports.map(({ source, url }, at): ReportedKey => {
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
    await tellOfLeaks(app, tx, now, [...left.values()]);
    return outcomes;
  });
  // Also for one that was revoked before: another node's call may still be waiting out its second.
  if (data.some(({ key_id }) => key_id !== null)) await app.access.settle();
  return { body: { data, count: data.length } };
});

/** The partner and the operator are told, as of any alert. It is over when it begins: the key is revoked. */
async function tellOfLeaks(
  app: App,
  tx: Transaction,
  now: string,
  keys: readonly StoredKey[],
): Promise<void> {
  const alerts = keys.map((key) => ({
    id: newId('alt', app.clock.now(), app.random),
    kind: 'key_leaked' as const,
    subject: { type: 'key' as const, id: key.id, name: key.label ?? `${key.prefix}…${key.last_four}` },
    partnerId: key.partner_id,
    practiceGroupId: key.practice_group_id,
    details: { ...noDetails, since: now, reason: key.leak?.source ?? null },
    ended: 'told' as const,
  }));
  await beginAlerts(tx, now, alerts);
}

/** An address of a leak may well hold the key. */
function kept(text: string | undefined): string | null {
  return text ? redact(text) : null;
}
