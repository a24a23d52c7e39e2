import {
  LIVE_SECRETS_MAX,
  rotateWebhookSecret as rotateEndpoint,
  SECRET_OVERLAP_HOURS,
} from '../../contract/partner/webhooks.ts';
import { Problem } from '../../contract/problems.ts';
import { SYSTEM } from '../../domain/access/principal.ts';
import { newSecret, secretBytes } from '../../domain/events/signature.ts';
import type { Sealer } from '../../platform/sealing.ts';
import { type Database, transact } from '../../store/database.ts';
import {
  countLiveSecrets,
  deleteExpiredSecrets,
  expireSecrets,
  headersOwner,
  insertSecret,
  listSealingKeys,
  lockHeadersToReseal,
  lockSecretsToReseal,
  replaceSealed,
  replaceSealedHeaders,
  secretOwner,
} from '../../store/events/webhook-secrets.ts';
import { lockWebhook, updateWebhookRow } from '../../store/events/webhooks.ts';
import { nowIso, operation } from '../app.ts';
import { webhookRecord } from './webhooks.ts';

const OVERLAP_MS = SECRET_OVERLAP_HOURS * 3_600_000;

/** Signs with a new secret at once, and along with those before until each has had its overlap. */
export const rotateWebhookSecret = operation(rotateEndpoint, async (app, call) => {
  const { principal, params } = call;
  const secret = newSecret(app.random);
  const until = await transact(app.db, principal, async (tx) => {
    const webhook = await lockWebhook(tx, principal, params.id);
    if (!webhook) throw new Problem('not_found');
    const now = nowIso(app);
    const until = new Date(app.clock.now() + OVERLAP_MS).toISOString();
    if ((await countLiveSecrets(tx, webhook.no, now)) >= LIVE_SECRETS_MAX)
      throw new Problem('conflict', {
        message: `The webhook has ${LIVE_SECRETS_MAX} secrets that sign already; wait until the oldest expires.`,
      });
    expireSecrets(tx, webhook.no, now, until);
    insertSecret(tx, webhook.no, app.sealer.seal(secretBytes(secret), secretOwner(webhook.id)), now);
    updateWebhookRow(tx, { ...webhook, version: webhook.version + 1, updated_at: now });
    tx.audit(webhookRecord(call, now, 'rotate-secret', webhook, null, { previous_expires_at: until }));
    return until;
  });
  // No delivery that is still connecting is signed without the new secret from here on.
  await app.access.waitForNodes();
  return { body: { id: params.id, secret, previous_secret_expires_at: until } };
});

const BATCH = 500;

/**
 * At the start: whatever a previous master key sealed, or was sealed for no webhook in particular, is sealed under the current key for
 * its webhook. Small transactions that lock what
 * they change, so several nodes may do it at once, and one that is cut short is simply gone on with.
 */
export async function resealSecrets(db: Database, sealer: Sealer, now: string): Promise<number> {
  const unknown = await transact(db, SYSTEM, async (tx) => {
    deleteExpiredSecrets(tx, now);
    return (await listSealingKeys(tx)).filter((id) => !sealer.keyIds.includes(id));
  });
  if (unknown.length > 0)
    throw new Error(
      `The secrets of some webhooks are sealed under the master key ${unknown.join(', ')}, which is not configured: add it to PORTER_MASTER_KEY_PREVIOUS, or set PORTER_MASTER_KEY to it.`,
    );
  let resealed = 0;
  for (;;) {
    const count = await transact(db, SYSTEM, async (tx) => {
      const rows = await lockSecretsToReseal(tx, sealer.keyId, BATCH);
      if (rows.length > 0)
        replaceSealed(
          tx,
          rows.map((row) => {
            const owner = secretOwner(row.webhookId);
            return { ...row, ...sealer.seal(sealer.openForResealing(row, owner), owner) };
          }),
        );
      const headers = await lockHeadersToReseal(tx, sealer.keyId, BATCH);
      for (const row of headers) {
        const owner = headersOwner(row.webhookId);
        replaceSealedHeaders(tx, row.webhookNo, sealer.seal(sealer.open(row, owner), owner));
      }
      return rows.length + headers.length;
    });
    if (count === 0) return resealed;
    resealed += count;
  }
}
