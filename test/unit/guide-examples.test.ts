import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { partnerEndpoints } from '../../src/contract/partner/index.ts';
import { check } from '../../src/contract/validate.ts';
import { deliveryExample } from '../../src/describe/event-examples.ts';
import { toAttempt } from '../../src/domain/diagnosis.ts';
import { ATTEMPTS_MAX, nextStep } from '../../src/domain/retry.ts';
import { newSecret, secretBytes, signedHeaders } from '../../src/domain/signature.ts';

/** What the guide and the reference tell people to paste, taken from them and run. */

const root = resolve(import.meta.dirname, '../..');
const guide = readFileSync(join(root, 'docs/guides/receiving-webhooks.md'), 'utf8');
const reference = readFileSync(join(root, 'docs/reference/events.md'), 'utf8');

interface Block {
  language: string;
  code: string;
}

const blocksOf = (page: string): Block[] =>
  [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', code = '']) => ({ language, code }));

function block(page: string, language: string, holds: string): string {
  const found = blocksOf(page).filter((one) => one.language === language && one.code.includes(holds));
  expect(found, `one ${language} block with "${holds}"`).toHaveLength(1);
  return found[0]?.code ?? '';
}

const folder = mkdtempSync(join(tmpdir(), 'porter-guide-'));
afterAll(() => rmSync(folder, { recursive: true }));
symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
writeFileSync(join(folder, 'package.json'), '{"type": "module"}');

const secret = newSecret(randomBytes);
const otherSecret = newSecret(randomBytes);
const body =
  '{"object":"Appointment","id":"äpt_1","practice_group_id":"riverside-surgery","event":"appointment.confirmed"}';

function sign({ secrets = [secret], secondsAgo = 0, sequence = 1 } = {}) {
  return signedHeaders({
    id: `dlv_00VavrySW7QkzdE4DIp3JusJ3_${sequence}`,
    timestampSeconds: Math.floor(Date.now() / 1000) - secondsAgo,
    sequence,
    body,
    secrets: secrets.map(secretBytes),
  });
}

describe('the shell example of the guide', () => {
  const script = join(folder, 'verify.sh');
  writeFileSync(script, block(guide, 'sh', '#!/bin/sh'));
  const verdict = (headers: ReturnType<typeof sign>, text: string) => {
    const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = headers;
    try {
      const options = {
        input: text,
        env: { ...process.env, WEBHOOK_SECRET: secret },
        encoding: 'utf8',
      } as const;
      return execFileSync('sh', [script, id, timestamp, signature], { ...options, stdio: 'pipe' }).trim();
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

describe('the TypeScript example of the guide', () => {
  const file = join(folder, 'receiver.ts');
  writeFileSync(file, block(guide, 'ts', 'createServer'));

  test('compiles under strict rules', () => {
    const tsc = join(root, 'node_modules/.bin/tsc');
    const options = ['--noEmit', '--strict', '--noUncheckedIndexedAccess', '--skipLibCheck'];
    const modules = ['--module', 'nodenext', '--target', 'es2024', '--types', 'node'];
    expect(execFileSync(tsc, [...options, ...modules, file], { cwd: folder, encoding: 'utf8' })).toBe('');
  }, 60_000);

  test('answers 204 to what the service signed, acts once, and answers 401 to the rest', async () => {
    const receiver = spawn(process.execPath, [file], {
      env: { ...process.env, PORT: '0', WEBHOOK_SECRET: secret, NODE_NO_WARNINGS: '1' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => ended(receiver));
    const lines = createInterface(receiver.stdout)[Symbol.asyncIterator]();
    const line = async () => String((await lines.next()).value);
    let said = await line();
    while (!/port: \d+/.test(said)) said += await line();
    const url = `http://127.0.0.1:${/port: (\d+)/.exec(said)?.[1]}/porter`;
    const post = async (headers: Record<string, string>, text: string) =>
      (await fetch(url, { method: 'POST', headers, body: text })).status;

    expect(await post(sign(), body.replace('confirmed', 'cancelled'))).toBe(401);
    expect(await post(sign({ secrets: [otherSecret] }), body)).toBe(401);
    expect(await post(sign({ secondsAgo: 400 }), body)).toBe(401);
    expect(await post({ 'content-type': 'application/json' }, body)).toBe(401);
    expect(await post(sign(), body)).toBe(204);
    expect(await post(sign(), body)).toBe(204);
    expect(await post(sign({ secrets: [otherSecret, secret], sequence: 2 }), body)).toBe(204);

    while (!said.endsWith('}')) said = await line();
    const acted = [await line(), await line()];
    expect(acted).toEqual(Array(2).fill('appointment.confirmed: Appointment äpt_1'));
    await ended(receiver);
    expect(await lines.next()).toMatchObject({ done: true });
  }, 60_000);
});

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill();
  await exit;
}

describe('the examples of the reference', () => {
  test('the shell one prints the signature that is shown', () => {
    const printed = execFileSync('sh', ['-c', block(reference, 'sh', 'openssl dgst')], { encoding: 'utf8' });
    expect(`v1,${printed}`).toBe(deliveryExample.headers['webhook-signature']);
  });

  test('the TypeScript one takes what is genuine and throws at the rest', () => {
    mkdirSync(join(folder, 'reference'));
    const file = join(folder, 'reference/verify.ts');
    const given = (text: string) =>
      `const secret = ${JSON.stringify(secret)}, headers = ${JSON.stringify(sign())}, rawBody = ${JSON.stringify(text)};`;
    const verify = (text: string) => {
      writeFileSync(
        file,
        [given(text), block(reference, 'ts', 'Webhook'), 'console.log(event.id);'].join('\n'),
      );
      return execFileSync(process.execPath, [file], { encoding: 'utf8', stdio: 'pipe' }).trim();
    };
    expect(verify(body)).toBe('äpt_1');
    expect(() => verify(`${body} `)).toThrow('No matching signature found');
  });

  test('the links between the pages lead somewhere', () => {
    for (const [page, from] of [
      [guide, 'docs/guides'],
      [reference, 'docs/reference'],
    ] as const) {
      const links = [...page.matchAll(/\]\((?!https?:)([^)]+)\)/g)].map(([, link = '']) => link);
      for (const link of links) {
        const [path, anchor] = link.split('#');
        const target = path ? readFileSync(join(root, from, path), 'utf8') : page;
        if (anchor) expect(anchorsOf(target), link).toContain(anchor);
      }
    }
  });
});

test('both pages tell the times of the retries as they are', () => {
  const unitOf = (seconds: number) =>
    seconds >= 3600 ? `${seconds / 3600} h` : seconds >= 60 ? `${seconds / 60} min` : `${seconds} s`;
  const halfway = () => Uint8Array.of(128, 0, 0);
  const refused = { status: 500, retryAfter: undefined, broken: false };
  const waits = Array.from({ length: ATTEMPTS_MAX - 1 }, (_, failed) => {
    const step = nextStep(failed + 1, refused, 0, halfway);
    return step.state === 'due' ? unitOf(step.dueAt / 1000) : step.state;
  });
  expect(reference).toContain(`| Made after | at once | ${waits.join(' | ')} |`);
  expect(guide.replaceAll('\n', ' ')).toContain(`${waits.slice(0, -1).join(', ')} and ${waits.at(-1)}`);
});

function anchorsOf(page: string): string[] {
  return [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  );
}

/** Each call of the guide, with the answer that is shown below it, if there is one. */
const calls = blocksOf(guide).flatMap(({ language, code }, at, all) => {
  const [, path, query] = /"\$PORTER(\/v1\/[^"?]+)(?:\?([^"]*))?"/.exec(code) ?? [];
  if (language !== 'sh' || path === undefined) return [];
  const sent = /-d '(.*)'/.exec(code)?.[1];
  const method = /-X (\w+)/.exec(code)?.[1] ?? (sent === undefined ? 'GET' : 'POST');
  const next = all[at + 1];
  const answer = next?.language === 'json' ? next.code : undefined;
  return [{ method, path: path.replace('$WEBHOOK', '{id}'), query, sent, answer }];
});

test.each(calls)(
  'the guide calls $method $path as the contract says',
  ({ method, path, query, sent, answer }) => {
    const endpoint = Object.values(partnerEndpoints).find(
      (one) => one.method === method && one.path === path,
    );
    if (!endpoint) throw new Error('No such operation.');
    expect('body' in endpoint).toBe(sent !== undefined);
    if ('body' in endpoint) expect(check(endpoint.body, JSON.parse(sent ?? ''))).toMatchObject({ ok: true });
    if (query !== undefined && 'query' in endpoint)
      expect(check(endpoint.query, Object.fromEntries(new URLSearchParams(query)))).toMatchObject({
        ok: true,
      });
    // Parsing drops unknown fields, so equality also shows that the example has none.
    if (answer !== undefined && 'body' in endpoint.response)
      expect(endpoint.response.body.parse(JSON.parse(answer))).toEqual(JSON.parse(answer));
  },
);

test('the attempt that the guide shows is told as the service tells it', () => {
  const [shown] = JSON.parse(block(guide, 'json', '"attempts"')).data[0].attempts;
  const outcome = { status: 500, answer: 'database is down', durationMs: 38, failure: undefined };
  expect(toAttempt(outcome, Date.parse(shown.at))).toEqual(shown);
});

test('the guide shows every call that it speaks of', () => {
  expect(calls.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'POST /v1/webhooks',
    'POST /v1/webhooks/{id}/test',
    'GET /v1/webhooks/{id}/deliveries',
    'GET /v1/webhooks/{id}',
    'POST /v1/webhooks/{id}/replay',
    'POST /v1/webhooks/{id}/replay',
    'PATCH /v1/webhooks/{id}',
    'PATCH /v1/webhooks/{id}',
    'POST /v1/webhooks/{id}/rotate-secret',
    'GET /v1/events',
  ]);
});
