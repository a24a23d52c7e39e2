import { z } from 'zod';
import { readers } from '../../access.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { recordId, timestamp } from '../../fields.ts';
import { CALL_MS, DELIVERY_SECONDS, slaTargets } from '../../sla.ts';
import { withCommas } from '../../wording.ts';

const MONTH = /^[1-9]\d{3}-(0[1-9]|1[0-2])$/;

const count = (description: string) => z.int().min(0).meta({ description });
const percent = (description: string) => z.number().nullable().meta({ description });
const quantile = () => z.number().nullable();
const quantiles = (bounds: readonly number[], what: string) =>
  z
    .object({ p50: quantile(), p95: quantile(), p99: quantile() })
    .nullable()
    .meta({
      description: `${what} Each is rounded up to one of ${bounds.map(withCommas).join(', ')}; null: longer than the last. Altogether null: there was nothing to measure.`,
    });

export const slaReport = z
  .object({
    partner: z.object({ id: z.string(), name: z.string() }),
    month: z.string().meta({ examples: ['2026-11'] }),
    complete: z.boolean().meta({ description: 'The month is over. If not, the figures are those so far.' }),
    agreement: z
      .object({
        id: z.string(),
        version: z.string().nullable(),
        signed_at: timestamp(),
        ends_at: timestamp().nullable(),
        sla: z.string().nullable(),
        sla_targets: slaTargets.nullable(),
      })
      .nullable()
      .meta({ description: 'The one that was signed last of those in force in the month.' }),
    calls: z.object({
      total: count('With a key of the partner.'),
      refused: count('Answered with 4xx, but for 429.'),
      rate_limited: count('Answered with 429.'),
      failed: count('Answered with 5xx.'),
      answered_percent: percent('Those not answered with 5xx.'),
    }),
    uptime: z
      .object({
        minutes: count('Of the month, so far and since the service runs.'),
        minutes_down: count('In which no node that answers calls could reach the database.'),
        percent: percent('Of the minutes, those in which the service ran.'),
      })
      .meta({ description: 'Of the service as a whole.' }),
    availability_percent: percent('The lower of `calls.answered_percent` and `uptime.percent`.'),
    latency_ms: quantiles(CALL_MS, 'How long half of the answers took at most, 95 and 99 of 100.'),
    deliveries: z.object({
      delivered: count('That arrived.'),
      given_up: count('That were tried for the last time.'),
      retried: count('Attempts that failed and were followed by another.'),
      success_percent: percent('Of those that came to an end, those that arrived.'),
    }),
    delivery_seconds: quantiles(
      DELIVERY_SECONDS,
      'How long it took from the acceptance of an event to its receipt, likewise.',
    ),
    targets: z
      .array(
        z.object({
          measure: z.string().meta({ examples: ['availability_percent', 'latency_ms.p95'] }),
          target: z.number(),
          actual: z.number().nullable(),
          met: z.boolean().nullable().meta({ description: 'null: there was nothing to measure.' }),
        }),
      )
      .meta({ description: 'Those of the agreement; none if its SLA is in words.' }),
  })
  .meta({ id: 'SlaReport', description: 'How a partner was served in a month, against what was agreed.' });

export type SlaReport = z.infer<typeof slaReport>;

export const slaQuery = z.strictObject({
  month: z
    .string()
    .regex(MONTH, 'Must be a month such as 2026-11.')
    .optional()
    .meta({
      description: 'The current one, which it is unless given, or one before it.',
      examples: ['2026-11'],
    }),
});

export const getSla = defineEndpoint({
  operationId: 'getSla',
  method: 'GET',
  path: '/operator/v1/partners/{id}/sla',
  tag: 'Usage',
  summary: 'Measure the SLA of a partner',
  description:
    'How the partner was served in a month (of UTC), from figures that are kept, against the targets of its agreement. With `Accept: text/html` the same as a page to be printed.',
  extension: true,
  access: { roles: readers },
  params: z.strictObject({ id: recordId() }),
  query: slaQuery,
  response: { status: 200, description: 'The figures and the targets.', body: slaReport, page: true },
  problems: ['not_found'],
});
