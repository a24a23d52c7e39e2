import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { Porter, type PorterOptions, type Runtime } from '../../packages/sdk/src/index.ts';

/** A client whose waits pass at once, on a server that answers as the test wants. */

export interface ScriptedServer {
  url: string;
  requests: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[];
}

type Step = (response: ServerResponse, request: IncomingMessage) => void;

/** Takes one step for each request, and the last one for all that follow. */
export async function startScript(...steps: Step[]): Promise<ScriptedServer> {
  const requests: ScriptedServer['requests'] = [];
  const server = createServer(async (request, response) => {
    const step = steps[Math.min(requests.length, steps.length - 1)];
    const body = Buffer.concat(await request.toArray()).toString();
    const { method = '', url = '', headers } = request;
    requests.push({ method, url, headers, body });
    step?.(response, request);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

export const answer =
  (status: number, body?: unknown, headers: Record<string, string> = {}): Step =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(body === undefined ? undefined : JSON.stringify(body));
  };

export const cut: Step = (_response, request) => request.socket.destroy();
export const hang: Step = () => {};

export const problem = (error: string, statusCode: number, details: object = {}) => ({
  error,
  statusCode,
  message: 'No.',
  request_id: 'req_1',
  doc_url: `https://porter.test/docs/errors/${error}`,
  ...details,
});

/** Time that passes only when somebody waits, and chance that is always in the middle. */
export function manualRuntime(start = Date.parse('2026-11-16T10:00:00Z')): Runtime & { waits: number[] } {
  let time = start;
  const waits: number[] = [];
  return {
    waits,
    now: () => time,
    random: () => 0.5,
    sleep: async (milliseconds, signal) => {
      signal?.throwIfAborted();
      waits.push(milliseconds);
      time += milliseconds;
    },
  };
}

export const clientOf = (baseUrl: string, options: Partial<PorterOptions> = {}): Porter =>
  new Porter({ apiKey: 'ptr_test_1', practiceGroupId: 'riverside-surgery', baseUrl, ...options });
