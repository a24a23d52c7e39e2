import { isDeepStrictEqual } from 'node:util';
import {
  type Agreement,
  createAgreement as createEndpoint,
  getAgreement as getEndpoint,
  listAgreements as listEndpoint,
  updateAgreement as updateEndpoint,
} from '../../contract/operator/access/agreements.ts';
import { signAgreement as signEndpoint } from '../../contract/operator/access/partners.ts';
import type { PageQuery } from '../../contract/page.ts';
import { listOwnAgreements as listOwnEndpoint } from '../../contract/partner/agreements.ts';
import { Problem, ValidationProblem } from '../../contract/problems.ts';
import { ruleBroken } from '../../contract/rules.ts';
import { agreementStatus, newestOf } from '../../domain/access/agreement.ts';
import { nextPartnerStatus } from '../../domain/access/partner.ts';
import type { Principal } from '../../domain/access/principal.ts';
import { newId } from '../../domain/ids.ts';
import { etagOf, ifMatchHolds } from '../../domain/practices/etag.ts';
import {
  agreementsOf,
  type CountedAgreement,
  findAgreement,
  listAgreementPage,
  type StoredAgreement,
} from '../../store/access/agreements.ts';
import { findPartner, lockPartner, type StoredPartner } from '../../store/access/partners.ts';
import { type Transaction, transact } from '../../store/database.ts';
import { type App, nowIso, operation } from '../app.ts';
import {
  agreementAsTold,
  changeAgreement,
  changePartner,
  presentPartner,
  termsOf,
} from '../practices/partner-changes.ts';
import { refuseTooFar } from './keys.ts';

/** People date what they sign by the calendar of their place. */
const AHEAD_MS = 24 * 3600 * 1000;

/** The step of onboarding: an agreement of which no more need be known than that it was signed. */
export const signAgreement = operation(signEndpoint, async (app, call) => {
  refuseOddTimes(call.body ?? {});
  const body = await transact(app.db, call.principal, async (tx) => {
    const { partner, agreementSigned } = await lock(tx, call.params.id);
    const status = nextPartnerStatus({ status: partner.status, agreementSigned }, 'sign-agreement');
    if (!status)
      throw new Problem('conflict', {
        message: `A partner who is ${partner.status} cannot take the step sign-agreement.`,
      });
    const at = nowIso(app);
    const agreement = newAgreement(app, partner.id, at, call.body ?? {});
    const signed = { ...partner, ...termsOf(agreement), status };
    const step = { at, action: 'sign-agreement' as const, isSigned: true };
    const after = changePartner(tx, call, step, partner, signed);
    changeAgreement(tx, call, at, null, agreement);
    return presentPartner(after);
  });
  return { body };
});

export const createAgreement = operation(createEndpoint, async (app, call) => {
  refuseOddTimes(call.body);
  const { agreement, settles } = await transact(app.db, call.principal, async (tx) => {
    const { partner, agreementSigned } = await lock(tx, call.params.id);
    const others = await agreementsOf(tx, partner.id);
    const at = nowIso(app);
    const agreement = newAgreement(app, partner.id, at, call.body);
    changeAgreement(tx, call, at, null, agreement);
    const status = nextPartnerStatus({ status: partner.status, agreementSigned }, 'sign-agreement');
    const isNewest = newestOf([...others, agreement]) === agreement;
    const taken = { ...(isNewest && termsOf(agreement)), ...(status && { status }) };
    const settles = takeOver(tx, call, at, partner, taken, !agreementSigned);
    return { agreement, settles };
  });
  if (settles) await app.access.settle();
  return { body: presentAgreement(app, { ...agreement, active_keys: 0 }) };
});

export const updateAgreement = operation(updateEndpoint, async (app, call) => {
  refuseOddTimes(call.body);
  const agreement = await transact(app.db, call.principal, async (tx) => {
    const { partner } = await lock(tx, call.params.id);
    const at = nowIso(app);
    const found = await findAgreement(tx, partner.id, call.params.agreement_id, at);
    if (!found) throw new Problem('not_found');
    if (!ifMatchHolds(call.ifMatch, etagOf(found.revision))) throw new Problem('precondition_failed');
    const { active_keys, ...before } = found;
    const { ends_at, ...given } = call.body;
    const merged: StoredAgreement = {
      ...before,
      ...(given as Partial<StoredAgreement>),
      ...(ends_at !== undefined && { ends_at: endOf(ends_at, before.signed_at) }),
    };
    if (isDeepStrictEqual(merged, before)) return found;
    const after = changeAgreement(tx, call, at, before, merged);
    const isNewest = newestOf(await agreementsOf(tx, partner.id))?.id === after.id;
    if (isNewest) takeOver(tx, call, at, partner, termsOf(after));
    return { ...after, active_keys };
  });
  // Also when it is the same: whoever says it again may not have heard the answer.
  if (call.body.rate_limit_per_minute !== undefined) await app.access.settle();
  return { body: presentAgreement(app, agreement), etag: etagOf(agreement.revision) };
});

