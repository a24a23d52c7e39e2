import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/afterwards.ts';
import { porter as run, type Surroundings } from '../../support/cli.ts';
import { freePort } from '../../support/porter-process.ts';
import { ok, startReceiver, status } from '../../support/receiver.ts';
import { makeWorld, OPERATOR_TOKEN, serviceForTests, startHarness } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

const { house: harness, world } = await serviceForTests();
const { groupId: group, key, partnerId } = world;
const cwd = temporaryFolder();

const porter = (line: string, surroundings: Surroundings = {}) =>
  run(line, {
    cwd,
    ...surroundings,
    env: { PORTER_URL: harness.url, PORTER_OPERATOR_TOKEN: OPERATOR_TOKEN, ...surroundings.env },
  });
const json = async (line: string, surroundings?: Surroundings) => {
  const { code, json: value, stderr } = await porter(`${line} --json`, surroundings);
  expect(stderr).not.toMatch(/error/i);
  expect(code).toBe(0);
  return value;
};

describe('partners', () => {
  it('go from application to suspension', async () => {
    const { id } = await json("partners create --name 'Acme Care' --email dev@acme.example");
    expect(await json(`partners show ${id}`)).toMatchObject({ name: 'Acme Care', status: 'applied' });
    expect(await json(`partners sign-agreement ${id} --rate-limit 600 --sla gold`)).toMatchObject({
      status: 'agreement_signed',
      rate_limit_per_minute: 600,
      sla: 'gold',
    });
    expect((await porter(`partners verify ${id}`)).stdout).toMatch(/status +verified/);
    expect(await json(`partners suspend ${id} --yes`)).toMatchObject({ status: 'suspended' });

    const { stdout } = await porter('partners list --status suspended');
    expect(stdout).toMatch(/^ID +STATUS +NAME +CONTACT +CREATED\n/);
    expect(stdout).toMatch(new RegExp(`${id} +suspended +Acme Care +dev@acme.example +2026-11-16T`));
    expect((await json('partners list --status suspended')).data).toMatchObject([{ id }]);
  });

  it('are listed page after page, up to the limit', async () => {
    for (let count = 0; count < 4; count++)
      await json(`partners create --name p${count} --email a@b.example`);
    expect(await json('partners list --limit 3')).toMatchObject({
      count: 3,
      next_cursor: expect.any(String),
    });
    const { stderr } = await porter('partners list --limit 3');
    expect(stderr).toBe('There are more: see --limit.\n');
    const all = await json('partners list --limit 500');
    expect(all.next_cursor).toBeNull();
    expect(all.data.length).toBeGreaterThan(4);
  });
});

describe('keys', () => {
  it('are issued, rotated, listed and revoked', async () => {
    const issue = `keys issue --partner ${partnerId} --group ${group}`;
    const all = await json(`${issue} --scopes all --rate-limit 10 --expires-at 2027-01-01T00:00:00Z`);
    expect(all.scopes).toHaveLength(6);
    expect(all).toMatchObject({ rate_limit_per_minute: 10, expires_at: '2027-01-01T00:00:00.000Z' });
    const { stdout, stderr } = await porter(`${issue} --scopes events:read,webhooks:read`);
    expect(stdout).toMatch(/scopes +events:read, webhooks:read/);
    expect(stdout).toMatch(/key +ptr_test_\w{38}/);
    expect(stderr).toBe('The key is shown this once: hand it over safely now.\n');

    const rotation = await porter(`keys rotate ${all.id} --overlap 2h --json`);
    const rotated = rotation.json;
    expect(rotated.key).toMatch(/^ptr_test_/);
    const keys = await json(`keys list --partner ${partnerId} --group ${group}`);
    const old = keys.data.find(({ id }: { id: string }) => id === all.id);
    expect(old).toMatchObject({
      replaced_by: rotated.id,
      expires_at: expect.stringMatching(/^2026-11-16T12:00/),
    });
    expect(rotation.stderr).toContain(`The old key works until ${old.expires_at}.\n`);
    const { id: third, ...replaced } = (await porter(`keys rotate ${rotated.id} --overlap 0 --json`)).json;
    expect(replaced.key).not.toBe(rotated.key);
    expect((await porter(`keys rotate ${third} --overlap 0`)).stderr).toContain('The old key is revoked.\n');
    expect(await json(`keys revoke ${rotated.id} --yes`)).toMatchObject({ status: 'revoked' });
  });
});

