import fc from 'fast-check';
import { formatKey } from '../../src/domain/access/api-key.ts';
import { faultsOf } from './answer-shape.ts';
import { type Callers, type FuzzedRequest, fuzzedRequest, onTheWire } from './fuzz-requests.ts';
import { ManualClock } from './manual-clock.ts';
import { RawConnection } from './raw-http.ts';
import { type Harness, makeKey, makeWorld, OPERATOR_TOKEN } from './service.ts';

/** Fewer than a stranger may send in a minute; then a minute passes, so that no limit hides what lies behind it. */
const ROUND = 250;
const CONNECTIONS = 12;
/** 302: to the start of the documentation. */
const DOCUMENTED = new Set([200, 201, 202, 204, 302, 400, 401, 403, 404, 405, 409, 410, 412, 413, 415, 422]);

/** Does not move when somebody sleeps: only the test does, between rounds. */
export class StillClock extends ManualClock {
  override async sleep(): Promise<void> {}
}

/** A world with something of everything, and everybody who might call. */
async function makeCallers(house: Harness): Promise<Callers> {
  const fast = { rate_limit_per_minute: 100_000 };
  const home = await makeWorld(house, 'fuzz-home');
  const hub = await makeWorld(house, 'fuzz-hub');
  const foreign = await makeWorld(house, 'fuzz-foreign');
  const { operator } = house;
  // Several, because some requests dissolve one.
  const networks = Array.from({ length: 10 }, (_, n) =>
    operator('POST', '/networks', { name: `Fuzz ${n}`, practice_group_ids: [home.groupId, hub.groupId] }),
  );
  const all = await makeKey(house, home.groupId, fast);
  const reader = await makeKey(house, home.groupId, { ...fast, scopes: ['practice-groups:read'] });
  const revoked = await makeKey(house, home.groupId, fast);
  await operator('POST', `/keys/${revoked.keyId}/revoke`);
  const expired = await makeKey(house, home.groupId, { ...fast, expires_at: '2026-11-16T10:00:01.000Z' });
  const roles = ['viewer', 'source', 'support'].map((role) =>
    operator('POST', '/operators', { name: role, role }),
  );
  const operators = await Promise.all(roles);
  // Several, because what is reported ends one.
  const jobs = Array.from({ length: 10 }, (_, n) =>
    operator('POST', '/write-to-record-jobs', {
      practice_group_id: home.groupId,
      resource: 'Letter',
      resource_id: `letter-${n}`,
    }),
  );
  const { event_ids } = await operator('POST', '/events', {
    object: 'Patient',
    id: 'patient-1',
    practice_group_id: home.groupId,
    event: 'patient.added-to-sequence',
  });
  const webhooks: string[] = [];
  const deliveries: string[] = [];
  // As many as there may be but a few, because some requests delete one.
  for (const group of [home.groupId, hub.groupId]) {
    const send = (path: string, body: unknown) =>
      house.send('POST', `/v1/webhooks${path}`, { key: all.key, group, body });
    for (let n = 0; n < 16; n++)
      webhooks.push((await send('', { url: 'https://partner.example/hook' })).body.id);
    const tested = await send(`/${webhooks.at(-1)}/test`, { event: 'prescription.issued' });
    deliveries.push(tested.body.delivery_id);
  }
  house.clock.advance(2_000);
  return {
    groups: [home.groupId, hub.groupId, foreign.groupId],
    types: ['type-1'],
    partners: [foreign.partnerId],
    keys: [foreign.keyId, revoked.keyId],
    networks: (await Promise.all(networks)).map(({ id }) => id),
    operators: [operators[0].id],
    jobs: (await Promise.all(jobs)).map(({ id }) => id),
    events: event_ids,
    webhooks,
    deliveries,
    apiKeys: [
      ...Array(24).fill(all.key),
      reader.key,
      revoked.key,
      expired.key,
      formatKey('production', 'aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF'),
      formatKey('staging', 'aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF'),
      'ptr_test_short',
    ],
    tokens: [...Array(24).fill(OPERATOR_TOKEN), ...operators.map(({ token }) => token), 'wrong'],
  };
}

export interface FuzzReport {
  statuses: Record<number, number>;
  faults: string[];
}

/** Sends generated requests on a few connections that stay open, and says what was wrong with the answers. */
export async function fuzz(house: Harness, requests: number, seed: number): Promise<FuzzReport> {
  const callers = await makeCallers(house);
  const all = fc.sample(fuzzedRequest(callers).filter(fitsTheHead), { numRuns: requests, seed });
  const report: FuzzReport = { statuses: {}, faults: [] };
  const connections = Array.from({ length: CONNECTIONS }, () => new RawConnection(house.url));
  for (let from = 0; from < all.length; from += ROUND) {
    const round = all.slice(from, from + ROUND);
    await Promise.all(connections.map((connection) => drain(connection, round, report)));
    house.clock.advance(61_000);
  }
  for (const connection of connections) connection.close();
  const bugs = house.logLines().filter(({ level }) => level === 'error');
  report.faults.unshift(
    ...new Set(bugs.map(({ err }) => `a bug in the log: ${JSON.stringify(err).slice(0, 1_500)}`)),
  );
  return report;
}

async function drain(connection: RawConnection, queue: FuzzedRequest[], report: FuzzReport): Promise<void> {
  for (let request = queue.shift(); request; request = queue.shift()) {
    const faults = await judge(connection, request, report);
    if (faults.length > 0) report.faults.push(`${faults.join('; ')} ← ${show(request)}`);
  }
}

async function judge(
  connection: RawConnection,
  request: FuzzedRequest,
  report: FuzzReport,
): Promise<string[]> {
  const bodiless = request.method === 'HEAD';
  try {
    const answer = await connection.exchange(onTheWire(request), { bodiless });
    report.statuses[answer.status] = (report.statuses[answer.status] ?? 0) + 1;
    // To a browser the documentation says with a page that there is none.
    const isPage = answer.status === 404 && answer.headers['content-type']?.startsWith('text/html');
    const mayBePage = isPage && /^\/docs\//.test(request.target);
    const faults = faultsOf(mayBePage ? { ...answer, status: 200 } : answer, { bodiless });
    if (!DOCUMENTED.has(answer.status)) faults.push(`status ${answer.status} is not documented`);
    const ids = request.headers.filter(([name]) => name === 'x-request-id').map(([, value]) => value.trim());
    // What is no HTTP at all has no headers that could be read.
    const read = /^[!-~]*$/.test(request.target) && !answer.body.includes('invalid_http');
    if (
      read &&
      ids.length === 1 &&
      /^[\w.:-]{1,128}$/.test(ids[0] ?? '') &&
      answer.headers['x-request-id'] !== ids[0]
    )
      faults.push('a well-formed x-request-id was not kept');
    return faults.length === 0 ? [] : [...faults, `${answer.status} ${answer.body.toString().slice(0, 200)}`];
  } catch (error) {
    connection.close();
    return [(error as Error).message];
  }
}

/** Node reads heads of up to 16 KiB. */
function fitsTheHead({ target, headers }: FuzzedRequest): boolean {
  return target.length + headers.flat().join('').length < 15_000;
}

function show({ method, target, headers, body, chunked }: FuzzedRequest): string {
  const bytes = body && `${body.length} bytes ${JSON.stringify(body.toString('latin1').slice(0, 300))}`;
  return `${method} ${target.slice(0, 300)} ${JSON.stringify(headers).slice(0, 600)} ${chunked ? 'chunked ' : ''}${bytes ?? ''}`;
}
