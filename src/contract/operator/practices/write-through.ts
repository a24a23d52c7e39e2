import { z } from 'zod';
import { admins, readers } from '../../access.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { recordId, timestamp, webAddress } from '../../fields.ts';
import { secret, webhookStatuses } from '../../partner/webhooks.ts';
import { subscriptionHealth } from '../subscription-health.ts';

/** For everything from the name to the last byte of the answer. */
export const WRITE_THROUGH_MS = 5_000;

const writeThrough = z
  .object({
    practice_group_id: z.string(),
    url: z.string(),
    status: z.enum(webhookStatuses).meta({
      description:
        'Of what is told afterwards (`change.withdrawn`). disabled: an earlier version did so when the address had answered 410, or had failed for five days; set it anew.',
    }),
    health: subscriptionHealth,
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({
    id: 'WriteThrough',
    description: "Where the practice's own software is asked before a change is made.",
  });

export type WriteThroughSettings = z.infer<typeof writeThrough>;

const path = '/operator/v1/practice-groups/{id}/write-through';
const params = z.strictObject({ id: recordId() });
const tag = 'Changes';

export const putWriteThrough = defineEndpoint({
  operationId: 'putWriteThrough',
  method: 'PUT',
  path,
  tag,
  summary: 'Write changes through to the practice software',
  description: `From now on a partner's change of a submission type of this practice group is first put to \`url\`: a signed POST with the event \`change.proposed\`, to be answered within ${WRITE_THROUGH_MS / 1000} seconds. 2xx: the practice software has applied it, and it is made. 409 or 422: it is refused with the rule \`practice_software\`, and the \`message\` of the answer as its sentence. Anything else: the partner is answered 503. A change that may have been applied there and was not made here is taken back by the event \`change.withdrawn\`. Its \`before\` has the values that Porter holds by then; null: the submission type was deleted. It is delivered to the same address like any webhook, until it is received: it is never given up, and after the tenth attempt tried once a day. Sent again, it changes the address, sends at once what the practice software has still to be told, and gives a new secret; the old one signs along for a day.`,
  extension: true,
  access: { roles: admins },
  params,
  body: z.strictObject({
    url: webAddress().meta({
      description: 'https, at a public address or within the networks of PORTER_OPERATOR_TARGETS.',
      examples: ['https://practice-software.example/porter'],
    }),
  }),
  response: {
    status: 200,
    description: 'The setting with its secret, shown this once.',
    body: writeThrough.extend({ secret: secret() }).meta({ id: 'NewWriteThrough' }),
  },
  problems: ['not_found', 'conflict', 'business_rule_violation'],
  rules: ['webhook_target_refused'],
});

export const getWriteThrough = defineEndpoint({
  operationId: 'getWriteThrough',
  method: 'GET',
  path,
  tag,
  summary: 'Get whether changes are written through',
  description: 'The answer is 404 when they are not.',
  extension: true,
  access: { roles: readers },
  params,
  response: { status: 200, description: 'The setting.', body: writeThrough },
  problems: ['not_found'],
});

export const deleteWriteThrough = defineEndpoint({
  operationId: 'deleteWriteThrough',
  method: 'DELETE',
  path,
  tag,
  summary: 'Write changes through no longer',
  description:
    'From now on changes are made at once and then told, as everywhere else. The answer is 409 while something is still to be settled with the practice software, and says what to do.',
  extension: true,
  access: { roles: admins },
  params,
  response: { status: 204, description: 'Changes are not written through any more.' },
  problems: ['not_found', 'conflict'],
});
