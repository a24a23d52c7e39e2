/** What is to be sent. The headers go out as they are given. */
export interface Letter {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** The steps of a call, in their order; `address`: it was not made, because the address is not one to call. */
export type Phase = 'address' | 'dns' | 'connect' | 'tls' | 'send' | 'answer';

export interface Failure {
  phase: Phase;
  /** A word for machines, such as `tls_certificate_expired`. */
  code: string;
  /** What a person needs besides the code: which address, which date. */
  detail: string;
}

/** How a call went. Every status is an outcome like any other here; whether it is a success is for others to say. */
export interface PostOutcome {
  status: number | undefined;
  /** The header `Retry-After`, as it was sent. */
  retryAfter: string | undefined;
  /** The beginning of the body, as text that can be stored and shown. */
  answer: string;
  durationMs: number;
  failure: Failure | undefined;
}
