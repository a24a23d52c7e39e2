import type { PartnerRefusedRequest, RequestCheck } from '../../api/generated.ts';

/** Refusals in words, by the code of the answer. */
export const refusals: Record<string, string> = {
  invalid_credentials: 'the key does not work',
  rate_limit_exceeded: 'too many calls',
  insufficient_permissions: 'a scope is missing',
  forbidden: 'the practice is out of reach',
  validation_error: 'the call is not valid',
  not_found: 'what it asks for is not there',
  business_rule_violation: 'a rule forbids it',
  precondition_failed: 'it was changed meanwhile',
  conflict: 'it does not fit the state',
  cursor_gone: 'its place in the feed is gone',
  payload_too_large: 'the body is too large',
  unsupported_media_type: 'the body is no JSON',
  method_not_allowed: 'the method is not allowed',
  https_required: 'it did not come by HTTPS',
  internal_error: 'the service failed',
  service_unavailable: 'the service was not available',
};

/** Why a key that is known was refused. */
const keyReasons: Record<NonNullable<PartnerRefusedRequest['reason']>, string> = {
  stopped_by_practice: 'the practice has stopped the partner',
  expired: 'the key has expired',
  revoked: 'the key was revoked',
  leaked: 'the key leaked, and was revoked',
  partner_not_verified: 'the partner is not verified, or is suspended',
  address_not_allowed: 'the key may not be used from there',
  proof_missing: 'the proof of the key is missing',
  proof_invalid: 'the proof of the key does not hold',
  proof_replayed: 'the proof of the key was used before',
};

export const toRefusal = ({ error, reason }: Pick<PartnerRefusedRequest, 'error' | 'reason'>): string =>
  reason ? keyReasons[reason] : (refusals[error] ?? error);

/** The service writes the names of fields as Markdown does. */
export const toPlain = (text: string): string => text.replaceAll('`', '');

/** Of a call that is not valid, each thing that is wrong with it, at its field; of others what they were answered. */
export function toWrongs({ answer }: Pick<PartnerRefusedRequest, 'answer'>): string {
  if (answer.error !== true) return toPlain(answer.message);
  return answer.message.map(({ path, message }) => [...path, message].join(': ')).join(' ');
}

/** What is wrong with a call that is not valid says more than that something is. */
export const toSentences = (call: Pick<PartnerRefusedRequest, 'answer' | 'explanation'>): string =>
  call.answer.error === true ? toWrongs(call) : toPlain(call.explanation);

export const checkTitles: Record<RequestCheck['check'], string> = {
  transport: 'It came by HTTPS',
  size: 'The body is not too large',
  key: 'The key works',
  rate: 'Not too many calls a minute',
  scope: 'The key has the scope',
  network: 'The key reaches the practice',
  validation: 'The call is valid',
  operation: 'What it asks for can be done',
};
