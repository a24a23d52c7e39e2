import type {
  createFormSubmission as createEndpoint,
  FormSubmission,
  getFormSubmission as getEndpoint,
  listFormSubmissions as listEndpoint,
} from '../contract/operator/form-submissions.ts';
import { Problem } from '../contract/problems.ts';
import { ruleBroken } from '../contract/rules.ts';
import { refusalOfForm } from '../domain/form-submission.ts';
import { newId } from '../domain/ids.ts';
import { localTime } from '../domain/local-time.ts';
import { isUniqueViolation, transact } from '../store/database.ts';
import {
  findFormSubmission,
  insertFormSubmission,
  listFormSubmissionPage,
} from '../store/form-submissions.ts';
import { findGroup } from '../store/practice-groups.ts';
import { lockSubmissionTypes } from '../store/submission-types.ts';
import { type App, nowIso, type OperatorCall } from './app.ts';

/** The lock on the submission type makes the count exact: of two forms at once, the second sees the first counted. */
export async function createFormSubmission(app: App, call: OperatorCall<typeof createEndpoint>) {
  const groupId = call.params.id;
  const typeId = call.body.submission_type_id;
  const id = call.body.id ?? newId('fs', app.clock.now(), app.random);
  try {
    const body = await transact(app.db, call.principal, async (tx) => {
      const group = await findGroup(tx, groupId);
      if (!group) throw new Problem('not_found');
      const local = localTime(app.clock.now(), group.timezone);
      const [row] = await lockSubmissionTypes(tx, [{ groupId, id: typeId, localDay: local.day }]);
      if (!row) throw ruleBroken('submission_type_unknown');
      const refusal = refusalOfForm(row.type, row.submittedToday, group.opening_hours, local);
      if (refusal) throw ruleBroken(refusal);

      const submission: FormSubmission = {
        id,
        practice_group_id: groupId,
        submission_type_id: typeId,
        local_day: local.day,
        submitted_at: nowIso(app),
      };
      await insertFormSubmission(tx, submission);
      tx.audit({
        at: submission.submitted_at,
        principal: call.principal,
        action: 'form_submission.create',
        subject: { type: 'form_submission', id },
        practiceGroupId: groupId,
        requestId: call.requestId,
        before: null,
        after: submission,
      });
      return submission;
    });
    return { body };
  } catch (error) {
    if (isUniqueViolation(error))
      throw new Problem('conflict', { message: `The form submission ${id} was recorded already.` });
    throw error;
  }
}

export async function listFormSubmissions(app: App, call: OperatorCall<typeof listEndpoint>) {
  const body = await transact(app.db, call.principal, async (tx) => {
    if (!(await findGroup(tx, call.params.id))) throw new Problem('not_found');
    return listFormSubmissionPage(tx, call.params.id, call.query);
  });
  return { body };
}

export async function getFormSubmission(app: App, call: OperatorCall<typeof getEndpoint>) {
  const { id, form_submission_id } = call.params;
  const body = await transact(app.db, call.principal, (tx) => findFormSubmission(tx, id, form_submission_id));
  if (!body) throw new Problem('not_found');
  return { body };
}
