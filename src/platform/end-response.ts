import type { ServerResponse } from 'node:http';

/** A reader that has taken nothing of what is left of its answer for so long takes nothing any more. */
const UNREAD_MS = 60_000;

/** By itself Node would keep the connection, and what is left of the answer, for as long as the reader likes. */
export function endResponse(response: ServerResponse, body: string | Uint8Array | undefined): void {
  response.end(body);
  if (!response.writableFinished) response.setTimeout(UNREAD_MS);
}
