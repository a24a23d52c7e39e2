import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Scope } from '../contract/access.ts';
import { scopeNames } from '../contract/access.ts';
import { Problem } from '../contract/problems.ts';
import type { OperatorPrincipal } from '../domain/access/principal.ts';
import { signAgreement } from '../operations/access/agreements.ts';
import { issueKey } from '../operations/access/keys.ts';
import { createNetwork } from '../operations/access/networks.ts';
import { createPartner, verifyPartner } from '../operations/access/partners.ts';
import type { App } from '../operations/app.ts';
import { putAssignee, putForm } from '../operations/practices/directory.ts';
import { createPracticeGroup } from '../operations/practices/practice-groups.ts';
import { createSubmissionType } from '../operations/practices/submission-types.ts';
import { isHolder } from '../runtime/access/access.ts';
import { listKeyPage } from '../store/access/keys.ts';
import { findPartner } from '../store/access/partners.ts';
import { transact } from '../store/database.ts';
import { findGroup, listGroups } from '../store/practices/practice-groups.ts';
import type { Config } from './config.ts';

/**
 * A small world for a newcomer's first call: a surgery and the hub of its network, a partner with a key, and a few
 * submission types. It is made with the same operations that an operator uses, so it is audited like anything else.
 */
export const DEMO_GROUP = 'riverside-surgery';
const DEMO_HUB = 'hillview-hub';
/** Known beforehand, so that the examples of the references can name it. */
const DEMO_PARTNER = 'prt_demo';

const DEMO: OperatorPrincipal = {
  kind: 'operator',
  operatorId: 'opr_demo',
  name: 'Demo world',
  role: 'admin',
  expiresAt: Number.POSITIVE_INFINITY,
};

/**
 * Makes the demo world in an empty database. Returns its key, or nothing if there was something already. The key comes
 * last: a demo world without one was cut short by a crash, and is made whole.
 */
async function makeDemoWorld(app: App): Promise<string | undefined> {
  const { anyGroup, surgery, anyKey, partner } = await transact(app.db, DEMO, async (tx) => ({
    anyGroup: (await listGroups(tx, { page_size: 1 })).count > 0,
    surgery: await findGroup(tx, DEMO_GROUP),
    anyKey: (await listKeyPage(tx, { practice_group_id: DEMO_GROUP, page_size: 1 })).count > 0,
    partner: await findPartner(tx, DEMO_PARTNER),
  }));
  if (anyGroup && (!surgery || anyKey)) return undefined;

  await unlessThere(
    createPracticeGroup(app, {
      ...call,
      body: {
        id: DEMO_GROUP,
        name: 'Riverside Surgery',
        ods_code: 'Y00001',
        address: { line_1: '1 Weir Lane', town: 'Exampleton', postcode: 'EX1 1AA' },
      },
    }),
  );
  await unlessThere(
    createPracticeGroup(app, { ...call, body: { id: DEMO_HUB, name: 'Hillview Hub', ods_code: 'Y00002' } }),
  );
  if (!surgery?.networks.length) {
    await createNetwork(app, {
      ...call,
      body: { name: 'Exampleton network', practice_group_ids: [DEMO_GROUP, DEMO_HUB] },
    });
  }
  for (const id of [DEMO_GROUP, DEMO_HUB]) await furnish(app, id);

  if (!partner) {
    const body = { name: 'Demo Partner', contact_email: 'developer@partner.example' };
    await createPartner(app, { ...call, body }, DEMO_PARTNER);
  }
  const params = { id: DEMO_PARTNER };
  await unlessThere(signAgreement(app, { ...call, params, body: undefined }));
  await unlessThere(verifyPartner(app, { ...call, params, body: undefined }));
  return issueDemoKey(app, DEMO_PARTNER);
}

/**
 * A new key for a demo world whose key was lost with the data folder; none if its partner was suspended since, or one of
 * its keys revoked: whoever did that wants no other one.
 */
async function replaceDemoKey(app: App): Promise<string | undefined> {
  const partner = await transact(app.db, DEMO, async (tx) => {
    if (!(await findGroup(tx, DEMO_GROUP))) return undefined;
    const keys = await listKeyPage(tx, { practice_group_id: DEMO_GROUP, page_size: 1 });
    const partner_id = keys.data[0]?.partner_id;
    if (partner_id === undefined) return undefined;
    const revoked = await listKeyPage(tx, { partner_id, status: 'revoked', page_size: 1 });
    return revoked.count > 0 ? undefined : findPartner(tx, partner_id);
  });
  return partner?.status === 'verified' ? issueDemoKey(app, partner.id) : undefined;
}

async function unlessThere(made: Promise<unknown>): Promise<void> {
  await made.catch((error: unknown) => {
    if (!(error instanceof Problem) || error.code !== 'conflict') throw error;
  });
}

const call = {
  principal: DEMO,
  requestId: 'demo',
  params: undefined,
  query: undefined,
  ifMatch: undefined,
} as const;

async function issueDemoKey(app: App, partner_id: string): Promise<string> {
  const scopes: Scope[] = [...scopeNames];
  const { body } = await issueKey(app, {
    ...call,
    body: { partner_id, practice_group_id: DEMO_GROUP, scopes },
  });
  return body.key;
}

async function furnish(app: App, id: string): Promise<void> {
  await putForm(app, {
    ...call,
    params: { id, form_id: 'repeat-prescription' },
    body: { title: 'Repeat prescription' },
  });
  await putForm(app, { ...call, params: { id, form_id: 'new-symptom' }, body: { title: 'A new symptom' } });
  await putAssignee(app, {
    ...call,
    params: { id, assignee_type: 'AdminTeam', assignee_id: 'front-desk' },
    body: { name: 'Front desk' },
  });
  const params = { id };
  await unlessThere(
    createSubmissionType(app, {
      ...call,
      params,
      body: {
        id: 'prescriptions',
        pathway_id: 'pathway-prescriptions',
        title: 'Repeat prescription',
        description: 'Ask for medicine that you take regularly.',
        form_id: 'repeat-prescription',
        type: 'admin_request',
        assignee_id: 'front-desk',
        assignee_type: 'AdminTeam',
        order: 1,
      },
    }),
  );
  await unlessThere(
    createSubmissionType(app, {
      ...call,
      params,
      body: {
        id: 'symptoms',
        pathway_id: 'pathway-symptoms',
        title: 'A new symptom',
        form_id: 'new-symptom',
        type: 'clinical_request',
        default_priority: 'high',
        out_of_hours: false,
        daily_limit: 40,
        order: 2,
      },
    }),
  );
}

/** The demo key is needed at every start, for the banner, so it is kept in a file that only its owner can read. */
export async function demoKey(config: Pick<Config, 'dataDir'>, app: App): Promise<string | undefined> {
  const file = join(config.dataDir, 'demo-key');
  const made = await makeDemoWorld(app);
  const kept = made ? undefined : await readFile(file, 'utf8').catch(() => undefined);
  const found = kept ? await app.access.holderOf(kept) : undefined;
  // One that works no more was ended by somebody. One that nobody knows is lost, as the file is.
  if (found) return isHolder(found) ? kept : undefined;
  const key = made ?? (await replaceDemoKey(app));
  if (!key) return undefined;
  await keepFile(file, key);
  return key;
}

/** For what is run on the same machine: the command line and the examples find the demo world by it. */
export async function keepFile(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(`${file}.new`, text, { mode: 0o600 });
  await chmod(`${file}.new`, 0o600);
  await rename(`${file}.new`, file);
}
