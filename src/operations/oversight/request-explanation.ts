import { DEFAULT_RATE_LIMIT } from '../../contract/access.ts';
import { type Endpoint, scopesFor } from '../../contract/endpoint.ts';
import { explainRequest as endpoint } from '../../contract/operator/oversight/request-explanation.ts';
import { partnerEndpoints } from '../../contract/partner/index.ts';
import { Problem } from '../../contract/problems.ts';
import { explainCall } from '../../domain/oversight/request-explanation.ts';
import { transact } from '../../store/database.ts';
import { listRefusalPage } from '../../store/oversight/refusals.ts';
import { readDoorFacts } from '../../store/oversight/request-explanation.ts';
import { operation } from '../app.ts';
import { presentRefusal } from './requests.ts';

/** Of a 400 with many problems the first tell enough. */
const MESSAGES_MAX = 5;

export const explainRequest = operation(endpoint, async (app, { principal, params }) => {
  // Whoever asks right after the refusal finds it.
  await app.refusals.flush();
  const { refusal, facts } = await transact(app.db, principal, async (tx) => {
    const page = await listRefusalPage(tx, { request_id: params.request_id, page_size: 1 });
    const [found] = page.data;
    if (!found) throw new Problem('not_found');
    return { refusal: found, facts: await readDoorFacts(tx, found) };
  });
  const request = presentRefusal(refusal);
  const known: Record<string, Endpoint> = partnerEndpoints;
  const called = known[refusal.operation];
  const { key, partner, group, networks, stop } = facts;
  const checks = explainCall({
    operation: refusal.operation,
    error: request.error,
    reason: refusal.reason,
    messages: messagesOf(refusal.body),
    address: refusal.address,
    groupId: refusal.practice_group_id,
    requiredScopes: called ? scopesFor(called) : [],
    key: key && { ...key, limitPerMinute: key.limitPerMinute ?? DEFAULT_RATE_LIMIT },
    isGroupKnown: group !== null,
    networks,
    stop,
  });
  return {
    body: {
      request,
      partner,
      key: key && { id: refusal.key_id, name: key.name },
      practice_group: group,
      checks,
    },
  };
});

interface Answered {
  message: string | { path: (string | number)[]; message: string }[];
}

function messagesOf(body: string): string[] {
  const { message } = JSON.parse(body) as Answered;
  if (typeof message === 'string') return [message];
  return message
    .slice(0, MESSAGES_MAX)
    .map((one) => (one.path.length > 0 ? `${one.path.join('.')}: ${one.message}` : one.message));
}
