import { defineConfig } from 'vitest/config';

/**
 * `unit` needs nothing; `service`, `browser` and `faults` share one real PostgreSQL that the setup file starts. `browser` also
 * needs what .ci/run installs: Debian's chromium, and curl, openssl and python3 for the examples of the guides.
 */
export default defineConfig({
  test: {
    // Much of the time is waiting: two at a time on two cores, where the default would be one. `npm test` has three, which took 333 s
    // where two took 402, in one run each; the other tiers were not tried with more.
    maxWorkers: 2,
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          // They leave nothing behind, so one process runs them one after the other and loads what they share once.
          isolate: false,
          // Long for a busy machine, not for the tests.
          testTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'service',
          include: ['test/service/**/*.test.ts'],
          globalSetup: 'test/support/postgres-for-tests.ts',
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          globalSetup: 'test/support/postgres-for-tests.ts',
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'faults',
          include: ['test/faults/**/*.test.ts'],
          globalSetup: 'test/support/postgres-for-tests.ts',
          testTimeout: 900_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
