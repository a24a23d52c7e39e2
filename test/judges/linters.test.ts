import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Parser } from '@asyncapi/parser';
import { describe, expect, test } from 'vitest';
import { webhookDocument } from '../../src/describe/asyncapi.ts';
import type { Node } from '../../src/describe/extensions.ts';
import { partnerDocument } from '../../src/describe/openapi.ts';
import { temporaryFolder } from '../support/afterwards.ts';

/** Real linters on the committed documents, as anybody would run them. A damaged copy shows that their silence means something. */

const root = resolve(import.meta.dirname, '../..');
const require = createRequire(import.meta.url);
const folder = temporaryFolder();
const run = promisify(execFile);

function write(name: string, document: Node): string {
  const file = join(folder, name);
  writeFileSync(file, JSON.stringify(document));
  return file;
}

function lint(cli: string, ...args: string[]) {
  const offline = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', NO_COLOR: '1' };
  return run(process.execPath, [cli, 'lint', ...args], {
    cwd: root,
    env: { ...process.env, ...offline },
  });
}

const spectral = (...files: string[]) =>
  lint(
    require.resolve('@stoplight/spectral-cli/dist/index.js'),
    ...['--ruleset', '.spectral.yaml', '--fail-severity', 'hint', '--display-only-failures'],
    ...files,
  );

describe('OpenAPI', () => {
  const document = partnerDocument();
  const { operationId: _lost, ...anonymous } = listPracticeGroups(document);
  const paths = { ...(document.paths as Node), '/v1/practice-groups': { get: anonymous } };
  const damaged = write('damaged.openapi.json', { ...document, paths });
  const names = ['openapi', 'operator.openapi', 'portal.openapi', 'practice.openapi', 'specified/openapi'];
  const specs = names.map((name) => `spec/${name}.json`);

  test('Spectral has no remark', async () => {
    expect((await spectral(...specs)).stdout).toContain('No results');
    await expect(spectral(damaged)).rejects.toMatchObject({
      stdout: expect.stringContaining('operation-operationId'),
    });
  });

  test('Redocly has no remark', async () => {
    const redocly = (...args: string[]) =>
      lint(
        require.resolve('@redocly/cli/bin/cli.js'),
        ...['--config', 'redocly.yaml', '--lint-config', 'error'],
        ...args,
      );
    for (const spec of specs) {
      const { stdout } = await redocly('--format', 'json', spec);
      expect(JSON.parse(stdout)).toMatchObject({ totals: { errors: 0, warnings: 0, ignored: 0 } });
    }
    await expect(redocly(damaged)).rejects.toMatchObject({
      stdout: expect.stringContaining('operation-operationId'),
    });
  });

  function listPracticeGroups({ paths }: Node): Node {
    return ((paths as Node)['/v1/practice-groups'] as Node).get as Node;
  }
});

describe('AsyncAPI', () => {
  const document = webhookDocument();
  const specified: Node = JSON.parse(readFileSync(join(root, 'spec/specified/asyncapi.json'), 'utf8'));
  const { description: _lost, ...nameless } = document.info as Node;
  const misdirected = { action: 'send', channel: { $ref: '#/channels/nowhere' } };
  const damaged = { ...document, info: nameless, operations: { misdirected } };

  test('the parser has no objection', async () => {
    const remarks = async (judged: Node) => {
      const { diagnostics } = await new Parser().parse(JSON.stringify(judged));
      return diagnostics.map(({ code }) => code);
    };
    // It would like the newest version; 3.0.0 is the one that is published.
    expect(await remarks(document)).toEqual(['asyncapi-latest-version']);
    expect(await remarks(specified)).toEqual(['asyncapi-latest-version']);
    expect(await remarks(damaged)).toContain('invalid-ref');
  });

  test('Spectral has no remark', async () => {
    const { stdout } = await spectral('spec/asyncapi.json', 'spec/specified/asyncapi.json');
    expect(stdout).toContain('No results');
    await expect(spectral(write('damaged.asyncapi.json', damaged))).rejects.toMatchObject({
      stdout: expect.stringContaining('asyncapi-info-description'),
    });
  });
});
