/** What came after this version of the library. Nothing of it is lost. */

/** An event of a kind that is not known here: acknowledge it and go on, or look at `name` and `payload`. */
export interface UnknownEvent {
  event: 'unknown';
  /** What it is called, such as `appointment.confirmed`. */
  name: string;
  payload: { object: string; id: string; practice_group_id: string; event: string; [field: string]: unknown };
}

/** A refusal with a code that is not known here, or an answer that is none of Porter's. */
export interface UnknownProblem {
  error: 'unknown';
  message: string;
  /** What came, parsed if it was JSON. */
  body: unknown;
}
