import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { SYSTEM } from '../../../src/domain/access/principal.ts';
import { exportAccessLog } from '../../../src/operations/oversight/access-log.ts';
import { temporaryFolder } from '../../support/afterwards.ts';
import { fanOutAll, newPartner, publish } from '../../support/post.ts';
import { ok, startReceiver, status } from '../../support/receiver.ts';
import {
  type Harness,
  type Loose,
  makeKey,
  makeWorld,
  OPERATOR_TOKEN,
  startHarness,
} from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';
import { waiter } from '../../support/waiting.ts';

/** Who was told about an object, when, under which agreement, by which key and through which network. */

async function accesses(house: Harness, query: string): Promise<Loose[]> {
  const found: Loose[] = [];
  let cursor = '';
  do {
    const page = await house.operator('GET', `/access-log?${query}${cursor && `&cursor=${cursor}`}`);
    found.push(...page.data);
    cursor = page.next_cursor ?? '';
  } while (cursor);
  return found;
}

const startApi = () => startHarness({ env: { PORTER_ROLE: 'api' } });

describe('GET /operator/v1/access-log', () => {
  it('tells who received an object by webhook, and through which key and network at that time', async () => {
    const house = await startHarness();
    const { groupId } = await makeWorld(house);
    const neighbour = await makeWorld(house);
    const network = await house.operator('POST', '/networks', {
      name: 'Both',
      practice_group_ids: [groupId, neighbour.groupId],
    });
    // The key is the neighbour's: it reaches the practice through the network.
    const { key, keyId, partnerId } = await makeKey(house, neighbour.groupId);
    const receiver = await startReceiver({ behaviour: ok });
    const hook = await house.send('POST', '/v1/webhooks', {
      key,
      group: groupId,
      body: { url: receiver.url },
    });
    await publish(house, groupId, ['prescription.issued', 'rx-1'], ['prescription.issued', 'rx-2']);
    await expect.poll(() => receiver.received.length).toBe(2);
    const query = `practice_group_id=${groupId}&object_id=rx-1`;
    await expect.poll(() => accesses(house, query)).toHaveLength(1);
    house.clock.advance(1_000);
    await house.operator('DELETE', `/networks/${network.id}`);
    await house.operator('POST', `/keys/${keyId}/revoke`);

    expect(await accesses(house, query)).toEqual([
      {
        id: expect.stringMatching(/^dlv_/),
        kind: 'received',
        first_at: expect.any(String),
        last_at: expect.any(String),
        count: 1,
        partner_id: partnerId,
        key_id: null,
        operator_id: null,
        person: null,
        practice_group_id: groupId,
        operation: 'deliver',
        object: 'Prescription',
        object_id: 'rx-1',
        event_id: expect.stringMatching(/^evt_/),
        event: 'prescription.issued',
        webhook_id: hook.body.id,
        delivery_id: receiver.received.find(({ body }) => body.includes('rx-1'))?.headers['webhook-id'],
        positions: null,
        agreement_signed_at: '2026-11-16T10:00:00.000Z',
        through: [{ key_id: keyId, network_id: network.id }],
        erased_by: null,
      },
    ]);
  });

  it('a receiver that refused what it was sent was told all the same; one that could not be reached was not', async () => {
    const house = await startHarness();
    const partner = await newPartner(house);
    const refusing = await startReceiver({ behaviour: status(500) });
    const gone = await startReceiver({ behaviour: 'refuse' });
    const { id } = await partner.call('POST', '/v1/webhooks', { url: refusing.url });
    await partner.call('POST', '/v1/webhooks', { url: gone.url });
    await publish(house, partner.groupId, ['prescription.issued', 'rx-1']);
    await expect.poll(() => refusing.received.length).toBeGreaterThan(0);
    const told = () => accesses(house, `practice_group_id=${partner.groupId}&object_id=rx-1`);
    await expect.poll(told).toMatchObject([{ kind: 'received', webhook_id: id }]);
  });

  it('tells who read it from the feed, from the stream and by webhook log, and nobody who read something else', async () => {
    const house = await startApi();
    const reader = await newPartner(house);
    const other = await newPartner(house, reader.groupId);
    await publish(house, reader.groupId, ['prescription.issued', 'rx-1'], ['appointment.confirmed', 'apt-1']);
    await fanOutAll(house);
    // What is read within a second is one entry.
    await Promise.all([reader.call('GET', '/v1/events'), reader.call('GET', '/v1/events')]);
    await other.call('GET', '/v1/events?event_types=appointment.confirmed');
    const query = `practice_group_id=${reader.groupId}&object_id=`;
    expect(await accesses(house, `${query}rx-1`)).toMatchObject([
      {
        kind: 'read',
        operation: 'listEvents',
        count: 2,
        partner_id: reader.partnerId,
        key_id: reader.keyId,
        object: 'Prescription',
        object_id: 'rx-1',
        through: [{ key_id: reader.keyId, network_id: null }],
      },
    ]);
    const readers = (await accesses(house, `${query}apt-1`)).map(({ key_id }) => key_id);
    expect(readers.sort()).toEqual([reader.keyId, other.keyId].sort());
  });

  it('tells what was read with one key, however much others read meanwhile', async () => {
    const house = await startApi();
    const reader = await newPartner(house);
    const other = await newPartner(house, reader.groupId);
    await publish(house, reader.groupId, ['prescription.issued', 'rx-1']);
    await fanOutAll(house);
    await reader.call('GET', '/v1/practice-groups');
    await reader.call('GET', '/v1/events');
    await house.service.app.accessLog.flush();
    await other.call('GET', '/v1/events');
    await house.service.app.accessLog.flush();
    const db = await superuser(house.databaseUrl);
    await db.query(
      `INSERT INTO access_log (no, batch, practice_group_id, actor_id, last_at, body, digest)
       SELECT no + n, batch, practice_group_id, actor_id, last_at, body, digest
         FROM (SELECT * FROM access_log WHERE actor_id = $1 ORDER BY no DESC LIMIT 1) AS l, generate_series(1, 12000) AS n`,
      [other.keyId],
    );
    const query = `key_id=${reader.keyId}`;
    const first = await house.operator('GET', `/access-log?${query}`);
    expect(first).toMatchObject({ data: [], next_cursor: expect.any(String) });
    const operations = async (more = '') =>
      (await accesses(house, query + more)).map(({ key_id, operation }) => `${key_id} ${operation}`);
    const feed = `${reader.keyId} listEvents`;
    expect((await operations()).sort()).toEqual([feed, `${reader.keyId} listPracticeGroups`]);
    expect(await operations(`&practice_group_id=${reader.groupId}`)).toContain(feed);
    expect(await operations(`&practice_group_id=${reader.groupId}&object_id=rx-1`)).toEqual([feed]);
  });

  it('tells what operators looked at: an event, a delivery, a form submission, a practice', async () => {
    const house = await startApi();
    const partner = await newPartner(house);
    const { groupId } = partner;
    await partner.call('POST', '/v1/webhooks', { url: 'https://partner.example/hook' });
    const [eventId] = await publish(house, groupId, ['prescription.issued', 'rx-1']);
    await fanOutAll(house);
    await house.operator('POST', `/practice-groups/${groupId}/form-submissions`, {
      submission_type_id: 'type-1',
      id: 'fs-1',
    });
    await house.operator('GET', `/events/${eventId}`);
    await house.operator('GET', `/deliveries?event_id=${eventId}`);
    await house.operator('GET', `/practice-groups/${groupId}/form-submissions/fs-1`);
    await house.operator('GET', `/practice-groups/${groupId}`);
    const query = `practice_group_id=${groupId}`;
    const operations = async (more: string) =>
      (await accesses(house, query + more)).map(
        ({ operation, operator_id }) => `${operator_id} ${operation}`,
      );
    expect(await operations('&object_id=rx-1')).toEqual([
      'opr_first listDeliveries',
      'opr_first getPublishedEvent',
    ]);
    expect(await operations('&object_id=fs-1')).toEqual(['opr_first getFormSubmission']);
    expect(await operations('')).toContain('opr_first getPracticeGroup');
  });

  it('goes on page by page, and tells each once', async () => {
    const house = await startApi();
    const { groupId } = await makeWorld(house);
    const read = () =>
      house.send('GET', `/operator/v1/practice-groups/${groupId}/forms/form-1`, { token: OPERATOR_TOKEN });
    await Promise.all(Array.from({ length: 7 }, read));
    await publish(
      house,
      groupId,
      ...Array.from({ length: 5 }, (_, n): ['prescription.issued', string] => [
        'prescription.issued',
        `rx-${n}`,
      ]),
    );
    await house.operator('GET', `/events?practice_group_id=${groupId}`);
    const all = await accesses(house, `practice_group_id=${groupId}`);
    const small = await accesses(house, `practice_group_id=${groupId}&page_size=2`);
    expect(small).toEqual(all);
    expect(all.find(({ operation }) => operation === 'getForm')).toMatchObject({ count: 7 });
  });

  it('names the networks alone that let the partner do it then, whatever they grant now', async () => {
    const house = await startApi();
    const { groupId } = await makeWorld(house);
    const neighbour = await makeWorld(house);
    const { key, keyId, partnerId } = await makeKey(house, neighbour.groupId);
    const other = await makeKey(house, neighbour.groupId);
    const network = async (caps: object): Promise<string> => {
      const practice_group_ids = [groupId, neighbour.groupId];
      return (await house.operator('POST', '/networks', { name: 'N', practice_group_ids, ...caps })).id;
    };
    const events = await network({ scopes: ['events:read'], partner_ids: [partnerId] });
    await network({ scopes: ['practice-groups:read'] });
    await network({ partner_ids: [other.partnerId] });
    await publish(house, groupId, ['prescription.issued', 'rx-1']);
    await fanOutAll(house);
    expect((await house.send('GET', '/v1/events', { key, group: groupId })).status).toBe(200);
    house.clock.advance(1_000);
    await house.operator('PATCH', `/networks/${events}`, { scopes: ['submission-types:read'] });
    const through = [{ key_id: keyId, network_id: events }];
    const query = `practice_group_id=${groupId}`;
    expect(await accesses(house, `${query}&object_id=rx-1`)).toMatchObject([{ key_id: keyId, through }]);
    const all = await accesses(house, query);
    expect(all.find(({ key_id }) => key_id === keyId)).toMatchObject({ operation: 'listEvents', through });
  });
});

