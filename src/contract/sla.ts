import { z } from 'zod';
import { decided, line } from './fields.ts';

/** The upper bounds by which times are counted; what is longer than the last is counted apart. */
export const CALL_MS = [
  1, 2, 5, 10, 20, 50, 100, 150, 200, 250, 300, 400, 500, 750, 1_000, 1_500, 2_000, 3_000, 5_000, 10_000,
] as const;
export const DELIVERY_SECONDS = [
  0.1, 0.25, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 18_000, 36_000, 86_400,
  259_200,
] as const;

/** Stands for the bound of what took longer than the last. */
export const LONGER_MS = 2 ** 52;

const percent = (description: string) => z.number().min(0).max(100).optional().meta({ description });
const quantiles = (max: number, description: string) => {
  const within = (share: string) =>
    z
      .number()
      .positive()
      .max(max)
      .optional()
      .meta({ description: `The longest time for ${share}.` });
  return z
    .strictObject({ p50: within('half of them'), p95: within('95 of 100'), p99: within('99 of 100') })
    .refine(hasOne, NONE)
    .optional()
    .meta({ description });
};
const hasOne = (targets: object) => Object.values(targets).some((target) => target !== undefined);
const NONE = { error: 'Give at least one target.', params: { code: 'invalid_value', expected: 'object' } };

export const slaTargets = z
  .strictObject({
    availability_percent: percent(
      'Of the calls, those not answered with 5xx; of the minutes, those in which the service ran. The lower of the two counts.',
    ),
    latency_ms: quantiles(
      60_000,
      'How long answers may take: half of them, 95 and 99 of 100. Measured in the service, and rounded up to a bound of the report.',
    ),
    delivery_success_percent: percent('Of the deliveries that came to an end, those that arrived.'),
    delivery_seconds: quantiles(
      1_000_000,
      'How long it may take from the acceptance of an event to its receipt, likewise.',
    ),
  })
  .refine(hasOne, NONE)
  .meta({ id: 'SlaTargets', description: 'Targets that are measured month by month.' });

export type SlaTargets = z.infer<typeof slaTargets>;

const slaText = line({ min: 1, max: 255 }).meta({
  minLength: 1,
  maxLength: 255,
  description: 'In words: it is kept and shown, and not measured.',
});

/** In words, as agreements always had it, or as targets. */
export const sla = () =>
  decided(z.union([slaText, slaTargets]), (value) => (typeof value === 'object' ? slaTargets : slaText));

export type Sla = z.infer<ReturnType<typeof sla>>;
