import { z } from 'zod';
import { timestamp } from './fields.ts';

/** Streams that tell consoles what may differ from before, and never what it is. */

/** A stream of no news says so after this time, so that proxies leave it open. */
export const LIVE_HEARTBEAT_SECONDS = 15;
/** Open at once on a node, of all operators together, and of all people who were invited. */
export const LIVE_STREAMS_MAX = 2_000;
/** Open at once on a node, of one operator, in all browsers together. */
export const LIVE_STREAMS_OF_OPERATOR_MAX = 20;
/** The same of one invited person. */
export const LIVE_STREAMS_OF_GUEST_MAX = 10;

export const liveText = (what: string) =>
  `Sends Server-Sent Events named \`changed\`, each with the kinds of things ${what} that may differ from before, so that whoever shows them asks again; never the things themselves. The first names every kind. A node asks the database once for all its streams. A comment is sent after ${LIVE_HEARTBEAT_SECONDS} seconds without news.`;

export const liveNews = <const K extends readonly [string, ...string[]]>(
  id: string,
  kinds: K,
  description: string,
) => z.object({ kinds: z.array(z.enum(kinds)).meta({ description }), at: timestamp() }).meta({ id });
