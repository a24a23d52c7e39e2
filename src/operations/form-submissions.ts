import type { Read } from '../contract/endpoint.ts';
import type {
  createFormSubmission as createEndpoint,
  FormSubmission,
  getFormSubmission as getEndpoint,
  listFormSubmissions as listEndpoint,
} from '../contract/operator/form-submissions.ts';
import type { getAvailability as availabilityEndpoint } from '../contract/operator/submission-types.ts';
import { Problem } from '../contract/problems.ts';
import { naming, ruleBroken } from '../contract/rules.ts';
import { markNames, marksOf, remainingToday } from '../domain/form-submission.ts';
import { newId } from '../domain/ids.ts';
import { localTime } from '../domain/local-time.ts';
import { transact } from '../store/database.ts';
import { isUniqueViolation } from '../store/database-errors.ts';
import { appendEvents } from '../store/events.ts';
import {
  countForms,
  findFormSubmission,
  findIntakes,
  insertFormSubmission,
  listFormSubmissionPage,
  lockIntake,
} from '../store/form-submissions.ts';
import { findGroup } from '../store/practice-groups.ts';
import { type App, newSalt, type OperatorCall } from './app.ts';
import { newEvent, saidBy } from './events.ts';

/**
 * What has happened is never refused: whatever speaks against the form is marked on it.
 *
 * The lock on the submission type makes the count exact: of two forms at once, the second sees the first counted. So
 * the count is a statement of its own behind the lock: in the same one, it would be as old as the wait is long. Both travel at once.
 */
export async function createFormSubmission(app: App, call: OperatorCall<typeof createEndpoint>) {
  const groupId = call.params.id;
  const typeId = call.body.submission_type_id;
  const id = call.body.id ?? newId('fs', app.clock.now(), app.random);
  try {
    const body = await transact(app.db, call.principal, async (tx) => {
      const group = await findGroup(tx, groupId);
      if (!group) throw new Problem('not_found');
      const now = app.clock.now();
      const local = localTime(now, group.timezone);
      const [type, submittedToday, recorded] = await Promise.all([
        lockIntake(tx, groupId, typeId),
        countForms(tx, groupId, typeId, local.day),
        findFormSubmission(tx, groupId, id),
      ]);
      if (!type) throw ruleBroken('submission_type_unknown');
      if (recorded) throw recordedAlready(id);
      const submission: FormSubmission = {
        id,
        practice_group_id: groupId,
        submission_type_id: typeId,
        local_day: local.day,
        submitted_at: new Date(now).toISOString(),
        ...marksOf(type, submittedToday, group.opening_hours, local),
      };
      await insertFormSubmission(tx, submission);
      appendEvents(tx, saidBy(app, call), [
        newEvent(app, {
          object: 'FormSubmission',
          id,
          practice_group_id: groupId,
          event: 'form-submission.created',
        }),
      ]);
      tx.audit({
        at: submission.submitted_at,
        principal: call.principal,
        action: 'form_submission.create',
        subject: { type: 'form_submission', id },
        practiceGroupId: groupId,
        requestId: call.requestId,
        before: null,
        after: submission,
        salt: newSalt(app),
      });
      return submission;
    });
    return { body };
  } catch (error) {
    throw isUniqueViolation(error) ? recordedAlready(id) : error;
  }
}

function recordedAlready(id: string): Problem {
  return new Problem('conflict', {
    message: `The form submission ${id} was recorded already. Send each one once.`,
  });
}

/** The question before: what is allowed here is not marked above, because both ask `marksOf`. */
export async function getAvailability(app: App, call: OperatorCall<typeof availabilityEndpoint>) {
  const asked = call.body?.submission_type_ids;
  const now = app.clock.now();
  const found = await transact(app.db, call.principal, (tx) =>
    findIntakes(tx, call.params.id, asked, new Date(now).toISOString()),
  );
  if (!found) throw new Problem('not_found');
  const known = new Set(found.types.map(({ id }) => id));
  const unknown = asked?.filter((id) => !known.has(id)) ?? [];
  if (unknown.length > 0)
    throw ruleBroken(
      'submission_types_unknown',
      `This practice group has no submission type ${naming(unknown)}. Check the IDs.`,
    );
  const local = localTime(now, found.timezone);
  const data = found.types.map((type) => {
    const submittedToday = type.counts?.[local.day] ?? 0;
    const marks = marksOf(type, submittedToday, found.opening_hours, local);
    const reasons = markNames.filter((mark) => marks[mark]);
    return {
      submission_type_id: type.id,
      allowed: reasons.length === 0,
      reasons,
      remaining_today: remainingToday(type, submittedToday),
    };
  });
  return { body: { data } };
}

export async function listFormSubmissions(app: App, call: OperatorCall<typeof listEndpoint>) {
  const body = await transact(app.db, call.principal, async (tx) => {
    if (!(await findGroup(tx, call.params.id))) throw new Problem('not_found');
    return listFormSubmissionPage(tx, call.params.id, call.query);
  });
  return { body, read: body.data.map(readOf) };
}

export async function getFormSubmission(app: App, call: OperatorCall<typeof getEndpoint>) {
  const { id, form_submission_id } = call.params;
  const body = await transact(app.db, call.principal, (tx) => findFormSubmission(tx, id, form_submission_id));
  if (!body) throw new Problem('not_found');
  return { body, read: [readOf(body)] };
}

function readOf({ practice_group_id, id }: FormSubmission): Read {
  return { practiceGroupId: practice_group_id, object: 'FormSubmission', objectId: id };
}
