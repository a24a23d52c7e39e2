import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { scopeNames } from '../../src/contract/access.ts';
import { afterwards, temporaryFolder } from '../support/afterwards.ts';
import type { Visitor } from '../support/console-session.ts';
import { ROOT } from '../support/examples.ts';
import { enterPartner, enterPractice } from '../support/practice-guest.ts';
import { pythonWith } from '../support/python.ts';
import { OPERATOR_TOKEN, startHarness } from '../support/service.ts';

/**
 * Calls that somebody else's program makes up from the documents: right ones, wrong ones, and those at the edges. No 5xx, no status, header
 * or body that is not documented, nobody admitted without a key. What is not asked, and why, is in schemathesis.toml.
 */

const house = await startHarness({
  env: {
    PORTER_DEMO: 'on',
    PORTER_WEBHOOK_TARGETS: 'public',
    PORTER_SESSION_IDLE_MINUTES: '1440',
    PORTER_SESSION_HOURS: '168',
  },
});
const { id, key } = await house.operator('POST', '/keys', {
  partner_id: 'prt_demo',
  practice_group_id: 'riverside-surgery',
  scopes: scopeNames,
  rate_limit_per_minute: 100_000,
});
// Limits of calls are not what is judged: a minute passes with every second.
const minutes = setInterval(() => house.clock.advance(60_000), 1_000);
afterwards(() => clearInterval(minutes));
const python = await pythonWith('test/judges/schemathesis.txt');

interface Caller {
  headers: Record<string, string>;
  /** Of people, who have a cookie. */
  session?: string;
}

const forPractice = { 'x-practice-group-id': 'riverside-surgery' };
const asPartner: Caller = { headers: { 'x-api-key': key, ...forPractice } };
const asOperator: Caller = { headers: { Authorization: `Bearer ${OPERATOR_TOKEN}` } };
const { token } = await house.operator('POST', '/operators', { name: 'Second judge', role: 'admin' });
const asAnother: Caller = { headers: { Authorization: `Bearer ${token}` } };
/** Sooner or later they end the judge's own token: by themselves, last, and with another's. */
const ownToken = ['updateOperator', 'revokeOperator'];
const asGuest = ({ cookie }: Visitor, headers = {}): Caller => ({
  headers: { 'x-porter-console': '1', Origin: house.url, ...headers },
  session: cookie.replace('porter-session=', ''),
});
const ofPartner = await enterPartner(house, 'prt_demo');
const asPartnerPerson = asGuest(ofPartner, { 'x-porter-key': id, ...forPractice });
const asPracticePerson = asGuest(await enterPractice(house, 'riverside-surgery'));
const option = (name: string, values: string[]) => values.flatMap((value) => [name, value]);

it.each([
  // Each case of the coverage phase, too: some 80 for an operation.
  ['partner', 'openapi.json', asPartner, 'examples,coverage,fuzzing', []],
  ['portal', 'portal.openapi.json', asPartnerPerson, 'examples,coverage,fuzzing', []],
  ['practice', 'practice.openapi.json', asPracticePerson, 'examples,coverage,fuzzing', []],
  // That would be 12,000 calls here, and seven minutes.
  [
    'operator',
    'operator.openapi.json',
    asOperator,
    'examples,fuzzing',
    option('--exclude-operation-id', ownToken),
  ],
  [
    'operator (tokens)',
    'operator.openapi.json',
    asAnother,
    'examples',
    option('--include-operation-id', ownToken),
  ],
])('%s', async (_name, file, { headers, session }, phases, which) => {
  const folder = temporaryFolder();
  const document = join(folder, file);
  // The name of the cookie over plain HTTP.
  const text = readFileSync(join(ROOT, 'spec', file), 'utf8').replaceAll('__Host-porter', 'porter');
  writeFileSync(document, text);
  const config = join(folder, 'schemathesis.toml');
  const cookie = session === undefined ? '' : `\n[parameters]\nporter-session = "${session}"\n`;
  writeFileSync(config, readFileSync(join(import.meta.dirname, 'schemathesis.toml'), 'utf8') + cookie);
  const ran = await python(
    [
      ...['-m', 'schemathesis.cli', '--config-file', config],
      ...['run', document, '--url', house.url, '--phases', phases, '--max-examples', '5', ...which],
      ...option(
        '--header',
        Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      ),
    ],
    { cwd: folder, env: { SCHEMATHESIS_HOOKS: 'schemathesis_hooks', PYTHONPATH: import.meta.dirname } },
  );
  // Bodies that are too large are shown whole.
  const output = ran.output.replaceAll(/^(.{400}).+$/gm, '$1…');
  expect(ran.code, output).toBe(0);
  console.log(/^ *\d+ generated.*$/m.exec(output)?.[0]);
});