it('networks are made and changed', async () => {
  const { groupId: other } = await makeWorld(harness);
  const { id } = await json(`networks create --name North ${group}`);
  // In the order of their IDs, whichever was made first.
  const both = [group, other].toSorted();
  expect(await json(`networks add ${id} ${other}`)).toMatchObject({ practice_group_ids: both });
  expect((await porter('networks list')).stdout).toMatch(
    new RegExp(`${id} +North +.+ \\(${both[0]}\\), .+ \\(${both[1]}\\) +2026-11-16T`),
  );
  expect(await json(`networks remove ${id} ${other} ${group}`)).toMatchObject({ practice_group_ids: [] });

  const never = `${'x'.repeat(300)}`;
  expect(await porter(`networks add ${id} ${group} ${other} ${never}`)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      new RegExp(`^Done before it failed: ${group}, ${other}\\.\nIt failed at x+\\.\nError: `),
    ),
  });
  expect(await porter(`networks remove ${id} ${group} none ${other} another`)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      new RegExp(
        `^Done before it failed: ${group}\\.\nIt failed at none\\. Not done: ${other}, another\\.\nError: .+\n  There is no such network, or this practice group is not one of it\\. `,
      ),
    ),
  });
});

describe('deliveries', () => {
  it('are listed and sent again', async () => {
    const receiver = await startReceiver({ behaviour: status(500) });
    const { key: theirs, groupId, partnerId: owner } = await makeWorld(harness);
    const made = await harness.send('POST', '/v1/webhooks', {
      key: theirs,
      group: groupId,
      body: { url: receiver.url },
    });
    await json(`events publish --event appointment.confirmed --id a1 --group ${groupId}`);
    await expect.poll(() => receiver.received.length).toBeGreaterThan(0);
    const list = `deliveries list --webhook ${made.body.id}`;
    await expect
      .poll(async () => (await porter(list)).stdout)
      .toMatch(/pending +appointment\.confirmed +a1 +.+ \(prt_\w+\) +.+ +2026-\S+ +2026-\S+ +1 +.*500/);

    // The operator and the probes see the same trouble.
    const trouble = await porter('status');
    expect(trouble.code).toBe(1);
    const whose = `of Partner (${owner}) for Practice ${groupId} (${groupId}), at ${receiver.url},`;
    expect(trouble.stdout).toContain(`Webhook ${made.body.id} ${whose} has failed once`);
    expect((await porter('status --json')).json.failing_webhooks).toContainEqual(
      expect.objectContaining({
        id: made.body.id,
        partner_id: owner,
        partner_name: 'Partner',
        practice_group_id: groupId,
        practice_group_name: `Practice ${groupId}`,
      }),
    );

    const [{ id }] = (await json(list)).data;
    await receiver.setBehaviour(ok);
    expect(await json(`deliveries retry ${id}`)).toMatchObject({ data: [{ id, status: 'pending' }] });
    await expect.poll(async () => (await json(list)).data[0].status).toBe('delivered');

    await porter(`webhooks pause ${made.body.id}`);
    expect((await porter(`deliveries retry ${id}`)).stderr).toContain(`${made.body.id} is paused.`);

    // One that fails does not hide those before it.
    const partly = await porter(`deliveries retry ${id} dlv_none --json`);
    expect(partly).toMatchObject({ code: 1, json: { data: [{ id }] } });
    expect(JSON.parse(partly.stderr)).toMatchObject({ error: 'not_found' });
    await receiver.close();
  });
});

describe('alerts', () => {
  it('are listed: those that are open, or all, of a kind and of a partner', async () => {
    const { keyId, key: leaked, partnerId: owner } = await makeWorld(harness);
    await harness.operator('POST', '/leaked-keys', { key: leaked });
    expect((await json('alerts')).data).toEqual([]);
    const { stdout } = await porter(`alerts --all --kind key_leaked --partner ${owner}`);
    expect(stdout).toMatch(/^BEGAN +ENDED +KIND +PARTNER +WHAT\n/);
    expect(stdout).toContain(`The key ${keyId}`);
    expect((await json('alerts --all --limit 1')).data).toMatchObject([{ kind: 'key_leaked' }]);
  });
});

