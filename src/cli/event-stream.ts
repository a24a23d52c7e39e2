import { PorterConnectionError, PorterError } from '../../packages/sdk/src/errors.ts';
import { retryAfter } from '../../packages/sdk/src/retry.ts';
import { isRecord } from '../../packages/sdk/src/shape.ts';
import { readMessages, type SilenceWatch, type StreamBody } from '../../packages/sdk/src/stream.ts';
import { type Api, isOutside, Refused } from './api.ts';
import { Failure, Unreachable } from './exit.ts';
import { parseJson } from './json.ts';
import type { Printer } from './printer.ts';
import { pause, type World } from './world.ts';

/** An event as the stream and the feed tell it. */
export interface StreamedEvent {
  id: string;
  created_at: string;
  data: { object: string; id: string; practice_group_id: string; event: string };
}

/** The service sends a heartbeat every 15 seconds: after three that did not come, nobody is there any more. */
const SILENCE_MS = 45_000;
const RETRY_MS = 2_000;
const RETRY_MIN_MS = 500;
const RETRY_MAX_MS = 30_000;
/** The service may ask for more; it is asked again after this. */
const RETRY_AFTER_MAX_MS = 300_000;

export interface StreamOptions {
  api: Api;
  out: Printer;
  world: World;
  eventTypes: readonly string[];
  /** Called once, when the stream is open for the first time. */
  opened(): void;
  /** The next event is read when this has resolved. */
  received(event: StreamedEvent): Promise<void>;
}

/** Follows the stream until the command is to end. A stream that breaks off is resumed where it broke. */
export async function followEvents(options: StreamOptions): Promise<void> {
  const { api, out, world, opened, eventTypes } = options;
  const query = { event_types: eventTypes.length > 0 ? eventTypes.join() : undefined };
  const position: Position = { cursor: undefined, retryMs: RETRY_MS };
  let everOpen = false;
  let failures = 0;
  while (!world.stop.aborted) {
    let askedMs = 0;
    try {
      const body = await out.during('Connecting', api.stream('/events/stream', query, position.cursor));
      if (everOpen) out.note('Connected again.');
      else opened();
      everOpen = true;
      failures = 0;
      await read(body, position, options);
      if (world.stop.aborted) return;
      out.note('The service ended the stream.');
    } catch (error) {
      if (world.stop.aborted) return;
      if (!everOpen || isFinal(error)) throw error;
      if (error instanceof Refused)
        askedMs = Math.min(RETRY_AFTER_MAX_MS, retryAfter(error.headers, world.clock.now()));
      out.note(`The stream broke off: ${(error as Error).message}`);
    }
    const wait = Math.min(RETRY_MAX_MS, position.retryMs * 2 ** failures++);
    // Jitter, so that not all come back at the same moment.
    const spread = Math.max(askedMs, wait * (0.75 + (world.random(1)[0] ?? 0) / 512));
    out.note(`Connecting again in ${Math.ceil(spread / 1000)} s, from where it stopped.`);
    await pause(world, spread, world.stop);
  }
}

interface Position {
  cursor: string | undefined;
  retryMs: number;
}

async function read(body: StreamBody, position: Position, { world, received }: StreamOptions): Promise<void> {
  const over = new AbortController();
  try {
    for await (const { id, data, retry } of readMessages(body, silenceOf(world, over.signal), world.stop)) {
      if (data !== undefined) await received(eventOf(data));
      if (id !== undefined) position.cursor = id;
      if (retry !== undefined) position.retryMs = Math.max(RETRY_MIN_MS, retry);
    }
  } catch (error) {
    if (error instanceof PorterConnectionError) throw isOutside(error) ? brokenOff(error) : error.cause;
    throw error instanceof PorterError ? notAnEvent() : error;
  } finally {
    over.abort();
  }
}

function eventOf(text: string): StreamedEvent {
  const event = parseJson(text);
  if (isRecord(event) && typeof event.id === 'string' && isRecord(event.data))
    return event as unknown as StreamedEvent;
  throw notAnEvent();
}

function notAnEvent(): Failure {
  return new Failure(
    'The stream holds something that is no event.',
    'Is this the address of a Porter service?',
  );
}

/** Without a cause, the connection is there and nobody says anything. */
function brokenOff({ cause }: PorterConnectionError): Unreachable {
  if (cause === undefined) return new Unreachable(`nothing was heard for ${SILENCE_MS / 1000} s.`);
  const { message, cause: reason } = cause as Error & { cause?: { message?: string } };
  return new Unreachable(reason?.message ?? message);
}

/** The watch over one connection: by the clock of the world, with one wait at a time however much is heard. */
function silenceOf(world: World, over: AbortSignal): SilenceWatch {
  let silent: (() => void) | undefined;
  let since = world.clock.monotonic();
  const watch = async () => {
    while (!over.aborted) {
      const silentMs = silent ? world.clock.monotonic() - since : 0;
      if (silentMs < SILENCE_MS) await pause(world, SILENCE_MS - silentMs, over);
      else return silent?.();
    }
  };
  void watch();
  return (tell) => {
    silent = tell;
    since = world.clock.monotonic();
    return () => {
      silent = undefined;
    };
  };
}

/** Asking again would be answered the same. A conflict is a stream of ours that the service has not seen end yet. */
function isFinal(error: unknown): boolean {
  if (error instanceof Refused) return error.status < 500 && ![409, 429, 408].includes(error.status);
  return !(error instanceof Unreachable);
}
