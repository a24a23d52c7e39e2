import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from './cluster.ts';
import { readIfThere } from './files.ts';

const filesMax = 10;

/** PostgreSQL starts a new file at this size or age but never deletes one; pruneLogs does. */
export const logSettings: Readonly<Record<string, string>> = {
  logging_collector: 'on',
  log_directory: 'log',
  log_filename: 'postgres-%Y%m%d-%H%M%S.log',
  log_rotation_size: '10MB',
  log_rotation_age: '1d',
  log_timezone: 'UTC',
};

/** What the server says before its log collector runs. Overwritten at each start. */
export function startLogOf(dataDir: string): string {
  return join(dataDir, 'postgres-start.log');
}

export function pruneLogs(cluster: Cluster): void {
  for (const file of logFiles(cluster).slice(0, -filesMax)) rmSync(file, { force: true });
}

/** The end of what the server wrote, for an error message. */
export function lastWords(cluster: Cluster): string {
  const files = [startLogOf(cluster.dataDir), ...logFiles(cluster).slice(-1)];
  return files
    .map((file) => `${file}:\n${(readIfThere(file) ?? '').trim().split('\n').slice(-5).join('\n')}`)
    .join('\n');
}

/** Oldest first: their names sort by time. */
function logFiles(cluster: Cluster): string[] {
  const folder = join(cluster.folder, 'log');
  try {
    return readdirSync(folder)
      .sort()
      .map((name) => join(folder, name));
  } catch {
    return []; // before the first start
  }
}
