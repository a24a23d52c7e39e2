import { useNavigate } from '@tanstack/react-router';
import { useChange } from '../../api/client.ts';
import { useMay } from '../../frame/session.ts';
import { FormDialog, Typed, textOrNull } from '../../parts/form.tsx';
import { List } from '../../parts/list.tsx';
import { Page } from '../../parts/page.tsx';
import { PracticeSearch } from '../../parts/practice-search.tsx';
import { EhrState } from './practice-ehr.tsx';

export function Practices() {
  const navigate = useNavigate();
  const mayAdd = useMay('admin');
  return (
    <Page title="Practices" actions={mayAdd && <AddPractice />}>
      <div className="narrow">
        <PracticeSearch
          label="Find a practice"
          clears
          onPick={(practice) => practice && void navigate({ to: `/practices/${practice.id}` })}
        />
      </div>
      <List
        label="Practices"
        of="listAllPracticeGroups"
        input={{}}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => `/practices/${id}`}
        empty="There is no practice yet. Practice software brings them with POST /operator/v1/import, or add one here."
        columns={[
          { title: 'Name', width: '2fr', cell: ({ name }) => name },
          { title: 'ODS code', width: '6rem', cell: ({ ods_code }) => ods_code },
          {
            title: 'EHR',
            width: '1fr',
            titled: true,
            cell: ({ ehr_status }) => <EhrState of={ehr_status} />,
          },
          {
            title: 'Networks',
            width: '2fr',
            wideOnly: true,
            cell: ({ networks }) => networks.map(({ name }) => name).join(', ') || 'none',
          },
          { title: 'Town', width: '1fr', wideOnly: true, cell: ({ address }) => address?.town ?? '–' },
        ]}
      />
    </Page>
  );
}

function AddPractice() {
  const create = useChange('createPracticeGroup', ['listAllPracticeGroups']);
  const navigate = useNavigate();
  return (
    <FormDialog
      action="Add a practice"
      title="Add a practice"
      submit="Add"
      kind="primary"
      initial={{ name: '', id: '', ods_code: '', timezone: 'Europe/London' }}
      run={async ({ name, id, ods_code, timezone }) => {
        const body = { name, ods_code: textOrNull(ods_code), timezone, ...(id.trim() && { id: id.trim() }) };
        const { data } = await create.mutateAsync({ body });
        await navigate({ to: `/practices/${data.id}` });
      }}
    >
      {({ field }) => (
        <>
          <Typed label="Name" field={field('name')} autoFocus />
          <div className="fields">
            <Typed label="ODS code" field={field('ods_code')} />
            <Typed label="Time zone" field={field('timezone')} />
          </div>
          <Typed
            label="ID"
            description="As its own software calls it. Empty: one is made."
            field={field('id')}
          />
        </>
      )}
    </FormDialog>
  );
}
