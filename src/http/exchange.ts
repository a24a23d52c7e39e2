import type { IncomingMessage, ServerResponse } from 'node:http';
import { parse } from 'fast-querystring';
import { LINE_BYTES_MAX, type Line, type Stream } from '../contract/endpoint.ts';
import type { RefusalReason } from '../contract/partner/requests.ts';
import { Problem, ValidationProblem } from '../contract/problems.ts';
import { malformed, type ValidationEntry } from '../contract/validate.ts';
import type { GuestPrincipal, Proof } from '../domain/access/principal.ts';
import { Outage } from '../platform/outage.ts';
import type { Span } from '../platform/telemetry.ts';
import { duplicateKeys } from './duplicate-keys.ts';
import { jsonFault } from './json-fault.ts';
import type { Prove } from './prove.ts';
import type { Transport } from './transport.ts';

/** What is learned about a request on its way through, for its one log line. */
interface Trace {
  startedAt: number;
  operation: string;
  error?: string;
  /** What did not answer, where it is not this service or its database. */
  away?: 'practice_software';
  keyId?: string;
  partnerId?: string;
  /** That the call named, whether or not it may act for it. */
  practiceGroupId?: string | undefined;
  operatorId?: string;
  /** Somebody who was invited, and the key that they act with: it is not the key that calls. */
  guest?: Pick<GuestPrincipal, 'name' | 'invitationId' | 'sessionId'> & { keyId?: string };
  /** Why the key was refused. */
  reason?: RefusalReason;
}

/** What all requests have in common. */
interface Desk {
  /** Writes the log line and the metrics. */
  finish(exchange: Exchange, status: number): void;
  /** The service is about to stop: connections are not kept for further requests. */
  isClosing(): boolean;
  /** Lifts the request timeout while the client keeps sending. */
  liftTimeout(exchange: Exchange): void;
  /** Looks at what a call has to show beside its key. */
  prove: Prove;
  /** The URL by which browsers and partners call the service. */
  ownUrl: () => string;
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
  /** Of the trace that it is a part of, if anybody traces. */
  span: Span | undefined = undefined;
  /** What the key asked for beside itself, and was shown. */
  proved: Proof | undefined = undefined;

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
    this.outgoing = ['x-request-id', id, ...safetyHeaders(transport.secure), 'cache-control', 'no-store'];
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
 * Bodies come before anything else that is judged, because of the order of checks: the size before the key, the media type and the
 * JSON only after it, so that an unknown caller learns nothing about either. Only what a known caller sends is kept: the bodies of
 * strangers are counted and thrown away. Kept until they were whole, 600 of them with 2 MiB each took 1.9 GB.
 */

const NONE = Buffer.alloc(0);

export function hasBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length'];
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/**
 * Reads at most `bytesMax`. A body that is larger is refused at once; Node discards what is still coming, so the
 * connection survives, and the server's request timeout bounds how long that may take.
 */
export function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  return hasBody(request) ? receive(request, bytesMax) : Promise.resolve(NONE);
}

/** Counts what was read; false: no more for now, until `goOn` is called. */
export type Pace = (bytes: number, goOn: () => void) => boolean;

/** Waits for the end of a body of which not a byte is kept, and refuses it as `readBody` would. `pace` says how fast it is read. */
export async function countBody(request: IncomingMessage, bytesMax: number, pace: Pace): Promise<void> {
  if (hasBody(request)) await receive(request, bytesMax, pace);
}

/** The length that is announced says all about the size: nobody has to be asked who it is that sends too much. */
export function refuseLength({ headers }: IncomingMessage, bytesMax: number): void {
  if (Number(headers['content-length'] ?? 0) > bytesMax) throw new Problem('payload_too_large');
}

/** With a pace, nothing is kept. */
async function receive(request: IncomingMessage, bytesMax: number, pace?: Pace): Promise<Buffer> {
  refuseLength(request, bytesMax);
  // It left while somebody was asked who it is: nothing more will be heard of it.
  if (request.destroyed) throw endedEarly();
  return new Promise((resolve, reject) => {
    let bytes: Buffer = NONE;
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      const start = size;
      size += chunk.length;
      if (size > bytesMax) {
        bytes = NONE;
        reject(new Problem('payload_too_large'));
      } else if (!pace) bytes = start === 0 ? chunk : appended(bytes, start, chunk);
      else if (!pace(chunk.length, () => request.resume())) request.pause();
    });
    request.on('end', () => resolve(pace ? NONE : bytes.subarray(0, size)));
    // Gone before the end: nobody is left to answer, but the promise must not hang, and it is not our fault.
    const gone = () => {
      if (!request.readableEnded) reject(endedEarly());
    };
    request.on('error', gone);
    request.on('close', gone);
  });
}

const endedEarly = () => new ValidationProblem([malformed('The body ended early.')]);

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

/** What the body says, and what is wrong with how it says it. */
export function parseJson(
  request: IncomingMessage,
  body: Buffer,
): { value: unknown; problems: ValidationEntry[] } {
  if (body.length === 0) throw new ValidationProblem([malformed('A JSON body is required.')]);
  const type = request.headers['content-type'];
  if (!type || !IS_JSON.test(type) || isCompressed(request)) throw new Problem('unsupported_media_type');
  const read = readJson(body, 'body');
  if ('value' in read) return read;
  throw new ValidationProblem([read.fault]);
}

type Read = { value: unknown; problems: ValidationEntry[] } | { fault: ValidationEntry };

