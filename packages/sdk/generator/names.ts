/** What the specification does not say: how its parts are called in this library. */

/** The reference shows calls by these names, so they are there. */
export { methodNames } from '../../../src/describe/client-methods.ts';

/** What a stream carries: its content type has no place for a schema. */
export const streamedTypes: Record<string, string> = { streamEvents: 'FeedEvent' };

/** The type of the options that a header stands for; `undefined`: the client sends it by itself. */
export const headerOptions: Record<string, string | undefined> = {
  'x-request-id': 'CallOptions',
  'If-Match': 'IfMatch',
  'Idempotency-Key': 'Idempotency',
  'Last-Event-ID': undefined,
};

/** The code that each detail of a problem comes with, always; `undefined`: partners never see it. */
export const problemDetails: Record<string, string | undefined> = {
  required_scopes: 'insufficient_permissions',
  required_roles: undefined,
  rule: 'business_rule_violation',
  path: 'business_rule_violation',
  retry_after: 'rate_limit_exceeded',
  resume_cursor: 'cursor_gone',
  used_by: undefined,
};

/** `Practice groups` is reached as `practiceGroups`, and its class is `PracticeGroups`. */
export const pascalCase = (words: string): string =>
  words
    .split(/[\s_-]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

export const camelCase = (words: string): string => {
  const name = pascalCase(words);
  return name.charAt(0).toLowerCase() + name.slice(1);
};
