import { listRefusedRequests as listEndpoint } from '../../contract/operator/oversight/requests.ts';
import { getRefusedRequest as getEndpoint, refusalReasons } from '../../contract/partner/requests.ts';
import { Problem, type ProblemCode, problemCatalogue, validationEntry } from '../../contract/problems.ts';
import { Verbatim } from '../../contract/verbatim.ts';
import { transact } from '../../store/database.ts';
import { findRefusal, type KeptRefusal, listRefusalPage } from '../../store/oversight/refusals.ts';
import { operation } from '../app.ts';

export const getRefusedRequest = operation(getEndpoint, async (app, { principal, params }) => {
  // Whoever asks right after the refusal finds it.
  await app.refusals.flush();
  const found = await transact(app.db, principal, (tx) =>
    findRefusal(tx, principal.holder.partnerId, params.request_id),
  );
  if (!found) throw new Problem('not_found');
  return { body: presentRefusal(found) };
});

export const listRefusedRequests = operation(listEndpoint, async (app, { principal, query }) => {
  await app.refusals.flush();
  const page = await transact(app.db, principal, (tx) => listRefusalPage(tx, query));
  return { body: { ...page, data: page.data.map(presentRefusal) } };
});

/** The answer goes out as it did then. */
export function presentRefusal<R extends KeptRefusal>({ body, ...call }: R) {
  const { error } = JSON.parse(body) as { error: true | ProblemCode };
  const { cause, remedy } = error === true ? validationEntry : problemCatalogue[error];
  return {
    ...call,
    error: error === true ? validationEntry.code : error,
    answer: new Verbatim(body),
    explanation: call.reason ? refusalReasons[call.reason] : `${cause} ${remedy}`,
  };
}