export const listAgreements = operation(listEndpoint, async (app, call) => {
  const page = await transact(app.db, call.principal, async (tx) => {
    if (!(await findPartner(tx, call.params.id))) throw new Problem('not_found');
    return listAgreementPage(tx, call.params.id, nowIso(app), call.query);
  });
  return { body: { ...page, data: page.data.map((one) => presentAgreement(app, one)) } };
});

export const getAgreement = operation(getEndpoint, async (app, { principal, params }) => {
  const found = await transact(app.db, principal, (tx) =>
    findAgreement(tx, params.id, params.agreement_id, nowIso(app)),
  );
  if (!found) throw new Problem('not_found');
  return { body: presentAgreement(app, found), etag: etagOf(found.revision) };
});

export const listOwnAgreements = operation(listOwnEndpoint, (app, { principal, query }) => {
  return listAgreementsOf(app, principal, principal.holder.partnerId, query);
});

/** Of one partner, as it is told. */
export async function listAgreementsOf(app: App, principal: Principal, partnerId: string, query: PageQuery) {
  const page = await transact(app.db, principal, (tx) =>
    listAgreementPage(tx, partnerId, nowIso(app), query),
  );
  return { body: { ...page, data: page.data.map((one) => presentAgreement(app, one)) } };
}

function presentAgreement({ clock }: App, agreement: CountedAgreement): Agreement {
  return { ...agreementAsTold(agreement), status: agreementStatus(agreement, clock.now()) };
}

/** Whoever changes an agreement locks its partner first. */
async function lock(tx: Transaction, partnerId: string) {
  const locked = await lockPartner(tx, partnerId);
  if (!locked) throw new Problem('not_found');
  const { agreementSigned, ...partner } = locked;
  return { partner, agreementSigned };
}

type Given = { [Name in keyof StoredAgreement]?: StoredAgreement[Name] | undefined };

function newAgreement(app: App, partnerId: string, now: string, given: Given): StoredAgreement {
  const { version = null, document_url = null, signatory = null, sla = null } = given;
  const signed_at = given.signed_at === undefined ? now : new Date(given.signed_at).toISOString();
  if (Date.parse(signed_at) > app.clock.now() + AHEAD_MS) throw ruleBroken('signed_in_the_future');
  return {
    id: newId('agr', app.clock.now(), app.random),
    partner_id: partnerId,
    version,
    document_url,
    signatory,
    signed_at,
    ends_at: endOf(given.ends_at ?? null, signed_at),
    rate_limit_per_minute: given.rate_limit_per_minute ?? null,
    sla,
    revision: 1,
    created_at: now,
    updated_at: now,
  };
}

function endOf(endsAt: string | null, signedAt: string): string | null {
  if (endsAt === null) return null;
  if (Date.parse(endsAt) <= Date.parse(signedAt)) throw ruleBroken('ends_before_signed');
  return new Date(endsAt).toISOString();
}

/** Of years that nobody has signed in, and of those that RFC 3339 cannot write, PostgreSQL knows not all. */
function refuseOddTimes({ signed_at, ends_at }: Pick<Given, 'signed_at' | 'ends_at'>): void {
  refuseTooFar(signed_at, 'signed_at');
  refuseTooFar(ends_at, 'ends_at');
  if (signed_at === undefined || Date.parse(signed_at) >= 0) return;
  const message = 'Must not lie before 1970.';
  throw new ValidationProblem([{ code: 'too_small', expected: 'string', path: ['signed_at'], message }]);
}

/** Returns whether the door has to forget what it knows: keys from before agreements were records go by the partner's limit. */
function takeOver(
  tx: Transaction,
  call: Parameters<typeof changePartner>[1],
  at: string,
  partner: StoredPartner,
  taken: Partial<StoredPartner>,
  isFirst = false,
): boolean {
  const after = { ...partner, ...taken };
  if (!isFirst && isDeepStrictEqual(after, partner)) return false;
  const action = isFirst ? 'sign-agreement' : 'update';
  changePartner(tx, call, { at, action, isSigned: isFirst }, partner, after);
  return after.rate_limit_per_minute !== partner.rate_limit_per_minute;
}