describe('changes', () => {
  it('are listed, shown and answered for the practice software', async () => {
    const { key: theirs, groupId } = await makeWorld(harness);
    const patch = (title: string) =>
      harness.send('PATCH', '/v1/care-nav/submission-types/type-1', {
        key: theirs,
        group: groupId,
        body: { title },
      });
    await patch('One');
    await patch('Two');
    const list = `changes list --group ${groupId}`;
    await expect.poll(async () => (await json(list)).data.length).toBe(2);
    const [{ id }, { id: other }] = (await json(list)).data;
    expect((await porter(list)).stdout).toMatch(
      new RegExp(`${id} +pending +.*\\(${groupId}\\) +type-1 +title`),
    );
    expect(await json(`changes show ${id}`)).toMatchObject({ id, after: { title: 'One' } });
    expect(await json(`changes applied ${id}`)).toMatchObject({ data: [{ id, state: 'applied' }] });
    const rejected = await json(`changes rejected ${other} --reason Closed`);
    expect(rejected).toMatchObject({ data: [{ state: 'rejected', reason: 'Closed' }] });
    expect((await json(`${list} --state pending`)).data).toEqual([]);
    // What to do is in the message: nothing is in use, and nothing to be read again.
    const late = await porter(`changes rejected ${id} --reason Closed`);
    expect(late.code).toBe(1);
    expect(late.stderr).toMatch(/^Error: .+ stays so\. Change the submission type instead\.\n {2}More: /);
    expect(await porter('changes show chg_none')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('There is no such change.'),
    });
  });
});

describe('refusals list', () => {
  it('tells why calls of a partner were refused', async () => {
    const { key: theirs, groupId, partnerId } = await makeWorld(harness);
    const call = { key: theirs, group: groupId, headers: { 'x-request-id': 'import-42' } };
    await harness.send('PATCH', '/v1/care-nav/submission-types/none', {
      ...call,
      body: { title: '', order: 1.5 },
    });
    await harness.send('GET', '/v1/care-nav/submission-types/none', call);
    const { stdout } = await porter(`refusals list --group ${groupId} --request import-42`);
    const [title, second, first, ...rest] = stdout.trimEnd().split('\n');
    expect(rest).toEqual([]);
    expect(title).toMatch(/^AT +REQUEST +PARTNER +GROUP +CALL +ERROR +WHY$/);
    expect(second).toMatch(
      /import-42 +.+ \(prt_\w+\) +.+ +GET \/v1\/care-nav\/submission-types\/none +404 not_found +\S/,
    );
    expect(first).toMatch(/PATCH .* 400 validation_error +title: .* order: /);
    const { data } = await json(`refusals list --partner ${partnerId} --limit 1`);
    expect(data).toMatchObject([{ request_id: 'import-42', status: 404, error: 'not_found' }]);
  });
});

describe('audit verify', () => {
  it('ends with 0 for a whole chain and with 1 for one that was altered', async () => {
    const other = await startHarness();
    await makeWorld(other);
    const env = { PORTER_URL: other.url };
    expect(await porter('audit verify', { env })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Whole: \d+ entries/),
    });
    const client = new pg.Client({ connectionString: other.databaseUrl });
    await client.connect();
    await client.query('SET session_replication_role = replica');
    await client.query("UPDATE audit_entries SET action = 'other' WHERE seq = 2");
    await client.end();
    const { code, stdout } = await porter('audit verify', { env });
    expect(stdout).toMatch(/^Altered: entry 2 of \d+/);
    expect(code).toBe(1);
  });

  it('compares with every anchor of a file, and finds the one that the trail disagrees with', async () => {
    const other = await startHarness();
    await makeWorld(other);
    const env = { PORTER_URL: other.url };
    const file = join(temporaryFolder(), 'anchors');
    const keep = async () => {
      const { stdout, code } = await porter('audit anchor', { env });
      expect(code).toBe(0);
      appendFileSync(file, stdout);
    };
    await keep();
    expect((await porter(`audit verify --anchor ${file}`, { env })).stdout).toMatch(
      /^Whole: \d+ entries, each as it was written, and as 1 anchor says\./,
    );
    await makeWorld(other);
    await keep();
    expect(await porter(`audit verify --anchor ${file}`, { env })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Whole: \d+ entries, each as it was written, and as 2 anchors say\./),
    });
    const client = new pg.Client({ connectionString: other.databaseUrl });
    await client.connect();
    await client.query('SET session_replication_role = replica');
    const [, seq = ''] = /seq=(\d+)/.exec(readFileSync(file, 'utf8')) ?? [];
    await client.query('DELETE FROM audit_entries WHERE seq >= $1', [seq]);
    await client.query(
      'UPDATE audit_head SET (seq, hash) = (SELECT seq, hash FROM audit_entries ORDER BY seq DESC LIMIT 1)',
    );
    await client.end();
    for (let count = 0; count < 3; count++) await makeWorld(other);
    // The newest line is of the chain as it is now: only the older ones tell.
    await keep();
    const { code, stdout } = await porter(`audit verify --anchor ${file}`, { env });
    expect(stdout).toMatch(/^Altered: the trail was written anew since the anchor of entry \d+ from 2026/);
    expect(code).toBe(1);
    writeFileSync(file, 'nonsense\n');
    expect((await porter(`audit verify --anchor ${file}`, { env })).stderr).toContain('Line 1 of');
  });
});

