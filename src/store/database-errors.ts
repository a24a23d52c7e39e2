import pg from 'pg';
import { Outage } from '../platform/outage.ts';
import { TakesNoWrites } from './hosts.ts';

/** What the errors of PostgreSQL and of its driver mean: an outage that may pass, a conflict that is decided anew, or a bug. */

/**
 * Codes with which PostgreSQL says "not now": connection trouble, shutting down, starting up, full, read-only, timed out. Also 25P03 and 25P04: a
 * transaction whose node stood still was ended by the server.
 */
const NOT_NOW = /^(08|53|57|58|25006|25P03|25P04|55P03)/;

export function translate(error: unknown): unknown {
  if (error instanceof pg.DatabaseError) {
    return NOT_NOW.test(error.code ?? '') ? outage(error) : error;
  }
  // Anything else that the driver throws is about the connection, except its complaint about a value: that is a bug.
  return error instanceof TypeError ? error : outage(error);
}

/** Errors of the network. A certificate that does not fit has another code, and will not fit later either. */
const NETWORK =
  /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|ENOTFOUND|EAI_AGAIN)$/;
/** The driver's own errors have no code. */
const DRIVER_GAVE_UP = /timeout|terminated/i;

/** Whether a connection that failed like this may succeed later without any change of settings. */
export function mayPass(error: unknown): boolean {
  if (error instanceof TakesNoWrites) return true;
  if (error instanceof pg.DatabaseError) return NOT_NOW.test(error.code ?? '');
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  return code === undefined ? DRIVER_GAVE_UP.test(error.message) : NETWORK.test(code);
}

export function outage(cause: unknown): Outage {
  return new Outage(`the database is out of reach: ${cause instanceof Error ? cause.message : cause}`, {
    cause,
  });
}

/** Deadlocks; and what points to something that was removed since it was looked at (23503), which is decided anew. */
export function isUndoneByServer(error: unknown): boolean {
  return error instanceof pg.DatabaseError && ['40P01', '40001', '23503'].includes(error.code ?? '');
}

export function isUniqueViolation(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '23505';
}

/** Somebody who had not heard that the practice software is asked first: src/sql/practices/change_submission_types_2.sql. */
export function isWrittenThrough(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === 'PW001';
}

/** A statement that waited too long for a lock, or took too long: the connection is good for those behind it. */
export function isOnlyLate(error: unknown): boolean {
  const cause = error instanceof Outage ? error.cause : error;
  return cause instanceof pg.DatabaseError && (cause.code === '55P03' || cause.code === '57014');
}

/** A connection that was made while nothing could be written may stay like that for good. */
export function refusesWrites(error: unknown): boolean {
  return error instanceof Outage && error.cause instanceof pg.DatabaseError && error.cause.code === '25006';
}

/** The pool's own words for having waited too long for a connection that others use. */
export function isOnlyFull(error: unknown): boolean {
  return error instanceof Error && error.message === 'timeout exceeded when trying to connect';
}
