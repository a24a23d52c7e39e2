import { getSla as getEndpoint, type SlaReport } from '../../contract/operator/oversight/sla.ts';
import { Problem, ValidationProblem } from '../../contract/problems.ts';
import { newestOf } from '../../domain/access/agreement.ts';
import { type Principal, SYSTEM } from '../../domain/access/principal.ts';
import {
  lowerOf,
  MINUTE_MS,
  percentOf,
  quantiles,
  targetsMet,
  uptimeOf,
} from '../../domain/oversight/sla.ts';
import { agreementsOf, type StoredAgreement } from '../../store/access/agreements.ts';
import { findPartner } from '../../store/access/partners.ts';
import { transact } from '../../store/database.ts';
import { readSlaFigures, readUptime } from '../../store/oversight/sla.ts';
import { type App, operation } from '../app.ts';
import { agreementAsTold } from '../practices/partner-changes.ts';

export const getSla = operation(getEndpoint, (app, { principal, params, query }) => {
  return slaOf(app, principal, params.id, query.month);
});

/** A month of a partner; the current one unless given. */
export async function slaOf(app: App, principal: Principal, partnerId: string, given: string | undefined) {
  const now = app.clock.now();
  const current = new Date(now).toISOString().slice(0, 7);
  const month = given ?? current;
  if (month > current) throw notBegun(current);
  // Whoever asks finds what was counted here so far.
  await app.usage.flush();
  const begins = Date.parse(`${month}-01T00:00:00Z`);
  const ends = new Date(begins).setUTCMonth(new Date(begins).getUTCMonth() + 1);
  // It is the service's, and not the partner's.
  const days = await transact(app.db, SYSTEM, (tx) => readUptime(tx, dayOf(begins), dayOf(ends)));
  return transact(app.db, principal, async (tx) => {
    const partner = await findPartner(tx, partnerId);
    if (!partner) throw new Problem('not_found');
    const [figures, agreements] = await Promise.all([
      readSlaFigures(tx, partner.id, dayOf(begins), dayOf(ends)),
      agreementsOf(tx, partner.id),
    ]);
    const count = (outcome: string) => figures.outcomes.get(outcome) ?? 0;
    const failed = count('failed');
    const total = count('ok') + count('refused') + count('rate_limited') + failed;
    const [first] = days;
    const ran = first ? first.startsAt + first.minutes.indexOf('1') * MINUTE_MS : now;
    // The minute that is under way may still be noted.
    const until = Math.min(ends, Math.floor(now / MINUTE_MS) * MINUTE_MS);
    const uptime = uptimeOf(days, Math.max(begins, ran), until);
    const calls = {
      total,
      refused: count('refused'),
      rate_limited: count('rate_limited'),
      failed,
      answered_percent: percentOf(total - failed, total),
    };
    const [delivered, given_up] = [count('delivered'), count('given_up')];
    const measured = {
      availability_percent: lowerOf(calls.answered_percent, uptime.percent),
      latency_ms: quantiles(figures.callTimes, 1),
      deliveries: {
        delivered,
        given_up,
        retried: count('retried'),
        success_percent: percentOf(delivered, delivered + given_up),
      },
      delivery_seconds: quantiles(figures.deliveryTimes, 1000),
    };
    const agreement = newestOf(agreements.filter((one) => wasInForce(one, begins, ends)));
    const told = agreement && agreementAsTold(agreement);
    const body: SlaReport = {
      partner: { id: partner.id, name: partner.name },
      month,
      complete: ends <= now,
      agreement: told ?? null,
      calls,
      uptime,
      ...measured,
      targets: targetsMet(told?.sla_targets ?? null, measured),
    };
    return { body };
  });
}

function wasInForce({ signed_at, ends_at }: StoredAgreement, begins: number, ends: number): boolean {
  return Date.parse(signed_at) < ends && (ends_at === null || Date.parse(ends_at) > begins);
}

function notBegun(current: string): ValidationProblem {
  const message = `Must be ${current}, the current month, or one before it.`;
  return new ValidationProblem([{ code: 'too_big', expected: 'string', path: ['month'], message }]);
}

const dayOf = (moment: number) => new Date(moment).toISOString().slice(0, 10);
