import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../../src/contract/endpoint.ts';
import { type OperatorOperationId, operatorEndpoints } from '../../../src/contract/operator/index.ts';
import { signIn } from '../../support/console-session.ts';
import {
  agreementBody,
  fresh,
  furnish,
  make,
  newApproval,
  newDelivery,
  newStop,
  newWebhook,
  operationIds,
  pathOf,
  subscriptionOf,
} from '../../support/operator-calls.ts';
import { type Loose, makeKey, startHarness } from '../../support/service.ts';

const house = await startHarness();
const given = await furnish(house);
const subscriptionId = await subscriptionOf(given);

/** A feed is gone on with for ever, and has tests of its own. */
const lists = operationIds.filter(
  (id) => 'cursor' in ((operatorEndpoints[id] as Endpoint).query?.shape ?? {}) && !/Changes$/.test(id),
);

interface Listed {
  data: Loose[];
  count: number;
  next_cursor: string | null;
}

async function page(path: string, query: Record<string, string | number> = {}): Promise<Listed> {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) search.set(name, String(value));
  return house.operator('GET', `${path}?${search}`);
}

async function walk(path: string, size: number, query: Record<string, string> = {}): Promise<Loose[]> {
  const all: Loose[] = [];
  let cursor: string | null | undefined;
  do {
    const listed = await page(path, { ...query, page_size: size, ...(cursor && { cursor }) });
    expect(listed.count).toBe(listed.data.length);
    expect(listed.count).toBeLessThanOrEqual(size);
    if (listed.next_cursor !== null) expect(listed.count).toBe(size);
    all.push(...listed.data);
    cursor = listed.next_cursor;
  } while (cursor);
  return all;
}

interface ListCase {
  add: () => Promise<unknown>;
  key: (item: Loose) => unknown;
}

const byId = (item: Loose) => item.id;
const groupPath = () => `/practice-groups/${given.groupId}`;

/** How to make one more entry of each list, and what tells two entries apart. */
const cases: Record<string, ListCase> = {
  listAllPracticeGroups: {
    add: () => house.operator('POST', '/practice-groups', { name: 'Group' }),
    key: byId,
  },
  listNetworks: {
    add: () => house.operator('POST', '/networks', { name: 'N', practice_group_ids: [] }),
    key: byId,
  },
  listPartners: {
    add: () => house.operator('POST', '/partners', { name: 'P', contact_email: 'a@b.example' }),
    key: byId,
  },
  listInvitations: {
    add: () =>
      house.operator('POST', `/partners/${given.partnerId}/invitations`, { email: 'a@b.example', name: 'A' }),
    key: byId,
  },
  listStops: { add: () => newStop(given), key: byId },
  listApprovals: { add: () => newApproval(given), key: byId },
  listSessions: { add: () => signIn(house), key: byId },
  listKeys: { add: () => makeKey(house, given.groupId), key: byId },
  listGroupSubmissionTypes: {
    add: () => {
      const id = fresh('type');
      const number = Number(id.split('.')[1]);
      // Ties, and entries without a position, which come last.
      const order = number % 3 === 0 ? {} : { order: number % 2 };
      return house.operator('POST', `${groupPath()}/submission-types`, {
        id,
        pathway_id: 'p',
        title: 'T',
        ...order,
      });
    },
    key: byId,
  },
  listForms: {
    add: () => house.operator('PUT', `${groupPath()}/forms/${fresh('form')}%20%2F%C3%BC`, { title: 'F' }),
    key: byId,
  },
  listAssignees: {
    add: async () => {
      const id = fresh('assignee');
      for (const type of ['Admin', 'AdminTeam'])
        await house.operator('PUT', `${groupPath()}/assignees/${type}/${id}`, { name: 'A' });
    },
    key: (item) => `${item.type} ${item.id}`,
  },
  listFormSubmissions: {
    add: () => house.operator('POST', `${groupPath()}/form-submissions`, { submission_type_id: 'type-1' }),
    key: byId,
  },
  listPublishedEvents: {
    add: () =>
      house.operator('POST', '/events', {
        object: 'Patient',
        id: fresh('patient'),
        practice_group_id: given.groupId,
        event: 'patient.added-to-sequence',
      }),
    key: byId,
  },
  listWriteToRecordJobs: {
    add: () =>
      house.operator('POST', '/write-to-record-jobs', {
        practice_group_id: given.groupId,
        resource: 'Letter',
        resource_id: fresh('letter'),
      }),
    key: byId,
  },
  listOperators: {
    add: () => house.operator('POST', '/operators', { name: 'O', role: 'viewer' }),
    key: byId,
  },
  listAllWebhooks: { add: () => newWebhook(given), key: byId },
  listRefusedRequests: {
    add: async () => {
      const { key } = await makeKey(house, given.groupId);
      await house.send('GET', '/v1/nothing', { key, group: given.groupId });
    },
    key: (item) => item.request_id,
  },
  listDeliveries: { add: () => newDelivery(given), key: byId },
  listSubscriptions: {
    add: () => house.operator('POST', '/subscriptions', { url: 'https://a.example/', topics: ['alerts'] }),
    key: byId,
  },
  listSubscriptionDeliveries: {
    add: () => house.operator('POST', `/subscriptions/${subscriptionId}/test`, { topic: 'alerts' }),
    key: byId,
  },
  listAccessLog: {
    add: async () => {
      const form = fresh('form');
      await house.operator('PUT', `${groupPath()}/forms/${form}`, { title: 'F' });
      await house.operator('GET', `${groupPath()}/forms/${form}`);
    },
    key: byId,
  },
  listPartnerUsage: {
    add: async () => {
      const { key } = await makeKey(house, given.groupId);
      await house.send('GET', '/v1/me', { key });
    },
    key: (item) => [item.key_id ?? item.webhook_id, item.operation, item.outcome].join(),
  },
  listAgreements: {
    add: () => house.operator('POST', `/partners/${given.partnerId}/agreements`, agreementBody()),
    key: byId,
  },
  listAllAlerts: {
    add: async () =>
      house.operator('POST', '/leaked-keys', { key: (await makeKey(house, given.groupId)).key }),
    key: byId,
  },
  listPartnerContacts: {
    add: () => house.operator('POST', `/partners/${given.partnerId}/contacts`, { email: 'a@b.example' }),
    key: byId,
  },
  listContacts: {
    add: () => house.operator('POST', '/contacts', { email: 'a@b.example' }),
    key: byId,
  },
  listErasures: {
    add: () =>
      house.operator('POST', '/erasures', {
        practice_group_id: given.groupId,
        object: 'Patient',
        object_id: fresh('patient'),
      }),
    key: byId,
  },
  listAudit: {
    add: () => house.operator('POST', '/partners', { name: 'P', contact_email: 'a@b.example' }),
    key: (item) => item.seq,
  },
};

