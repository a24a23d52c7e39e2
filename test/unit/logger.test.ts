import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { lineWriter } from '../../src/platform/logger.ts';

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
