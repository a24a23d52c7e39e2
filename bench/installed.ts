import { spawnSync } from 'node:child_process';

/** Some ceilings are tools of the system, which may not be there. What one says when asked for its version does not matter. */
export function isInstalled(tool: string, version: string): boolean {
  return spawnSync(tool, [version], { stdio: 'ignore' }).error === undefined;
}
