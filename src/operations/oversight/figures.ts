import {
  type FigurePoint,
  type FigureStep,
  getFigures as figuresEndpoint,
  getWebhookHealth as healthEndpoint,
  POINTS_MAX,
  SPAN_DEFAULT_MS,
  type WebhookHealthPoint,
} from '../../contract/operator/oversight/figures.ts';
import { Problem, ValidationProblem } from '../../contract/problems.ts';
import { SYSTEM } from '../../domain/access/principal.ts';
import {
  callsOf,
  causesOf,
  delaysOf,
  deliveriesOf,
  type Series,
  seriesOf,
} from '../../domain/oversight/figures.ts';
import { remembered } from '../../platform/remembered.ts';
import { type Database, transact } from '../../store/database.ts';
import { findAnyWebhook } from '../../store/events/webhooks.ts';
import { type FigureRow, readFigures } from '../../store/oversight/figures.ts';
import { type App, type OperatorCall, operation } from '../app.ts';

const DAY_MS = 86_400_000;

/** A thousand consoles that show their first page are one question. */
const usual = new WeakMap<Database, () => ReturnType<typeof figuresOf>>();

export const getFigures = operation(figuresEndpoint, async (app, { query }) => {
  if (Object.values(query).some((given) => given !== undefined)) return { body: await figuresOf(app, query) };
  const ask = usual.get(app.db) ?? remembered(app.clock, () => figuresOf(app, {}));
  usual.set(app.db, ask);
  return { body: await ask() };
});

/** The same for every reader. It names no object of a patient. */
async function figuresOf(app: App, query: OperatorCall<typeof figuresEndpoint>['query']) {
  const { partner_id: partnerId, webhook_id: webhookId } = query;
  const isOfSubject = partnerId !== undefined || webhookId !== undefined;
  const series = seriesFor(app, query, isOfSubject);
  await app.figures.flush();
  const rows = await transact(app.db, SYSTEM, (tx) => readFigures(tx, series, { partnerId, webhookId }));
  const countsOf = countsIn(rows);
  const data = pointsOf(series, (at, point): FigurePoint => {
    const deliveries = countsOf('delivery', point);
    const oldest = countsOf('oldest', point)[0];
    return {
      at,
      calls: callsOf(countsOf('call', point)),
      deliveries: deliveriesOf(deliveries),
      delay_ms: delaysOf(deliveries),
      oldest_undelivered_seconds: oldest === undefined ? null : oldest / 1000,
    };
  });
  return { ...told(series), data };
}

export const getWebhookHealth = operation(healthEndpoint, async (app, call) => {
  const { principal, params, query } = call;
  const series = seriesFor(app, query, true);
  await app.figures.flush();
  const rows = await transact(app.db, principal, async (tx) => {
    const [webhook, figures] = await Promise.all([
      findAnyWebhook(tx, params.id),
      readFigures(tx, series, { webhookId: params.id }),
    ]);
    if (!webhook) throw new Problem('not_found');
    return figures;
  });
  const countsOf = countsIn(rows);
  const data = pointsOf(series, (at, point): WebhookHealthPoint => {
    const counts = countsOf('delivery', point);
    return { at, ...deliveriesOf(counts), causes: causesOf(counts) };
  });
  return { body: { ...told(series), data } };
});

interface Span {
  since?: string | undefined;
  until?: string | undefined;
  step?: FigureStep | undefined;
}

/** The first that RFC 3339 can write. */
const FIRST_MOMENT = Date.parse('0000-01-01T00:00:00Z');

function seriesFor({ clock }: App, query: Span, isOfSubject: boolean): Series {
  const now = clock.now();
  const until = query.until === undefined ? now : Date.parse(query.until);
  const since =
    query.since === undefined ? Math.max(until - SPAN_DEFAULT_MS, FIRST_MOMENT) : Date.parse(query.since);
  if (since >= until) throw refuse('since', 'Must lie before until.');
  if (until > now + DAY_MS) throw refuse('until', 'Must not lie more than a day ahead.');
  const series = seriesOf({ since, until, step: query.step, now }, isOfSubject);
  if ((series.until - series.since) / series.stepMs > POINTS_MAX)
    throw refuse(
      query.step === undefined ? 'since' : 'step',
      `Makes more than ${POINTS_MAX} points. Choose a longer step, or a shorter time.`,
    );
  return series;
}

function refuse(name: string, message: string): ValidationProblem {
  return new ValidationProblem([{ code: 'invalid_value', expected: 'string', path: [name], message }]);
}

function countsIn(rows: readonly FigureRow[]) {
  const known = new Map(rows.map(({ kind, point, counts }) => [`${kind} ${point}`, counts]));
  return (kind: FigureRow['kind'], point: number): readonly number[] => known.get(`${kind} ${point}`) ?? [];
}

function pointsOf<T>({ since, until, stepMs }: Series, make: (at: string, point: number) => T): T[] {
  return Array.from({ length: (until - since) / stepMs }, (_, point) =>
    make(new Date(since + point * stepMs).toISOString(), point),
  );
}

function told({ since, until, step }: Series) {
  return { since: new Date(since).toISOString(), until: new Date(until).toISOString(), step };
}
