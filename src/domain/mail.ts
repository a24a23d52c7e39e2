/** An e-mail, and when sending it is tried again. */

const MINUTE = 60_000;

export interface Message {
  subject: string;
  text: string;
  html: string;
}

/** A node that claims a message has this long to send it. Afterwards another node may send it, under the same Message-ID. */
export const SENDING_MS = 5 * MINUTE;

const RETRY_MS = [1, 5, 15, 60, 240, 720, 1_440].map((minutes) => minutes * MINUTE);

/** Milliseconds to wait after the given number of attempts; undefined when no further attempt is made. A permanent rejection is not retried. */
export function retryAfter(tries: number, isPermanent: boolean): number | undefined {
  return isPermanent ? undefined : RETRY_MS[tries - 1];
}
