import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { expect, it } from 'vitest';
import { createLogger, lineWriter, passLines, redact } from '../../src/platform/logger.ts';

const MIB = 1024 * 1024;

it('a log that nobody reads waits up to a limit, and tells later how much of it was dropped', () => {
  const stream = new PassThrough();
  const write = lineWriter(stream);
  const line = `${'x'.repeat(MIB - 1)}\n`;
  for (let count = 0; count < 100; count++) write(line);
  expect(stream.writableLength).toBeLessThan(10 * MIB);

  let taken = '';
  stream.setEncoding('utf8').on('data', (text) => {
    taken += text;
  });
  while (stream.writableLength > 0) stream.read();
  write('{"msg":"again"}\n');
  write('{"msg":"and again"}\n');
  while (stream.readableLength > 0) stream.read();
  const lines = taken.trimEnd().split('\n');
  const whole = lines.filter((one) => one.startsWith('x')).length;
  expect(lines.slice(whole).map((one) => JSON.parse(one))).toEqual([
    { level: 'warn', time: expect.any(String), lines: 100 - whole, msg: 'log lines were dropped' },
    { msg: 'again' },
    { msg: 'and again' },
  ]);
});

it('a terminal gets readable lines, in which no value from afar steers it', () => {
  const stream = Object.assign(new PassThrough(), { isTTY: true });
  const log = createLogger(lineWriter(stream));
  log.info({ path: '/v1/x', status: 404, quoted: 'a b="c"', answer: { ok: true } }, 'request');
  log.warn({ evil: '\u001b[2J\u202e' }, 'a\u0007\nb');
  log.error(
    { err: Object.assign(new Error('broken'), { stack: 'Error: broken\n    at x', code: 'E1' }) },
    'failed',
  );
  log.info('alone');
  lineWriter(stream)('(node:1) not \u001b[2J JSON\n');
  const lines = stripVTControlCharacters(String(stream.read())).replaceAll(/^\d\d:\d\d:\d\d/gm, '<time>');
  expect(lines).toBe(
    [
      '<time> info  request path=/v1/x status=404 quoted="a b=\\"c\\"" answer={"ok":true}',
      '<time> warn  a\\u0007\\u000ab evil=\\u001b[2J\\u202e',
      '<time> error failed type=Error message=broken code=E1',
      '    Error: broken',
      '        at x',
      '<time> info  alone',
      '(node:1) not \\u001b[2J JSON',
      '',
    ].join('\n'),
  );
});

it('lines of several processes go into one log whole, however they arrive, each with the name of its node', async () => {
  const written: string[] = [];
  const [one, other] = [new PassThrough(), new PassThrough()];
  for (const stream of [one, other]) passLines(stream, (line) => written.push(line));
  const log = createLogger((line) => {
    one.write(line.slice(0, 20));
    other.write('{"msg":"between"}\n{"msg":"cut');
    one.write(line.slice(20));
    other.end(' off');
  }, 'host:1');
  log.info({}, 'a line');
  await new Promise((resolve) => other.on('end', resolve));
  expect(written.map((line) => JSON.parse(line))).toEqual([
    { msg: 'between' },
    { level: 'info', time: expect.any(String), node: 'host:1', msg: 'a line' },
  ]);
});

it.each([
  ['/v1/ptr_test_AAAA/pto_BBBB', '/v1/ptr_test_[redacted]pto_[redacted]'],
  ['pto_AAAAptr_live_BBBB', 'pto_[redacted]ptr_live_[redacted]'],
  ['/v1/%70tr_test_AA%41A/pt%6f_BB%42B?x=1', '/v1/%70tr_test_[redacted]pt%6f_[redacted]?x=1'],
  ['whsec_AA+/=', 'whsec_[redacted]'],
  ['whsec_AA=postgres://me:hidden@host/db', 'whsec_[redacted]postgres://me:[redacted]@host/db'],
  ['ptr_live_AA/postgresql://me:hidden@host', 'ptr_live_[redacted]postgresql://me:[redacted]@host'],
  ['ptr_live_A%41%2Fpostgres://me:hidden@host', 'ptr_live_[redacted]postgres://me:[redacted]@host'],
])('one secret behind another is no part of it: %s', (text, redacted) => {
  expect(redact(text)).toBe(redacted);
});
