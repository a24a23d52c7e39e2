import {
  reportChangeApplied as appliedEndpoint,
  getChange as getEndpoint,
  listLatestChanges as latestEndpoint,
  listChanges as listEndpoint,
  reportChangeRejected as rejectedEndpoint,
  streamChanges as streamEndpoint,
} from '../../contract/operator/practices/changes.ts';
import { listSubmissionTypeChanges as listOwnEndpoint } from '../../contract/partner/changes.ts';
import { Problem } from '../../contract/problems.ts';
import { type ChangeEnd, endedChange } from '../../domain/practices/change.ts';
import { localTime } from '../../domain/practices/local-time.ts';
import { readOfChange } from '../../runtime/events/event-streams.ts';
import { transact } from '../../store/database.ts';
import {
  endChange,
  findChange,
  listLatestChangePage,
  listOwnChangePage,
  lockChange,
  readChangePage,
} from '../../store/practices/changes.ts';
import { findSubmissionType } from '../../store/practices/submission-types.ts';
import { type App, nowIso, type OperatorCall, operation } from '../app.ts';

// ---- Operators ----

export const listChanges = operation(listEndpoint, async (app, call) => {
  const { changes, nextCursor, hasMore } = await transact(app.db, call.principal, (tx) =>
    readChangePage(tx, call.query),
  );
  return {
    body: { data: changes, count: changes.length, next_cursor: nextCursor, has_more: hasMore },
    read: changes.map(readOfChange),
  };
});

export const listLatestChanges = operation(latestEndpoint, async (app, { principal, query }) => {
  const body = await transact(app.db, principal, (tx) => listLatestChangePage(tx, query));
  return { body, read: body.data.map(readOfChange) };
});

export const streamChanges = operation(streamEndpoint, async (app, call) => {
  return { stream: await app.streams.followChanges(call) };
});

export const getChange = operation(getEndpoint, async (app, { principal, params }) => {
  const body = await transact(app.db, principal, (tx) => findChange(tx, params.id));
  if (!body) throw new Problem('not_found');
  return { body, read: [readOfChange(body)] };
});

export const reportChangeApplied = operation(appliedEndpoint, (app, call) => {
  return report(app, call, call.params.id, { state: 'applied', reason: null });
});

export const reportChangeRejected = operation(rejectedEndpoint, (app, call) => {
  return report(app, call, call.params.id, { state: 'rejected', reason: call.body.reason });
});

async function report(
  app: App,
  { principal, requestId }: Pick<OperatorCall<typeof getEndpoint>, 'principal' | 'requestId'>,
  id: string,
  end: ChangeEnd,
) {
  const body = await transact(app.db, principal, async (tx) => {
    const before = await lockChange(tx, id);
    if (!before) throw new Problem('not_found');
    const now = nowIso(app);
    const after = endedChange(before, end, now);
    if (!after)
      throw new Problem('conflict', {
        message: `The change ${id} was ${before.state} already, and stays so. Change the submission type instead.`,
      });
    if (after === before) return before;
    endChange(tx, after);
    tx.audit({
      at: now,
      principal,
      action: `change.${end.state}`,
      subject: { type: 'change', id },
      practiceGroupId: before.practice_group_id,
      requestId,
      before: { state: before.state },
      after: { state: after.state, reason: after.reason },
    });
    return after;
  });
  return { body };
}

// ---- Partners ----

export const listSubmissionTypeChanges = operation(listOwnEndpoint, async (app, call) => {
  const { principal, params, query } = call;
  const { day } = localTime(app.clock.now(), principal.group.timezone);
  const body = await transact(app.db, principal, async (tx) => {
    const [type, page] = await Promise.all([
      findSubmissionType(tx, principal.group.id, params.id, day),
      listOwnChangePage(tx, principal, params.id, query),
    ]);
    if (!type) throw new Problem('not_found');
    return page;
  });
  return { body };
});
