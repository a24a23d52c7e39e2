import type { Read } from '../../contract/endpoint.ts';
import {
  createFormSubmission as createEndpoint,
  type FormSubmission,
  getFormSubmission as getEndpoint,
  listFormSubmissions as listEndpoint,
} from '../../contract/operator/practices/form-submissions.ts';
import { getAvailability as availabilityEndpoint } from '../../contract/operator/practices/submission-types.ts';
import { Problem } from '../../contract/problems.ts';
import { naming, ruleBroken } from '../../contract/rules.ts';
import { newId } from '../../domain/ids.ts';
import { markNames, marksOf, remainingToday } from '../../domain/practices/form-submission.ts';
import { localTime } from '../../domain/practices/local-time.ts';
import { BUSY, type Decision, type Gathered } from '../../runtime/gathering.ts';
import { transact } from '../../store/database.ts';
import { isUniqueViolation } from '../../store/database-errors.ts';
import { appendOneByOne, type OneEvent } from '../../store/events/events.ts';
import {
  findCounters,
  findFormSubmission,
  findIntakes,
  findRecorded,
  insertFormSubmissions,
  listFormSubmissionPage,
  lockIntakes,
} from '../../store/practices/form-submissions.ts';
import { findGroup } from '../../store/practices/practice-groups.ts';
import { newSalt, nowIso, operation } from '../app.ts';
import { saidOne } from '../events/events.ts';
import type { SentForm } from '../gathered-calls.ts';

/** What has happened is never refused: whatever speaks against the form is marked on it. Gathered with those of other calls. */
export const createFormSubmission = operation(createEndpoint, async (app, call) => {
  const id = call.body.id ?? newId('fs', app.clock.now(), app.random);
  const { principal, requestId, traceparent, keep } = call;
  const sent = { groupId: call.params.id, typeId: call.body.submission_type_id, id };
  try {
    return { body: await app.gathered.forms({ ...sent, principal, requestId, traceparent, keep }) };
  } catch (error) {
    throw isUniqueViolation(error) ? recordedAlready(id) : error;
  }
});

/**
 * The lock on the submission type makes the count exact: of two forms at once, the second sees the first counted. So does the second of two in one
 * batch.
 */
export const sentForms: Gathered<SentForm, FormSubmission> = {
  objectOf: typeOf,

  async carryOut(tools, tx, calls, ifLocked) {
    const types = [...new Map(calls.map((call) => [typeOf(call), call])).values()];
    const [held, found, earlier] = await Promise.all([
      lockIntakes(tx, types, ifLocked),
      findCounters(tx, types, nowIso(tools)),
      findRecorded(tx, calls),
    ]);
    const isHeld = new Set(held.map(typeOf));
    const counters = new Map(found.map((counter) => [typeOf(counter), counter]));
    const recorded = new Set(earlier.map(formOf));
    const now = tools.clock.now();
    const at = new Date(now).toISOString();

    const forms: FormSubmission[] = [];
    const events: OneEvent[] = [];
    const decisions = calls.map((call): Decision<FormSubmission> => {
      const { groupId, typeId, id, principal, requestId } = call;
      const counter = counters.get(typeOf(call));
      if (!counter) return new Problem('not_found');
      if (!counter.type) return ruleBroken('submission_type_unknown');
      if (!isHeld.has(typeOf(call))) return BUSY;
      if (recorded.has(formOf(call))) return recordedAlready(id);
      const local = localTime(now, counter.timezone);
      const submittedToday = counter.counts?.[local.day] ?? 0;
      const form: FormSubmission = {
        id,
        practice_group_id: groupId,
        submission_type_id: typeId,
        local_day: local.day,
        submitted_at: at,
        ...marksOf(counter.type, submittedToday, counter.opening_hours, local),
      };
      recorded.add(formOf(call));
      counter.counts = { ...counter.counts, [local.day]: submittedToday + 1 };
      forms.push(form);
      events.push(
        saidOne(tools, call, {
          object: 'FormSubmission',
          id,
          practice_group_id: groupId,
          event: 'form-submission.created',
        }),
      );
      tx.audit({
        at,
        principal,
        action: 'form_submission.create',
        subject: { type: 'form_submission', id },
        practiceGroupId: groupId,
        requestId,
        before: null,
        after: form,
        salt: newSalt(tools),
      });
      return form;
    });
    insertFormSubmissions(tx, forms);
    appendOneByOne(tx, at, events);
    return decisions;
  },
};

/** No ID of a practice group holds a space, so the parts cannot run into each other. */
function typeOf({ groupId, typeId }: { groupId: string; typeId: string }): string {
  return `${groupId} ${typeId}`;
}

function formOf({ groupId, id }: { groupId: string; id: string }): string {
  return `${groupId} ${id}`;
}

function recordedAlready(id: string): Problem {
  return new Problem('conflict', {
    message: `The form submission ${id} was recorded already. Send each one once.`,
  });
}

/** The question before: what is allowed here is not marked above, because both ask `marksOf`. */
export const getAvailability = operation(availabilityEndpoint, async (app, call) => {
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
});

export const listFormSubmissions = operation(listEndpoint, async (app, call) => {
  const body = await transact(app.db, call.principal, async (tx) => {
    if (!(await findGroup(tx, call.params.id))) throw new Problem('not_found');
    return listFormSubmissionPage(tx, call.params.id, call.query);
  });
  return { body, read: body.data.map(readOf) };
});

export const getFormSubmission = operation(getEndpoint, async (app, call) => {
  const { id, form_submission_id } = call.params;
  const body = await transact(app.db, call.principal, (tx) => findFormSubmission(tx, id, form_submission_id));
  if (!body) throw new Problem('not_found');
  return { body, read: [readOf(body)] };
});

function readOf({ practice_group_id, id }: FormSubmission): Read {
  return { practiceGroupId: practice_group_id, object: 'FormSubmission', objectId: id };
}
