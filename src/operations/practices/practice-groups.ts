import { isDeepStrictEqual } from 'node:util';
import {
  createPracticeGroup as createEndpoint,
  deletePracticeGroup as deleteEndpoint,
  getPracticeGroup as getEndpoint,
  listAllPracticeGroups as listAllEndpoint,
  type OperatorPracticeGroup,
  updatePracticeGroup as updateEndpoint,
} from '../../contract/operator/practices/practice-groups.ts';
import {
  listPracticeGroups as listEndpoint,
  type PracticeGroup,
} from '../../contract/partner/practice-groups.ts';
import { Problem } from '../../contract/problems.ts';
import { type KeyHolder, SYSTEM } from '../../domain/access/principal.ts';
import { newId } from '../../domain/ids.ts';
import { ifMatchHolds } from '../../domain/practices/etag.ts';
import { digestOf, itemKey } from '../../domain/practices/import.ts';
import { inUse } from '../../domain/practices/in-use.ts';
import { defaultOpeningHours } from '../../domain/practices/local-time.ts';
import { wholeAddress } from '../../domain/practices/practice-group.ts';
import { transact } from '../../store/database.ts';
import { isUniqueViolation } from '../../store/database-errors.ts';
import {
  deleteGroup,
  findGroup,
  findGroupUses,
  type GroupRecord,
  insertGroup,
  listGroups,
  listReachableGroups,
  lockGroup,
  updateGroup,
} from '../../store/practices/practice-groups.ts';
import { type App, nowIso, operation } from '../app.ts';

/** The door has just read the group, so the plain call asks the database nothing and waits for nothing. */
export const listPracticeGroups = operation(listEndpoint, (app, call) => {
  const { holder, group } = call.principal;
  if (call.query.include !== undefined) return listNetwork(app, holder, group);
  return { body: { data: [group], count: 1 }, sameFor: group };
});

/** The group acted for comes first. */
async function listNetwork(app: App, holder: KeyHolder, group: PracticeGroup) {
  const inReach = await transact(app.db, SYSTEM, (tx) => listReachableGroups(tx, holder));
  const data = [group, ...inReach.filter(({ id }) => id !== group.id)];
  return { body: { data, count: data.length } };
}

export const createPracticeGroup = operation(createEndpoint, async (app, call) => {
  const now = nowIso(app);
  const group: GroupRecord = {
    id: call.body.id ?? newId('grp', app.clock.now(), app.random),
    name: call.body.name,
    ods_code: call.body.ods_code ?? null,
    timezone: call.body.timezone ?? 'Europe/London',
    address: wholeAddress(call.body.address),
    opening_hours: call.body.opening_hours ?? defaultOpeningHours,
    now,
  };
  try {
    const body = await transact(app.db, call.principal, async (tx) => {
      await insertGroup(tx, group);
      const created = await findGroup(tx, group.id);
      if (!created) throw new Error('a practice group vanished in the transaction that made it');
      tx.audit({
        at: now,
        principal: call.principal,
        action: 'practice_group.create',
        subject: { type: 'practice_group', id: group.id },
        practiceGroupId: group.id,
        requestId: call.requestId,
        before: null,
        after: created,
      });
      return created;
    });
    return { body };
  } catch (error) {
    if (isUniqueViolation(error))
      throw new Problem('conflict', {
        message: `There is a practice group ${group.id} already. Update it, or choose another ID.`,
      });
    throw error;
  }
});

export const updatePracticeGroup = operation(updateEndpoint, async (app, call) => {
  const body = await transact(app.db, call.principal, async (tx) => {
    const before = await lockGroup(tx, call.params.id);
    if (!before) throw new Problem('not_found');
    if (!ifMatchHolds(call.ifMatch, etagOfGroup(before))) throw new Problem('precondition_failed');
    const { address, ...fields } = call.body;
    const merged = {
      ...before,
      ...(fields as Partial<typeof before>),
      ...(address !== undefined && { address: address && wholeAddress({ ...before.address, ...address }) }),
    };
    if (isDeepStrictEqual(merged, before)) return before;
    const now = nowIso(app);
    const after = { ...merged, updated_at: now };
    updateGroup(tx, { ...after, now });
    tx.audit({
      at: now,
      principal: call.principal,
      action: 'practice_group.update',
      subject: { type: 'practice_group', id: before.id },
      practiceGroupId: before.id,
      requestId: call.requestId,
      before,
      after,
    });
    return after;
  });
  app.access.forget();
  return { body, etag: etagOfGroup(body) };
});

/**
 * Covers what can be changed here, and nothing else: it holds while the EHR goes down or a network is joined. It is the digest of reconciliation, told
 * from the fields and not counted, so that whatever writes them, an import or a node of the version before, makes it another one.
 */
function etagOfGroup({
  id,
  name,
  ods_code,
  timezone,
  address,
  opening_hours,
}: OperatorPracticeGroup): string {
  const fields = { name, ods_code, timezone, address, opening_hours };
  return `"${digestOf({ ...itemKey('practice_group', id, '', id), fields })}"`;
}

/** No partner loses access by it: whoever had any is named as a use, and has to be taken out first. People of the practice are out when it has answered. */
export const deletePracticeGroup = operation(deleteEndpoint, async (app, call) => {
  const { id } = call.params;
  const deleted = transact(app.db, call.principal, async (tx) => {
    const before = await lockGroup(tx, id);
    if (!before) throw new Problem('not_found');
    if (!ifMatchHolds(call.ifMatch, etagOfGroup(before))) throw new Problem('precondition_failed');
    const now = nowIso(app);
    const used = inUse(`The practice group ${id}`, await findGroupUses(tx, id, now));
    if (used) throw used;
    deleteGroup(tx, id, now);
    tx.audit({
      at: now,
      principal: call.principal,
      action: 'practice_group.delete',
      subject: { type: 'practice_group', id },
      practiceGroupId: id,
      requestId: call.requestId,
      before,
      after: null,
    });
  });
  // Also when it is not there: it may have gone by a call whose answer nobody heard.
  await deleted.finally(() => app.access.settle());
  return { body: undefined };
});

export const listAllPracticeGroups = operation(listAllEndpoint, async (app, call) => {
  return { body: await transact(app.db, call.principal, (tx) => listGroups(tx, call.query)) };
});

export const getPracticeGroup = operation(getEndpoint, async (app, call) => {
  const body = await transact(app.db, call.principal, (tx) => findGroup(tx, call.params.id));
  if (!body) throw new Problem('not_found');
  return { body, etag: etagOfGroup(body) };
});
