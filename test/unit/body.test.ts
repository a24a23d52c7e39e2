import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { queryObjects } from 'node:v8';
import { expect, it } from 'vitest';
import { countBody, readBody } from '../../src/http/exchange.ts';

const LIMIT = 64 * 1024;

function arriving(): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  request.headers['transfer-encoding'] = 'chunked';
  return request;
}

it('a body in any pieces is the same body', async () => {
  const whole = Buffer.from(Array.from({ length: LIMIT }, (_, at) => at % 251));
  for (const size of [1, 7, 1_000, LIMIT / 2, LIMIT]) {
    const request = arriving();
    const read = readBody(request, LIMIT);
    for (let at = 0; at < LIMIT; at += size) request.emit('data', whole.subarray(at, at + size));
    request.emit('end');
    expect(whole.equals(await read), `pieces of ${size}`).toBe(true);
  }
});

it('a body that is only counted waits when it is told to, and goes on', async () => {
  const request = arriving();
  const waiting: (() => void)[] = [];
  const counted = countBody(request, LIMIT, (bytes, goOn) => {
    if (bytes < 100) return true;
    waiting.push(goOn);
    return false;
  });
  request.push(Buffer.alloc(99));
  request.push(Buffer.alloc(100));
  await expect.poll(() => request.isPaused()).toBe(true);
  request.push(Buffer.alloc(1));
  request.push(null);
  expect(waiting).toHaveLength(1);
  waiting[0]?.();
  await counted;
  expect(request.readableEnded).toBe(true);
});

it('what arrives byte by byte is not kept byte by byte', () => {
  const request = arriving();
  void readBody(request, LIMIT);
  const buffers = () => queryObjects(Buffer, { format: 'count' });
  const before = buffers();
  for (let at = 0; at < 10_000; at++) request.emit('data', Buffer.alloc(1));
  expect(buffers() - before).toBeLessThan(100);
});
