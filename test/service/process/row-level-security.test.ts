import { beforeAll, describe, expect, it } from 'vitest';
import { isReached } from '../../../src/domain/access/access.ts';
import { type GuestPrincipal, type PartnerPrincipal, SYSTEM } from '../../../src/domain/access/principal.ts';
import { noDetails } from '../../../src/domain/oversight/alerts.ts';
import { isHolder } from '../../../src/runtime/access/access.ts';
import { type Database, type Transaction, transact } from '../../../src/store/database.ts';
import { fanOutToOperators } from '../../../src/store/events/operator-events.ts';
import { prepareDatabase, UnusableDatabase } from '../../../src/store/migrate.ts';
import { beginAlerts } from '../../../src/store/oversight/alerts.ts';
import { insertNotification } from '../../../src/store/oversight/notifications.ts';
import { signIn } from '../../support/console-session.ts';
import { asAdmin, createOwnedDatabase } from '../../support/logins.ts';
import { type Furnished, fresh, furnish, newApproval } from '../../support/operator-calls.ts';
import { fanOutAll } from '../../support/post.ts';
import { stopPartner } from '../../support/practice-guest.ts';
import {
  createDatabase,
  type Harness,
  makeKey,
  OPERATOR_TOKEN,
  startHarness,
} from '../../support/service.ts';

/** Queries that forgot their filter, on the service's own connections. */

const tenantTables = [
  'forms',
  'assignees',
  'submission_types',
  'form_submissions',
  'form_counts',
  'ehr_health',
  'events',
  'feed',
];
const operatorTables = [
  'partners',
  'networks',
  'network_members',
  'api_keys',
  'operators',
  'sessions',
  'approvals',
  'invitations',
  'stops',
  'audit_entries',
  'write_to_record_jobs',
  'idempotency_keys',
  'feed_head',
  'new_events',
  'rate_windows',
  'rate_moments',
  'network_memberships',
  'access_log',
  'access_log_batches',
  'access_log_head',
  'erasures',
  'removed_items',
  'key_uses',
  'uptime',
  'figures',
  'nodes',
  'used_assertions',
  'signing_keys',
  'alert_head',
  'refusal_counts',
  'alert_notices',
  'contacts',
  'notifications',
  'new_changes',
  'new_announcements',
  'write_through',
];
/** Belong to one partner within one practice group, or to a partner altogether; see below. */
const partnerTables = [
  'webhooks',
  'webhook_secrets',
  'webhook_lanes',
  'withheld_groups',
  'deliveries',
  'refused_requests',
  'alerts',
  'changes',
  'proposals',
];
/** Tell a partner about itself: it reads its own rows, and writes none. */
const tellingTables = ['agreements', 'usage', 'usage_times'];
/** Hold nothing that belongs to anybody: which cell this is, how far the schema and the audit chain are, which histories the feed has had. */
const plainTables = [
  'schema_migrations',
  'schema_version',
  'sql_functions',
  'cell',
  'audit_head',
  'feed_timelines',
];

interface Partner {
  partnerId: string;
  /** The first in the own practice group, the second in the other one. */
  webhooks: string[];
  principal: PartnerPrincipal;
}

