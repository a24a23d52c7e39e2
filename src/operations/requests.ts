import type { getRefusedRequest as getEndpoint } from '../contract/partner/requests.ts';
import { Problem, type ProblemCode, problemCatalogue, validationEntry } from '../contract/problems.ts';
import { transact } from '../store/database.ts';
import { findRefusal } from '../store/refusals.ts';
import type { App, PartnerCall } from './app.ts';

export async function getRefusedRequest(app: App, { principal, params }: PartnerCall<typeof getEndpoint>) {
  // Whoever asks right after the refusal finds it.
  await app.refusals.flush();
  const found = await transact(app.db, principal, (tx) =>
    findRefusal(tx, principal.holder.partnerId, params.request_id),
  );
  if (!found) throw new Problem('not_found');
  const { requestId: request_id, body, ...call } = found;
  const { error } = JSON.parse(body) as { error: true | ProblemCode };
  const { cause, remedy } = error === true ? validationEntry : problemCatalogue[error];
  const before = JSON.stringify({
    request_id,
    ...call,
    error: error === true ? validationEntry.code : error,
  });
  const explanation = JSON.stringify(`${cause} ${remedy}`);
  // The answer goes out as it did then.
  return { text: `${before.slice(0, -1)},"answer":${body},"explanation":${explanation}}` };
}
