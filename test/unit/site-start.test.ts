import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);

/** The modules that a fresh process has loaded after it imported a file. */
async function modulesOf(file: string): Promise<string[]> {
  const code = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
    await import(${JSON.stringify(new URL(file, import.meta.url).href)});
    console.log(JSON.stringify(loaded));`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', code]);
  return JSON.parse(stdout);
}

const LIBRARIES = /node_modules\/(marked|highlight\.js|minisearch|@scalar)\//;

it('the service starts without the libraries that draw the site', async () => {
  const loaded = await modulesOf('../../src/service/compose.ts');
  expect(loaded.some((url) => url.endsWith('/src/site/site.ts'))).toBe(true);
  expect(loaded.filter((url) => LIBRARIES.test(url))).toEqual([]);
});

it('(this test is not blind)', async () => {
  expect((await modulesOf('../../src/site/markdown.ts')).filter((url) => LIBRARIES.test(url))).not.toEqual(
    [],
  );
});
