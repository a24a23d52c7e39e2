export { type Answer, Call, PageCall } from './call.ts';
export {
  type ApiProblem,
  PorterApiError,
  PorterConnectionError,
  PorterError,
  PorterTimeoutError,
} from './errors.ts';
export type { Followed, FollowOptions } from './follow.ts';
export type * from './generated/groups.ts';
export * from './generated/types.ts';
export type { CallOptions, Idempotency, IfMatch, PorterOptions, Runtime } from './options.ts';
export { Porter } from './porter.ts';
export type { UnknownEvent, UnknownProblem } from './unknown.ts';
export {
  type VerifiedWebhook,
  verifyWebhook,
  type WebhookFailure,
  type WebhookHeaders,
  type WebhookRequest,
  WebhookVerificationError,
} from './webhook.ts';
