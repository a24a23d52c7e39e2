import {
  listSigningKeys as listEndpoint,
  rotateSigningKey as rotateEndpoint,
} from '../../contract/operator/events/signing-keys.ts';
import { Problem } from '../../contract/problems.ts';
import { SYSTEM } from '../../domain/access/principal.ts';
import { PUBLIC_KEY_PREFIX } from '../../domain/events/signature.ts';
import { newId } from '../../domain/ids.ts';
import type { Sealer } from '../../platform/sealing.ts';
import { privateKeyOf, publicPart } from '../../platform/signer.ts';
import { type Database, transact } from '../../store/database.ts';
import {
  anySignedWebhook,
  deleteSigningKey,
  expireSigningKeys,
  insertSigningKey,
  listLiveSigningKeys,
  lockSigningKeys,
  replaceSealedSigningKey,
  type StoredSigningKey,
  signingKeyOwner,
} from '../../store/events/signing-keys.ts';
import { type App, nowIso, operation } from '../app.ts';

/** The key pair with which a deployment signs for everybody. A private key leaves the house never, and the database only sealed. */

const LIVE_MAX = 4;
const OVERLAP_SECONDS = 7 * 24 * 3_600;

/** At the start: the first one, if there is none. */
export async function ensureSigningKey(app: App): Promise<void> {
  await transact(app.db, SYSTEM, async (tx) => {
    lockSigningKeys(tx);
    if ((await listLiveSigningKeys(tx, nowIso(app))).length === 0) insertSigningKey(tx, newSigningKey(app));
  });
}

/**
 * At the start: whatever a previous master key sealed is sealed under the current one. A key that cannot be opened any more is made anew if no
 * webhook is signed with it.
 */
export async function resealSigningKeys(db: Database, sealer: Sealer, now: string): Promise<void> {
  await transact(db, SYSTEM, async (tx) => {
    lockSigningKeys(tx);
    const keys = await listLiveSigningKeys(tx, now);
    const lost = keys.filter(({ keyId }) => !sealer.keyIds.includes(keyId));
    if (lost.length > 0 && (await anySignedWebhook(tx)))
      throw new Error(
        `The key that signs webhooks is sealed under the master key ${lost.map(({ keyId }) => keyId).join(', ')}, which is not configured: add it to PORTER_MASTER_KEY_PREVIOUS, or set PORTER_MASTER_KEY to it.`,
      );
    for (const { id } of lost) deleteSigningKey(tx, id);
    for (const key of keys) {
      if (key.keyId === sealer.keyId || lost.includes(key)) continue;
      const owner = signingKeyOwner(key.id);
      replaceSealedSigningKey(tx, key.id, sealer.seal(sealer.open(key, owner), owner));
    }
  });
}

export const listSigningKeys = operation(listEndpoint, async (app, { principal }) => {
  const keys = await transact(app.db, principal, (tx) => listLiveSigningKeys(tx, nowIso(app)));
  return { body: { data: keys.map(present) } };
});

export const rotateSigningKey = operation(rotateEndpoint, async (app, call) => {
  const overlapMs = (call.body.overlap_seconds ?? OVERLAP_SECONDS) * 1000;
  const key = await transact(app.db, call.principal, async (tx) => {
    lockSigningKeys(tx);
    const now = nowIso(app);
    const live = await listLiveSigningKeys(tx, now);
    if (live.length >= LIVE_MAX)
      throw new Problem('conflict', {
        message: `${LIVE_MAX} keys sign already; wait until the oldest expires.`,
      });
    const until = new Date(app.clock.now() + overlapMs).toISOString();
    expireSigningKeys(tx, now, until);
    const made = newSigningKey(app);
    insertSigningKey(tx, made);
    tx.audit({
      at: now,
      principal: call.principal,
      action: 'signing_key.rotate',
      subject: { type: 'signing_key', id: made.id },
      requestId: call.requestId,
      before: live[0] ? present(live[0]) : null,
      after: { ...present(made), previous_expires_at: until },
    });
    return made;
  });
  // No delivery that is still connecting is signed without the new key from here on.
  await app.access.waitForNodes();
  return { body: present(key) };
});

/** What anybody may know of them, for `/.well-known/`. */
export async function publicSigningKeys(app: App) {
  const keys = await transact(app.db, SYSTEM, (tx) => listLiveSigningKeys(tx, nowIso(app)));
  return keys.map(present);
}

function newSigningKey(app: App): StoredSigningKey {
  const id = newId('sgk', app.clock.now(), app.random);
  const seed = app.random(32);
  const publicKey = Buffer.from(publicPart(privateKeyOf(seed)), 'base64url').toString('base64');
  const sealed = app.sealer.seal(seed, signingKeyOwner(id));
  return { id, publicKey, ...sealed, createdAt: nowIso(app), expiresAt: null };
}

function present({ id, publicKey, createdAt, expiresAt }: StoredSigningKey) {
  return { id, public_key: PUBLIC_KEY_PREFIX + publicKey, created_at: createdAt, expires_at: expiresAt };
}
