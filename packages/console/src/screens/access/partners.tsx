import { useNavigate } from '@tanstack/react-router';
import { useChange } from '../../api/client.ts';
import type { Partner } from '../../api/generated.ts';
import { useMay } from '../../frame/session.ts';
import { Pick, Sentence, useFilters } from '../../parts/filters.tsx';
import { FormDialog, Typed } from '../../parts/form.tsx';
import { List } from '../../parts/list.tsx';
import { Page } from '../../parts/page.tsx';
import { When } from '../../parts/when.tsx';
import { PartnerState, partnerStatuses } from './partner-state.tsx';

export function Partners() {
  const { values, set, clear } = useFilters(['status']);
  const mayAdd = useMay('admin', 'support');
  return (
    <Page title="Partners" actions={mayAdd && <AddPartner />}>
      <Sentence isFiltered={values.status !== undefined} clear={clear}>
        partners whose state is
        <Pick
          label="Status"
          value={values.status}
          choices={Object.entries(partnerStatuses).map(([value, [, title]]) => ({ value, title }))}
          any="any"
          onChange={(value) => set('status', value)}
        />
      </Sentence>
      <List
        label="Partners"
        of="listPartners"
        input={{ query: { status: values.status as Partner['status'] | undefined } }}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => `/partners/${id}`}
        empty={
          values.status
            ? 'No partner is like that.'
            : 'There is no partner yet. Once one is added, its page shows the next step, up to a key that works.'
        }
        columns={[
          { title: 'Name', width: '2fr', cell: ({ name }) => name },
          { title: 'State', width: '1fr', cell: ({ status }) => <PartnerState of={status} /> },
          { title: 'Contact', width: '2fr', broad: true, cell: ({ contact_email }) => contact_email },
          {
            title: 'Since',
            width: '8rem',
            wideOnly: true,
            cell: ({ created_at }) => <When at={created_at} />,
          },
        ]}
      />
    </Page>
  );
}

function AddPartner() {
  const create = useChange('createPartner', ['listPartners']);
  const navigate = useNavigate();
  return (
    <FormDialog
      action="Add a partner"
      title="Add a partner"
      submit="Add"
      kind="primary"
      initial={{ name: '', contact_email: '' }}
      run={async (body) => {
        const { data } = await create.mutateAsync({ body });
        await navigate({ to: `/partners/${data.id}` });
      }}
    >
      {({ field }) => (
        <>
          <Typed label="Name" description="Of the company." field={field('name')} autoFocus />
          <Typed
            label="E-mail"
            description="Its first contact, who is told of alerts."
            type="email"
            field={field('contact_email')}
          />
        </>
      )}
    </FormDialog>
  );
}
