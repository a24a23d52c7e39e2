import type { IncomingMessage, ServerResponse } from 'node:http';
import { parse } from 'fast-querystring';
import type { Stream } from '../contract/endpoint.ts';
import { Problem, ValidationProblem } from '../contract/problems.ts';
import { malformed } from '../contract/validate.ts';
import { Outage } from '../platform/outage.ts';
import type { Transport } from './transport.ts';

/** What is learned about a request on its way through, for its one log line. */
interface Trace {
  startedAt: number;
  operation: string;
  error?: string;
  keyId?: string;
  partnerId?: string;
  /** That the call named, whether or not it may act for it. */
  practiceGroupId?: string | undefined;
  operatorId?: string;
}

/** What all requests have in common. */
interface Desk {
  /** Writes the log line and the metrics. */
  finish(exchange: Exchange, status: number): void;
  /** The service is about to stop: connections are not kept for further requests. */
  isClosing(): boolean;
}

/** A request, what was found out about it, and the answer that gathers meanwhile. */
export class Exchange {
  readonly raw: IncomingMessage;
  readonly response: ServerResponse;
  readonly id: string;
  /** The address by which it is routed, query included. */
  readonly url: string;
  readonly transport: Transport;
  readonly trace: Trace;
  /** Names and values of headers in turn, as Node takes them. */
  readonly outgoing: string[];
  readonly desk: Desk;
  params: unknown = undefined;

  constructor(
    raw: IncomingMessage,
    response: ServerResponse,
    id: string,
    url: string,
    transport: Transport,
    startedAt: number,
    desk: Desk,
  ) {
    this.raw = raw;
    this.response = response;
    this.id = id;
    this.url = url;
    this.transport = transport;
    this.trace = { startedAt, operation: 'none' };
    this.desk = desk;
    this.outgoing = ['x-request-id', id, 'cache-control', 'no-store'];
  }

  get method(): string {
    return this.raw.method ?? '';
  }

  get headers(): IncomingMessage['headers'] {
    return this.raw.headers;
  }

  get path(): string {
    const end = this.url.indexOf('?');
    return end < 0 ? this.url : this.url.slice(0, end);
  }

  get query(): Record<string, unknown> {
    const start = this.url.indexOf('?');
    return start < 0 ? {} : parse(this.url.slice(start + 1));
  }
}

// ---- Reading the body ----

/**
 * Bodies are read whole before anything else is looked at, because of the order of checks: the size is judged before the key,
 * the media type and the JSON only after it, so that an unknown caller learns nothing about either.
 */

const NONE = Buffer.alloc(0);

function hasBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length'];
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/**
 * Reads at most `bytesMax`. A body that is larger is refused at once; Node discards what is still coming, so the
 * connection survives, and the server's request timeout bounds how long that may take.
 */
export async function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  if (!hasBody(request)) return NONE;
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) throw new Problem('payload_too_large');
  return new Promise((resolve, reject) => {
    let bytes: Buffer = NONE;
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      const start = size;
      size += chunk.length;
      if (size > bytesMax) {
        bytes = NONE;
        reject(new Problem('payload_too_large'));
      } else bytes = start === 0 ? chunk : appended(bytes, start, chunk);
    });
    request.on('end', () => resolve(bytes.subarray(0, size)));
    // Gone before the end: nobody is left to answer, but the promise must not hang, and it is not our fault.
    const gone = () => {
      if (!request.complete) reject(new ValidationProblem([malformed('The body ended early.')]));
    };
    request.on('error', gone);
    request.on('close', gone);
  });
}

/**
 * In one piece, which is made twice as large as needed when it is full: kept as they came, the chunks of a body that a stranger
 * sends byte by byte took 400 times its size.
 */
function appended(bytes: Buffer, size: number, chunk: Buffer): Buffer {
  let room = bytes;
  if (size + chunk.length > bytes.length) {
    room = Buffer.allocUnsafeSlow(2 * (size + chunk.length));
    bytes.copy(room, 0, 0, size);
  }
  chunk.copy(room, size);
  return room;
}

/** Any parameters, except a character set other than UTF-8. */
const IS_JSON = /^application\/json\s*(;(?!\s*charset\s*=\s*(?!"?utf-8"?\s*(;|$)))[^;]*)*$/i;
const decoder = new TextDecoder('utf-8', { fatal: true });

export function parseJson(request: IncomingMessage, body: Buffer): unknown {
  if (body.length === 0) throw new ValidationProblem([malformed('A JSON body is required.')]);
  const type = request.headers['content-type'];
  const encoding = request.headers['content-encoding'];
  if (!type || !IS_JSON.test(type) || (encoding !== undefined && encoding.toLowerCase() !== 'identity'))
    throw new Problem('unsupported_media_type');
  try {
    return JSON.parse(decoder.decode(body));
  } catch {
    throw new ValidationProblem([malformed('The body is not well-formed JSON in UTF-8.')]);
  }
}

// ---- Sending the answer ----

export const JSON_TYPE = 'application/json; charset=utf-8';
export const EVENTS_TYPE = 'text/event-stream; charset=utf-8';
export const LINES_TYPE = 'application/x-ndjson; charset=utf-8';

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
export async function respondOnAndOn(
  exchange: Exchange,
  { text, close, stuck }: Stream,
  type: string,
): Promise<void> {
  const { outgoing, response, desk } = exchange;
  let taken = () => {};
  response.on('drain', () => taken());
  response.on('close', () => {
    close();
    taken();
  });
  stuck.addEventListener('abort', () => response.destroy(), { once: true });
  try {
    outgoing.push('content-type', type, 'x-accel-buffering', 'no');
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
