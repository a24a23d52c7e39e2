import type { problemCatalogue } from '../contract/problems.ts';

/**
 * How to meet an error on purpose, in the demo world. What the service says there is worth more than what is said of it here.
 * test/browser/examples-errors.test.ts runs each.
 */
export interface Demonstration {
  /** What happens, in a sentence or two. */
  says: string;
  command: string;
}

type Code = keyof typeof problemCatalogue | 'validation_error';

const GROUP = `-H 'x-practice-group-id: riverside-surgery'`;
const PARTNER = `-H 'x-api-key: ptr_test_YOUR_KEY' \\\n  ${GROUP}`;
const JSON_TYPE = `-H 'content-type: application/json'`;
const address = (path: string) => `http://127.0.0.1:8080${path}`;

const onPurpose: Partial<Record<Code, Demonstration>> = {
  validation_error: {
    says: 'A number where the name of an event belongs:',
    command: `curl -sS ${address('/v1/test-events')} \\\n  ${PARTNER} \\\n  ${JSON_TYPE} \\\n  -d '{"event": 7}'`,
  },
  invalid_credentials: {
    says: 'A key that is not whole. One that is whole and that nobody issued gets the general message:',
    command: `curl -sS ${address('/v1/practice-groups')} \\\n  -H 'x-api-key: ptr_test_NOT_A_KEY' \\\n  ${GROUP}`,
  },
  forbidden: {
    says: 'Your key, and a practice group that is in no network with yours:',
    command: `curl -sS ${address('/v1/practice-groups')} \\\n  -H 'x-api-key: ptr_test_YOUR_KEY' \\\n  -H 'x-practice-group-id: somebody-elses-surgery'`,
  },
  not_found: {
    says: 'A submission type that does not exist:',
    command: `curl -sS ${address('/v1/care-nav/submission-types/nonsense')} \\\n  ${PARTNER}`,
  },
  method_not_allowed: {
    says: 'Practice groups can be read here, not deleted. `-i` shows the Allow header:',
    command: `curl -sS -i -X DELETE ${address('/v1/practice-groups')} \\\n  ${PARTNER}`,
  },
  conflict: {
    says: 'The same `Idempotency-Key` twice, with two different bodies. The second call is refused:',
    command: ['confirmed', 'cancelled']
      .map(
        (what) =>
          `curl -sS ${address('/v1/test-events')} \\\n  ${PARTNER} \\\n  ${JSON_TYPE} \\\n  -H 'idempotency-key: see-a-conflict' \\\n  -d '{"event": "appointment.${what}"}'`,
      )
      .join('\n'),
  },
  cursor_gone: {
    says: 'A cursor from further on than the feed has come, as if the service had been set back:',
    command: `curl -sS '${address('/v1/events?cursor=WzEwMDAwMDBd')}' \\\n  ${PARTNER}`,
  },
  precondition_failed: {
    says: 'An ETag that no version of the record has. Nothing is changed:',
    command: `curl -sS -X PATCH ${address('/v1/care-nav/submission-types/symptoms')} \\\n  ${PARTNER} \\\n  ${JSON_TYPE} \\\n  -H 'if-match: "0"' \\\n  -d '{"daily_limit": 30}'`,
  },
  payload_too_large: {
    says: 'A body of 70,000 bytes:',
    command: `head -c 70000 /dev/zero |\n  curl -sS ${address('/v1/test-events')} \\\n    ${PARTNER.replaceAll('\n', '\n  ')} \\\n    ${JSON_TYPE} \\\n    --data-binary @-`,
  },
  unsupported_media_type: {
    says: 'JSON that says of itself that it is plain text:',
    command: `curl -sS ${address('/v1/test-events')} \\\n  ${PARTNER} \\\n  -H 'content-type: text/plain' \\\n  -d '{"event": "appointment.confirmed"}'`,
  },
  business_rule_violation: {
    says: 'An assignee without its type. Nothing is changed:',
    command: `curl -sS -X PATCH ${address('/v1/care-nav/submission-types/symptoms')} \\\n  ${PARTNER} \\\n  ${JSON_TYPE} \\\n  -d '{"assignee_id": "front-desk"}'`,
  },
  rate_limit_exceeded: {
    says: 'As many calls as a minute allows, then one more. Your key works again a minute later:',
    command: `curl -sS -o /dev/null '${address('/v1/practice-groups')}#[1-300]' \\\n  ${PARTNER}\ncurl -sS ${address('/v1/practice-groups')} \\\n  ${PARTNER}`,
  },
};

/** Give a call a name of one's own, let it be refused, and ask by that name. */
export const askWhy: Demonstration = {
  says: 'Give a call an x-request-id of your own. If it was refused, ask why by that name:',
  command: `curl -sS ${address('/v1/care-nav/submission-types/nonsense')} \\\n  ${PARTNER} \\\n  -H 'x-request-id: my-call-1'\ncurl -sS ${address('/v1/requests/my-call-1')} \\\n  ${PARTNER}`,
};

/** The demo world cannot be brought to answer with the rest; what can always be done is to ask why. */
export function demonstrationOf(code: string): Demonstration {
  return (
    onPurpose[code as Code] ?? {
      says: `The demo world does not answer with this one. You can always find out why a call was refused. ${askWhy.says}`,
      command: askWhy.command,
    }
  );
}
