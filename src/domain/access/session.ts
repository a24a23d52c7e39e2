/**
 * When a session ends and when its token is changed. It is over when nobody has used it for a while (idle), or a good while after somebody
 * signed in, however much it is used (absolute). Times are milliseconds since the epoch.
 */
export interface SessionLimits {
  idleMs: number;
  absoluteMs: number;
}

export interface SessionTimes {
  lastUsedAt: number;
  idleExpiresAt: number;
  expiresAt: number;
  rotatedAt: number;
  /** Whether it came with the token before the present one. */
  isPrevious: boolean;
  /** Until when that one works; undefined: until the present one has come. */
  previousUntil: number | undefined;
}

/** Use is written down once a minute at most, so a session that is left alone may end up to a minute early. */
export const USE_NOTED_MS = 60_000;
/** Less would end sessions that are in use. */
export const IDLE_MINUTES_MIN = 2;
/** A copied cookie is worth no more than so long, as long as its owner goes on. */
export const ROTATED_AFTER_MS = 15 * 60_000;
/** Calls that were under way when the new token came still bring the old one. */
export const OVERLAP_MS = 60_000;
/** An answer that has not arrived by then is lost, and the token in it with it: there will be another. */
const LOST_AFTER_MS = 60_000;

export function firstTimes(now: number, { idleMs, absoluteMs }: SessionLimits) {
  const expiresAt = now + absoluteMs;
  return { idleExpiresAt: Math.min(now + idleMs, expiresAt), expiresAt };
}

/** From this instant on it cannot be used, unless it is used before. */
export function endOf({ idleExpiresAt, expiresAt, isPrevious, previousUntil }: SessionTimes): number {
  const end = Math.min(idleExpiresAt, expiresAt);
  return isPrevious && previousUntil !== undefined ? Math.min(end, previousUntil) : end;
}

/** When it is to end by idleness after this use; undefined when that need not be written down. */
export function idleAfterUse(times: SessionTimes, now: number, limits: SessionLimits): number | undefined {
  if (now >= endOf(times) || now - times.lastUsedAt < USE_NOTED_MS) return undefined;
  // A limit that was lowered since must not make it longer, nor end it in mid-use.
  return Math.min(now + limits.idleMs, times.expiresAt);
}

/** Whether its next answer brings a new token. */
export function isRotationDue(times: SessionTimes, now: number): boolean {
  if (now >= endOf(times)) return false;
  const { isPrevious, previousUntil, rotatedAt } = times;
  if (isPrevious) return previousUntil === undefined && now - rotatedAt >= LOST_AFTER_MS;
  return now - rotatedAt >= ROTATED_AFTER_MS;
}
