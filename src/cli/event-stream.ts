import { type SseMessage, SseParser } from '../../packages/sdk/src/sse.ts';
import { type Api, isNetworkError, Refused } from './api.ts';
import { Failure, Unreachable } from './exit.ts';
import { isObject, parseJson } from './json.ts';
import type { Printer } from './printer.ts';
import { pause, type World } from './world.ts';

/** An event as the stream and the feed tell it. */
export interface StreamedEvent {
  id: string;
  created_at: string;
  data: { object: string; id: string; practice_group_id: string; event: string };
}

const PATH = '/v1/events/stream';
/** The service sends a heartbeat every 15 seconds: after three that did not come, nobody is there any more. */
const SILENCE_MS = 45_000;
const RETRY_MS = 2_000;
const RETRY_MIN_MS = 500;
const RETRY_MAX_MS = 30_000;
/** However long the service asks to be left alone. */
const RETRY_AFTER_MAX_MS = 300_000;

export interface StreamOptions {
  api: Api;
  out: Printer;
  world: World;
  eventTypes: readonly string[];
  /** Heard once, when the stream is open for the first time. */
  opened(): void;
  /** The next event is read when this has resolved. */
  received(event: StreamedEvent): Promise<void>;
}

/** Follows the stream until the command is to end. A stream that breaks off is resumed where it broke. */
export async function followEvents(options: StreamOptions): Promise<void> {
  const { out, world, opened } = options;
  const position: Position = { cursor: undefined, retryMs: RETRY_MS };
  let everOpen = false;
  let failures = 0;
  while (!world.stop.aborted) {
    const broken = new AbortController();
    let askedMs = 0;
    try {
      const response = await out.during('Connecting', open(options, position.cursor, broken.signal));
      if (everOpen) out.note('Connected again.');
      else opened();
      everOpen = true;
      failures = 0;
      await read(response, position, options, broken);
      out.note('The service ended the stream.');
    } catch (error) {
      if (world.stop.aborted) return;
      if (!everOpen || isFinal(error)) throw error;
      if (error instanceof Refused) askedMs = Math.min(RETRY_AFTER_MAX_MS, error.retryAfterSeconds * 1000);
      out.note(`The stream broke off: ${reasonOf(error)}`);
    } finally {
      // A response that is not read to its end keeps its connection.
      broken.abort();
    }
    const wait = Math.min(RETRY_MAX_MS, position.retryMs * 2 ** failures++);
    // Not all at the same moment, when a service has come back.
    const spread = Math.max(askedMs, wait * (0.75 + (world.random(1)[0] ?? 0) / 512));
    out.note(`Connecting again in ${Math.ceil(spread / 1000)} s, from where it stopped.`);
    await pause(world, spread, world.stop);
  }
}

interface Position {
  cursor: string | undefined;
  retryMs: number;
}

async function open({ api, eventTypes }: StreamOptions, cursor: string | undefined, signal: AbortSignal) {
  const headers = {
    accept: 'text/event-stream',
    ...(await api.partnerHeaders()),
    ...(cursor !== undefined && { 'last-event-id': cursor }),
  };
  const query = { event_types: eventTypes.length > 0 ? eventTypes.join() : undefined };
  const response = await api.open('GET', PATH, { headers, query }, signal);
  const isStream = /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '');
  if (response.status === 200 && isStream) return response;
  // Whatever answers with 200 may go on for ever: its text is left alone.
  const answer =
    response.status === 200
      ? { status: 200, headers: response.headers, text: '' }
      : await api.readWhole(response);
  throw await api.refusal('partner', answer);
}

async function read(
  response: Response,
  position: Position,
  { world, received }: StreamOptions,
  broken: AbortController,
): Promise<void> {
  const parser = new SseParser();
  const listening = watchSilence(world, broken);
  for await (const chunk of response.body ?? []) {
    listening(false);
    for (const { id, data, retry } of messagesOf(parser, chunk)) {
      if (data !== undefined) await received(eventOf(data));
      if (id !== undefined) position.cursor = cursorOf(id);
      if (retry !== undefined) position.retryMs = Math.max(RETRY_MIN_MS, retry);
    }
    listening(true);
  }
}

function messagesOf(parser: SseParser, chunk: Uint8Array): SseMessage[] {
  try {
    return parser.push(chunk);
  } catch {
    throw notAnEvent();
  }
}

/** It is sent back as a header, which takes no other characters. */
function cursorOf(id: string): string {
  if (!/^[!-~]*$/.test(id)) throw notAnEvent();
  return id;
}

function eventOf(text: string): StreamedEvent {
  const event = parseJson(text);
  if (isObject(event) && typeof event.id === 'string' && isObject(event.data))
    return event as unknown as StreamedEvent;
  throw notAnEvent();
}

function notAnEvent(): Failure {
  return new Failure(
    'The stream holds something that is no event.',
    'Is this the address of a Porter service?',
  );
}

/** Breaks a connection on which nothing is heard any more. To be told when something is heard, and when to go on. */
function watchSilence(world: World, broken: AbortController): (listening: boolean) => void {
  let listens = true;
  let heardAt = world.clock.monotonic();
  const watch = async () => {
    while (!broken.signal.aborted) {
      const silentMs = listens ? world.clock.monotonic() - heardAt : 0;
      if (silentMs < SILENCE_MS) await pause(world, SILENCE_MS - silentMs, broken.signal);
      else broken.abort(new Unreachable(`nothing was heard for ${SILENCE_MS / 1000} s.`));
    }
  };
  void watch();
  return (listening) => {
    listens = listening;
    heardAt = world.clock.monotonic();
  };
}

function reasonOf(error: unknown): string {
  const { message, cause } = error as Error & { cause?: { message?: string } };
  return cause?.message ?? message;
}

/** Asking again would be answered the same. A conflict is a stream of ours that the service has not seen end yet. */
function isFinal(error: unknown): boolean {
  if (error instanceof Refused) return error.status < 500 && ![409, 429, 408].includes(error.status);
  return !(error instanceof Unreachable || isNetworkError(error));
}
