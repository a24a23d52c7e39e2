import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { scopeNames } from '../../src/contract/access.ts';
import { temporaryFolder } from '../support/afterwards.ts';
import { pythonWith } from '../support/python.ts';
import { OPERATOR_TOKEN, startHarness } from '../support/service.ts';

/**
 * Calls that somebody else's program makes up from the documents: right ones, wrong ones, and those at the edges. No 5xx, no status, header
 * or body that is not documented, nobody admitted without a key. What is not asked, and why, is in schemathesis.toml.
 */

const house = await startHarness({ env: { PORTER_DEMO: 'on', PORTER_WEBHOOK_TARGETS: 'public' } });
const { key } = await house.operator('POST', '/keys', {
  partner_id: 'prt_demo',
  practice_group_id: 'riverside-surgery',
  scopes: scopeNames,
  rate_limit_per_minute: 100_000,
});
const python = await pythonWith('test/judges/schemathesis.txt');

const documents = {
  // Each case of the coverage phase, too: some 80 for an operation.
  'openapi.json': {
    phases: 'examples,coverage,fuzzing',
    examples: 10,
    headers: { 'x-api-key': key, 'x-practice-group-id': 'riverside-surgery' },
  },
  // That would be 12,000 calls here, and seven minutes.
  'operator.openapi.json': {
    phases: 'examples,fuzzing',
    examples: 6,
    headers: { Authorization: `Bearer ${OPERATOR_TOKEN}` },
  },
};

it.each(Object.entries(documents))('%s', async (name, { phases, examples, headers }) => {
  const folder = temporaryFolder();
  const document = join(folder, name);
  writeFileSync(document, (await house.send('GET', `/docs/${name}`)).text);
  const ran = await python(
    [
      ...['-m', 'schemathesis.cli', '--config-file', join(import.meta.dirname, 'schemathesis.toml')],
      ...['run', document, '--url', house.url, '--phases', phases, '--max-examples', String(examples)],
      ...Object.entries(headers).flatMap(([header, value]) => ['--header', `${header}: ${value}`]),
    ],
    { cwd: folder },
  );
  // Bodies that are too large are shown whole.
  const output = ran.output.replaceAll(/^(.{400}).+$/gm, '$1…');
  expect(ran.code, output).toBe(0);
  console.log(/^ *\d+ generated.*$/m.exec(output)?.[0]);
});
