import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Block, blocksOf, pages, ROOT } from '../support/examples.ts';
import {
  body,
  checkNeedsSecret,
  checkReceiver,
  checkRetries,
  hangUp,
  secret,
  sign,
} from '../support/examples-checks.ts';
import { RUN_ELSEWHERE, runPage } from '../support/examples-page.ts';
import { Background, type Demo, run, startDemo } from '../support/examples-world.ts';
import { freePort } from '../support/porter-process.ts';

/** The TypeScript of the pages: compiled under strict rules, then run against a real service. */

const typescript = pages
  .filter((page) => !(page in RUN_ELSEWHERE))
  .flatMap((page) => blocksOf(page))
  .filter(({ language, page }) => language === 'ts' && !(page in RUN_ELSEWHERE));

test('every block and every program compiles under strict rules', () => {
  const folder = mkdtempSync(join(tmpdir(), 'porter-examples-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
  const files = typescript.map(({ page, line, code }) => {
    const file = join(folder, `${page.replaceAll('/', '-')}-${line}.ts`);
    // Each is a program of its own, also those that import nothing.
    writeFileSync(file, `${code}\nexport {};\n`);
    return file;
  });
  const programs = readdirSync(join(ROOT, 'examples'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  for (const name of programs) files.push(join(ROOT, 'examples', name));
  expect(files.length).toBeGreaterThan(8);
  const options = ['--noEmit', '--strict', '--noUncheckedIndexedAccess', '--skipLibCheck'];
  const modules = ['--module', 'nodenext', '--target', 'es2024', '--types', 'node'];
  const tsc = join(ROOT, 'node_modules/.bin/tsc');
  expect(printed(tsc, [...options, ...modules, ...files], folder)).toBe('');
});

function printed(command: string, args: string[], cwd: string): string {
  try {
    return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    return String((error as { stdout: string }).stdout);
  }
}

const pagesWithTypeScript = [...new Set(typescript.map(({ page }) => page))];

test.each(Object.entries(RUN_ELSEWHERE))('%s is run by %s', (page, file) => {
  expect(readFileSync(join(ROOT, file), 'utf8')).toContain(basename(page));
});

test.each(pagesWithTypeScript)('%s: its TypeScript does what the page says', async (page) => {
  const directions = {
    isLeftOut: ({ language }: Block) => language !== 'ts',
    isSeenElsewhere: () => true,
    goesOn: () => false,
  };
  await runPage(page, 'TypeScript', await startDemo(), directions);
});

describe('examples/receiver.ts', () => {
  const start = (demo: Demo) => new Background(`${process.execPath} examples/receiver.ts`, demo);
  const webhooks = async ({ porter, stand }: Demo) => {
    const answer = await fetch(`${porter.url}/v1/webhooks`, {
      headers: partner(stand.toReal('ptr_test_YOUR_KEY')),
    });
    return ((await answer.json()) as { data: { id: string; url: string }[] }).data;
  };
  const partner = (key: string) => ({
    'x-api-key': key,
    'x-practice-group-id': 'riverside-surgery',
    'content-type': 'application/json',
  });

  test('registers itself, prints what it verified, and removes its webhook when it is stopped', async () => {
    const demo = await startDemo();
    const receiver = start(demo);
    expect(await receiver.lines(1)).toMatch(/^registered wh_\w+ for riverside-surgery, listening on http:/);
    await fetch(`${demo.porter.url}/v1/test-events`, {
      method: 'POST',
      headers: partner(demo.stand.toReal('ptr_test_YOUR_KEY')),
      body: '{"event": "appointment.confirmed"}',
    });
    expect(await receiver.lines(1)).toMatch(/^verified appointment\.confirmed Appointment test_\w+$/);
    const unsigned = await fetch(`http://127.0.0.1:${demo.env.PORT}/hooks`, { method: 'POST', body: '{}' });
    expect(unsigned.status).toBe(401);
    await hangUp(String(demo.env.PORT));
    expect(await webhooks(demo)).toHaveLength(1);
    expect(await receiver.stop()).toMatch(/^removed wh_\w+\n$/);
    expect(await webhooks(demo)).toEqual([]);
  });

  test('finds the service that was started in its folder, unless it is told of one', async () => {
    const demo = await startDemo();
    const { PORTER_URL: _url, ...env } = demo.env;
    const receiver = start({ ...demo, env });
    expect(await receiver.lines(1)).toMatch(/^registered wh_\w+ for riverside-surgery/);
    await receiver.stop();
    const nobody = `http://127.0.0.1:${await freePort()}`;
    writeFileSync(join(demo.folder, '.porter/url'), nobody);
    const lost = await run(process.execPath, ['examples/receiver.ts'], { ...demo, env });
    expect(lost.stdout).toContain(`Nothing answers at ${nobody}.`);
    // Told of a service, it does not look there.
    expect(await start(demo).lines(1)).toMatch(/^registered wh_/);
  });

  test('takes the place of one that had no time to clean up', async () => {
    const demo = await startDemo();
    await fetch(`${demo.porter.url}/v1/webhooks`, {
      method: 'POST',
      headers: partner(demo.stand.toReal('ptr_test_YOUR_KEY')),
      body: JSON.stringify({ url: `http://127.0.0.1:${demo.env.PORT}/hooks` }),
    });
    const [left] = await webhooks(demo);
    const receiver = start(demo);
    await receiver.lines(1);
    expect(await webhooks(demo)).toHaveLength(1);
    expect((await webhooks(demo))[0]?.id).not.toBe(left?.id);
  });

  test('says what to do when it cannot begin', async () => {
    const demo = await startDemo();
    const said = async (env: Record<string, string>) =>
      (
        await run(process.execPath, ['examples/receiver.ts'], { ...demo, env: { ...demo.env, ...env } })
      ).stdout.trim();
    const nobody = `http://127.0.0.1:${await freePort()}`;
    expect(await said({ PORTER_URL: nobody })).toBe(
      `Nothing answers at ${nobody}. Run \`npm start\` first, or set PORTER_URL.`,
    );
    expect(await said({ PORTER_KEY: 'ptr_test_nonsense' })).toMatch(
      /^GET \/v1\/webhooks was refused: \{"error":"invalid_credentials"/,
    );
    expect(await said({ PORT: new URL(demo.porter.url).port })).toMatch(
      /^Port \d+ is taken\. Set PORT to another one\.$/,
    );
    rmSync(join(demo.folder, '.porter/demo-key'));
    expect(await said({})).toBe(
      'There is no .porter/demo-key. Run `npm start` in this folder first, or set PORTER_KEY.',
    );
  });
});

test('examples/verify.ts takes what the service signed, and nothing else', async () => {
  await checkNeedsSecret(process.execPath, 'examples/verify.ts');
  await checkReceiver(process.execPath, 'examples/verify.ts');
});

test('examples/retry.ts repeats what may pass', () => checkRetries(process.execPath, 'examples/retry.ts'));

test('the TypeScript of the reference takes what is genuine and throws at the rest', () => {
  const [example] = blocksOf('docs/reference/events.md').filter(({ language }) => language === 'ts');
  const folder = mkdtempSync(join(tmpdir(), 'porter-examples-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const verify = (rawBody: string) => {
    const given = Object.entries({ secret, headers: sign(), rawBody }).map(
      ([name, value]) => `const ${name} = ${JSON.stringify(value)};`,
    );
    const file = join(folder, 'verify.ts');
    writeFileSync(file, [...given, example?.code, 'console.log(event.id);'].join('\n'));
    return execFileSync(process.execPath, [file], { encoding: 'utf8', stdio: 'pipe' }).trim();
  };
  expect(verify(body)).toBe('äpt_1');
  expect(() => verify(`${body} `)).toThrow('No matching signature found');
});
