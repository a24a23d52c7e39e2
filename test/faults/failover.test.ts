import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { expectProblem } from '../support/answers.ts';
import { until } from '../support/porter-process.ts';
import { newPartner, type Partner } from '../support/post.ts';
import { type Replicated, startReplicated } from '../support/replicated-postgres.ts';
import { type Harness, type Loose, OPERATOR_TOKEN, startHarness } from '../support/service.ts';

/** What docs/operating/failover.md promises, on two servers and two nodes that know both by one DATABASE_URL. */

interface Traffic {
  /** IDs of the events that were answered with 202. */
  accepted: string[];
  statuses: Set<number>;
  stop(): Promise<void>;
}

/** Sources that publish one call after the other, whatever they are answered. */
function publishUnderTraffic(nodes: readonly Harness[], groupId: string): Traffic {
  const accepted: string[] = [];
  const statuses = new Set<number>();
  let isOver = false;
  const sources = nodes
    .flatMap((node) => [node, node])
    .map(async (node, source) => {
      for (let n = 0; !isOver; n++) {
        const body = {
          object: 'Prescription',
          id: `${source}-${n}`,
          practice_group_id: groupId,
          event: 'prescription.issued',
        };
        const answer = await node.send('POST', '/operator/v1/events', { token: OPERATOR_TOKEN, body });
        statuses.add(answer.status);
        if (answer.status === 202) accepted.push(...answer.body.event_ids);
        else await pause(50);
      }
    });
  return {
    accepted,
    statuses,
    async stop() {
      isOver = true;
      await Promise.all(sources);
    },
  };
}

const more = (traffic: Traffic, count: number) => {
  const wanted = traffic.accepted.length + count;
  return until(`${count} more events are accepted`, () => traffic.accepted.length >= wanted, 120_000);
};

async function readAll(partner: Partner, from?: string): Promise<{ ids: string[]; cursor: string }> {
  const ids: string[] = [];
  let cursor = from;
  for (;;) {
    const page = await partner.call('GET', `/v1/events?page_size=100${cursor ? `&cursor=${cursor}` : ''}`);
    ids.push(...page.data.map(({ id }: Loose) => id));
    cursor = page.next_cursor as string;
    if (!page.has_more) return { ids, cursor };
  }
}

async function begin(servers: Replicated) {
  const first = await startHarness({ databaseUrl: servers.databaseUrl });
  const second = await startHarness({ databaseUrl: servers.databaseUrl, clock: first.clock });
  const partner = await newPartner(first);
  return {
    nodes: [first, second],
    first,
    partner,
    traffic: publishUnderTraffic([first, second], partner.groupId),
  };
}

async function failOver({ primary, standby }: Replicated): Promise<void> {
  await primary.kill();
  await standby.query('SELECT pg_promote()');
}

it('with a synchronous standby nothing that was accepted is lost, and every cursor stays good', async () => {
  const servers = await startReplicated({ synchronous: true });
  const { nodes, partner, traffic } = await begin(servers);
  await more(traffic, 100);
  const before = await readAll(partner);
  expect(before.ids.length).toBeGreaterThan(0);

  await failOver(servers);
  await more(traffic, 100);
  await traffic.stop();
  const { accepted, statuses } = traffic;
  await expect
    .poll(async () => {
      const present = new Set((await readAll(partner)).ids);
      return accepted.filter((id) => !present.has(id)).length;
    })
    .toBe(0);
  console.log(`synchronous: ${accepted.length} accepted, 0 lost; answers ${[...statuses].sort()}`);
  expect([...statuses].filter((status) => ![202, 503].includes(status))).toEqual([]);
  const all = await readAll(partner);
  const rest = await readAll(partner, before.cursor);
  expect([...before.ids, ...rest.ids]).toEqual(all.ids);
  for (const node of nodes) {
    node.clock.advance(5_000);
    await expect.poll(async () => (await node.send('GET', '/readyz')).status).toBe(200);
  }
});

it('without its synchronous standby the service is not ready, for nothing would commit', async () => {
  const { standby, databaseUrl } = await startReplicated({ synchronous: true });
  const house = await startHarness({ databaseUrl, env: { PORTER_ROLE: 'api' } });
  const readyz = async () => {
    house.clock.advance(5_000);
    return (await house.send('GET', '/readyz')).status;
  };
  expect(await readyz()).toBe(200);
  await standby.kill();
  await expect.poll(readyz).toBe(503);
  standby.start();
  await expect.poll(readyz).toBe(200);
});

it('what an asynchronous standby had not received is lost, and whoever has read it is told with 410', async () => {
  const servers = await startReplicated({ synchronous: false });
  const { first, partner, traffic } = await begin(servers);
  await more(traffic, 50);
  const older = await readAll(partner);
  const behind = await servers.primary.query('SELECT pg_current_wal_flush_lsn() AS lsn');
  await until('the standby has what was read', async () => {
    const [row] = await servers.standby.query(
      `SELECT pg_last_wal_replay_lsn() >= '${behind[0]?.lsn}' AS there`,
    );
    return row?.there === true;
  });
  // The link between the two servers breaks, and nobody notices.
  await servers.standby.query("ALTER SYSTEM SET primary_conninfo = ''");
  await servers.standby.query('SELECT pg_reload_conf()');
  await until('the standby receives nothing', async () => {
    const rows = await servers.primary.query('SELECT FROM pg_stat_replication');
    return rows.length === 0;
  });
  await more(traffic, 50);
  let newer = await readAll(partner);
  await expect
    .poll(async () => {
      newer = await readAll(partner);
      return newer.ids.length;
    })
    .toBeGreaterThan(older.ids.length);

  await failOver(servers);
  await more(traffic, 200);
  await traffic.stop();
  // What is accepted now has its place soon.
  const last = traffic.accepted.at(-1) ?? '';
  await expect.poll(async () => (await readAll(partner)).ids).toContain(last);
  const all = await readAll(partner);
  const lost = newer.ids.filter((id) => !all.ids.includes(id));
  console.log(`asynchronous: ${traffic.accepted.length} accepted, ${lost.length} that were read are lost`);
  expect(lost.length).toBeGreaterThan(0);

  const gone = await partner.send('GET', `/v1/events?cursor=${newer.cursor}`);
  expectProblem(gone, 410, 'cursor_gone', { resume_cursor: expect.any(String) });
  const known = new Set(newer.ids);
  const resumed = await readAll(partner, gone.body.resume_cursor);
  expect(all.ids.filter((id) => !known.has(id) && !resumed.ids.includes(id))).toEqual([]);
  const rest = await readAll(partner, older.cursor);
  expect([...older.ids, ...rest.ids]).toEqual(all.ids);
  expect(await first.operator('GET', '/audit/verify')).toMatchObject({ ok: true });
});
