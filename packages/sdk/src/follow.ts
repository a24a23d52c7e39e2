import { PorterApiError, PorterConnectionError, PorterError } from './errors.ts';
import { BACKOFF_MAX_MS, backoff, mayPass } from './retry.ts';
import { openStream, readMessages } from './stream.ts';
import { checkLimit, startTimer } from './timer.ts';
import type { Transport } from './transport.ts';

export interface FollowOptions {
  /** Begin after this place in the feed: a `cursor` that you kept. Without it, with what happens from now on. */
  cursor?: string | undefined;
  signal?: AbortSignal | undefined;
  /** A connection that is silent for longer is replaced; 45,000 unless given. The service says something every 15 s. */
  silenceMs?: number | undefined;
}

/** `cursor` is the place just after this event: keep it, and nothing is missed or heard twice. */
export type Followed<Item> = Item & { cursor: string };

const SILENCE_MS = 45_000;
const RETRY_MS = 2_000;
/** The service may ask for less; nobody comes back in an endless hurry. */
const RETRY_MIN_MS = 500;

/**
 * Yields what the stream brings, for ever. A connection that ends is replaced, from the last place that the service has
 * named. The first one must succeed within the limits of any call; later ones are tried until the service refuses.
 */
export async function* follow<Item>(
  transport: Transport,
  path: string,
  { signal, silenceMs = SILENCE_MS, cursor, ...query }: FollowOptions,
  readItem: (item: unknown) => Item | undefined,
): AsyncGenerator<Followed<Item>, never> {
  const { now, random, sleep } = transport.runtime;
  checkLimit('silenceMs', silenceMs);
  const watchSilence = (silent: () => void) => {
    const timer = startTimer(silent, silenceMs);
    return () => clearTimeout(timer);
  };
  let place = cursor;
  let retryMs = RETRY_MS;
  let shortLived = 0;
  for (let isFirst = true; ; isFirst = false) {
    const request = { path, query, cursor: place, signal };
    const body = await openStream(transport, request, isFirst ? undefined : comesBack);
    const openedAt = now();
    try {
      for await (const { id, data, retry } of readMessages(body, watchSilence, signal)) {
        signal?.throwIfAborted();
        place = id ?? place;
        if (retry !== undefined) retryMs = Math.max(RETRY_MIN_MS, retry);
        if (data === undefined) continue;
        shortLived = 0;
        yield { ...parse(data, readItem), cursor: place ?? '' };
      }
    } catch (error) {
      // A connection that broke is replaced.
      if (!(error instanceof PorterConnectionError)) throw error;
    }
    if (now() - openedAt >= BACKOFF_MAX_MS) shortLived = 0;
    await sleep(backoff(shortLived++, random, retryMs), signal);
  }
}

/** The service may count the connection that was lost as open for a while, and refuse one more with a 409. */
const comesBack = (error: unknown): boolean =>
  mayPass(error, true) || (error instanceof PorterApiError && error.status === 409);

function parse<Item>(data: string, readItem: (item: unknown) => Item | undefined): Item {
  try {
    const item = readItem(JSON.parse(data));
    if (item !== undefined) return item;
  } catch {}
  throw new PorterError('The stream brought something that is no event.');
}
