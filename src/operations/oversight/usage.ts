import { listPartnerUsage as listAllEndpoint } from '../../contract/operator/oversight/usage.ts';
import { DAYS_DEFAULT, DAYS_MAX, listUsage as listEndpoint } from '../../contract/partner/usage.ts';
import { ValidationProblem } from '../../contract/problems.ts';
import { transact } from '../../store/database.ts';
import { listUsagePage } from '../../store/oversight/usage.ts';
import { type App, operation } from '../app.ts';

const DAY_MS = 24 * 3600 * 1000;
/** The first that is written with four digits, and that PostgreSQL knows. */
const FIRST_DAY = Date.parse('0001-01-01');

export const listUsage = operation(listEndpoint, async (app, { principal, query }) => {
  const filter = { ...query, ...daysOf(app, query), partner_id: principal.holder.partnerId };
  // Whoever asks finds what was counted here so far.
  await app.usage.flush();
  return { body: await transact(app.db, principal, (tx) => listUsagePage(tx, filter)) };
});

export const listPartnerUsage = operation(listAllEndpoint, async (app, { principal, query }) => {
  const filter = { ...query, ...daysOf(app, query) };
  await app.usage.flush();
  return { body: await transact(app.db, principal, (tx) => listUsagePage(tx, filter)) };
});

/** The period is known once its defaults are, so it is here that it is refused. */
function daysOf({ clock }: App, given: { from?: string | undefined; to?: string | undefined }) {
  const to = given.to ?? dayOf(clock.now());
  const last = Date.parse(to);
  const from = given.from ?? dayOf(Math.max(last - (DAYS_DEFAULT - 1) * DAY_MS, FIRST_DAY));
  const days = (last - Date.parse(from)) / DAY_MS;
  if (days >= 0 && days < DAYS_MAX) return { from, to };
  const message = `Must not be after to, which is today unless given, and at most ${DAYS_MAX - 1} days before it.`;
  throw new ValidationProblem([{ code: 'invalid_value', expected: 'string', path: ['from'], message }]);
}

const dayOf = (moment: number) => new Date(moment).toISOString().slice(0, 10);
