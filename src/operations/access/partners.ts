import { isDeepStrictEqual } from 'node:util';
import {
  createPartner as createEndpoint,
  getPartner as getEndpoint,
  listPartners as listEndpoint,
  type Partner,
  suspendPartner as suspendEndpoint,
  updatePartner as updateEndpoint,
  verifyPartner as verifyEndpoint,
} from '../../contract/operator/access/partners.ts';
import { Problem } from '../../contract/problems.ts';
import { newestOf, slaInWords } from '../../domain/access/agreement.ts';
import { nextPartnerStatus, type PartnerStep } from '../../domain/access/partner.ts';
import { newId } from '../../domain/ids.ts';
import { etagOf, ifMatchHolds } from '../../domain/practices/etag.ts';
import { agreementsOf } from '../../store/access/agreements.ts';
import {
  findPartner,
  insertPartner,
  listPartnerPage,
  lockPartner,
  type StoredPartner,
} from '../../store/access/partners.ts';
import { type Transaction, transact } from '../../store/database.ts';
import { type Actor, type App, nowIso, type OperatorCall, operation } from '../app.ts';
import { changeAgreement, changePartner, presentPartner } from '../practices/partner-changes.ts';
import { sendAway } from './contacts.ts';

export const createPartner = operation(
  createEndpoint,
  async (app, call, id: string = newId('prt', app.clock.now(), app.random)) => {
    const now = nowIso(app);
    const partner: Partner = {
      id,
      name: call.body.name,
      contact_email: call.body.contact_email,
      status: 'applied',
      rate_limit_per_minute: null,
      sla: null,
      created_at: now,
      updated_at: now,
    };
    await transact(app.db, call.principal, async (tx) => {
      insertPartner(tx, partner);
      tx.audit({
        at: now,
        principal: call.principal,
        action: 'partner.create',
        subject: { type: 'partner', id: partner.id },
        requestId: call.requestId,
        before: null,
        after: partner,
      });
    });
    return { body: partner };
  },
);

export const listPartners = operation(listEndpoint, async (app, call) => {
  const page = await transact(app.db, call.principal, (tx) => listPartnerPage(tx, call.query));
  return { body: { ...page, data: page.data.map(presentPartner) } };
});

export const getPartner = operation(getEndpoint, async (app, call) => {
  const partner = await transact(app.db, call.principal, (tx) => findPartner(tx, call.params.id));
  if (!partner) throw new Problem('not_found');
  return { body: presentPartner(partner), etag: etagOf(partner.version) };
});

export const updatePartner = operation(updateEndpoint, async (app, call) => {
  const { partner, settles } = await transact(app.db, call.principal, async (tx) => {
    const locked = await lockPartner(tx, call.params.id);
    if (!locked) throw new Problem('not_found');
    const { agreementSigned: _signed, ...before } = locked;
    if (!ifMatchHolds(call.ifMatch, etagOf(before.version))) throw new Problem('precondition_failed');
    const { sla, ...given } = call.body;
    const merged: StoredPartner = {
      ...before,
      ...(given as Partial<Partner>),
      ...(sla !== undefined && { sla: slaInWords(sla) }),
    };
    const at = nowIso(app);
    await amend(tx, call, at, { sla, rate_limit_per_minute: given.rate_limit_per_minute });
    const isSame = isDeepStrictEqual(merged, before);
    const partner = isSame ? before : changePartner(tx, call, { at, action: 'update' }, before, merged);
    const areSentAway = !isSame && (await sendAway(app, tx, call, before.id, before.contact_email));
    // The door knows of a partner the limit of its keys and the sessions of its people, and nothing else that can be changed here. Whoever says
    // either again may not have heard the answer.
    const isSaidAgain = given.contact_email === before.contact_email;
    return { partner, settles: given.rate_limit_per_minute !== undefined || areSentAway || isSaidAgain };
  });
  if (settles) await app.access.settle();
  return { body: presentPartner(partner), etag: etagOf(partner.version) };
});

/** The terms of a partner are those of the agreement that was signed last: they are changed there. */
async function amend(
  tx: Transaction,
  call: OperatorCall<typeof updateEndpoint>,
  at: string,
  { rate_limit_per_minute, sla }: Pick<typeof call.body, 'rate_limit_per_minute' | 'sla'>,
): Promise<void> {
  if (rate_limit_per_minute === undefined && sla === undefined) return;
  const newest = newestOf(await agreementsOf(tx, call.params.id));
  if (!newest) return;
  const amended = {
    ...newest,
    ...(rate_limit_per_minute !== undefined && { rate_limit_per_minute }),
    ...(sla !== undefined && { sla }),
  };
  if (!isDeepStrictEqual(amended, newest)) changeAgreement(tx, call, at, newest, amended);
}

export const verifyPartner = operation(verifyEndpoint, async (app, call) => {
  return { body: await step(app, call, call.params.id, 'verify') };
});

export const suspendPartner = operation(suspendEndpoint, async (app, call) => {
  // Also when it is refused: the partner may have been suspended by a call whose answer nobody heard.
  const body = await step(app, call, call.params.id, 'suspend').finally(() => app.access.settle());
  return { body };
});

async function step(app: App, actor: Actor, id: string, step: PartnerStep): Promise<Partner> {
  return transact(app.db, actor.principal, async (tx) => {
    const locked = await lockPartner(tx, id);
    if (!locked) throw new Problem('not_found');
    const { agreementSigned, ...before } = locked;
    const status = nextPartnerStatus({ status: before.status, agreementSigned }, step);
    if (!status)
      throw new Problem('conflict', {
        message: `A partner who is ${before.status} cannot take the step ${step}.`,
      });
    const change = { at: nowIso(app), action: step };
    return presentPartner(changePartner(tx, actor, change, before, { ...before, status }));
  });
}
