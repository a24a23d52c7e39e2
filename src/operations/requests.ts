import type { listRefusedRequests as listEndpoint } from '../contract/operator/requests.ts';
import type { getRefusedRequest as getEndpoint } from '../contract/partner/requests.ts';
import { Problem, type ProblemCode, problemCatalogue, validationEntry } from '../contract/problems.ts';
import { transact } from '../store/database.ts';
import { findRefusal, type KeptRefusal, listRefusalPage } from '../store/refusals.ts';
import type { App, OperatorCall, PartnerCall } from './app.ts';

export async function getRefusedRequest(app: App, { principal, params }: PartnerCall<typeof getEndpoint>) {
  // Whoever asks right after the refusal finds it.
  await app.refusals.flush();
  const found = await transact(app.db, principal, (tx) =>
    findRefusal(tx, principal.holder.partnerId, params.request_id),
  );
  if (!found) throw new Problem('not_found');
  return { text: textOf(found) };
}

export async function listRefusedRequests(app: App, { principal, query }: OperatorCall<typeof listEndpoint>) {
  await app.refusals.flush();
  const { data, ...rest } = await transact(app.db, principal, (tx) => listRefusalPage(tx, query));
  return { text: `{"data":[${data.map(textOf).join()}],${JSON.stringify(rest).slice(1)}` };
}

/** The answer goes out as it did then. */
function textOf({ body, ...call }: KeptRefusal): string {
  const { error } = JSON.parse(body) as { error: true | ProblemCode };
  const { cause, remedy } = error === true ? validationEntry : problemCatalogue[error];
  const told = JSON.stringify({ ...call, error: error === true ? validationEntry.code : error });
  return `${told.slice(0, -1)},"answer":${body},"explanation":${JSON.stringify(`${cause} ${remedy}`)}}`;
}