describe('the log', () => {
  it('is written behind the answers, many calls as one entry, and at the latest when the service stops', async () => {
    const house = await startApi();
    const partner = await newPartner(house);
    await Promise.all(Array.from({ length: 50 }, () => partner.call('GET', '/v1/practice-groups')));
    await house.stop();
    const db = await superuser(house.databaseUrl);
    const kept = async () =>
      (await db.query('SELECT body FROM access_log WHERE actor_id = $1', [partner.keyId])).rows.map(
        ({ body }) => JSON.parse(body),
      );
    // By the manual clock the time that a stop may take is over at once.
    await expect.poll(kept).toMatchObject([{ operation: 'listPracticeGroups', count: 50 }]);
  });

  it('what operators read is there a second later, without anybody asking', async () => {
    const house = await startApi();
    const { groupId } = await makeWorld(house);
    await house.operator('GET', `/practice-groups/${groupId}`);
    const db = await superuser(house.databaseUrl);
    const kept = async () =>
      (await db.query('SELECT FROM access_log WHERE practice_group_id = $1', [groupId])).rowCount;
    await expect.poll(kept).toBe(1);
  });

  it('calls that were refused read nothing', async () => {
    const house = await startApi();
    const { groupId } = await makeWorld(house);
    await house.send('GET', `/operator/v1/practice-groups/${groupId}`, { token: 'wrong' });
    await house.send('GET', `/operator/v1/practice-groups/${groupId}/forms/none`, { token: OPERATOR_TOKEN });
    expect(await accesses(house, `practice_group_id=${groupId}`)).toEqual([]);
  });

  it('while the database is out of reach entries wait, and are counted together with what comes meanwhile', async () => {
    const house = await startApi();
    const { groupId } = await makeWorld(house);
    const { app } = house.service;
    await house.operator('GET', `/practice-groups/${groupId}`);
    const outage = vi
      .spyOn(app.db.pool, 'connect')
      .mockImplementation(() => Promise.reject(new Error('away')));
    await app.accessLog.flush();
    outage.mockRestore();
    await house.operator('GET', `/practice-groups/${groupId}`);
    expect(await accesses(house, `practice_group_id=${groupId}`)).toMatchObject([{ count: 2 }]);
    expect(app.accessLog.dropped).toBe(0);
  });

  it('its head goes into the audit once an hour', async () => {
    const house = await startApi();
    const { groupId } = await makeWorld(house);
    house.clock.advance(3_600_000);
    await house.operator('GET', `/practice-groups/${groupId}`);
    await house.service.app.accessLog.flush();
    const { data } = await house.operator('GET', '/audit?action=access_log.anchor');
    expect(data).toMatchObject([
      { actor: { type: 'system' }, after: { batch: 1, hash: expect.stringMatching(/^[0-9a-f]{64}$/) } },
    ]);
  });
});

