import { Outage } from '../platform/outage.ts';

/** Declared and not there yet. */
export function notYet(): never {
  throw new Outage('not there yet');
}
