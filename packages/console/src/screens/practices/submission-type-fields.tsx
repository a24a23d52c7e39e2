import { useQuery } from '@tanstack/react-query';
import { all } from '../../api/client.ts';
import type { SubmissionType, SubmissionTypePatch } from '../../api/generated.ts';
import {
  Chosen,
  type Field,
  type FormState,
  numberOrNull,
  Tick,
  Typed,
  textOrNull,
} from '../../parts/form.tsx';

interface TypeFieldsOf {
  title: string;
  description: string;
  daily_limit: string;
  order: string;
  in_hours: boolean;
  out_of_hours: boolean;
  suspended: boolean;
  patient_eligibility_check: boolean;
  type: string;
  default_priority: string;
  form_id: string;
  /** `Admin:adm_1`: one person or team. */
  assignee_id: string;
  external_url: string;
  external_url_name: string;
}

const typed = (value: string | number | null): string => (value === null ? '' : String(value));

export const typeFields = (type: SubmissionType): TypeFieldsOf => ({
  title: type.title,
  description: typed(type.description),
  daily_limit: typed(type.daily_limit),
  order: typed(type.order),
  in_hours: type.in_hours,
  out_of_hours: type.out_of_hours,
  suspended: type.suspended,
  patient_eligibility_check: type.patient_eligibility_check,
  type: typed(type.type),
  default_priority: type.default_priority,
  form_id: typed(type.form_id),
  assignee_id: type.assignee_id === null ? '' : `${type.assignee_type}:${type.assignee_id}`,
  external_url: typed(type.external_url),
  external_url_name: typed(type.external_url_name),
});

export const newTypeFields: TypeFieldsOf & { pathway_id: string } = {
  title: '',
  description: '',
  daily_limit: '',
  order: '',
  in_hours: true,
  out_of_hours: false,
  suspended: false,
  patient_eligibility_check: false,
  type: '',
  default_priority: 'medium',
  form_id: '',
  assignee_id: '',
  external_url: '',
  external_url_name: '',
  pathway_id: '',
};

export function typeBody(values: TypeFieldsOf) {
  const [, assigneeType = '', assigneeId = ''] = /^([^:]*):(.*)$/.exec(values.assignee_id) ?? [];
  const order = numberOrNull(values.order);
  return {
    title: values.title,
    description: textOrNull(values.description),
    daily_limit: numberOrNull(values.daily_limit),
    in_hours: values.in_hours,
    out_of_hours: values.out_of_hours,
    suspended: values.suspended,
    patient_eligibility_check: values.patient_eligibility_check,
    type: textOrNull(values.type) as SubmissionType['type'],
    default_priority: values.default_priority as SubmissionType['default_priority'],
    form_id: textOrNull(values.form_id),
    assignee_id: textOrNull(assigneeId),
    assignee_type: textOrNull(assigneeType) as SubmissionType['assignee_type'],
    external_url: textOrNull(values.external_url),
    external_url_name: textOrNull(values.external_url_name),
    ...(order !== null && { order }),
  };
}

/** What was changed, and nothing else: what somebody else changed meanwhile stays. */
export function typeChanges(opened: TypeFieldsOf, values: TypeFieldsOf): SubmissionTypePatch {
  const before = typeBody(opened);
  const after = typeBody(values);
  return Object.fromEntries(
    Object.entries(after).filter(([name, value]) => before[name as keyof typeof before] !== value),
  );
}

const kinds = [
  { value: '', title: 'not said' },
  { value: 'admin_request', title: 'admin request' },
  { value: 'clinical_request', title: 'clinical request' },
  { value: 'other_request', title: 'other request' },
];
const priorities = ['lowest', 'low', 'medium', 'high', 'highest'].map((value) => ({ value, title: value }));

export function TypeFields<V extends TypeFieldsOf>({
  form,
  practiceId,
  pathway,
}: {
  form: FormState<V>;
  practiceId: string;
  pathway?: Field<string>;
}) {
  const { field } = form as unknown as FormState<TypeFieldsOf>;
  const params = { id: practiceId };
  const forms = useQuery(all('listForms', { params }));
  const assignees = useQuery(all('listAssignees', { params }));
  const tick = (
    name: 'in_hours' | 'out_of_hours' | 'suspended' | 'patient_eligibility_check',
    title: string,
  ) => {
    const { value, onChange } = field(name);
    return (
      <Tick isSelected={value} onChange={onChange}>
        {title}
      </Tick>
    );
  };
  return (
    <>
      <Typed label="Title" field={field('title')} autoFocus />
      {pathway && (
        <Typed label="Pathway ID" description="As the practice software calls it." field={pathway} />
      )}
      <Typed label="Description" rows={2} field={field('description')} />
      <div className="fields">
        <Typed
          label="Forms a day"
          description="Empty: no cap. 0: closed."
          inputMode="numeric"
          field={field('daily_limit')}
        />
        <Typed label="Place in the order" field={field('order')} />
        <Chosen label="Kind" field={field('type')} choices={kinds} />
        <Chosen label="Priority" field={field('default_priority')} choices={priorities} />
      </div>
      <div className="ticks-grid">
        {tick('in_hours', 'Takes forms during opening hours')}
        {tick('out_of_hours', 'Takes forms outside opening hours')}
        {tick('suspended', 'Suspended')}
        {tick('patient_eligibility_check', 'Checks whether patients are eligible')}
      </div>
      <div className="fields">
        <Chosen
          label="Form"
          field={field('form_id')}
          choices={[
            { value: '', title: 'none' },
            ...(forms.data?.data ?? []).map(({ id, title }) => ({ value: id, title })),
          ]}
        />
        <Chosen
          label="Assigned to"
          field={field('assignee_id')}
          choices={[
            { value: '', title: 'nobody' },
            ...(assignees.data?.data ?? []).map(({ id, type, name }) => ({
              value: `${type}:${id}`,
              title: `${name} (${type === 'Admin' ? 'person' : 'team'})`,
            })),
          ]}
        />
        <Typed
          label="Leads to"
          type="url"
          placeholder="https://, tel: or mailto:"
          field={field('external_url')}
        />
        <Typed label="Name of that page" field={field('external_url_name')} />
      </div>
    </>
  );
}
