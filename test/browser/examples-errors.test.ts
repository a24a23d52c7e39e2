import { expect, test } from 'vitest';
import { problemCatalogue } from '../../src/contract/problems.ts';
import { askWhy, demonstrationOf } from '../../src/site/error-commands.ts';
import { run, startDemo } from '../support/examples-world.ts';

/** The commands on the pages of the errors, each pasted as it stands there: it must get the error that its page is about. */

/** A partner cannot bring the demo world to these: it has a key with every scope, on this machine, and works. */
const CANNOT_BE_CAUSED = [
  'insufficient_permissions',
  'https_required',
  'internal_error',
  'service_unavailable',
];

test('each command gets what its page is about', async () => {
  const demo = await startDemo();
  const lastAnswer = async (command: string) => {
    const { code, stdout, stderr } = await run('sh', ['-ec', demo.stand.toReal(command)], demo);
    expect([code, stderr]).toEqual([0, '']);
    return JSON.parse(stdout.slice(stdout.lastIndexOf('{"error"')));
  };
  const caused = Object.keys(problemCatalogue).filter((code) => !CANNOT_BE_CAUSED.includes(code));
  // It uses up the calls of the key, so it comes last.
  const inOrder = [...caused.filter((code) => code !== 'rate_limit_exceeded'), 'rate_limit_exceeded'];
  expect(await lastAnswer(demonstrationOf('validation_error').command)).toMatchObject({ statusCode: 400 });
  for (const code of inOrder)
    expect([code, (await lastAnswer(demonstrationOf(code).command)).error]).toEqual([code, code]);
});

test('where an error cannot be caused, its page shows how to ask why a call was refused', async () => {
  for (const code of CANNOT_BE_CAUSED) expect(demonstrationOf(code).command).toBe(askWhy.command);
  const demo = await startDemo();
  const { stdout } = await run('sh', ['-ec', demo.stand.toReal(askWhy.command)], demo);
  const about = JSON.parse(stdout.slice(stdout.indexOf('{"request_id"')));
  expect(about).toMatchObject({
    request_id: 'my-call-1',
    operation: 'getSubmissionType',
    error: 'not_found',
  });
});