const run = promisify(execFile);
it('the verifier says of a file that it cannot read that it cannot', async () => {
  const running = run(process.execPath, ['examples/verify-access-log.mjs', '/nowhere']);
  await expect(running).rejects.toMatchObject({
    code: 1,
    stderr: '/nowhere cannot be read (ENOENT). Check its name, and who may read it.\n',
  });
});

const verify = async (text: string, ...more: string[]) => {
  const file = join(temporaryFolder(), 'export.ndjson');
  await writeFile(file, text);
  return run(process.execPath, ['examples/verify-access-log.mjs', file, ...more]).then(
    ({ stdout }) => JSON.parse(stdout),
    ({ stderr }) => stderr as string,
  );
};

describe('the export and its verifier', async () => {
  const house = await startHarness();
  const partner = await newPartner(house);
  const other = await makeWorld(house);
  const receiver = await startReceiver({ behaviour: ok });
  await partner.call('POST', '/v1/webhooks', { url: receiver.url });
  const exported = async (query = '') =>
    (await house.send('GET', `/operator/v1/access-log/export${query}`, { token: OPERATOR_TOKEN })).text;
  await publish(house, partner.groupId, ['prescription.issued', 'rx-1']);
  for (const id of [partner.groupId, other.groupId, partner.groupId]) {
    await Promise.all([
      house.operator('GET', `/practice-groups/${id}`),
      house.operator('GET', `/events?practice_group_id=${id}`),
    ]);
    await house.service.app.accessLog.flush();
  }
  const text = await exported();
  const lines = text.trimEnd().split('\n');

  it('what was exported is verified', async () => {
    expect(await verify(text)).toMatchObject({ ok: true, batches: 3, of_others: 0, erased: 0 });
    const [answer] = [await house.send('GET', '/operator/v1/access-log/export', { token: OPERATOR_TOKEN })];
    expect(answer.headers['content-type']).toBe('application/x-ndjson; charset=utf-8');
  });

  it.each([
    [
      'an entry is altered',
      (all: string[]) => all.map((line) => line.replace('getPracticeGroup', 'getForm')),
    ],
    ['an entry is left out', (all: string[]) => all.toSpliced(2, 1)],
    ['a batch is left out', (all: string[]) => all.toSpliced(1, 3)],
    ['the end is cut off', (all: string[]) => all.slice(0, -2)],
    ['two entries are swapped', (all: string[]) => [all[0], all[1], all[3], all[2], ...all.slice(4)]],
  ])('%s: it comes out', async (_what, tamper) => {
    expect(await verify(`${tamper(lines).join('\n')}\n`)).toMatch(/^not as it was written/);
  });

  it('a log that was rewritten as a whole does not hold the line that was kept', async () => {
    const { to } = await verify(text);
    expect(await verify(await exported(), to)).toMatchObject({ ok: true });
    expect(await verify(text, `3:${'0'.repeat(64)}`)).toMatch('does not hold');
  });

  it('for one practice: the entries of others are digests, and what was received follows', async () => {
    const ofPractice = () => exported(`?practice_group_id=${partner.groupId}`);
    await expect.poll(ofPractice).toContain('"received"');
    const own = await ofPractice();
    expect(own).not.toContain(other.groupId);
    expect(own).toContain('rx-1');
    const verdict = await verify(own);
    expect(verdict).toMatchObject({ ok: true, received: 1 });
    expect(verdict.of_others).toBeGreaterThan(0);
    const [first, ...others] = own.trimEnd().split('\n');
    expect(JSON.parse(first ?? '')).toMatchObject({ from: { practice_group_id: partner.groupId } });
    expect(JSON.parse(others.at(-1) ?? '')).toEqual({ end: { received: 1 } });
    for (const whole of [others.slice(0, -1), others.toSpliced(-2, 1), others.slice(0, -2)])
      expect(await verify([first, ...whole, ''].join('\n'))).toMatch(/^not as it was written: .*received/);
  });

  it('one that the database breaks off is broken off, not ended', async () => {
    const db = await superuser(house.databaseUrl);
    await db.query('BEGIN; LOCK TABLE deliveries');
    const broken = expect(exported(`?practice_group_id=${partner.groupId}`)).rejects.toThrow();
    // The engine waits for the table as well.
    await db.query('SELECT pg_terminate_backend($1)', [await waiter(db, 'WITH told AS')]);
    await broken;
    await db.query('COMMIT');
    expect(await verify(await exported(`?practice_group_id=${partner.groupId}`))).toMatchObject({ ok: true });
  });

  it('one that goes on after a batch begins with its hash', async () => {
    const { to } = await verify(text);
    const after = Number(to.split(':')[0]);
    const more = await exported(`?after_batch=${after}`);
    expect(JSON.parse(more.split('\n')[0] ?? '')).toEqual({ from: { batch: after, hash: to.split(':')[1] } });
    expect(await verify(more, to)).toMatchObject({ ok: true });
    const gone = await house.send('GET', '/operator/v1/access-log/export?after_batch=999', {
      token: OPERATOR_TOKEN,
    });
    expect(gone.status).toBe(404);
  });

  it('whoever has lost their access while it goes on gets no more of it, nor the line that says that it is whole', async () => {
    const call = { principal: SYSTEM, query: {}, stillAdmitted: async () => false };
    const answer = await exportAccessLog(house.service.app, call as never);
    let told = '';
    for await (const part of answer.lines) told += part;
    expect(told).toBe(`${lines[0]}\n`);
    expect(await verify(`${lines[0]}\n`)).toMatch(/^not as it was written/);
  });

  it('after an erasure it is still verified, without the identifier', async () => {
    await house.operator('POST', '/erasures', {
      practice_group_id: partner.groupId,
      object: 'Prescription',
      object_id: 'rx-1',
    });
    const now = await exported();
    expect(now).not.toContain('rx-1');
    const verdict = await verify(now);
    expect(verdict).toMatchObject({ ok: true });
    expect(verdict.erased).toBeGreaterThan(0);
  });
});
