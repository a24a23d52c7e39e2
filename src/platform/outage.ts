/**
 * Something that the service needs is out of reach for the moment. Nobody did anything wrong, and the same call may
 * succeed in a second: it is answered with 503 and Retry-After.
 */
export class Outage extends Error {
  readonly retryAfterSeconds = 1;
  /** What the caller is told, where it is not the service itself that is out of reach but the practice software. */
  readonly told: string | undefined;

  constructor(message: string, { told, ...options }: ErrorOptions & { told?: string } = {}) {
    super(message, options);
    this.told = told;
  }
}
