import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Block, blocksOf, compareText, nameOf, ROOT } from '../support/examples.ts';
import { runPage } from '../support/examples-page.ts';
import { Background, standFor, systemPath } from '../support/examples-world.ts';
import { freePort } from '../support/porter-process.ts';

/** What a newcomer does in the first hour, word for word as docs/index.md tells it, in a copy of the repository. */

const PAGE = 'docs/index.md';

/** What a clone would hold once this is committed. */
function copyOfTheRepository(): string {
  const folder = mkdtempSync(join(tmpdir(), 'porter-first-hour-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  for (const file of files.split('\0').filter((name) => name && existsSync(join(ROOT, name)))) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(ROOT, file), join(folder, file), { verbatimSymlinks: true, force: true });
  }
  // Instead of `npm ci`, which .ci/run does from a real clone: it takes most of the time, and a network.
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

test('from a clone to the first verified webhook', async () => {
  const folder = copyOfTheRepository();
  const began = performance.now();
  const [port, receiverPort] = [await freePort(), await freePort()];
  const env = {
    PATH: systemPath(),
    HOME: folder,
    PORTER_PORT: String(port),
    PORTER_URL: `http://127.0.0.1:${port}`,
    PORT: String(receiverPort),
  };
  const [install, printed] = blocksOf(PAGE) as [Block, Block];
  expect(install.code).toBe('npm ci\nnpm start\n');

  const service = new Background('exec npm start', { folder, env });
  const banner = await service.errors(/group=riverside-surgery\n/);
  const key = readFileSync(join(folder, '.porter/demo-key'), 'utf8');
  const stand = standFor({ port, receiverPort, nobody: receiverPort, key, token: '' });
  compareText(printed.code, banner, stand, nameOf(printed));

  await runPage(
    PAGE,
    'everybody',
    { folder, env, stand },
    {
      isLeftOut: ({ code }) => code === install.code,
      isSeenElsewhere: () => true,
      goesOn: ({ code }) => /receiver\.ts|porter listen/.test(code),
    },
  );
  console.log(`after npm ci, the page took ${((performance.now() - began) / 1000).toFixed(1)} s`);
});
