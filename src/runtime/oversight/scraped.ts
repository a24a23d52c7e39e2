import type { Clock } from '../../platform/clock.ts';

/** Reading more often would cost: counting a long queue is not free. */
const READ_EVERY_MS = 10_000;
/** Prometheus gives up a scrape after 10 s, and would report a node as down whose database is slow. */
const WAIT_MS = 2_000;
/** Older figures are left out. A figure that stands still looks like a healthy one. */
const KEPT_MS = 60_000;

/**
 * Figures about the whole service, read from the database for a page of metrics. Any process can report them, so they do not depend on the
 * processes that they are about. Returns undefined while the database does not answer.
 */
export function scraped<T>(
  clock: Pick<Clock, 'monotonic' | 'timer'>,
  read: () => Promise<T>,
): () => Promise<T | undefined> {
  let known: { figures: T; at: number } | undefined;
  let begunAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> = Promise.resolve();
  return async () => {
    const now = clock.monotonic();
    if (now - begunAt >= READ_EVERY_MS) {
      begunAt = now;
      reading = read().then(
        (figures) => {
          known = { figures, at: now };
        },
        () => {},
      );
    }
    const late = Promise.withResolvers<void>();
    const cancel = clock.timer(WAIT_MS, late.resolve);
    await Promise.race([reading, late.promise]);
    cancel();
    return known && clock.monotonic() - known.at < KEPT_MS ? known.figures : undefined;
  };
}
