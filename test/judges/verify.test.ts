import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { ROOT } from '../support/examples.ts';
import { body, otherSecret, secret, sign } from '../support/examples-checks.ts';

/** The programs in examples/ that need a compiler. Those that need a shell or Python are in test/browser/examples-verify.test.ts. */
describe.each([
  ['examples/verify.go', 'go', ['run']],
  ['examples/Verify.java', 'java', []],
])('%s', (program, command, args) => {
  const isGenuine = async (headers: ReturnType<typeof sign>, text = body): Promise<boolean> => {
    const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature } = headers;
    const env = { ...process.env, WEBHOOK_SECRET: secret };
    const running = promisify(execFile)(command, [...args, program, id, at, signature], { cwd: ROOT, env });
    running.child.stdin?.end(text);
    return running.then(
      ({ stdout }) => stdout.trim() === 'genuine',
      () => false,
    );
  };

  test('says what it needs', async () => {
    const running = promisify(execFile)(command, [...args, program], { cwd: ROOT });
    running.child.stdin?.end();
    const said = await running.catch(({ stderr }: { stderr: string }) => stderr);
    expect(said).toMatch(/^Set WEBHOOK_SECRET, and give webhook-id, .+\n(exit status 2\n)?$/);
  });

  test('takes what the service signed, also while the secret is being rotated, and nothing else', async () => {
    expect(await isGenuine(sign())).toBe(true);
    expect(await isGenuine(sign({ secrets: [otherSecret, secret] }))).toBe(true);
    expect(await isGenuine(sign(), `${body}\n`)).toBe(false);
    expect(await isGenuine(sign({ secrets: [otherSecret] }))).toBe(false);
    expect(await isGenuine({ ...sign(), 'webhook-id': 'dlv_other_1' })).toBe(false);
    expect(await isGenuine(sign({ secondsAgo: 400 }))).toBe(false);
    expect(await isGenuine(sign({ secondsAgo: -400 }))).toBe(false);
  });
});
