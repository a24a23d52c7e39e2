import { constants, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import type { Server } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';

/** What the service shows that it is itself. */
export interface Tls {
  cert: Buffer;
  key: Buffer;
}

interface TlsFiles {
  certFile: string;
  keyFile: string;
}

/** TLS 1.3 as it is; of TLS 1.2 what has forward secrecy (ECDHE) and authenticated encryption (AEAD). */
const CIPHERS = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
];

export function serverTls(tls: Tls): SecureContextOptions {
  return {
    ...tls,
    minVersion: 'TLSv1.2',
    ciphers: CIPHERS.join(':'),
    honorCipherOrder: true,
    ecdhCurve: 'X25519:P-256:P-384:P-521',
    // A caller that negotiates again and again costs us more than itself.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  };
}

/** Read before anything is started; says which of the two settings is at fault. */
export function readTls({ certFile, keyFile }: TlsFiles): Tls {
  const tls = { cert: read('PORTER_TLS_CERT', certFile), key: read('PORTER_TLS_KEY', keyFile) };
  try {
    createSecureContext(serverTls(tls));
  } catch (error) {
    throw new Error(
      `PORTER_TLS_CERT and PORTER_TLS_KEY must be a certificate and its key in PEM (${(error as Error).message}).`,
    );
  }
  return tls;
}

function read(setting: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Error(`The file of ${setting} cannot be read (${(error as Error).message}).`);
  }
}

const LOOK_MS = 2_000;

/**
 * Takes a renewed certificate into use without a restart: new connections get it, and those that are open go on. It looks at the
 * files again and again, since tools renew them in ways of which not all are told by the system (a link that leads elsewhere, a
 * folder that is mounted anew). Of a pair that does not work, the one before stays in use. Returns how to stop it.
 */
export function renewTls(files: TlsFiles, server: Server, clock: Clock, log: Logger): () => void {
  let inUse = stampOf(files);
  let seen = inUse;
  const look = () => {
    const stamp = stampOf(files);
    // The two are written one after the other: only what is still the same at the next look is taken for a pair.
    if (stamp !== inUse && stamp === seen) {
      inUse = stamp;
      try {
        const tls = readTls(files);
        (server as SecureServer).setSecureContext(serverTls(tls));
        log.info({ valid_to: new X509Certificate(tls.cert).validTo }, 'certificate renewed');
      } catch (error) {
        log.error({ reason: (error as Error).message }, 'the new certificate cannot be used');
      }
    }
    seen = stamp;
    stop = clock.timer(LOOK_MS, look);
  };
  let stop = clock.timer(LOOK_MS, look);
  return () => stop();
}

/** Changes when one of the files does. */
function stampOf({ certFile, keyFile }: TlsFiles): string {
  return [certFile, keyFile].map(stampOfFile).join();
}

function stampOfFile(file: string): string {
  try {
    const { dev, ino, size, mtimeNs } = statSync(file, { bigint: true });
    return `${dev} ${ino} ${size} ${mtimeNs}`;
  } catch {
    return 'out of reach';
  }
}
