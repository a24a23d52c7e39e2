/** What is wrong with a request. Each kind has its own cause and its own remedy. */
export type FindingKind =
  | 'missing_header'
  | 'renamed_header'
  | 'duplicated_header'
  | 'timestamp_rewritten'
  | 'clock'
  | 'signature_version'
  | 'body_reencoded'
  | 'body_truncated'
  | 'secret_mangled'
  | 'secret_is_api_key'
  | 'wrong_secret';

export interface Finding {
  kind: FindingKind;
  /** What happened, and what to do about it, in words for people. */
  message: string;
  remedy: string;
}

/** A reading of a part of the request that the signature may be right for; without a finding, the part as it is. */
export interface Reading<T> {
  value: T;
  finding?: Finding;
}
