import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { deliveryExample } from '../../src/describe/examples/event-examples.ts';
import { blocksOf, pages, ROOT } from '../support/examples.ts';
import {
  body,
  checkNeedsSecret,
  checkReceiver,
  checkRetries,
  otherSecret,
  secret,
  sign,
} from '../support/examples-checks.ts';
import { programOf } from '../support/examples-page.ts';

/** The programs in examples/ that need a shell or Python; those in TypeScript are in test/browser/examples-typescript.test.ts. */

describe('examples/verify.sh', () => {
  const env = { PATH: process.env.PATH ?? '', WEBHOOK_SECRET: secret };
  const verdict = (headers: ReturnType<typeof sign>, text: string) => {
    const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = headers;
    try {
      const options = { input: text, env, cwd: ROOT, encoding: 'utf8' } as const;
      const args = ['examples/verify.sh', id, timestamp, signature];
      return execFileSync('sh', args, { ...options, stdio: 'pipe' }).trim();
    } catch (error) {
      return String((error as { stderr: string }).stderr).trim();
    }
  };

  test('accepts what the service signed, also while the secret is being rotated', () => {
    expect(verdict(sign(), body)).toBe('genuine');
    expect(verdict(sign({ secrets: [otherSecret, secret] }), body)).toBe('genuine');
  });

  test('refuses everything else, and says why', () => {
    expect(verdict(sign(), `${body}\n`)).toBe('no signature matches');
    expect(verdict(sign({ secrets: [otherSecret] }), body)).toBe('no signature matches');
    expect(verdict({ ...sign(), 'webhook-id': 'dlv_other_1' }, body)).toBe('no signature matches');
    expect(verdict(sign({ secondsAgo: 400 }), body)).toMatch(/^sent 40\d seconds ago$/);
    expect(verdict(sign({ secondsAgo: -400 }), body)).toMatch(/^sent -(400|39\d) seconds ago$/);
    expect(verdict({ ...sign(), 'webhook-timestamp': 'a[$(exit)]' }, body)).toBe(
      'the timestamp is not a number',
    );
  });
});

test('examples/verify.py takes what the service signed, and nothing else', async () => {
  await checkNeedsSecret('python3', 'examples/verify.py');
  await checkReceiver('python3', 'examples/verify.py');
});

test('examples/retry.py repeats what may pass', () => checkRetries('python3', 'examples/retry.py'));

test('the pages show the programs as they are', () => {
  const shown = pages.flatMap((page) => blocksOf(page)).flatMap((block) => programOf(block) ?? []);
  expect(shown.sort()).toEqual([
    'Verify.java',
    'retry.py',
    'retry.ts',
    'verify.go',
    'verify.py',
    'verify.sh',
    'verify.ts',
  ]);
});

test('the shell example of the reference prints the signature that is shown', () => {
  const [example] = blocksOf('docs/reference/events.md').filter(({ code }) => code.includes('openssl dgst'));
  const printed = execFileSync('sh', ['-c', example?.code ?? ''], { encoding: 'utf8' });
  expect(`v1,${printed}`).toBe(deliveryExample.headers['webhook-signature']);
});
