import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';

/** What the service shows that it is itself. */
export interface Tls {
  cert: Buffer;
  key: Buffer;
}

/** Read before anything is started; says which of the two settings is at fault. */
export function readTls({ certFile, keyFile }: { certFile: string; keyFile: string }): Tls {
  const tls = { cert: read('PORTER_TLS_CERT', certFile), key: read('PORTER_TLS_KEY', keyFile) };
  try {
    createSecureContext(tls);
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
