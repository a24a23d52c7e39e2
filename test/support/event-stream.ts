import { type ClientRequest, get, type IncomingMessage } from 'node:http';
import { onTestFinished } from 'vitest';
import type { Partner } from './post.ts';
import type { Harness } from './service.ts';

/** A reader of GET /v1/events/stream, or another stream, on a connection of its own. */
export interface StreamReader {
  status: number;
  headers: IncomingMessage['headers'];
  /** The next block, without the blank line that ends it; undefined once the stream is over. */
  next(): Promise<Block | undefined>;
  /** The data of the next event, whatever else comes before it. */
  event(): Promise<{ cursor: string; name: string; data: { id: string; data: { id: string } } }>;
  /** Resolves when the service has ended the stream. */
  ended: Promise<void>;
  pause(): void;
  close(): void;
}

interface Block {
  id?: string;
  event?: string;
  data?: string;
  retry?: string;
  comment?: string;
}

export async function openStream(
  house: Harness,
  { key, groupId }: Pick<Partner, 'key' | 'groupId'>,
  { query = '', headers = {} }: { query?: string; headers?: Record<string, string> } = {},
): Promise<StreamReader> {
  return followStream(`${house.url}/v1/events/stream?${query}`, {
    'x-api-key': key,
    'x-practice-group-id': groupId,
    ...headers,
  });
}

export async function followStream(url: string, headers: Record<string, string>): Promise<StreamReader> {
  let request!: ClientRequest;
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request = get(url, { agent: false, headers }, resolve);
    request.on('error', reject);
  });
  answer.on('error', () => {});
  onTestFinished(() => void request.destroy());

  let text = '';
  let over = false;
  let woken = () => {};
  const ended = new Promise<void>((resolve) => answer.on('close', resolve));
  answer.setEncoding('utf8');
  answer.on('data', (chunk: string) => {
    text += chunk;
    woken();
  });
  answer.on('close', () => {
    over = true;
    woken();
  });

  const reader: StreamReader = {
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    ended,
    async next() {
      for (;;) {
        const end = text.indexOf('\n\n');
        if (end >= 0) {
          const block = text.slice(0, end);
          text = text.slice(end + 2);
          return parse(block);
        }
        if (over) return undefined;
        await new Promise<void>((resolve) => {
          woken = resolve;
        });
      }
    },
    async event() {
      for (;;) {
        const block = await reader.next();
        if (!block) throw new Error('The stream is over.');
        if (block.data !== undefined)
          return { cursor: block.id ?? '', name: block.event ?? '', data: JSON.parse(block.data) };
      }
    },
    pause: () => void answer.pause(),
    close: () => void request.destroy(),
  };
  return reader;
}

/** Of what the next message of a live stream tells that it has changed. */
export async function nextKinds(stream: StreamReader): Promise<string[]> {
  for (;;) {
    const block = await stream.next();
    if (!block) throw new Error('The stream is over.');
    if (block.event === 'changed') return JSON.parse(block.data ?? '').kinds;
  }
}

export async function untilTold(stream: StreamReader, kind: string): Promise<void> {
  while (!(await nextKinds(stream)).includes(kind));
}

function parse(block: string): Block {
  return Object.fromEntries(
    block.split('\n').map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon) || 'comment', line.slice(colon + 1).trim()];
    }),
  );
}
