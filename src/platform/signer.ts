import { createPrivateKey, createPublicKey, hkdfSync, type KeyObject, sign } from 'node:crypto';

/**
 * Signs what is given out (Ed25519). Its key is derived from the master key, so every node has the same one and there is no further secret
 * to keep: whoever can write to the database alone cannot sign.
 */
export interface Signer {
  /** In base64url. */
  publicKey: string;
  sign(text: string): Buffer;
  /** Whether the key is ours, also from before the master key was changed. */
  knows(publicKey: string): boolean;
}

/** What stands before the 32 bytes of a key in PKCS #8. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

export function createSigner({ current, previous }: { current: Buffer; previous: Buffer[] }): Signer {
  const privateKey = keyFrom(current);
  const publicKey = publicPart(privateKey);
  const known = new Set([publicKey, ...previous.map((key) => publicPart(keyFrom(key)))]);
  return {
    publicKey,
    sign: (text) => sign(null, Buffer.from(text), privateKey),
    knows: (key) => known.has(key),
  };
}

function keyFrom(masterKey: Buffer): KeyObject {
  return privateKeyOf(Buffer.from(hkdfSync('sha256', masterKey, '', 'porter audit anchor', 32)));
}

/** The Ed25519 key that is made of these 32 bytes. */
export function privateKeyOf(seed: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' });
}

/** In base64url. */
export function publicPart(key: KeyObject): string {
  return createPublicKey(key).export({ format: 'jwk' }).x ?? '';
}
