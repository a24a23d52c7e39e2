import type { ApiKey } from '../../api/generated.ts';
import { Pick, Sentence, useFilters } from '../../parts/filters.tsx';
import { List } from '../../parts/list.tsx';
import { nameOfKey, PartnerName, PracticeName } from '../../parts/name.tsx';
import { Page } from '../../parts/page.tsx';
import { When } from '../../parts/when.tsx';
import { KeyState } from './key-state.tsx';

const statuses = [
  { value: 'active', title: 'work' },
  { value: 'expired', title: 'have expired' },
  { value: 'revoked', title: 'are revoked' },
];

/** All keys, or those of a partner or a practice. */
export function Keys() {
  const { values, set, clear } = useFilters(['status', 'partner_id', 'practice_group_id']);
  const query = { ...values, status: values.status as ApiKey['status'] | undefined };
  return (
    <Page title="Keys" trail={[{ title: 'Partners', to: '/partners' }]}>
      <Sentence isFiltered={Object.keys(values).length > 0} clear={clear}>
        keys{' '}
        {values.partner_id && (
          <>
            of <PartnerName id={values.partner_id} />
          </>
        )}
        {values.practice_group_id && (
          <>
            for <PracticeName id={values.practice_group_id} />
          </>
        )}
        that
        <Pick
          label="Status"
          value={values.status}
          choices={statuses}
          any="work or not"
          onChange={(value) => set('status', value)}
        />
      </Sentence>
      <List
        label="Keys"
        of="listKeys"
        input={{ query }}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => `/keys/${id}`}
        empty="No key is like that. Keys are issued on the page of their partner."
        columns={[
          { title: 'Key', width: '2fr', cell: nameOfKey },
          { title: 'Partner', width: '1.5fr', cell: ({ partner_id }) => <PartnerName id={partner_id} /> },
          {
            title: 'Practice',
            width: '1.5fr',
            wideOnly: true,
            cell: ({ practice_group_id }) => <PracticeName id={practice_group_id} />,
          },
          { title: 'State', width: '1.2fr', cell: (key) => <KeyState of={key} /> },
          {
            title: 'Last use',
            width: '8rem',
            titled: true,
            cell: ({ last_used_at }) => <When at={last_used_at} />,
          },
        ]}
      />
    </Page>
  );
}
