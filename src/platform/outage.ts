/**
 * Something that the service needs is out of reach for the moment. Nobody did anything wrong, and the same call may
 * succeed in a second: it is answered with 503 and Retry-After.
 */
export class Outage extends Error {
  readonly retryAfterSeconds = 1;
}