describe.each([
  ['a superuser, through the role porter_app', createDatabase],
  ['an ordinary login that owns the database', createOwnedDatabase],
])('when DATABASE_URL is of %s', (login, database) => {
  let house: Harness;
  let db: Database;
  let own: Furnished;
  let other: Furnished;
  let principal: PartnerPrincipal;
  let mine: Partner;

  beforeAll(async () => {
    // Without a worker, which would keep connections of its own.
    const env = { PORTER_ROLE: 'api', PORTER_RATE_WINDOWS: 'shared' };
    house = await startHarness({ databaseUrl: await database(), env });
    db = house.service.app.db;
    own = await furnish(house);
    other = await furnish(house);
    await house.operator('POST', '/networks', {
      name: 'Both',
      practice_group_ids: [own.groupId, other.groupId],
    });
    await house.operator('POST', '/write-to-record-jobs', {
      practice_group_id: own.groupId,
      resource: 'Letter',
      resource_id: 'letter-1',
    });
    await house.send('POST', '/operator/v1/events', {
      token: OPERATOR_TOKEN,
      headers: { 'idempotency-key': 'once' },
      body: {
        object: 'Patient',
        id: 'patient-1',
        practice_group_id: other.groupId,
        event: 'patient.added-to-sequence',
      },
    });
    for (const { groupId } of [own, other])
      await house.operator('PUT', `/practice-groups/${groupId}/ehr-health`, { status: 'healthy' });
    const removed = `/practice-groups/${own.groupId}/forms/removed`;
    await house.operator('PUT', removed, { title: 'Removed' });
    await house.operator('DELETE', removed);
    await house.operator('POST', '/erasures', {
      practice_group_id: own.groupId,
      object: 'Prescription',
      object_id: 'rx-1',
    });
    await house.operator('POST', '/contacts', { email: 'on-call@operator.example' });
    await signIn(house);
    await newApproval(own);
    await house.operator('POST', `/partners/${own.partnerId}/invitations`, {
      email: 'a@b.example',
      name: 'A',
    });
    await stopPartner(house, own);
    await house.operator('GET', `/practice-groups/${own.groupId}`);
    await house.service.app.accessLog.flush();
    await fanOutAll(house);
    principal = await principalOf(own.groupId);
    const { key, partnerId } = await makeKey(house, own.groupId);
    mine = await furnishPartner(key, partnerId);
    await change((await makeKey(house, own.groupId)).key, own.groupId);
    await transact(db, SYSTEM, (tx) => tx.query('INSERT INTO new_announcements VALUES (0)'));
    await house.operator('PUT', `/practice-groups/${other.groupId}/write-through`, {
      url: 'https://a.example/',
    });
    const another = await makeKey(house, own.groupId);
    await house.send('GET', '/v1/me', { key: another.key });
    await house.service.app.usage.flush();
  });

  /** Something of a partner that is to be told, and a message on its way; what is told is gone after a while. */
  async function furnishAlert(partnerId: string): Promise<void> {
    const at = new Date(house.clock.now()).toISOString();
    const message = { subject: 'Subject', text: 'Text', html: 'HTML', email: 'a@b.example', name: null };
    const subject = { type: 'partner' as const, id: partnerId, name: 'Partner' };
    const alert = { kind: 'refusals_rising' as const, subject, partnerId, practiceGroupId: null };
    await transact(db, SYSTEM, async (tx) => {
      await beginAlerts(tx, at, [{ ...alert, id: fresh('alert'), details: noDetails }]);
      insertNotification(tx, at, { id: fresh('notification'), partnerId, ...message });
    });
  }

  /** A webhook with its secret, lane and a delivery in the own group, another one in the other group, and a refusal. */
  const change = (key: string, group: string) =>
    house.send('PATCH', '/v1/care-nav/submission-types/type-1', { key, group, body: { description: key } });

  /** A webhook with its secret, lane and a delivery in the own group, another one in the other group, a change, and a refusal. */
  async function furnishPartner(key: string, partnerId: string): Promise<Partner> {
    const webhooks: string[] = [];
    for (const group of [own.groupId, other.groupId]) {
      const send = (path: string, body: unknown) =>
        house.send('POST', `/v1/webhooks${path}`, { key, group, body });
      const { id } = (await send('', { url: 'https://partner.example/hook' })).body;
      expect((await send(`/${id}/test`, { event: 'prescription.issued' })).status).toBe(202);
      webhooks.push(id);
    }
    expect((await change(key, own.groupId)).status).toBe(200);
    await fanOutToOperators(db, null, 0, 1_000);
    await transact(db, SYSTEM, (tx) =>
      tx.query("INSERT INTO proposals VALUES ($1, $2, $1, 0, '{}', $1, 'infinity')", [
        partnerId,
        own.groupId,
      ]),
    );
    await transact(db, SYSTEM, async (tx) =>
      tx.defer(
        `INSERT INTO withheld_groups SELECT no, 'group', now(), 'key_revoked' FROM webhooks WHERE id = ANY ($1)`,
        [webhooks],
      ),
    );
    await house.send('GET', '/v1/nothing', { key, group: own.groupId });
    const { access, assertions, keyUses, refusals } = house.service.app;
    await Promise.all([refusals.flush(), keyUses.close()]);
    await assertions.use({ keyId: 'key', jti: partnerId, expiresAt: '2100-01-01T00:00:00.000Z' });
    await furnishAlert(partnerId);
    const holder = await access.holderOf(key);
    const group = isHolder(holder) ? await access.reach(holder, own.groupId) : undefined;
    if (!isHolder(holder) || !isReached(group)) throw new Error('the key does not reach its own group');
    return { partnerId, webhooks, principal: { kind: 'partner', holder, group } };
  }

  async function principalOf(groupId: string): Promise<PartnerPrincipal> {
    const { access } = house.service.app;
    const holder = await access.holderOf((await makeKey(house, groupId)).key);
    const group = isHolder(holder) ? await access.reach(holder, groupId) : undefined;
    if (!isHolder(holder) || !isReached(group)) throw new Error('the key does not reach its own group');
    return { kind: 'partner', holder, group };
  }

  const groupColumn = (table: string) => (table === 'practice_groups' ? 'id' : 'practice_group_id');
  const groupsSeen = async (tx: Transaction, table: string) => {
    const rows = await tx.query<Record<string, string>>(`SELECT * FROM ${table}`);
    return [...new Set(rows.map((row) => row[groupColumn(table)]))].sort();
  };

  /** Runs in a transaction of the tenant and takes everything back. */
  async function tried<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    let result: { value: T } | undefined;
    const undo = new Error('undo');
    await transact(db, principal, async (tx) => {
      result = { value: await work(tx) };
      throw undo;
    }).catch((error) => {
      if (error !== undo) throw error;
    });
    return (result as { value: T }).value;
  }

  it('statements run as somebody whom row-level security binds', async () => {
    const [row] = await transact(db, SYSTEM, (tx) =>
      tx.query('SELECT rolname, rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user'),
    );
    expect(row).toMatchObject({ rolsuper: false, rolbypassrls: false });
    expect(row).toMatchObject({
      rolname: login.startsWith('a superuser') ? 'porter_app' : new URL(house.databaseUrl).username,
    });
  });

  it('every table is bound, also for its owner', async () => {
    const rows = await transact(db, SYSTEM, (tx) =>
      tx.query<{ relname: string; bound: boolean }>(
        `SELECT relname, relrowsecurity AND relforcerowsecurity AS bound FROM pg_class
          WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'm', 'v', 'f')`,
      ),
    );
    const bound = rows.filter((row) => row.bound).map((row) => row.relname);
    const free = rows.filter((row) => !row.bound).map((row) => row.relname);
    expect(bound.sort()).toEqual(
      [...tenantTables, ...operatorTables, ...partnerTables, ...tellingTables, 'practice_groups'].sort(),
    );
    expect(free.sort()).toEqual([...plainTables].sort());
  });

  it.each([...tenantTables, 'practice_groups'])(
    'SELECT * FROM %s: a tenant sees its own rows',
    async (table) => {
      expect(await transact(db, principal, (tx) => groupsSeen(tx, table))).toEqual([own.groupId]);
      // What the operator's own systems are told belongs to none.
      const all = (await transact(db, SYSTEM, (tx) => groupsSeen(tx, table))).filter((id) => id !== '');
      expect(all).toEqual([own.groupId, other.groupId].sort());
    },
  );

  it.each(tenantTables)(
    'SELECT * FROM %s: two tenants gathered in one transaction see both, no third',
    async (table) => {
      const third = await furnish(house);
      const both = [principal, await principalOf(other.groupId)];
      const seen = await transact(db, both, (tx) => groupsSeen(tx, table));
      expect(seen).toEqual([own.groupId, other.groupId].sort());
      expect(seen).not.toContain(third.groupId);
    },
  );

  it.each(operatorTables)('SELECT * FROM %s: a tenant sees nothing', async (table) => {
    await furnishAlert(fresh('partner'));
    expect(await transact(db, principal, (tx) => tx.query(`SELECT * FROM ${table}`))).toEqual([]);
    const all = await transact(db, SYSTEM, (tx) => tx.query(`SELECT * FROM ${table}`));
    expect(all.length).toBeGreaterThan(0);
  });

  it.each([...tenantTables, ...operatorTables, ...partnerTables, ...tellingTables, 'practice_groups'])(
    'SELECT * FROM %s: whoever does not say for whom sees nothing',
    async (table) => {
      const client = await db.pool.connect();
      try {
        expect((await client.query(`SELECT * FROM ${table}`)).rows).toEqual([]);
        for (const tenant of ['', ',', ' ', '%', `'${own.groupId}'`, `${own.groupId} `, '**']) {
          await client.query('BEGIN');
          await client.query("SELECT set_config('porter.tenant', $1, true)", [tenant]);
          expect((await client.query(`SELECT * FROM ${table}`)).rows, `tenant "${tenant}"`).toEqual([]);
          await client.query('ROLLBACK');
        }
      } finally {
        client.release();
      }
    },
  );

  it('of two partners of one practice group neither sees what is the other’s', async () => {
    const { key, partnerId } = await makeKey(house, own.groupId);
    const theirs = await furnishPartner(key, partnerId);
    const seen = (of: Partner) =>
      transact(db, of.principal, async (tx) => ({
        webhooks: (await tx.query<{ id: string }>('SELECT * FROM webhooks')).map(({ id }) => id),
        numbers: await Promise.all(
          ['webhook_secrets', 'webhook_lanes', 'withheld_groups', 'deliveries'].map(
            async (table) => await tx.query<{ webhook_no: number }>(`SELECT webhook_no FROM ${table}`),
          ),
        ),
        owners: await Promise.all(
          ['refused_requests', 'alerts'].map(async (table) =>
            (await tx.query<{ partner_id: string }>(`SELECT * FROM ${table}`)).map((row) => row.partner_id),
          ),
        ),
      }));
    for (const of of [mine, theirs]) {
      const { webhooks, numbers, owners } = await seen(of);
      expect(webhooks).toEqual(of.webhooks.slice(0, 1));
      const [no] = await transact(db, SYSTEM, (tx) =>
        tx.query<{ no: number }>('SELECT no FROM webhooks WHERE id = $1', of.webhooks.slice(0, 1)),
      );
      for (const rows of numbers) expect(rows).toEqual([{ webhook_no: no?.no }]);
      expect(owners).toEqual([[of.partnerId], [of.partnerId]]);
    }
    for (const table of partnerTables) {
      const all = await transact(db, SYSTEM, (tx) => tx.query(`SELECT * FROM ${table}`));
      expect(all.length, table).toBeGreaterThanOrEqual(2);
    }
  });

  it.each(tellingTables)(
    '%s: a partner reads what is about itself, and changes nothing of it',
    async (table) => {
      const rows = await transact(db, mine.principal, (tx) =>
        tx.query<{ partner_id: string }>(`SELECT * FROM ${table}`),
      );
      expect(new Set(rows.map(({ partner_id }) => partner_id))).toEqual(new Set([mine.partnerId]));
      const all = await transact(db, SYSTEM, (tx) => tx.query(`SELECT * FROM ${table}`));
      expect(all.length).toBeGreaterThan(rows.length);
      const touched = transact(db, mine.principal, async (tx) => [
        await tx.query(`UPDATE ${table} SET partner_id = partner_id RETURNING 1`),
        await tx.query(`DELETE FROM ${table} RETURNING 1`),
      ]);
      expect(await touched).toEqual([[], []]);
    },
  );

  const guest: GuestPrincipal = {
    kind: 'guest',
    invitationId: 'inv',
    name: 'Ada',
    email: 'a@b.example',
    partner: null,
    practiceGroup: null,
    expiresAt: Number.POSITIVE_INFINITY,
    sessionId: 'ses',
  };
  const seenBy = (who: GuestPrincipal, table: string) =>
    transact(db, who, (tx) => tx.query<Record<string, unknown>>(`SELECT * FROM ${table}`));

  describe('people of a partner', () => {
    const person = () => ({ ...guest, partner: { id: mine.partnerId, name: 'Partner' } });

    it.each(['partners', 'api_keys', 'contacts', 'webhooks', 'refused_requests', 'alerts', ...tellingTables])(
      'SELECT * FROM %s: what is the partner’s, in all of its practices',
      async (table) => {
        const column = table === 'partners' ? 'id' : 'partner_id';
        await house.operator('POST', `/partners/${mine.partnerId}/contacts`, {
          email: `${fresh('c')}@b.example`,
        });
        const seen = await seenBy(person(), table);
        expect([...new Set(seen.map((row) => row[column]))]).toEqual([mine.partnerId]);
        const all = await transact(db, SYSTEM, (tx) =>
          tx.query<{ count: number }>(`SELECT count(*) FROM ${table} WHERE ${column} = $1`, [mine.partnerId]),
        );
        expect(all).toEqual([{ count: seen.length }]);
      },
    );

    it('of what hangs on webhooks and keys, that of its own', async () => {
      const own = await transact(db, SYSTEM, async (tx) => ({
        keys: (
          await tx.query<{ id: string }>('SELECT id FROM api_keys WHERE partner_id = $1', [mine.partnerId])
        ).map(({ id }) => id),
        hooks: (
          await tx.query<{ no: number }>('SELECT no FROM webhooks WHERE id = ANY ($1)', [mine.webhooks])
        )
          .map(({ no }) => no)
          .sort(),
      }));
      for (const table of ['webhook_lanes', 'withheld_groups', 'deliveries'])
        expect(
          [...new Set((await seenBy(person(), table)).map((row) => row.webhook_no))].sort(),
          table,
        ).toEqual(own.hooks);
      const used = (await seenBy(person(), 'key_uses')).map((row) => row.key_id);
      expect(used).toEqual(own.keys);
    });

    it('of what is a practice’s, the operator’s or nobody’s: nothing', async () => {
      const theirs = ['partners', 'api_keys', 'key_uses', 'contacts'];
      const others = [...tenantTables, ...operatorTables, 'practice_groups', 'changes', 'proposals'];
      for (const table of others.filter((name) => !theirs.includes(name)))
        expect(await seenBy(person(), table), table).toEqual([]);
    });

    it('change nothing of it', async () => {
      const changes = ['partners', 'api_keys', 'contacts', 'webhooks', 'key_uses'].map((table) =>
        transact(db, person(), (tx) => tx.query(`DELETE FROM ${table} RETURNING 1`)),
      );
      // Webhooks for all practices are the partner's own to change, whichever of them it acts for; here there is none.
      expect(await Promise.all(changes)).toEqual([[], [], [], [], []]);
    });
  });

  describe('people of a practice', () => {
    const person = () => ({ ...guest, practiceGroup: { id: own.groupId, name: 'Own' } });

    it('read what the log says of their practice, and write none of it', async () => {
      const seen = await seenBy(person(), 'access_log');
      expect([...new Set(seen.map((row) => row.practice_group_id))]).toEqual([own.groupId]);
      const touched = transact(db, person(), (tx) => tx.query('DELETE FROM access_log RETURNING 1'));
      if (login.startsWith('a superuser')) await expect(touched).rejects.toMatchObject({ code: '42501' });
      else expect(await touched).toEqual([]);
    });

    it('of what partners have there: nothing, unless they ask about one of them, and then of that one', async () => {
      for (const table of ['changes', 'webhooks', 'deliveries', 'webhook_lanes'])
        expect(await seenBy(person(), table), table).toEqual([]);
      const together = { ...person(), partner: { id: mine.partnerId, name: 'Partner' } };
      const changes = await seenBy(together, 'changes');
      expect(changes).toMatchObject([{ practice_group_id: own.groupId, partner_id: mine.partnerId }]);
      expect((await seenBy(together, 'webhooks')).map(({ id }) => id)).toEqual(mine.webhooks.slice(0, 1));
      expect(await seenBy(together, 'access_log')).toEqual([]);
    });
  });

  it('a partner that does not say who it is sees no webhook of its practice group', async () => {
    const client = await db.pool.connect();
    try {
      for (const partner of ['', '%', `'${mine.partnerId}'`, '*']) {
        await client.query('BEGIN');
        await client.query(
          "SELECT set_config('porter.tenant', $1, true), set_config('porter.partner', $2, true)",
          [own.groupId, partner],
        );
        for (const table of partnerTables)
          expect((await client.query(`SELECT * FROM ${table}`)).rows, `${table} "${partner}"`).toEqual([]);
        await client.query('ROLLBACK');
      }
    } finally {
      client.release();
    }
  });

  it('UPDATE and DELETE without a filter touch only what is the partner’s own', async () => {
    const undo = new Error('undo');
    const attempt = async (sql: string) => {
      let touched: unknown[] = [];
      await transact(db, mine.principal, async (tx) => {
        touched = await tx.query(sql);
        throw undo;
      }).catch((error) => {
        if (error !== undo) throw error;
      });
      return touched;
    };
    expect(await attempt("UPDATE webhooks SET url = 'https://evil.example' RETURNING id")).toEqual([
      { id: mine.webhooks[0] },
    ]);
    // Of alerts a partner changes nothing.
    expect(await attempt('DELETE FROM alerts RETURNING 1')).toEqual([]);
    for (const table of partnerTables.filter((name) => name !== 'webhooks' && name !== 'alerts'))
      expect(await attempt(`DELETE FROM ${table} RETURNING 1`), table).toHaveLength(1);
  });

  it('what one transaction may see is forgotten when it ends, on every connection', async () => {
    await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        transact(db, i % 2 ? principal : SYSTEM, (tx) => tx.query('SELECT 1')),
      ),
    );
    const clients = await Promise.all(Array.from({ length: db.pool.idleCount }, () => db.pool.connect()));
    try {
      expect(clients.length).toBeGreaterThan(1);
      for (const client of clients) {
        expect((await client.query('SELECT * FROM submission_types')).rows).toEqual([]);
        expect((await client.query('SELECT * FROM api_keys')).rows).toEqual([]);
      }
    } finally {
      for (const client of clients) client.release();
    }
  });

  it.each([
    ['submission_types', "title = 'mine'"],
    ['forms', "title = 'mine'"],
    ['assignees', "name = 'mine'"],
    ['form_counts', 'submitted = 99'],
    ['practice_groups', "name = 'mine'"],
  ])('UPDATE %s without a filter touches only the tenant’s own rows', async (table, change) => {
    const column = groupColumn(table);
    const touched = await tried((tx) =>
      tx.query<{ owner: string }>(`UPDATE ${table} SET ${change} RETURNING ${column} AS owner`),
    );
    expect(touched.length).toBeGreaterThan(0);
    expect(new Set(touched.map(({ owner }) => owner))).toEqual(new Set([own.groupId]));
  });

  it.each([
    'UPDATE partners SET name = name RETURNING 1',
    'UPDATE operators SET role = role RETURNING 1',
    'UPDATE api_keys SET scopes = scopes RETURNING 1',
    'DELETE FROM network_members RETURNING 1',
  ])('a tenant’s "%s" touches nothing', async (sql) => {
    expect(await tried((tx) => tx.query(sql))).toEqual([]);
  });

  it.each(['UPDATE audit_entries SET body = body RETURNING 1', 'DELETE FROM audit_entries RETURNING 1'])(
    'a tenant’s "%s" touches nothing, and is refused to whoever does not own the table',
    async (sql) => {
      const touched = tried((tx) => tx.query(sql));
      if (login.startsWith('a superuser')) await expect(touched).rejects.toMatchObject({ code: '42501' });
      else expect(await touched).toEqual([]);
    },
  );

  it('DELETE without a filter removes only the tenant’s own rows', async () => {
    for (const table of ['form_submissions', 'form_counts', 'forms', 'assignees']) {
      const gone = await tried((tx) =>
        tx.query<{ owner: string }>(`DELETE FROM ${table} RETURNING practice_group_id AS owner`),
      );
      expect(new Set(gone.map(({ owner }) => owner))).toEqual(new Set([own.groupId]));
    }
  });

  it('a tenant cannot write rows of another, nor give its own away', async () => {
    const refused = /row-level security/;
    const insert = `INSERT INTO forms (practice_group_id, id, title, created_at, updated_at)
                    VALUES ($1, 'smuggled', 'x', now(), now())`;
    await expect(tried((tx) => tx.query(insert, [other.groupId]))).rejects.toThrow(refused);
    const list = `INSERT INTO new_events VALUES ($1, 1000, '{1000}', now())`;
    await expect(tried((tx) => tx.query(list, [other.groupId]))).rejects.toThrow(refused);
    await tried((tx) => tx.query(list, [own.groupId]));
    await expect(
      tried((tx) => tx.query('UPDATE forms SET practice_group_id = $1', [other.groupId])),
    ).rejects.toThrow(refused);
    await expect(
      tried((tx) =>
        tx.query(
          `INSERT INTO operators (id, name, role, token_hash, created_at) VALUES ('x', 'x', 'admin', '', now())`,
        ),
      ),
    ).rejects.toThrow(refused);
    await expect(tried((tx) => tx.query(insert, [own.groupId]))).resolves.toEqual([]);
  });

  it('the audit trail cannot be emptied, by anybody who comes through the service', async () => {
    for (const sql of ['TRUNCATE audit_entries', 'TRUNCATE audit_entries CASCADE'])
      await expect(transact(db, SYSTEM, (tx) => tx.query(sql))).rejects.toThrow(
        /permission denied|never changed/,
      );
    for (const sql of ["UPDATE audit_entries SET body = ''", 'DELETE FROM audit_entries']) {
      await transact(db, SYSTEM, (tx) => tx.query(sql)).catch(() => {});
    }
    expect(await house.operator('GET', '/audit/verify')).toMatchObject({ ok: true });
  });

  it('the service does all its work under it', async () => {
    const { key } = await makeKey(house, own.groupId);
    const patched = await house.send('PATCH', '/v1/care-nav/submission-types/type-1', {
      key,
      group: own.groupId,
      body: { title: 'Patched', form_id: 'form-1', assignee_id: 'ann', assignee_type: 'Admin' },
    });
    expect(patched.body).toMatchObject({ title: 'Patched', forms_submitted_today: 1 });
    const across = await house.send('GET', '/v1/care-nav/submission-types', { key, group: other.groupId });
    expect(across.body.data).toMatchObject([{ id: 'type-1', title: 'Type' }]);
    const counted = await house.send('POST', `/operator/v1/practice-groups/${own.groupId}/form-submissions`, {
      token: OPERATOR_TOKEN,
      body: { submission_type_id: 'type-1' },
    });
    expect(counted.status).toBe(201);
  });
});

it('a login that bypasses row-level security without being a superuser works through the role that does not', async () => {
  const url = await createOwnedDatabase();
  // As a managed PostgreSQL hands it out to its administrator. Where the role is there already, it may give it away.
  const { username } = new URL(url);
  await asAdmin(
    `ALTER ROLE ${username} BYPASSRLS CREATEROLE`,
    `DO $$ BEGIN CREATE ROLE porter_app NOLOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$`,
    `GRANT porter_app TO ${username} WITH ADMIN OPTION`,
  );
  expect(await prepareDatabase(url, async () => {})).toMatchObject({ role: 'porter_app' });
});

it('a login that bypasses row-level security and may make no role is told so', async () => {
  const url = await createOwnedDatabase();
  await asAdmin(`ALTER ROLE ${new URL(url).username} BYPASSRLS`);
  const error = await prepareDatabase(url, async () => {}).catch((reason: Error) => reason);
  expect(error).toBeInstanceOf(UnusableDatabase);
  expect(error).toHaveProperty(
    'message',
    expect.stringMatching(/bypasses row-level security, .*NOBYPASSRLS/),
  );
});
