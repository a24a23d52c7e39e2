import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres } from '../../src/platform/postgres/embedded.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The superuser's url of the PostgreSQL that all test files share; each makes databases of its own in it. */
    postgresUrl: string;
  }
}

/** `TEST_DATABASE_URL`, a superuser's, takes the place of the embedded server: for running the tests on another version. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (process.env.TEST_DATABASE_URL) {
    project.provide('postgresUrl', process.env.TEST_DATABASE_URL);
    return async () => {};
  }
  const dataDir = mkdtempSync(join(tmpdir(), 'porter-tests-'));
  const postgres = await startEmbeddedPostgres({
    dataDir,
    log: () => {},
    // Its data is thrown away, so it need not survive a power cut; tests that crash a server start their own.
    settings: { max_connections: '200', fsync: 'off' },
  });
  project.provide('postgresUrl', postgres.adminUrl);
  return async () => {
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
}
