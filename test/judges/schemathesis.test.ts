import { describe, expect, it } from 'vitest';
import { pythonWith } from '../support/python.ts';
import { makeKey, makeWorld, OPERATOR_TOKEN, startHarness } from '../support/service.ts';

/** Schemathesis makes requests of the documents' own schemas, good ones and bad ones, and holds the answers against the documents. */

const python = await pythonWith('test/judges/requirements.txt');
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
];

async function judged(url: string, headers: Record<string, string>, excluded: string[]): Promise<string> {
  const ran = await python([
    '-m',
    'schemathesis.cli',
    'run',
    url,
    ...Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`]),
    ...excluded.flatMap((path) => ['--exclude-path', path]),
    '--checks',
    CHECKS.join(','),
    '--phases',
    'examples,coverage,fuzzing',
    '--max-examples',
    '15',
    '--seed',
    '1',
    '--generation-deterministic',
    '--continue-on-failure',
    '--no-color',
  ]);
  return ran.code === 0 ? '' : ran.output;
}

describe('schemathesis finds nothing', () => {
  it('in the partner API', async () => {
    const house = await startHarness();
    const { groupId } = await makeWorld(house);
    const { key } = await makeKey(house, groupId, { rate_limit_per_minute: 1_000_000 });
    const headers = { 'x-api-key': key, 'x-practice-group-id': groupId };
    // A stream does not end.
    expect(await judged(`${house.url}/docs/openapi.json`, headers, ['/v1/events/stream'])).toBe('');
  });

  it('in the operator API', async () => {
    const house = await startHarness();
    await makeWorld(house);
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
    const url = `${house.url}/docs/operator.openapi.json`;
    expect(await judged(url, headers, ['/operator/v1/changes/stream'])).toBe('');
  });
});
