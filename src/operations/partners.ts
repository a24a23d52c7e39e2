import { isDeepStrictEqual } from 'node:util';
import type {
  createPartner as createEndpoint,
  getPartner as getEndpoint,
  listPartners as listEndpoint,
  Partner,
  signAgreement as signEndpoint,
  suspendPartner as suspendEndpoint,
  updatePartner as updateEndpoint,
  verifyPartner as verifyEndpoint,
} from '../contract/operator/partners.ts';
import { Problem } from '../contract/problems.ts';
import { etagOf, ifMatchHolds } from '../domain/etag.ts';
import { newId } from '../domain/ids.ts';
import { nextPartnerStatus, type PartnerStep } from '../domain/partner.ts';
import { type Transaction, transact } from '../store/database.ts';
import {
  findPartner,
  insertPartner,
  listPartnerPage,
  lockPartner,
  type StoredPartner,
  updatePartnerRow,
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
  const page = await transact(app.db, call.principal, (tx) => listPartnerPage(tx, call.query));
  return { body: { ...page, data: page.data.map(presentPartner) } };
}

export async function getPartner(app: App, call: OperatorCall<typeof getEndpoint>) {
  const partner = await transact(app.db, call.principal, (tx) => findPartner(tx, call.params.id));
  if (!partner) throw new Problem('not_found');
  return { body: presentPartner(partner), etag: etagOf(partner.version) };
}

export async function updatePartner(app: App, call: OperatorCall<typeof updateEndpoint>) {
  const { partner, settles } = await transact(app.db, call.principal, async (tx) => {
    const locked = await lockPartner(tx, call.params.id);
    if (!locked) throw new Problem('not_found');
    const { agreementSigned: _signed, ...before } = locked;
    if (!ifMatchHolds(call.ifMatch, etagOf(before.version))) throw new Problem('precondition_failed');
    const merged = { ...before, ...(call.body as Partial<Partner>) };
    if (isDeepStrictEqual(merged, before)) return { partner: before, settles: false };
    const partner = change(app, tx, call, 'update', before, merged);
    // The door knows of a partner the limit of its keys, and nothing else that can be changed here.
    return { partner, settles: merged.rate_limit_per_minute !== before.rate_limit_per_minute };
  });
  if (settles) await app.access.settle();
  return { body: presentPartner(partner), etag: etagOf(partner.version) };
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
    const { agreementSigned, ...before } = locked;
    const status = nextPartnerStatus({ status: before.status, agreementSigned }, step);
    if (!status)
      throw new Problem('conflict', {
        message: `A partner who is ${before.status} cannot take the step ${step}.`,
      });
    return presentPartner(
      change(app, tx, { principal, requestId }, step, before, { ...before, ...terms, status }),
    );
  });
}

/** Writes a change with its entry, and tells the partner as it is from then on. */
function change(
  app: App,
  tx: Transaction,
  { principal, requestId }: Actor,
  action: string,
  before: StoredPartner,
  changed: StoredPartner,
): StoredPartner {
  const now = nowIso(app);
  const after = { ...changed, version: before.version + 1, updated_at: now };
  updatePartnerRow(tx, after);
  tx.audit({
    at: now,
    principal,
    action: `partner.${action}`,
    subject: { type: 'partner', id: after.id },
    requestId,
    before: presentPartner(before),
    after: presentPartner(after),
  });
  return after;
}

function presentPartner({ version: _version, ...partner }: StoredPartner): Partner {
  return partner;
}
