import { useQuery } from '@tanstack/react-query';
import { one, useChange } from '../../api/client.ts';
import type {
  OperatorPracticeGroup,
  SubmissionType,
  SubmissionTypeAvailability,
} from '../../api/generated.ts';
import { useMay } from '../../frame/session.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { EditInPlace } from '../../parts/edit-in-place.tsx';
import { FormDialog, numberOrNull } from '../../parts/form.tsx';
import { Empty, Section } from '../../parts/page.tsx';
import { Paged } from '../../parts/paged.tsx';
import { State } from '../../parts/state.tsx';
import { newTypeFields, TypeFields, typeBody, typeChanges, typeFields } from './submission-type-fields.tsx';

const CHANGES = ['listGroupSubmissionTypes', 'getAvailability', 'listAudit'] as const;

/** What the practice takes today: each type against its cap. */
export function SubmissionTypes({ practice }: { practice: OperatorPracticeGroup }) {
  const params = { id: practice.id };
  const availability = useQuery(one('getAvailability', { params }));
  const may = useMay('admin');
  const stateOf = new Map(availability.data?.data.map((one) => [one.submission_type_id, one]));
  return (
    <Section title="Submission types" actions={may && <AddType practice={practice} />}>
      <p className="soft">Days are those of {practice.timezone}.</p>
      <Paged of="listGroupSubmissionTypes" input={{ params }}>
        {(types) => (
          <>
            {types.length === 0 && (
              <Empty>
                They take no forms yet. Practice software brings submission types, or add one here.
              </Empty>
            )}
            <ul className="types" aria-label="Submission types">
              {types.map((type) => (
                <li key={type.id}>
                  <Type practice={practice} type={type} availability={stateOf.get(type.id)} mayChange={may} />
                </li>
              ))}
            </ul>
          </>
        )}
      </Paged>
    </Section>
  );
}

function Type({
  practice,
  type,
  availability,
  mayChange,
}: {
  practice: OperatorPracticeGroup;
  type: SubmissionType;
  availability: SubmissionTypeAvailability | undefined;
  mayChange: boolean;
}) {
  const update = useChange('updateGroupSubmissionType', CHANGES);
  const remove = useChange('deleteSubmissionType', CHANGES);
  const params = { id: practice.id, submission_type_id: type.id };
  const { daily_limit: cap, forms_submitted_today: today = 0 } = type;
  return (
    <>
      <div className="type-name">
        <strong>{type.title}</strong>
        <span className="soft small">{hoursOf(type)}</span>
      </div>
      <Taking availability={availability} />
      <div className="type-today">
        {cap !== null && cap > 0 && (
          <progress value={Math.min(today, cap)} max={cap} aria-label={`Forms today for ${type.title}`}>
            {today} of {cap}
          </progress>
        )}
        <span>
          {today} {cap === null ? 'today' : 'of'}{' '}
          {mayChange ? (
            <EditInPlace
              label={`Forms a day for ${type.title}`}
              name="daily_limit"
              value={cap === null ? '' : String(cap)}
              shown={cap === null ? 'no cap' : `${cap}`}
              inputMode="numeric"
              save={(typed) => update.mutateAsync({ params, body: { daily_limit: numberOrNull(typed) } })}
            />
          ) : (
            (cap ?? 'no cap')
          )}
        </span>
      </div>
      {mayChange && (
        <div className="actions small">
          <Confirm
            action={type.suspended ? 'Resume' : 'Suspend'}
            title={
              type.suspended ? `Take forms for ${type.title} again?` : `Take no more forms for ${type.title}?`
            }
            isDestructive={!type.suspended}
            run={() => update.mutateAsync({ params, body: { suspended: !type.suspended } })}
          >
            <p>
              {type.suspended
                ? 'Partners see at once that it takes forms again.'
                : 'Partners see at once that it takes none. A form that is sent all the same is kept, and marked.'}
            </p>
          </Confirm>
          <FormDialog
            action="Change"
            title={`Change ${type.title}`}
            submit="Save"
            initial={typeFields(type)}
            run={(values, opened) => update.mutateAsync({ params, body: typeChanges(opened, values) })}
          >
            {(form) => <TypeFields form={form} practiceId={practice.id} />}
          </FormDialog>
          <Confirm
            action="Remove"
            title={`Remove ${type.title}?`}
            typed={{ label: 'Type its title', text: type.title.trim() }}
            run={() => remove.mutateAsync({ params })}
          >
            <p>
              Partners see it no more. The {today} {today === 1 ? 'form' : 'forms'} of today and all earlier
              ones stay.
            </p>
          </Confirm>
        </div>
      )}
    </>
  );
}

const hours: Record<string, string> = {
  'true true': 'at all hours',
  'true false': 'during opening hours',
  'false true': 'outside opening hours',
  'false false': 'at no hour',
};
const hoursOf = ({ in_hours, out_of_hours }: SubmissionType): string =>
  hours[`${in_hours} ${out_of_hours}`] ?? '';

const reasons: Record<SubmissionTypeAvailability['reasons'][number], string> = {
  suspended: 'suspended',
  over_limit: 'full for today',
  outside_hours: 'not at this hour',
};

function Taking({ availability }: { availability: SubmissionTypeAvailability | undefined }) {
  if (!availability) return <span className="soft">…</span>;
  if (availability.allowed) return <State kind="fine">takes forms now</State>;
  const isStopped = availability.reasons.includes('suspended');
  return (
    <State kind={isStopped ? 'stopped' : 'withheld'}>
      {availability.reasons.map((reason) => reasons[reason]).join(', ')}
    </State>
  );
}

function AddType({ practice: { id } }: { practice: OperatorPracticeGroup }) {
  const create = useChange('createSubmissionType', CHANGES);
  return (
    <FormDialog
      action="Add a type"
      title="Add a submission type"
      submit="Add"
      kind="primary"
      initial={newTypeFields}
      run={({ pathway_id, ...values }) =>
        create.mutateAsync({ params: { id }, body: { ...typeBody(values), pathway_id } })
      }
    >
      {(form) => <TypeFields form={form} practiceId={id} pathway={form.field('pathway_id')} />}
    </FormDialog>
  );
}