function readJson(bytes: Buffer, what: 'body' | 'line'): Read {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    return { fault: malformed(`The ${what} is not UTF-8.`) };
  }
  try {
    return { value: JSON.parse(text), problems: duplicateKeys(text) };
  } catch {
    const { line, column } = jsonFault(text);
    const place = what === 'body' ? `line ${line}, column ${column}` : `column ${column}`;
    return { fault: malformed(`The ${what} is not well-formed JSON: see ${place}.`) };
  }
}

const IS_LINES = /^application\/x-ndjson\s*(;(?!\s*charset\s*=\s*(?!"?utf-8"?\s*(;|$)))[^;]*)*$/i;

/** Whether the body is NDJSON, which is taken line by line. */
export function isLines(request: IncomingMessage): boolean {
  return IS_LINES.test(request.headers['content-type'] ?? '') && !isCompressed(request);
}

function isCompressed({ headers }: IncomingMessage): boolean {
  const encoding = headers['content-encoding'];
  return encoding !== undefined && encoding.toLowerCase() !== 'identity';
}

const LINE_BREAK = 0x0a;

/**
 * The lines of a body, those that came together at once; blank ones count, and are left out. Nothing is read while the last ones are
 * worked on, so whoever sends waits. A line that is too long is passed over. A body that ends early ends after its last whole line.
 */
export async function* readLines(request: IncomingMessage): AsyncGenerator<Line[]> {
  let index = 0;
  let rest: Buffer = NONE;
  let isTooLong = false;
  const lineOf = (bytes: Buffer): Line[] => {
    const at = index++;
    if (isTooLong || bytes.length > LINE_BYTES_MAX) {
      isTooLong = false;
      return [{ index: at, isTooLong: true }];
    }
    return isBlank(bytes) ? [] : [{ index: at, ...parsedLine(bytes) }];
  };
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      const lines: Line[] = [];
      let start = 0;
      for (let end = chunk.indexOf(LINE_BREAK); end >= 0; end = chunk.indexOf(LINE_BREAK, start)) {
        const piece = chunk.subarray(start, end);
        lines.push(...lineOf(rest.length === 0 ? piece : Buffer.concat([rest, piece])));
        rest = NONE;
        start = end + 1;
      }
      rest = rest.length === 0 ? chunk.subarray(start) : Buffer.concat([rest, chunk.subarray(start)]);
      if (rest.length > LINE_BYTES_MAX) {
        isTooLong = true;
        rest = NONE;
      }
      if (lines.length > 0) yield lines;
    }
  } catch {
    // Whoever sent it is gone.
    return;
  } finally {
    // Of one that is not wanted to its end, the rest passes by: its sender is to read why.
    request.resume();
  }
  if (isTooLong || rest.length > 0) yield lineOf(rest);
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x0d || byte === 0x09);
}

function parsedLine(bytes: Buffer): { value: unknown } | { problems: ValidationEntry[] } {
  const read = readJson(bytes, 'line');
  if ('fault' in read) return { problems: [read.fault] };
  return read.problems.length > 0 ? { problems: read.problems } : { value: read.value };
}

// ---- Sending the answer ----

/** No page of another origin embeds an answer, and no browser takes one for another type. */
const FOR_ITSELF = ['x-content-type-options', 'nosniff', 'cross-origin-resource-policy', 'same-origin'];
const HTTPS_ONLY = [...FOR_ITSELF, 'strict-transport-security', 'max-age=31536000'];

/** On every answer. Who was called over HTTPS is so for a year; what else the domain serves is not for this service to say. */
export const safetyHeaders = (secure: boolean): readonly string[] => (secure ? HTTPS_ONLY : FOR_ITSELF);

/** On every page for people: it shares no window with other origins, uses no device, and its address is sent to no other site. */
export const pageHeaders: readonly string[] = [
  'cross-origin-opener-policy',
  'same-origin',
  'permissions-policy',
  'accelerometer=(), autoplay=(), camera=(), display-capture=(), encrypted-media=(), fullscreen=(), geolocation=(), gyroscope=(), hid=(), idle-detection=(), magnetometer=(), microphone=(), midi=(), payment=(), picture-in-picture=(), publickey-credentials-get=(), screen-wake-lock=(), serial=(), usb=(), xr-spatial-tracking=()',
  'referrer-policy',
  'no-referrer',
];

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
 * An answer that goes on until it ends by itself, its reader leaves or is stuck, or the database is out of reach. Then the reader of a stream of
 * events comes again and is told so. Lines are broken off instead: what ended in order would pass for the whole. Nothing more is read from the
 * source than the reader takes.
 */
export async function respondStream(
  exchange: Exchange,
  { text, close, stuck }: Stream,
  type: string,
  status = 200,
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
    response.writeHead(status, outgoing);
    // Some wait for them before they send the rest of what they ask about.
    response.flushHeaders();
    desk.finish(exchange, status);
    for await (const part of text) {
      if (response.destroyed || exchange.method === 'HEAD') break;
      const hasRoom = response.write(part);
      if (!hasRoom && !response.destroyed)
        await new Promise<void>((resolve) => {
          taken = resolve;
        });
    }
  } catch (error) {
    if (type === LINES_TYPE) response.destroy();
    if (!(error instanceof Outage)) throw error;
  } finally {
    close();
    if (!response.destroyed) endResponse(response, undefined);
  }
}

/** A reader that has taken nothing of what is left of its answer for so long takes nothing any more. */
const UNREAD_MS = 60_000;

/** By itself Node would keep the connection, and what is left of the answer, for as long as the reader likes. */
function endResponse(response: ServerResponse, body: string | Uint8Array | undefined): void {
  response.end(body);
  // As a rule the system has taken all of it by now.
  if (response.writableLength > 0) response.setTimeout(UNREAD_MS);
}
