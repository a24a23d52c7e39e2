import { join } from 'node:path';
import pg from 'pg';
import type { PartnerPrincipal } from '../src/domain/access/principal.ts';
import { createLogger } from '../src/platform/logger.ts';
import { startService } from '../src/service/compose.ts';
import { readConfig } from '../src/service/config.ts';
import { httpRequest } from './load.ts';
import { AUDIT_TABLE } from './pgbench.ts';

/** What the door is measured on. */

export const ROWS = 1_000;
export const GROUPS = 50;
export const OPERATOR = 'bench-operator-token';

/**
 * Each writer has rows of its own, as a node mostly has; `type-…`, which the others are copies of, are pgbench's. The service
 * remembers rows: of those that another writer changed meanwhile it would learn one by one, at the beginning of its turn.
 */
const CALLED_ROWS = ['usual', 'service-0', 'service-1', 'service-2'] as const;
const OTHER_ROWS = ['own', 'gathered'] as const;
export type CalledRows = (typeof CALLED_ROWS)[number];

/** Groups, rows, and a key for each connection, so that no limit is met. */
export async function makeWorld({
  url,
  adminUrl,
  folder,
}: {
  url: string;
  adminUrl: string;
  folder: string;
}) {
  const env = {
    DATABASE_URL: url,
    PORTER_PORT: '0',
    PORTER_OPERATOR_TOKEN: OPERATOR,
    PORTER_DEMO: 'off',
    PORTER_RATE_WINDOWS: 'memory',
  };
  const service = await startService(readConfig({ ...env, PORTER_DATA_DIR: join(folder, 'x') }, folder), {
    log: createLogger(() => {}),
  });
  const operator = async (path: string, body: unknown = {}) => {
    const headers = { authorization: `Bearer ${OPERATOR}`, 'content-type': 'application/json' };
    const answer = await fetch(`${service.url}/operator/v1${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
    return (await answer.json()) as { id: string; key: string };
  };

  for (let g = 0; g < GROUPS; g++) {
    await operator('/practice-groups', {
      id: `bench-${g}`,
      name: `Practice ${g}`,
      address: { line_1: '1 Weir Lane' },
    });
  }
  for (let n = 1; n <= ROWS; n++) {
    const type = { id: `type-${n}`, pathway_id: 'pathway', title: `Type ${n}`, description: 'd'.repeat(200) };
    await operator(`/practice-groups/bench-${n % GROUPS}/submission-types`, type);
  }
  const partner = await operator('/partners', { name: 'Bench', contact_email: 'bench@partner.example' });
  await operator(`/partners/${partner.id}/sign-agreement`);
  await operator(`/partners/${partner.id}/verify`);

  const gets: Buffer[][] = [];
  const callers: Record<string, string>[] = [];
  const principals: PartnerPrincipal[] = [];
  let groupBytes = '';
  for (let c = 0; c < 128; c++) {
    const groupId = `bench-${c % GROUPS}`;
    const { key, id: keyId } = await operator('/keys', {
      partner_id: partner.id,
      practice_group_id: groupId,
      scopes: ['practice-groups:read', 'submission-types:write'],
      rate_limit_per_minute: 100_000,
    });
    const headers = { 'x-api-key': key, 'x-practice-group-id': groupId };
    callers.push(headers);
    gets.push([httpRequest('GET', '/v1/practice-groups', headers)]);
    if (c < GROUPS) {
      const answer = await fetch(`${service.url}/v1/practice-groups`, { headers });
      const body = await answer.text();
      const kept = [...answer.headers].filter(
        ([name]) => !/^(date|connection|keep-alive|content-length)$/.test(name),
      );
      groupBytes = JSON.stringify({ headers: Object.fromEntries(kept), body });
      const [group] = (JSON.parse(body) as { data: [PartnerPrincipal['group']] }).data;
      const holder = { keyId, partnerId: partner.id, homeGroupId: groupId } as PartnerPrincipal['holder'];
      principals.push({ kind: 'partner', holder, group });
    }
  }
  await service.stop();

  const admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
  await admin.query(AUDIT_TABLE);
  await admin.query(
    `INSERT INTO submission_types
     SELECT practice_group_id, replace(id, 'type-', set || '-'), pathway_id, form_id, title, description, in_hours, out_of_hours,
            suspended, external_url, external_url_name, type, default_priority, daily_limit, patient_eligibility_check, assignee_id,
            assignee_type, "order", 0, created_at, updated_at
       FROM submission_types, unnest($1::text[]) AS set`,
    [[...CALLED_ROWS, ...OTHER_ROWS]],
  );
  await admin.query('VACUUM ANALYZE');
  await admin.end();
  const patches = Object.fromEntries(
    CALLED_ROWS.map((set) => [set, callers.map((headers, c) => patchesOf(set, headers, c))]),
  );
  return { gets, patches: patches as Record<CalledRows, Buffer[][]>, principals, groupBytes };
}

/** For a caller's rows, several times with other titles, so that every request changes something. */
function patchesOf(set: CalledRows, headers: Record<string, string>, caller: number): Buffer[] {
  const rows = Array.from({ length: ROWS }, (_, i) => i + 1).filter((n) => n % GROUPS === caller % GROUPS);
  return ['first', 'second', 'third'].flatMap((word) => {
    const body = JSON.stringify({ title: `The ${word} title of connection ${caller}`, suspended: false });
    return rows.map((n) => httpRequest('PATCH', `/v1/care-nav/submission-types/${set}-${n}`, headers, body));
  });
}
