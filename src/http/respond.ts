import type { ServerResponse } from 'node:http';
import type { Stream } from '../contract/endpoint.ts';
import { Outage } from '../platform/outage.ts';
import type { Exchange } from './exchange.ts';

export const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Every answer leaves here. The headers that the steps on the way have gathered go out in one piece, and the request's
 * metrics and log line are written.
 */
export function respond(
  exchange: Exchange,
  status: number,
  body: string | undefined,
  type: string = JSON_TYPE,
): void {
  const { outgoing } = exchange;
  if (body !== undefined)
    outgoing.push('content-type', type, 'content-length', String(Buffer.byteLength(body)));
  send(exchange, status, outgoing, body);
}

/** With these headers and no others. */
export function send(
  exchange: Exchange,
  status: number,
  headers: string[],
  body: string | Uint8Array | undefined,
): void {
  const { response, desk } = exchange;
  // Whoever asks again must ask somebody else: this connection closes when the service stops.
  if (desk.isClosing()) headers.push('connection', 'close');
  response.writeHead(status, headers);
  endResponse(response, body);
  desk.finish(exchange, status);
}

/**
 * An answer that goes on until it ends by itself, its reader leaves or is stuck, or the database is out of reach: then the
 * reader comes again and is told so. Nothing more is read from the source than the reader takes.
 */
export async function respondOnAndOn(exchange: Exchange, { text, close, stuck }: Stream): Promise<void> {
  const { outgoing, response, desk } = exchange;
  let taken = () => {};
  response.on('drain', () => taken());
  response.on('close', () => {
    close();
    taken();
  });
  stuck.addEventListener('abort', () => response.destroy(), { once: true });
  try {
    outgoing.push('content-type', 'text/event-stream; charset=utf-8', 'x-accel-buffering', 'no');
    if (desk.isClosing()) outgoing.push('connection', 'close');
    response.writeHead(200, outgoing);
    desk.finish(exchange, 200);
    for await (const part of text) {
      if (response.destroyed || exchange.method === 'HEAD') break;
      const hasRoom = response.write(part);
      if (!hasRoom && !response.destroyed)
        await new Promise<void>((resolve) => {
          taken = resolve;
        });
    }
  } catch (error) {
    if (!(error instanceof Outage)) throw error;
  } finally {
    close();
    endResponse(response, undefined);
  }
}

/** A reader that has taken nothing of what is left of its answer for so long takes nothing any more. */
const UNREAD_MS = 60_000;

/** By itself Node would keep the connection, and what is left of the answer, for as long as the reader likes. */
function endResponse(response: ServerResponse, body: string | Uint8Array | undefined): void {
  response.end(body);
  if (!response.writableFinished) response.setTimeout(UNREAD_MS);
}