describe('status', () => {
  it('names what is disabled among thousands, and says of whom it does not know', async () => {
    const fresh = await startHarness();
    const { groupId } = await makeWorld(fresh);
    const client = new pg.Client({ connectionString: fresh.databaseUrl });
    await client.connect();
    await client.query(
      `WITH w AS (
         INSERT INTO webhooks (id, partner_id, practice_group_id, url, event_types, status, status_reason, created_at, updated_at)
         SELECT 'wh_' || lpad(n::text, 5, '0'), (SELECT id FROM partners LIMIT 1), $1, 'https://r.example/' || n, '{}',
                CASE WHEN n = 1100 THEN 'disabled' ELSE 'active' END, CASE WHEN n = 1100 THEN 'Gone.' END, now(), now()
           FROM generate_series(1, 1100) AS n RETURNING no)
       INSERT INTO webhook_lanes (webhook_no) SELECT no FROM w`,
      [groupId],
    );
    const env = { PORTER_URL: fresh.url };
    const told = await porter('status', { env });
    expect(told.stdout).toMatch(/Webhook wh_01100 .* is disabled \(Gone\.\)/);
    expect(told.stdout).toContain('Only the first 1,000 webhooks were asked');
    expect(told.code).toBe(1);
    await client.query("UPDATE webhooks SET status = 'active'");
    expect((await porter('status', { env })).stdout).toContain('No webhook that was asked is failing.');
    await client.end();
  });

  it("names software of the operator's own that fails", async () => {
    const fresh = await startHarness({ env: { PORTER_ROLE: 'api' } });
    await fresh.operator('POST', '/subscriptions', { url: 'https://own.example/in', topics: ['changes'] });
    const db = await superuser(fresh.databaseUrl);
    await db.query('UPDATE webhook_lanes SET failures = 3, failing_since = $1', [
      new Date(fresh.clock.now() - 600_000).toISOString(),
    ]);
    const env = { PORTER_URL: fresh.url };
    const told = await porter('status', { env });
    expect(told.stdout).toMatch(/^No delivery to the subscription \S+ \(own\.example\) has succeeded since/m);
    expect(told.code).toBe(1);
    expect((await porter('status --json', { env })).json.failing_software).toMatchObject([
      { type: 'subscription', name: 'own.example' },
    ]);
  });

  it('is well with a token, with a key and with neither', async () => {
    const fresh = await startHarness();
    const { key: theirs, groupId } = await makeWorld(fresh);
    const env = { PORTER_URL: fresh.url };
    expect(await porter('status --json', { env })).toMatchObject({
      code: 0,
      json: {
        url: fresh.url,
        ready: true,
        queue: { new: 0, due: 0, waiting: 0, held: 0 },
        oldest_undelivered_seconds: 0,
        failing_webhooks: [],
        healthy: true,
      },
    });
    const asPartner = { ...env, PORTER_OPERATOR_TOKEN: '', PORTER_KEY: theirs, PORTER_GROUP: groupId };
    expect((await porter('status', { env: asPartner })).stdout).toBe(
      `${fresh.url} is running and ready.\nNothing waits to be delivered.\nNo webhook is failing.\n`,
    );
    const asNobody = { ...env, PORTER_OPERATOR_TOKEN: '' };
    expect(await porter('status', { env: asNobody })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('PORTER_OPERATOR_TOKEN'),
    });
  });

  it('tells a service that is not ready, one that hides its probes, and one with events that are stuck', async () => {
    const answering =
      (answers: Record<string, [number, string]>): typeof fetch =>
      async (url) => {
        const [status, text] = answers[new URL(String(url)).pathname] ?? [
          404,
          '{"error":"not_found","message":""}',
        ];
        return new Response(text, { status });
      };
    const env = { PORTER_OPERATOR_TOKEN: '' };
    const healthz = [200, '{"status":"ok"}'] as [number, string];
    const unready = await porter('status', {
      env,
      fetch: answering({ '/healthz': healthz, '/readyz': [503, '{}'] }),
    });
    expect(unready).toMatchObject({ code: 1, stdout: expect.stringContaining('not ready') });
    const hidden = await porter('status', { env, fetch: answering({}) });
    expect(hidden).toMatchObject({ code: 0, stdout: expect.stringContaining('not shown to this machine') });
    const metrics =
      'porter_delivery_queue{state="due"} 7\nporter_delivery_queue{state="held"} 3\nporter_delivery_oldest_seconds 7320\n';
    const stuck = await porter('status', {
      env,
      fetch: answering({ '/healthz': healthz, '/readyz': healthz, '/metrics': [200, metrics] }),
    });
    expect(stuck.code).toBe(1);
    expect(stuck.stdout).toContain('7 due');
    expect(stuck.stdout).toContain('Held back for webhooks that are paused, disabled or withheld: 3.\n');
    expect(stuck.stdout).toContain('2 hours 2 minutes old');
  });

  it.each([
    [502, '<html>Bad gateway</html>'],
    [503, '{}'],
    [404, '<html>Not found</html>'],
    [404, '{"error":"no_route","message":""}'],
    [200, '<html>Welcome</html>'],
  ])('is not well when a proxy answers everything with %d %s', async (status, text) => {
    const everywhere: typeof fetch = async () => new Response(text, { status });
    const { code, stdout, stderr } = await porter('status', {
      env: { PORTER_OPERATOR_TOKEN: '' },
      fetch: everywhere,
    });
    expect(stderr).toMatch(/^Error: /);
    expect([code, stdout]).toEqual([1, '']);
  });

  it('ends with 3 when nothing answers', async () => {
    const { code, stdout, stderr } = await porter('status', {
      env: { PORTER_URL: `http://127.0.0.1:${await freePort()}` },
    });
    expect(stderr).toMatch(/Nothing answers at .* \(ECONNREFUSED\)[\s\S]*Is the service running/);
    expect([code, stdout]).toEqual([3, '']);
  });
});

