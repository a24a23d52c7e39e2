import { useSyncExternalStore } from 'react';
import { toLasting, toRelative } from './lengths.ts';

/** Times are told from now; the exact one is in the tooltip and, for machines, in `datetime`. The page says once which zone it is. */

const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
export const zone = exact.resolvedOptions().timeZone;

export const toExact = (at: string | number): string => exact.format(new Date(at));
/** `09:40:12`; of another day with its date. */
export function toClock(at: string | number, now = Date.now()): string {
  const moment = new Date(at);
  const isToday = moment.toDateString() === new Date(now).toDateString();
  return isToday ? clock.format(moment) : `${day.format(moment)}, ${clock.format(moment)}`;
}

/** `38 min`, `2 h 5 min`, `3 days`: how long something takes or has taken. It stays on one line. */
export const toDuration = (ms: number): string => inWords(ms).replaceAll(' ', '\u00a0');

function inWords(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
  return `${Math.floor(hours / 24)} days`;
}

/** One timer for all times on the page. */
const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const one of listeners) one();
  }, 5000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

export const useNow = (): number => useSyncExternalStore(subscribe, () => now);

export function When({ at }: { at: string | null | undefined }) {
  const current = useNow();
  if (!at) return <span className="soft">never</span>;
  return (
    <time dateTime={at} title={`${toExact(at)} (${zone})`}>
      {toRelative(Date.parse(at), Math.max(current, Date.now()))}
    </time>
  );
}

/** `14 minutes`: how long something has lasted that began then. */
export function Lasting({ since }: { since: string | null }) {
  const current = useNow();
  if (since === null) return 'some time';
  return (
    <time dateTime={since} title={`since ${toExact(since)} (${zone})`}>
      {toLasting(Date.parse(since), Math.max(current, Date.now()))}
    </time>
  );
}
