import { join } from 'node:path';
import type { App } from '../operations/app.ts';
import { keepKeyFile } from '../platform/key-file.ts';
import { createSealer, MASTER_KEY_BYTES } from '../platform/sealing.ts';
import { createSigner } from '../platform/signer.ts';
import { type Config, masterKey } from './config.ts';

/** The master key is the configured one, or one that is made on the first start and kept in the data folder. */
export async function makeKeys(config: Config, random: App['random']): Promise<Keys> {
  const previous = config.previousMasterKeys;
  if (config.masterKey) return keysFrom(config.masterKey, previous);
  const file = join(config.dataDir, 'master-key');
  const newKey = () => Buffer.from(random(MASTER_KEY_BYTES)).toString('base64');
  const text = await keepKeyFile(file, newKey);
  try {
    return keysFrom(masterKey(text), previous);
  } catch (error) {
    throw new Error(`The master key in ${file} cannot be used: it ${(error as Error).message}.`);
  }
}

export type Keys = Pick<App, 'sealer' | 'signer'>;

function keysFrom(current: Buffer, previous: Buffer[]): Keys {
  return { sealer: createSealer({ current, previous }), signer: createSigner({ current, previous }) };
}
