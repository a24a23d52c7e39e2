import { useQuery } from '@tanstack/react-query';
import { all, useChange } from '../../api/client.ts';
import type { Assignee, Form, OperatorPracticeGroup, SubmissionType } from '../../api/generated.ts';
import { useMay } from '../../frame/session.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Chosen, FormDialog, Typed } from '../../parts/form.tsx';
import { Id } from '../../parts/id.tsx';
import type { Column } from '../../parts/list.tsx';
import { Section } from '../../parts/page.tsx';
import { Paged } from '../../parts/paged.tsx';
import { Table } from '../../parts/table.tsx';

/** The forms that patients fill in, and the people and teams that they go to. */
export function Directory({ practice: { id } }: { practice: OperatorPracticeGroup }) {
  const params = { id };
  const types = useQuery(all('listGroupSubmissionTypes', { params }));
  const may = useMay('admin');
  const users = types.data?.data ?? [];
  const usersOfForm = (form: Form) => users.filter(({ form_id }) => form_id === form.id);
  const usersOfAssignee = (assignee: Assignee) =>
    users.filter((type) => type.assignee_id === assignee.id && type.assignee_type === assignee.type);
  return (
    <>
      <Section title="Forms" actions={may && <PutForm practiceId={id} />}>
        <Paged of="listForms" input={{ params }} rows={3}>
          {(forms) => (
            <Table
              label="Forms"
              items={forms}
              keyOf={(form) => form.id}
              empty="They have no forms. A submission type may lead to a form or to a page elsewhere."
              columns={[
                { title: 'Title', width: '3fr', cell: ({ title }) => title },
                { title: 'Used by', width: '3fr', cell: (form) => titlesOf(usersOfForm(form)) },
                { title: 'ID', width: '2fr', wideOnly: true, cell: (form) => <Id>{form.id}</Id> },
                ...changesOf(may, (form: Form) => (
                  <>
                    <PutForm practiceId={id} form={form} />
                    <RemoveForm practiceId={id} form={form} users={usersOfForm(form)} />
                  </>
                )),
              ]}
            />
          )}
        </Paged>
      </Section>
      <Section title="Assignees" actions={may && <PutAssignee practiceId={id} />}>
        <Paged of="listAssignees" input={{ params }} rows={3}>
          {(assignees) => (
            <Table
              label="Assignees"
              items={assignees}
              keyOf={(assignee) => `${assignee.type}:${assignee.id}`}
              empty="They have named nobody that forms go to."
              columns={[
                { title: 'Name', width: '3fr', cell: ({ name }) => name },
                { title: 'Kind', width: '1fr', cell: ({ type }) => (type === 'Admin' ? 'person' : 'team') },
                { title: 'Used by', width: '3fr', cell: (assignee) => titlesOf(usersOfAssignee(assignee)) },
                { title: 'ID', width: '2fr', wideOnly: true, cell: (assignee) => <Id>{assignee.id}</Id> },
                ...changesOf(may, (assignee: Assignee) => (
                  <>
                    <PutAssignee practiceId={id} assignee={assignee} />
                    <RemoveAssignee practiceId={id} assignee={assignee} users={usersOfAssignee(assignee)} />
                  </>
                )),
              ]}
            />
          )}
        </Paged>
      </Section>
    </>
  );
}

const titlesOf = (types: readonly SubmissionType[]) =>
  types.length > 0 ? types.map(({ title }) => title).join(', ') : <span className="soft">nothing</span>;

function changesOf<Item>(may: boolean, buttons: (item: Item) => React.ReactNode): Column<Item>[] {
  if (!may) return [];
  const cell = (item: Item) => <span className="actions small">{buttons(item)}</span>;
  return [{ title: 'Actions', width: '12rem', cell }];
}

/** What will be told, or what stands in the way. */
function Use({ users }: { users: readonly SubmissionType[] }) {
  if (users.length === 0) return <p>No submission type uses it. It cannot be undone.</p>;
  return (
    <p>
      {users.length === 1 ? 'One submission type uses' : `${users.length} submission types use`} it:{' '}
      {users.map(({ title }) => title).join(', ')}. It can be removed when none does.
    </p>
  );
}

function PutForm({ practiceId, form }: { practiceId: string; form?: Form }) {
  const put = useChange('putForm', ['listForms']);
  return (
    <FormDialog
      action={form ? 'Rename' : 'Add a form'}
      title={form ? `Rename ${form.title}` : 'Add a form'}
      submit={form ? 'Save' : 'Add'}
      initial={{ form_id: form?.id ?? '', title: form?.title ?? '' }}
      run={({ form_id, title }) => put.mutateAsync({ params: { id: practiceId, form_id }, body: { title } })}
    >
      {({ field }) => (
        <>
          <Typed label="Title" field={field('title')} autoFocus />
          {!form && (
            <Typed label="ID" description="As the practice software calls it." field={field('form_id')} />
          )}
        </>
      )}
    </FormDialog>
  );
}

function RemoveForm({
  practiceId,
  form,
  users,
}: {
  practiceId: string;
  form: Form;
  users: SubmissionType[];
}) {
  const remove = useChange('deleteForm', ['listForms']);
  return (
    <Confirm
      action="Remove"
      title={`Remove ${form.title}?`}
      run={() => remove.mutateAsync({ params: { id: practiceId, form_id: form.id } })}
    >
      <Use users={users} />
    </Confirm>
  );
}

const assigneeKinds = [
  { value: 'Admin', title: 'a person' },
  { value: 'AdminTeam', title: 'a team' },
];

function PutAssignee({ practiceId, assignee }: { practiceId: string; assignee?: Assignee }) {
  const put = useChange('putAssignee', ['listAssignees']);
  return (
    <FormDialog
      action={assignee ? 'Rename' : 'Add an assignee'}
      title={assignee ? `Rename ${assignee.name}` : 'Add an assignee'}
      submit={assignee ? 'Save' : 'Add'}
      initial={{
        assignee_id: assignee?.id ?? '',
        assignee_type: assignee?.type ?? 'Admin',
        name: assignee?.name ?? '',
      }}
      run={({ assignee_id, assignee_type, name }) =>
        put.mutateAsync({ params: { id: practiceId, assignee_type, assignee_id }, body: { name } })
      }
    >
      {({ field }) => (
        <>
          <Typed label="Name" field={field('name')} autoFocus />
          {!assignee && (
            <>
              <Chosen
                label="Kind"
                field={{
                  ...field('assignee_type'),
                  onChange: field('assignee_type').onChange as (value: string) => void,
                }}
                choices={assigneeKinds}
              />
              <Typed
                label="ID"
                description="As the practice software calls it."
                field={field('assignee_id')}
              />
            </>
          )}
        </>
      )}
    </FormDialog>
  );
}

function RemoveAssignee({
  practiceId,
  assignee,
  users,
}: {
  practiceId: string;
  assignee: Assignee;
  users: SubmissionType[];
}) {
  const remove = useChange('deleteAssignee', ['listAssignees']);
  return (
    <Confirm
      action="Remove"
      title={`Remove ${assignee.name}?`}
      run={() =>
        remove.mutateAsync({
          params: { id: practiceId, assignee_type: assignee.type, assignee_id: assignee.id },
        })
      }
    >
      <Use users={users} />
    </Confirm>
  );
}
