import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Porter } from '../../packages/sdk/src/index.ts';
import { temporaryFolder } from '../support/afterwards.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { freePort } from '../support/porter-process.ts';
import { pythonWith } from '../support/python.ts';
import { startHarness } from '../support/service.ts';

/** The Python client: its types, its own tests, and the package as a partner gets it, against a running service. */

const ROOT = resolve(import.meta.dirname, '../..');
const PACKAGE = join(ROOT, 'packages/sdk-python');
const python = await pythonWith('packages/sdk-python/requirements-test.txt');
const house = await startHarness({
  env: { PORTER_DEMO: 'on' },
  clock: new ManualClock(new Date().toISOString()),
});
const key = house.service.demoKey ?? '';
const env = { PORTER_URL: house.url, PORTER_KEY: key, PYTHONPATH: join(PACKAGE, 'src') };
const pages = ['packages/sdk-python/README.md', 'docs/guides/python.md'].map((page) =>
  readFileSync(join(ROOT, page), 'utf8'),
);

interface Example {
  name: string;
  code: string;
  output: string | undefined;
}

const examples: Example[] = pages.flatMap((text, page) =>
  [...text.matchAll(/^```python\n(.*?)^```\n(?:\n```text output\n(.*?)^```)?/gms)].map(
    ([, code = '', output], at) => ({ name: `page_${page}_example_${at}`, code, output }),
  ),
);
const isReceiver = ({ code }: Example) => code.includes('verify_webhook');

function written({ name, code }: Example, folder: string, port = 3000): string {
  const file = join(folder, `${name}.py`);
  const filled = code
    .replaceAll('http://127.0.0.1:8080', house.url)
    .replaceAll('ptr_test_YOUR_KEY', key)
    .replaceAll('3000', String(port));
  writeFileSync(file, filled);
  return file;
}

const { paths } = JSON.parse(readFileSync(join(ROOT, 'spec/openapi.json'), 'utf8'));
const samples: Example[] = Object.values<object>(paths)
  .flatMap((item) => Object.values(item).flatMap((one) => one['x-codeSamples'] ?? []))
  .filter(({ lang }) => lang === 'python')
  .map(({ source }, at) => ({ name: `sample_${at}`, code: source, output: undefined }));

it('has types that mypy --strict is content with, and so are its tests, its examples and those of the reference', async () => {
  const folder = temporaryFolder();
  expect(samples.length).toBeGreaterThan(20);
  const files = [...examples, ...samples].map((example) => written(example, folder));
  for (const checked of [['src', 'tests'], files]) {
    const args = ['-m', 'mypy', '--strict', '--cache-dir', join(folder, 'cache'), ...checked];
    const ran = await python(args, { cwd: PACKAGE, env: { MYPYPATH: 'src' } });
    expect(ran.output).toMatch(/^Success/);
  }
});

describe('its own tests', () => {
  const files = readdirSync(join(PACKAGE, 'tests')).filter((name) => name.endsWith('.py'));

  it.each(files)('%s', async (file) => {
    const ran = await python([join('tests', file)], { cwd: PACKAGE, env });
    expect(ran.output).toMatch(/\nOK\n$/);
    expect(ran.output).not.toMatch(/skipped|Ran 0 tests/);
  });
});

describe('the package', () => {
  it('is built, installed where nothing else is asked for, and calls the service', async () => {
    const folder = temporaryFolder();
    const build =
      'from hatchling.build import build_wheel, build_sdist; print(build_sdist({0!r}), build_wheel({0!r}))';
    const built = await python(['-c', build.replaceAll('{0!r}', JSON.stringify(folder))], { cwd: PACKAGE });
    expect(built.output).toBe('porter_sdk-1.0.0.tar.gz porter_sdk-1.0.0-py3-none-any.whl\n');
    const target = join(folder, 'installed');
    const install = ['-m', 'pip', 'install', '--no-index', '--no-deps', '--target', target];
    const ran = await python([...install, join(folder, 'porter_sdk-1.0.0-py3-none-any.whl')]);
    expect(ran, ran.output).toMatchObject({ code: 0 });
    expect(readdirSync(join(target, 'porter_sdk'))).toEqual(expect.arrayContaining(['py.typed', 'types.py']));
    const call = `from porter_sdk import Porter, __file__
print(Porter(base_url=${JSON.stringify(house.url)}, api_key=${JSON.stringify(key)}, practice_group_id="hillview-hub").practice_groups.list()["data"][0]["id"], __file__)`;
    const called = await python(['-c', call], { cwd: folder, env: { PYTHONPATH: target } });
    expect(called.output).toBe(`hillview-hub ${target}/porter_sdk/__init__.py\n`);
  });

  it('has a changelog for its version', () => {
    const [, version] =
      /^version = "(.*)"$/m.exec(readFileSync(join(PACKAGE, 'pyproject.toml'), 'utf8')) ?? [];
    expect(readFileSync(join(PACKAGE, 'CHANGELOG.md'), 'utf8')).toContain(`## ${version}\n`);
  });
});

describe('the pages', () => {
  it('have examples of both kinds', () => {
    expect(examples.filter(isReceiver).length).toBeGreaterThan(0);
    expect(examples.filter((one) => !isReceiver(one)).length).toBeGreaterThan(1);
  });

  it.each(examples.filter((one) => !isReceiver(one)))('$name prints what is shown', async (example) => {
    const ran = await python([written(example, temporaryFolder())], { env });
    expect(ran.output).toBe(example.output ?? '');
  });

  it.each(examples.filter(isReceiver))('$name receives what the service delivers', async (example) => {
    const port = await freePort();
    const porter = new Porter({ baseUrl: house.url, apiKey: key, practiceGroupId: 'riverside-surgery' });
    const { id, secret } = await porter.webhooks.create({ url: `http://127.0.0.1:${port}/hooks` });
    const file = written(example, temporaryFolder(), port);
    const where = (await python(['-c', 'import sys; print(sys.executable)'])).output.trim();
    const child = spawn(where, [file], { env: { ...process.env, ...env, WEBHOOK_SECRET: secret } });
    onTestFinished(async () => {
      child.kill();
      if (child.exitCode === null) await once(child, 'exit');
    });
    const lines: string[] = [];
    createInterface(child.stdout).on('line', (line) => lines.push(line));
    const answers = () =>
      fetch(`http://127.0.0.1:${port}/hooks`, { method: 'POST', body: '{}' }).then(
        ({ status }) => status,
        () => 0,
      );
    await expect.poll(answers).toBe(400);
    const { delivery_id } = await porter.webhooks.test(id, { event: 'appointment.confirmed' });
    await expect.poll(() => lines).toContain(`${delivery_id} appointment.confirmed`);
    await porter.webhooks.delete(id);
  });
});