describe('a refusal', () => {
  it('is told with what to do, where to read on, and the ID of the request', async () => {
    const { code, stdout, stderr } = await porter('partners show prt_none');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(
      'Error: There is no such object that you can reach.\n  There is no such partner. See `porter partners list`.\n',
    );
    expect(stderr).toContain(`  More: ${harness.url}/docs/errors/not_found\n  Request: req_`);
  });

  it('is told to programs as the API told it', async () => {
    const { stderr } = await porter('partners show prt_none --json');
    expect(JSON.parse(stderr)).toMatchObject({
      error: 'not_found',
      statusCode: 404,
      request_id: expect.any(String),
    });
  });

  it('names each field that is not valid', async () => {
    const { code, stderr } = await porter('partners create --name x --email nobody');
    expect(stderr).toMatch(
      /The request is not valid\.\n {2}contact_email: .+\n {2}More: .*validation_error\n {2}Request: req_/,
    );
    expect(code).toBe(1);
  });

  it('is told without a link of another error and without an ID that is not there', async () => {
    const body = { error: 'new_code', message: 'No.' };
    const newer: typeof fetch = async () => Response.json(body, { status: 400 });
    expect((await porter('keys list', { fetch: newer })).stderr).toBe('Error: No.\n');
  });

  it('names the role that is lacking', async () => {
    const { token } = await harness.operator('POST', '/operators', { name: 'v', role: 'viewer' });
    const { stderr } = await porter('partners create --name x --email a@b.example', {
      env: { PORTER_OPERATOR_TOKEN: token },
    });
    expect(stderr).toContain(
      '  Use a token with one of the roles admin, support. This one is that of PORTER_OPERATOR_TOKEN.\n',
    );
  });

  it('says what is lacking before anything is sent', async () => {
    const nobody = { PORTER_OPERATOR_TOKEN: '' };
    const never: typeof fetch = () => Promise.reject(new Error('was sent'));
    expect(await porter('keys list', { env: nobody, fetch: never })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('needs the token of an operator'),
    });
    expect(await porter('trigger appointment.confirmed', { env: nobody, fetch: never })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('needs an API key'),
    });
    expect(
      await porter('trigger appointment.confirmed', { env: { ...nobody, PORTER_KEY: key }, fetch: never }),
    ).toMatchObject({ code: 1, stderr: expect.stringContaining('--group') });
  });

  it('by something that is not Porter is told as such', async () => {
    const elsewhere: typeof fetch = async () => new Response('<html>Bad gateway</html>', { status: 502 });
    const { code, stderr } = await porter('keys list', { fetch: elsewhere });
    expect(stderr).toMatch(/status 502 and is not one of Porter's/);
    expect(code).toBe(1);
    const page: typeof fetch = async () => new Response('<html>Welcome</html>');
    expect((await porter('keys list', { fetch: page })).stderr).toMatch(
      /status 200 and is not one of Porter's/,
    );
  });
});