function idFor(list: string): string {
  if (list === 'listPartnerContacts' || list === 'listAgreements') return given.partnerId;
  return /Subscription/.test(list) ? subscriptionId : given.groupId;
}

const pathOfList = (id: OperatorOperationId) =>
  pathOf(operatorEndpoints[id].path, {
    id: idFor(id),
  }).replace('/operator/v1', '');

describe('lists', () => {
  it('are all walked by this file', () => {
    expect(Object.keys(cases).sort()).toEqual([...lists].sort());
  });

  it.each(lists)('%s: pages of every size hold each entry once, in the same order', async (id) => {
    const { add, key } = cases[id] as ListCase;
    for (let i = 0; i < 7; i++) await add();
    const path = pathOfList(id);
    const whole = (await walk(path, 100)).map(key);
    expect(whole.length).toBeGreaterThanOrEqual(7);
    expect(new Set(whole).size).toBe(whole.length);
    for (const size of [1, 2, 3, Math.min(whole.length, 100)])
      expect((await walk(path, size)).map(key)).toEqual(whole);
  });

  it.each(lists)(
    '%s: an entry that appears while one pages is not a reason to see another twice',
    async (id) => {
      const { add, key } = cases[id] as ListCase;
      await add();
      const path = pathOfList(id);
      const before = (await walk(path, 100)).map(key);
      const first = await page(path, { page_size: 2 });
      await add();
      const rest: Loose[] = [];
      for (let cursor = first.next_cursor; cursor; ) {
        const next = await page(path, { page_size: 2, cursor });
        rest.push(...next.data);
        cursor = next.next_cursor;
      }
      const seen = [...first.data, ...rest].map(key);
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen).toEqual(expect.arrayContaining(before));
    },
  );

  it('hold 50 entries unless asked otherwise, and 100 at most', async () => {
    const { id } = await house.operator('POST', '/practice-groups', { name: 'Many forms' });
    for (let i = 0; i < 120; i++)
      await house.operator('PUT', `/practice-groups/${id}/forms/form-${i}`, { title: 'F' });
    const usual = await page(`/practice-groups/${id}/forms`);
    expect([usual.count, usual.data.length, usual.next_cursor !== null]).toEqual([50, 50, true]);
    expect((await page(`/practice-groups/${id}/forms`, { page_size: 100 })).count).toBe(100);
    expect(await walk(`/practice-groups/${id}/forms`, 100)).toHaveLength(120);
  });

  it('go on after IDs that make a long cursor', async () => {
    const { id } = await house.operator('POST', '/practice-groups', { name: 'Odd forms' });
    const odd = ['\u{1}', '😀', '\\', '"'].map((character) => character.repeat(255));
    for (const form of odd)
      await house.operator('PUT', `/practice-groups/${id}/forms/${encodeURIComponent(form)}`, { title: 'F' });
    const forms = await walk(`/practice-groups/${id}/forms`, 1);
    expect(forms.map((form) => form.id).sort()).toEqual(odd.sort());
  });

  it('are empty, not missing, when there is nothing', async () => {
    const { id } = await house.operator('POST', '/practice-groups', { name: 'Empty' });
    for (const noun of ['forms', 'assignees', 'submission-types', 'form-submissions'])
      expect(await page(`/practice-groups/${id}/${noun}`)).toEqual({ data: [], count: 0, next_cursor: null });
  });

  it("show one group's entries only", async () => {
    const other = await furnish(house);
    const types = await walk(`/practice-groups/${other.groupId}/submission-types`, 100);
    expect(types.map(byId)).toEqual(['type-1']);
    const submissions = await walk(`/practice-groups/${other.groupId}/form-submissions`, 100);
    expect(submissions.map((item) => item.practice_group_id)).toEqual([other.groupId]);
  });

  it('of submission types follow the sort position, and those without one come last', async () => {
    const { id } = await house.operator('POST', '/practice-groups', { name: 'Ordered' });
    for (const [type, order] of [
      ['c', 5],
      ['a', undefined],
      ['b', 5],
      ['d', 0],
      ['e', 1_000_000],
    ] as const)
      await house.operator('POST', `/practice-groups/${id}/submission-types`, {
        id: type,
        pathway_id: 'p',
        title: 'T',
        ...(order !== undefined && { order }),
      });
    for (const size of [1, 2, 100])
      expect((await walk(`/practice-groups/${id}/submission-types`, size)).map(byId)).toEqual([
        'd',
        'b',
        'c',
        'e',
        'a',
      ]);
  });
});

