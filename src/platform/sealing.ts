import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto';

/**
 * Secrets at rest. What is sealed names the key that sealed it, so that keys can be changed while old secrets are still
 * about: new ones are sealed under the current key, and whatever a previous key sealed can still be opened.
 */
export interface Sealed {
  /** Nonce, authentication tag, ciphertext. */
  sealed: Buffer;
  keyId: string;
}

export interface Sealer {
  /** The ID of the current key. */
  keyId: string;
  /** Of every key that can open, the current one first. */
  keyIds: readonly string[];
  /** `owner` names what the secret belongs to: nobody who moves it to another one's row can use it there. */
  seal(plain: Uint8Array, owner: string): Sealed;
  open(secret: Sealed, owner: string): Buffer;
  /** Opens what was sealed before secrets had owners, too: to be sealed anew. */
  openForResealing(secret: Sealed, owner: string): Buffer;
  /** A hash that tells nothing to whoever has no key, and by which a text is found again: under each key, the current one first. */
  hashesOf(text: string): [Buffer, ...Buffer[]];
}

export const MASTER_KEY_BYTES = 32;
const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export function createSealer({ current, previous }: { current: Buffer; previous: Buffer[] }): Sealer {
  const keys = new Map([current, ...previous].map((key) => [idOf(key), key]));
  const keyId = idOf(current);
  function openBound({ sealed, keyId: sealedUnder }: Sealed, bound: string): Buffer {
    const key = keys.get(sealedUnder);
    if (!key) throw new Error(`The master key ${sealedUnder} is not configured.`);
    const ciphertext = sealed.subarray(NONCE_BYTES + TAG_BYTES);
    const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    })
      .setAAD(Buffer.from(bound))
      .setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    try {
      // Memory of its own: a slice of Node's pool, as `concat` gives, holds 64 KiB for as long as a secret is remembered.
      const plain = decipher.update(ciphertext);
      // All is out by now; this compares the tag.
      decipher.final();
      return plain;
    } catch {
      throw new Error(
        `What was sealed under the master key ${sealedUnder} has been altered since, or belongs to something else.`,
      );
    }
  }

  return {
    keyId,
    keyIds: [...keys.keys()],
    seal(plain, owner) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, current, nonce).setAAD(Buffer.from(boundTo(keyId, owner)));
      const ciphertext = Buffer.concat([cipher.update(plain), cipher.final()]);
      return { sealed: Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]), keyId };
    },
    open: (secret, owner) => openBound(secret, boundTo(secret.keyId, owner)),
    openForResealing(secret, owner) {
      try {
        return openBound(secret, boundTo(secret.keyId, owner));
      } catch {
        return openBound(secret, secret.keyId);
      }
    },
    hashesOf(text) {
      const hash = (key: Buffer) => createHmac('sha256', key).update(text).digest();
      return [hash(hashKeyOf(current)), ...previous.map((key) => hash(hashKeyOf(key)))];
    },
  };
}

/** What is authenticated along with the secret. IDs of keys have one length, so no two pairs read alike. */
function boundTo(keyId: string, owner: string): string {
  return `${keyId} ${owner}`;
}

/** What seals hashes nothing. */
function hashKeyOf(key: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', 'porter hash', 32));
}

/** Names a key without telling anything of it. */
function idOf(key: Buffer): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 8);
}
