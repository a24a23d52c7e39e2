import { execFile } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../support/afterwards.ts';
import { ROOT } from '../support/examples.ts';
import { pythonWith } from '../support/python.ts';
import { serviceForTests } from '../support/service.ts';

/**
 * OpenAPI Generator makes clients in Java and Python of the partner document, with and without its extensions. They compile and call the
 * service: a field that is null is cleared, and a field that is omitted stays.
 */

const GENERATOR = { group: 'org.openapitools', name: 'openapi-generator-cli', version: '7.18.0' };
const COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy';
const RUN = 'org.codehaus.mojo:exec-maven-plugin:3.5.1:java';

const { house, world } = await serviceForTests();
const folder = temporaryFolder();
const run = promisify(execFile);
const maven = (cwd: string, ...args: string[]) =>
  run('mvn', ['--batch-mode', '--quiet', ...args], { cwd, env: { ...process.env, ...caller } });
const caller = { PORTER_URL: house.url, PORTER_KEY: world.key, PORTER_GROUP: world.groupId };
const { group, name, version } = GENERATOR;
await maven(folder, COPY, `-Dartifact=${group}:${name}:${version}`, `-DoutputDirectory=${folder}`);
const python = await pythonWith('test/judges/openapi-generator.txt');

async function generate(document: string, language: string, ...options: string[]): Promise<string> {
  const output = join(folder, document.replace('/', '-'), language);
  const input = join(ROOT, 'spec', document);
  const jar = join(folder, `${name}-${version}.jar`);
  const { stdout } = await run(
    'java',
    ['-jar', jar, 'generate', '-g', language, '-i', input, '-o', output, ...options],
    { maxBuffer: 64 * 1024 * 1024 },
  );
  expect(stdout).not.toMatch(/ERROR|Exception in/);
  return output;
}

const PACKAGES = ['invokerPackage=made.invoker', 'apiPackage=made.api', 'modelPackage=made.model'];
const IN_JAVA = ['--library', 'native', '--additional-properties', PACKAGES.join()];
/** Title, daily limit and description after each update. */
const LEFT = ['Type one 20 Set', 'Omitted 20 Set', 'Omitted 20 None'];
/** Maven colours its output. */
const linesOf = (stdout: string) => stripVTControlCharacters(stdout).trim().split('\n');
const reset = () =>
  house.send('PATCH', '/v1/care-nav/submission-types/type-1', {
    key: world.key,
    group: world.groupId,
    body: { title: 'Type one', daily_limit: null, description: null },
  });

it.each(['openapi.json', 'specified/openapi.json'])(
  'a Python client of %s calls the service',
  async (document) => {
    await reset();
    const client = await generate(document, 'python', '--additional-properties', 'packageName=made');
    const compiled = await python(['-m', 'compileall', '-q', '-f', join(client, 'made')]);
    expect(compiled).toEqual({ code: 0, output: '' });
    const calls = join(import.meta.dirname, 'openapi-generator/calls.py');
    const { output } = await python([calls], { env: { ...caller, PYTHONPATH: client } });
    expect(linesOf(output)).toEqual([world.groupId, ...LEFT]);
  },
);

it('a Java client of openapi.json calls the service', async () => {
  await reset();
  const client = await generate('openapi.json', 'java', ...IN_JAVA);
  cpSync(join(import.meta.dirname, 'openapi-generator/Calls.java'), join(client, 'src/main/java/Calls.java'));
  const { stdout } = await maven(client, 'compile', RUN, '-Dexec.mainClass=Calls');
  expect(linesOf(stdout)).toEqual([world.groupId, ...LEFT.map((line) => line.replace('None', 'null'))]);
});

it('a Java client of specified/openapi.json compiles', async () => {
  const client = await generate('specified/openapi.json', 'java', ...IN_JAVA);
  await maven(client, 'compile');
});
