import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../support/afterwards.ts';
import { pythonWith } from '../support/python.ts';

/** The Python client as it would be published: built and checked by the programs that people publish with. */

it('build makes a package that twine has nothing against', async () => {
  const python = await pythonWith('test/judges/packaging.txt');
  const folder = temporaryFolder();
  const build = ['-m', 'build', '--no-isolation', '--outdir', folder, 'packages/sdk-python'];
  const built = await python(build);
  expect(built, built.output).toMatchObject({ code: 0 });
  const files = readdirSync(folder).sort();
  expect(files).toEqual(['porter_sdk-1.0.0-py3-none-any.whl', 'porter_sdk-1.0.0.tar.gz']);
  const paths = files.map((file) => join(folder, file));
  const checked = await python(['-m', 'twine', 'check', '--strict', ...paths]);
  expect(checked, checked.output).toMatchObject({ code: 0 });
  expect(checked.output.match(/PASSED/g)).toHaveLength(2);
});
