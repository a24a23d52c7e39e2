import {
  deleteWriteThrough as deleteEndpoint,
  getWriteThrough as getEndpoint,
  putWriteThrough as putEndpoint,
  type WriteThroughSettings,
} from '../../contract/operator/practices/write-through.ts';
import { LIVE_SECRETS_MAX, SECRET_OVERLAP_HOURS } from '../../contract/partner/webhooks.ts';
import { Problem } from '../../contract/problems.ts';
import { newSecret, secretBytes } from '../../domain/events/signature.ts';
import { newId } from '../../domain/ids.ts';
import { databaseTime } from '../../platform/clock.ts';
import { transact } from '../../store/database.ts';
import { findOlderNodes } from '../../store/events/presence.ts';
import { insertSubscription } from '../../store/events/subscriptions.ts';
import {
  countLiveSecrets,
  expireSecrets,
  insertSecret,
  secretOwner,
} from '../../store/events/webhook-secrets.ts';
import { forgetFailures, markWebhookDeleted } from '../../store/events/webhooks.ts';
import { findGroup } from '../../store/practices/practice-groups.ts';
import {
  deleteWriteThroughRow,
  findUnsettled,
  findWriteThrough,
  hurryUntold,
  insertWriteThrough,
  lockWriteThrough,
  updateWriteThrough,
} from '../../store/practices/write-through.ts';
import { nowIso, operation } from '../app.ts';
import { refuseOperatorTarget } from '../events/subscriptions.ts';

/** Nodes before this version of the schema would only refuse the changes. */
const WRITES_THROUGH_SINCE = 2;

const ASKED = 'A change is just being put to the practice software. Try again in a minute.';
const UNTOLD =
  'The practice software has still to be told (change.withdrawn) of a change that was not made. It is tried until it is received. PUT the write-through again, to the same address or to another one that takes it: that sends it at once, also if an earlier version has given it up. Then delete.';
const DISABLED = 'An earlier version has disabled the address: nothing is sent to it until it is PUT again.';

/** Whether the software of a practice group is asked before a partner's change is made: see runtime/practices/write-through.ts. */

export const putWriteThrough = operation(putEndpoint, async (app, call) => {
  const { principal, params, body } = call;
  refuseOperatorTarget(app, body.url);
  const secret = newSecret(app.random);
  const settings = await transact(app.db, principal, async (tx): Promise<WriteThroughSettings> => {
    const found = await lockWriteThrough(tx, params.id);
    if (!(await findGroup(tx, params.id))) throw new Problem('not_found');
    const older = found ? [] : await findOlderNodes(tx, WRITES_THROUGH_SINCE);
    if (older.length > 0)
      throw new Problem('conflict', {
        message: `A node of a version that does not write through works on this database (in pg_stat_activity: ${older.join(', ')}). Upgrade it first.`,
      });
    const now = nowIso(app);
    const webhookId = found?.webhook_id ?? newId('wh', app.clock.now(), app.random);
    const sealed = app.sealer.seal(secretBytes(secret), secretOwner(webhookId));
    if (found) {
      if ((await countLiveSecrets(tx, found.webhook_no, now)) >= LIVE_SECRETS_MAX)
        throw new Problem('conflict', {
          message: `${LIVE_SECRETS_MAX} secrets sign already; wait until the oldest expires.`,
        });
      const until = new Date(app.clock.now() + SECRET_OVERLAP_HOURS * 3_600_000).toISOString();
      expireSecrets(tx, found.webhook_no, now, until);
      insertSecret(tx, found.webhook_no, sealed, now);
      updateWriteThrough(tx, found, body.url, now);
      forgetFailures(tx, found.webhook_no);
      await hurryUntold(tx, databaseTime(app.clock), found.webhook_no);
    } else {
      const no = await insertSubscription(tx, {
        id: webhookId,
        url: body.url,
        description: null,
        topics: [],
        status: 'active',
        status_reason: null,
        version: 1,
        created_at: now,
        updated_at: now,
      });
      insertSecret(tx, no, sealed, now);
      insertWriteThrough(tx, params.id, no, now);
    }
    tx.audit({
      at: now,
      principal,
      action: 'write_through.put',
      subject: { type: 'practice_group', id: params.id },
      practiceGroupId: params.id,
      requestId: call.requestId,
      before: found ? { url: shown(found.url) } : null,
      after: { url: shown(body.url) },
    });
    const settings = await findWriteThrough(tx, params.id);
    if (!settings) throw new Error('write-through was not set');
    return settings;
  });
  // Until then another node may make a change without asking.
  await app.access.settle();
  return { body: { ...settings, secret } };
});

export const getWriteThrough = operation(getEndpoint, async (app, { principal, params }) => {
  const body = await transact(app.db, principal, (tx) => findWriteThrough(tx, params.id));
  if (!body) throw new Problem('not_found');
  return { body };
});

export const deleteWriteThrough = operation(deleteEndpoint, async (app, call) => {
  const { principal, params } = call;
  await transact(app.db, principal, async (tx) => {
    const found = await lockWriteThrough(tx, params.id);
    if (!found) throw new Problem('not_found');
    const { isAsked, isUntold } = await findUnsettled(tx, found);
    if (isUntold)
      throw new Problem('conflict', {
        message: found.status === 'active' ? UNTOLD : `${DISABLED} ${UNTOLD}`,
      });
    if (isAsked) throw new Problem('conflict', { message: ASKED });
    const now = nowIso(app);
    deleteWriteThroughRow(tx, params.id);
    markWebhookDeleted(tx, { no: found.webhook_no, version: found.version }, now);
    tx.audit({
      at: now,
      principal,
      action: 'write_through.delete',
      subject: { type: 'practice_group', id: params.id },
      practiceGroupId: params.id,
      requestId: call.requestId,
      before: { url: shown(found.url) },
      after: null,
    });
  });
  await app.access.settle();
  return { body: undefined };
});

/** A query may carry its receiver's password. */
const shown = (url: string) => url.replace(/\?.*$/s, '?[redacted]');
