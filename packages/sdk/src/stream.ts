import { readBody } from './body.ts';
import { PorterApiError, PorterConnectionError, PorterError } from './errors.ts';
import { type SseMessage, SseParser } from './sse.ts';
import type { Transport } from './transport.ts';

/** One connection to an event stream: opened over the transport, read until it ends. Coming back is up to the caller. */

export interface StreamRequest {
  path: string;
  query?: object;
  headers?: Record<string, string>;
  /** Go on after this place. */
  cursor?: string | undefined;
  signal?: AbortSignal | undefined;
}

export type StreamBody = ReadableStream<Uint8Array> | null;

/** Begins to wait for silence, and gives back how to stop waiting. */
export type SilenceWatch = (silent: () => void) => () => void;

export function openStream(
  transport: Transport,
  { path, query = {}, headers = {}, cursor, signal }: StreamRequest,
  insist?: (error: unknown) => boolean,
): Promise<StreamBody> {
  const place = cursor === undefined ? {} : { 'last-event-id': cursor };
  const request = {
    method: 'GET',
    path,
    query,
    headers: { ...headers, accept: 'text/event-stream', ...place },
    options: { signal },
  };
  return transport.send(request, readStream, insist);
}

async function readStream(response: Response): Promise<StreamBody> {
  const { status, headers, body } = response;
  const type = headers.get('content-type') ?? '';
  if (/^text\/event-stream\b/i.test(type)) return body;
  // What is neither a stream nor a refusal may go on for ever: its text is left alone.
  const isJson = /^application\/json\b/i.test(type);
  throw new PorterApiError(status, headers, await (isJson ? readBody(response) : body?.cancel()));
}

/**
 * Yields each block until the service ends the stream, or `signal` does. Throws a PorterConnectionError when the connection
 * breaks or falls silent, and a PorterError for what is no event stream. The watch runs only while a block is waited for.
 */
export async function* readMessages(
  body: StreamBody,
  watchSilence: SilenceWatch,
  signal?: AbortSignal,
): AsyncGenerator<SseMessage, void> {
  const reader = body?.getReader();
  if (!reader) return;
  const parser = new SseParser();
  let isSilent = false;
  const stop = () => void reader.cancel().catch(() => {});
  const giveUp = () => {
    isSilent = true;
    stop();
  };
  signal?.addEventListener('abort', stop, { once: true });
  // It may have been aborted between the answer and now.
  if (signal?.aborted) stop();
  try {
    for (;;) {
      const heard = watchSilence(giveUp);
      const { done, value } = await reader.read().catch(broken).finally(heard);
      if (isSilent) throw new PorterConnectionError('Nothing was heard on the stream any more.');
      if (done || !value) return;
      yield* parse(parser, value);
    }
  } finally {
    signal?.removeEventListener('abort', stop);
    stop();
  }
}

function broken(cause: unknown): never {
  throw new PorterConnectionError('The stream broke off.', { cause });
}

function parse(parser: SseParser, chunk: Uint8Array): SseMessage[] {
  try {
    return parser.push(chunk).map(checked);
  } catch (cause) {
    throw new PorterError('The stream brought what cannot be read.', { cause });
  }
}

/** A place is sent back as a header, which takes no other characters. */
function checked(message: SseMessage): SseMessage {
  if (message.id !== undefined && !/^[!-~]*$/.test(message.id))
    throw new TypeError('It has an ID that no header takes.');
  return message;
}
