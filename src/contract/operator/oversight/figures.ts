import { z } from 'zod';
import { readers } from '../../access.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { moment, recordId, timestamp } from '../../fields.ts';

/** How long a point of a chart may be, in minutes. */
export const figureSteps = { '1m': 1, '5m': 5, '15m': 15, '1h': 60, '6h': 360, '1d': 1_440 } as const;
export type FigureStep = keyof typeof figureSteps;
const stepNames = Object.keys(figureSteps) as [FigureStep, ...FigureStep[]];

/** A wide screen shows no more. */
export const POINTS_MAX = 1_500;
const SPAN_DEFAULT_HOURS = 3;
export const SPAN_DEFAULT_MS = SPAN_DEFAULT_HOURS * 3600 * 1000;
/** Figures by the minute are kept for so long (`clear_figures`). */
export const FIGURES_DAYS = 35;

const span = {
  since: moment()
    .optional()
    .meta({ description: `${SPAN_DEFAULT_HOURS} hours before \`until\` unless given.` }),
  until: moment().optional().meta({ description: 'Now unless given.' }),
  step: z
    .enum(stepNames)
    .optional()
    .meta({
      description: `How long a point is. The shortest that makes no more than 200 points unless given; at most ${POINTS_MAX} points may be asked for.`,
    }),
};

const count = (description: string) => z.int().min(0).meta({ description });
const milliseconds = () =>
  z.number().nullable().meta({
    description:
      'Rounded up to a bound of the SLA report; null: nothing was counted, or it took longer than the last bound.',
  });

const calls = z
  .object({
    ok: count('Answered with less than 400.'),
    refused: count('Answered with 4xx, those over the limit aside.'),
    rate_limited: count('Answered with 429.'),
    failed: count('Answered with 5xx.'),
  })
  .meta({ id: 'CallFigures', description: 'Calls of partners, by outcome.' });

const deliveries = z
  .object({
    delivered: count('Attempts that arrived.'),
    retried: count('Attempts that failed and are made again.'),
    given_up: count('Attempts that failed and were the last.'),
  })
  .meta({ id: 'DeliveryFigures', description: 'Attempts to deliver to webhooks of partners, by outcome.' });

const point = z
  .object({
    at: timestamp().meta({ description: 'Where the point begins.' }),
    calls,
    deliveries,
    delay_ms: z
      .object({ p50: milliseconds(), p95: milliseconds() })
      .meta({ id: 'DelayFigures', description: 'From the acceptance of an event to its receipt.' }),
    oldest_undelivered_seconds: z.number().nullable().meta({
      description:
        'How long the oldest event that an active webhook had not received had waited, at the worst moment of the point; null: that was not looked at, as for one partner or webhook.',
    }),
  })
  .meta({ id: 'FigurePoint' });

export type FigurePoint = z.infer<typeof point>;

const series = { since: timestamp(), until: timestamp(), step: z.enum(stepNames) };

export const getFigures = defineEndpoint({
  operationId: 'getFigures',
  method: 'GET',
  path: '/operator/v1/figures',
  tag: 'Usage',
  summary: 'Get figures over time',
  description: `For charts: calls and deliveries by outcome, how long deliveries took, and the oldest that is undelivered, of all nodes together. Every point of the time is there, with zeros where nothing happened. Figures are a few seconds late, are kept by the minute for ${FIGURES_DAYS} days, and begin with this version.`,
  extension: true,
  access: { roles: readers },
  query: z.strictObject({
    ...span,
    partner_id: recordId().optional(),
    webhook_id: recordId().optional().meta({ description: 'Of its deliveries alone; calls are zero.' }),
  }),
  response: {
    status: 200,
    description: 'The points, oldest first.',
    body: z.object({ ...series, data: z.array(point) }).meta({ id: 'Figures' }),
  },
  problems: [],
});

const healthPoint = z
  .object({
    at: timestamp().meta({ description: 'Where the point begins.' }),
    ...deliveries.shape,
    causes: z.array(z.object({ cause: z.string(), count: z.int() }).meta({ id: 'CauseCount' })).meta({
      description:
        'Why attempts failed, the most frequent first: the phase in which they broke off (dns, connect, tls, send, answer, address), or the kind of status, as 5xx.',
      examples: [[{ cause: '5xx', count: 12 }]],
    }),
  })
  .meta({ id: 'WebhookHealthPoint' });

export type WebhookHealthPoint = z.infer<typeof healthPoint>;

export const getWebhookHealth = defineEndpoint({
  operationId: 'getWebhookHealth',
  method: 'GET',
  path: '/operator/v1/webhooks/{id}/health',
  tag: 'Webhooks',
  summary: 'Get the health of a webhook over time',
  description: `Attempts by outcome and cause, point by point. Kept for ${FIGURES_DAYS} days.`,
  extension: true,
  access: { roles: readers },
  params: z.strictObject({ id: recordId() }),
  query: z.strictObject(span),
  response: {
    status: 200,
    description: 'The points, oldest first.',
    body: z.object({ ...series, data: z.array(healthPoint) }).meta({ id: 'WebhookHealthOverTime' }),
  },
  problems: ['not_found'],
});
