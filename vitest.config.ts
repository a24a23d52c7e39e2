import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

function service(name: string): string {
  const file = `test/service/${name}.test.ts`;
  if (!existsSync(join(import.meta.dirname, file)))
    throw new Error(`${file} is gone: correct the list in vitest.config.ts that names it.`);
  return file;
}

/** For each room of the service the file that says most about it in a few seconds. */
const representatives = [
  // The partners' door: reading, changing, who may, how often.
  'practices/submission-type-reads',
  'practices/patch',
  'access/authorisation',
  'access/rate',
  // The operators' door, and what both leave in the audit.
  'access/operator-partners',
  'practices/form-submissions',
  'practices/write-to-record',
  'oversight/audit-trail',
  // An event on its way out.
  'events/publish-events',
  'events/event-feed',
  'events/webhooks-manage',
  'events/delivery-engine',
  'events/egress',
  // The database.
  'process/migrations',
  'process/row-level-security',
  // What people hold in their hands.
  'access/cli-partners',
  'process/sdk-service',
  'process/site-serving',
  // The process.
  'process/graceful-stop',
].map(service);

/** What takes longest, because processes are killed, frozen and started again in it, or thousands of steps are made. */
const longest = [
  'events/post-faults',
  'process/faults',
  'practices/import-faults',
  'events/delivery-stale',
  'practices/practice-software',
  'access/access-agreement',
  'access/isolation',
  'process/faults-frozen',
  'process/cli-process',
  'process/embedded-postgres',
  'process/embedded-postgres-crashes',
  'process/upgrade',
  'events/delivery-order',
  'process/main',
  'process/neighbouring-versions',
].map(service);

/**
 * The longest first: where nobody has run the tests before, Vitest begins with the largest files, and the longest, which are small and mostly wait,
 * would come last and together. It was 464 s instead of 563, with 4 % of the processors idle instead of 30.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const placeOf = ({ moduleId }: TestSpecification) => {
      const place = longest.findIndex((file) => moduleId.endsWith(`/${file}`));
      return place < 0 ? longest.length : place;
    };
    return sorted.sort((a, b) => placeOf(a) - placeOf(b));
  }
}

/**
 * Nothing in a test depends on these: they end what would never end. So they are long enough for a machine that does ten other
 * things. `poll` is the deadline of `expect.poll`, which is one second otherwise.
 */
const patient = {
  testTimeout: 900_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 180_000 } },
};
const everywhere = {
  ...patient,
  // Files leave nothing behind, so a process runs one after the other, and loads and compiles the service once for all of them.
  isolate: false,
  setupFiles: 'test/support/each-file.ts',
};
const onPostgres = { ...everywhere, globalSetup: 'test/support/postgres-for-tests.ts' };

/**
 * `unit` needs nothing; the others share one real PostgreSQL that the setup file starts. `python` needs Python 3.11 and its package index. `browser` also
 * needs what .ci/run installs: Debian's chromium, and curl, openssl and python3 for the examples of the guides. `quick` is some of
 * `service`: with `unit`, it is the tier for the inner loop, `npm run test:quick`, which should stay under a minute.
 */
export default defineConfig({
  test: {
    // Much of the time is waiting: two at a time on two cores, where the default would be one. `npm test` has four, which took 313 s
    // where three took 369 and two 402 with fewer tests, in one run each; it leaves 5 % of the processors idle. The other tiers were not tried with more.
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          ...everywhere,
        },
      },
      {
        test: {
          name: 'service',
          include: ['test/service/**/*.test.ts'],
          ...onPostgres,
        },
      },
      {
        test: {
          name: 'quick',
          include: representatives,
          ...onPostgres,
        },
      },
      {
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          ...onPostgres,
        },
      },
      {
        test: {
          name: 'python',
          include: ['test/python/**/*.test.ts'],
          ...onPostgres,
        },
      },
      {
        test: {
          name: 'judges',
          include: ['test/judges/**/*.test.ts'],
          ...onPostgres,
        },
      },
      {
        test: {
          name: 'faults',
          include: ['test/faults/**/*.test.ts'],
          ...onPostgres,
        },
      },
    ],
  },
});
