import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Logger } from '../platform/logger.ts';

const PACKAGE = new URL('../../packages/console/', import.meta.url);

/**
 * The console is built by `npm ci`. An installation that ran no scripts has no build yet: it is made now, in a process of its own, while
 * the service serves.
 */
export function buildConsoleOnce(log: Pick<Logger, 'info' | 'warn'>): void {
  if (existsSync(new URL('dist/screens.json', PACKAGE))) return;
  log.info({}, 'building the console, once: it opens in a few seconds');
  const child = spawn(process.execPath, [fileURLToPath(new URL('build.ts', PACKAGE))], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const said: Buffer[] = [];
  child.stderr.on('data', (chunk: Buffer) => said.push(chunk));
  child.on('error', (error) => said.push(Buffer.from(error.message)));
  child.on('close', (code) => {
    if (code === 0) log.info({}, 'the console is built');
    else
      log.warn({ code, said: Buffer.concat(said).toString().slice(-2000) }, 'the console could not be built');
  });
}
