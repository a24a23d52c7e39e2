import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Block, blocksOf, nameOf, pages } from '../support/examples.ts';
import { RUN_ELSEWHERE, readersOf, runPage } from '../support/examples-page.ts';
import { type Demo, startDemo } from '../support/examples-world.ts';
import { until } from '../support/porter-process.ts';

/** Everything that the pages tell people to paste is pasted here, with curl, openssl and python3 as they would have them. */

const FIRST_HOUR = /^npm ci$/m;

/** What cannot run here, with the reason; its syntax is checked. */
const LEFT_OUT = [
  { holds: FIRST_HOUR, why: 'examples-first-hour.test.ts goes this way, from a copy of the repository' },
  { holds: /^docker /m, why: 'there is no container runtime where the tests run' },
  { holds: /^systemctl /m, why: 'the machine of the tests has no systemd of its own' },
  {
    holds: /^psql |^createdb |pg_dump /m,
    why: 'the client of PostgreSQL must be as new as the server, and no distribution has that one yet',
  },
  { holds: /api\.porter\.example/, why: 'it looks at the certificate of a deployment' },
];

/** Languages of files that are shown, not run; `test/unit/guide-examples.test.ts` looks into them. */
const FILES = ['ini', 'nginx', 'yaml'];

const directions = {
  isLeftOut: (block: Block) =>
    FILES.includes(block.language) || LEFT_OUT.some(({ holds }) => holds.test(block.code)),
  isSeenElsewhere: ({ code }: Block) => FIRST_HOUR.test(code),
  goesOn: ({ code }: Block) =>
    /examples\/(receiver|verify)\.(ts|py)|curl -sSN|porter (listen|events tail)|npm start/m.test(code),
};

/** Where a page says: with the service stopped. */
const WHEN_STOPPED = /tar -czf|^(export|unset) PORTER_MASTER_KEY_PREVIOUS/m;

/** The embedded PostgreSQL is copied in the first; elsewhere the one that all tests share is quicker. */
const BACKUP = 'docs/operating/backup-and-restore.md';
const ROTATION = 'docs/operating/rotating-secrets.md';

const readings = pages
  .filter((page) => !(page in RUN_ELSEWHERE))
  .flatMap((page) => readersOf(page).map((reader) => ({ page, reader })));

test.each(readings)('$page works as it says for $reader', async ({ page, reader }) => {
  const demo = await startDemo({ embedded: page === BACKUP });
  if (page === ROTATION) await sealSomething(demo);
  await runPage(page, reader, demo, {
    ...directions,
    async before({ code }, running) {
      // It has half a minute, as is enough for whoever follows the page.
      if (code.includes('--retry-connrefused')) await until('it answers', () => isReady(demo));
      if (!WHEN_STOPPED.test(code)) return;
      demo.porter.process.kill('SIGTERM');
      await demo.porter.exited;
      for (const one of running) await one.stop();
    },
  });
  if (page === BACKUP) expectPrivate(demo.env.HOME ?? '');
});

function isReady({ porter }: Demo): Promise<boolean> {
  return fetch(`${porter.url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** Without a secret in the database, any master key would do. */
async function sealSomething({ porter, stand }: Demo): Promise<void> {
  const answer = await fetch(`${porter.url}/v1/webhooks`, {
    method: 'POST',
    headers: {
      'x-api-key': stand.toReal('ptr_test_YOUR_KEY'),
      'x-practice-group-id': 'riverside-surgery',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ url: 'http://127.0.0.1:3999/hooks' }),
  });
  expect(answer.status).toBe(201);
}

/** What the page left behind is nobody else's to read. */
function expectPrivate(home: string): void {
  const kept = ['porter-backup/porter.tar.gz', 'porter-master-key/master-key'];
  for (const name of [...kept, 'porter-restored/.porter/master-key'])
    expect([name, statSync(join(home, name)).mode & 0o077]).toEqual([name, 0]);
  const held = execFileSync('tar', ['-tzf', join(home, 'porter-backup/porter.tar.gz')], { encoding: 'utf8' });
  expect(held).toContain('.porter/postgres.password');
  expect(held).not.toContain('master-key');
}

test('the page of the events works as it says', async () => {
  const isLeftOut = ({ language }: Block) => language !== 'sh';
  await runPage('docs/reference/events.md', 'everybody', await startDemo(), { ...directions, isLeftOut });
});

test.each(LEFT_OUT)('what is left out because $why is at least a script', ({ holds }) => {
  const blocks = pages
    .flatMap((page) => blocksOf(page))
    .filter(({ code, output }) => !output && holds.test(code));
  expect(blocks.length, 'an entry that nothing needs').toBeGreaterThan(0);
  for (const block of blocks) {
    expect(block.language, nameOf(block)).toBe('sh');
    execFileSync('sh', ['-n'], { input: block.code, stdio: 'pipe' });
  }
});
