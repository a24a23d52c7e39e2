import type {
  createPartner as createEndpoint,
  getPartner as getEndpoint,
  listPartners as listEndpoint,
  Partner,
  signAgreement as signEndpoint,
  suspendPartner as suspendEndpoint,
  verifyPartner as verifyEndpoint,
} from '../contract/operator/partners.ts';
import { Problem } from '../contract/problems.ts';
import { newId } from '../domain/ids.ts';
import { nextPartnerStatus, type PartnerStep } from '../domain/partner.ts';
import { transact } from '../store/database.ts';
import {
  findPartner,
  insertPartner,
  listPartnerPage,
  lockPartner,
  updatePartner,
} from '../store/partners.ts';
import { type Actor, type App, nowIso, type OperatorCall } from './app.ts';

export async function createPartner(app: App, call: OperatorCall<typeof createEndpoint>) {
  const now = nowIso(app);
  const partner: Partner = {
    id: newId('prt', app.clock.now(), app.random),
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
}

export async function listPartners(app: App, call: OperatorCall<typeof listEndpoint>) {
  return { body: await transact(app.db, call.principal, (tx) => listPartnerPage(tx, call.query)) };
}

export async function getPartner(app: App, call: OperatorCall<typeof getEndpoint>) {
  const body = await transact(app.db, call.principal, (tx) => findPartner(tx, call.params.id));
  if (!body) throw new Problem('not_found');
  return { body };
}

export async function signAgreement(app: App, call: OperatorCall<typeof signEndpoint>) {
  const { rate_limit_per_minute = null, sla = null } = call.body ?? {};
  return { body: await step(app, call, call.params.id, 'sign-agreement', { rate_limit_per_minute, sla }) };
}

export async function verifyPartner(app: App, call: OperatorCall<typeof verifyEndpoint>) {
  return { body: await step(app, call, call.params.id, 'verify') };
}

export async function suspendPartner(app: App, call: OperatorCall<typeof suspendEndpoint>) {
  const body = await step(app, call, call.params.id, 'suspend');
  await app.access.settle();
  return { body };
}

async function step(
  app: App,
  { principal, requestId }: Actor,
  id: string,
  step: PartnerStep,
  terms: Partial<Partner> = {},
): Promise<Partner> {
  return transact(app.db, principal, async (tx) => {
    const locked = await lockPartner(tx, id);
    if (!locked) throw new Problem('not_found');
    const now = nowIso(app);
    const { agreementSigned, ...before } = locked;
    const status = nextPartnerStatus({ status: before.status, agreementSigned }, step);
    if (!status)
      throw new Problem('conflict', {
        message: `A partner who is ${before.status} cannot take the step ${step}.`,
      });
    const after: Partner = { ...before, ...terms, status, updated_at: now };
    updatePartner(tx, after);
    tx.audit({
      at: now,
      principal,
      action: `partner.${step}`,
      subject: { type: 'partner', id },
      requestId,
      before,
      after,
    });
    return after;
  });
}
