import { expect, it, onTestFinished } from 'vitest';
import { createLogger } from '../../../src/platform/logger.ts';
import { startService } from '../../../src/service/compose.ts';
import { readConfig } from '../../../src/service/config.ts';
import { temporaryFolder } from '../../support/afterwards.ts';
import { createUpToDateDatabase } from '../../support/service.ts';

it('a mistake after an answer has left is logged, and ends neither the answer nor the service', async () => {
  const folder = temporaryFolder();
  const env = { DATABASE_URL: await createUpToDateDatabase(), PORTER_PORT: '0', PORTER_DATA_DIR: folder };
  const lines: { msg: string }[] = [];
  let broken = true;
  const log = createLogger((text) => {
    const line = JSON.parse(text);
    if (line.msg === 'request' && broken) throw new Error('no space left on the disk');
    lines.push(line);
  });
  const service = await startService(readConfig(env, folder), { log });
  onTestFinished(() => service.stop());

  const call = () => fetch(`${service.url}/v1/practice-groups`);
  expect((await call()).status).toBe(401);
  await expect.poll(() => lines.map(({ msg }) => msg)).toContain('bug after the answer');
  broken = false;
  expect((await call()).status).toBe(401);
  await expect.poll(() => lines.map(({ msg }) => msg)).toContain('request');
});
