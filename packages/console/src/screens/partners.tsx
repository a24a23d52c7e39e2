import type { Partner } from '../api/generated.ts';
import { Pick, Sentence, useFilters } from '../parts/filters.tsx';
import { List } from '../parts/list.tsx';
import { Page } from '../parts/page.tsx';
import { State, type StateKind } from '../parts/state.tsx';
import { When } from '../parts/when.tsx';

const statuses: Record<Partner['status'], [StateKind, string]> = {
  applied: ['waiting', 'has applied'],
  agreement_signed: ['waiting', 'agreement signed'],
  verified: ['fine', 'verified'],
  suspended: ['stopped', 'suspended'],
};

export function PartnerState({ of: status }: { of: Partner['status'] }) {
  const [kind, word] = statuses[status];
  return <State kind={kind}>{word}</State>;
}

export function Partners() {
  const { values, set, clear } = useFilters(['status']);
  return (
    <Page title="Partners">
      <Sentence isFiltered={values.status !== undefined} clear={clear}>
        partners whose state is
        <Pick
          label="Status"
          value={values.status}
          choices={Object.entries(statuses).map(([value, [, title]]) => ({ value, title }))}
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
        empty="No partner is like that."
        columns={[
          { title: 'Name', width: '2fr', cell: ({ name }) => name },
          { title: 'State', width: '1fr', cell: ({ status }) => <PartnerState of={status} /> },
          { title: 'Contact', width: '2fr', cell: ({ contact_email }) => contact_email },
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
