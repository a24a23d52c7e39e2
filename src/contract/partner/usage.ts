import { z } from 'zod';
import { defineEndpoint } from '../endpoint.ts';
import { day } from '../fields.ts';
import { pageOf, pageQuery } from '../page.ts';

const callOutcomes = ['ok', 'refused', 'rate_limited', 'failed'] as const;
export type CallOutcome = (typeof callOutcomes)[number];
export const deliveryOutcomes = ['delivered', 'retried', 'given_up'] as const;
export type DeliveryOutcome = (typeof deliveryOutcomes)[number];

export const usageEntry = z
  .object({
    day: z
      .string()
      .meta({ description: 'By the calendar of UTC.', format: 'date', examples: ['2026-11-14'] }),
    kind: z
      .enum(['call', 'delivery'])
      .meta({ description: 'call: requests to the API. delivery: attempts to deliver to a webhook.' }),
    key_id: z.string().nullable().meta({ description: 'Of a call.' }),
    webhook_id: z.string().nullable().meta({ description: 'Of a delivery.' }),
    operation: z
      .string()
      .nullable()
      .meta({
        description: 'Of a call; `none` where there is no such operation.',
        examples: ['updateSubmissionType'],
      }),
    outcome: z.enum([...callOutcomes, ...deliveryOutcomes]).meta({
      description:
        'Of a call: `ok`, `refused` (4xx), `rate_limited` (429), or `failed` (5xx, a fault of ours). Of an attempt to deliver: `delivered`, `retried` (it failed and is tried again), or `given_up`.',
    }),
    count: z.int().min(0).meta({ description: 'The number of times on that day.' }),
  })
  .meta({ id: 'UsageEntry', description: 'How often something happened on a day.' });

export type UsageEntry = z.infer<typeof usageEntry>;

export const DAYS_MAX = 400;
export const DAYS_DEFAULT = 30;

export const usageDays = {
  from: day()
    .optional()
    .meta({
      description: `The first day, at most ${DAYS_MAX - 1} days before the last; ${DAYS_DEFAULT - 1} before it unless given.`,
    }),
  to: day().optional().meta({ description: 'The last day; today unless given.' }),
};

export const whenCounted =
  'Days are those of UTC. What happened counts within about a second; a node that is killed loses what it counted in the last one.';

export const listUsage = defineEndpoint({
  operationId: 'listUsage',
  method: 'GET',
  path: '/v1/usage',
  tag: 'Account',
  summary: 'List your usage',
  description: `Your calls by day, key, operation and outcome, and the deliveries to your webhooks, of all your keys and webhooks. ${whenCounted}`,
  extension: true,
  access: { anyKey: true, aboutItself: true },
  query: z.strictObject({ ...pageQuery, ...usageDays }),
  response: { status: 200, description: 'One page, by day.', body: pageOf(usageEntry) },
  problems: [],
});
