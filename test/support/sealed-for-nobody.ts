import { createCipheriv, createHash, randomBytes } from 'node:crypto';
import type { Sealed } from '../../src/platform/sealing.ts';

/** As secrets were sealed before they had owners. */
export function sealedForNobody(key: Buffer, plain: Uint8Array): Sealed {
  const keyId = createHash('sha256').update(key).digest('hex').slice(0, 8);
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(keyId));
  const ciphertext = Buffer.concat([cipher.update(plain), cipher.final()]);
  return { sealed: Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]), keyId };
}