describe('filters', () => {
  it('partners by status, page by page', async () => {
    const suspended = [];
    for (let i = 0; i < 3; i++) {
      const { id } = await house.operator('POST', '/partners', { name: 'S', contact_email: 'a@b.example' });
      await house.operator('POST', `/partners/${id}/suspend`);
      suspended.push(id);
    }
    const found = await walk('/partners', 2, { status: 'suspended' });
    expect(found.map(byId)).toEqual([...suspended].sort());
    expect(found.every(({ status }) => status === 'suspended')).toBe(true);
    const answer = await make(given, {
      id: 'listPartners',
      method: 'GET',
      path: '/operator/v1/partners?status=unheard-of',
    });
    expect(answer.status).toBe(400);
  });

  it('keys by partner and by practice group', async () => {
    const one = await furnish(house);
    const other = await makeKey(house, one.groupId);
    const ids = async (query: Record<string, string>) => (await walk('/keys', 1, query)).map(byId).sort();
    expect(await ids({ practice_group_id: one.groupId })).toEqual([one.keyId, other.keyId].sort());
    expect(await ids({ partner_id: one.partnerId })).toEqual([one.keyId]);
    expect(await ids({ partner_id: other.partnerId, practice_group_id: given.groupId })).toEqual([]);
    expect(await ids({ partner_id: 'nobody' })).toEqual([]);
  });

  it('audit entries by actor, action, subject, group and time, newest first', async () => {
    const one = await furnish(house);
    house.clock.advance(10_000);
    const from = new Date(house.clock.now()).toISOString();
    await house.operator('PUT', `/practice-groups/${one.groupId}/forms/late`, { title: 'Late' });
    house.clock.advance(10_000);
    const until = new Date(house.clock.now()).toISOString();
    await house.operator('PUT', `/practice-groups/${one.groupId}/forms/later`, { title: 'Later' });

    const subjects = async (query: Record<string, string>) =>
      (await walk('/audit', 2, query)).map(({ subject }) => subject.id);
    const group = { practice_group_id: one.groupId };
    expect(await subjects({ ...group, since: from, until })).toEqual(['late']);
    // The same moment, written with another offset.
    const offset = new Date(Date.parse(from) + 3_600_000).toISOString().replace('Z', '+01:00');
    expect(await subjects({ ...group, since: offset, action: 'form.put' })).toEqual(['later', 'late']);
    expect(await subjects({ ...group, action: 'form.put', subject_id: 'late' })).toEqual(['late']);
    expect(await subjects({ ...group, actor_id: 'somebody-else' })).toEqual([]);
    const all = await walk('/audit', 3, { ...group, actor_id: 'opr_first' });
    expect(all.map(({ seq }) => seq)).toEqual(all.map(({ seq }) => seq).sort((a, b) => b - a));
    expect(all.every(({ practice_group_id }) => practice_group_id === one.groupId)).toBe(true);
  });
});
