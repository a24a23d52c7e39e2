import { fresh } from './operator-calls.ts';
import type { Loose } from './service.ts';

/** A practice as its software sends it: whole items, all fields told. */
export function practiceItems(groupId = fresh('practice')): Loose[] {
  const of = { practice_group_id: groupId };
  const hours = ['mon', 'tue', 'wed', 'thu', 'fri'].map((day) => [day, [['08:00', '18:30']]]);
  return [
    {
      kind: 'practice_group',
      id: groupId,
      name: 'Ünï 💊',
      ods_code: null,
      timezone: 'Europe/London',
      address: { line_1: '1 Lane', line_2: null, town: null, county: null, postcode: 'ZZ99 1AA' },
      opening_hours: Object.fromEntries(hours),
    },
    { kind: 'form', id: 'form', title: 'Form', ...of },
    { kind: 'assignee', id: 'desk', assignee_type: 'AdminTeam', name: 'Desk', ...of },
    {
      kind: 'submission_type',
      id: 'type',
      pathway_id: 'p',
      title: 'Type "one"',
      description: null,
      in_hours: true,
      out_of_hours: false,
      suspended: false,
      form_id: 'form',
      external_url: null,
      external_url_name: null,
      type: 'admin_request',
      default_priority: 'high',
      daily_limit: 0,
      patient_eligibility_check: false,
      assignee_id: 'desk',
      assignee_type: 'AdminTeam',
      order: 3,
      ...of,
    },
  ];
}

/** So many practices by their software, twenty items each, one after the other: never all of them at once. */
export function* practicesOf(count: number, name = fresh('many')): Generator<Loose> {
  for (let n = 0; n < count; n++) {
    const id = `${name}-${n}`;
    const of = { practice_group_id: id, source_version: 1 };
    yield { kind: 'practice_group', id, source_version: 1, name: `Practice ${n}` };
    for (let at = 0; at < 5; at++) yield { kind: 'form', id: `form-${at}`, ...of, title: `Form ${at}` };
    for (let at = 0; at < 4; at++)
      yield { kind: 'assignee', id: `desk-${at}`, assignee_type: 'AdminTeam', ...of, name: `Desk ${at}` };
    for (let at = 0; at < 10; at++)
      yield {
        kind: 'submission_type',
        id: `type-${at}`,
        ...of,
        pathway_id: `pathway-${at}`,
        title: `Type ${at}`,
        description: 'What patients ask for most often in the morning. '.repeat(5),
        form_id: `form-${at % 5}`,
        assignee_id: `desk-${at % 4}`,
        assignee_type: 'AdminTeam',
      };
  }
}
