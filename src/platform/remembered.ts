import type { Clock } from './clock.ts';

const REMEMBERED_MS = 1_000;

/** However often it is asked, `ask` is asked once a second. A failure is not remembered. */
export function remembered<T>(clock: Pick<Clock, 'monotonic'>, ask: () => Promise<T>): () => Promise<T> {
  let last: { answer: Promise<T>; at: number } | undefined;
  return () => {
    const now = clock.monotonic();
    if (last && now - last.at < REMEMBERED_MS) return last.answer;
    const asked = { answer: ask(), at: now };
    last = asked;
    asked.answer.catch(() => {
      if (last === asked) last = undefined;
    });
    return asked.answer;
  };
}
