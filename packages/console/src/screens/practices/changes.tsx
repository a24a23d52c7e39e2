import { Link } from '@tanstack/react-router';
import type { Change } from '../../api/generated.ts';
import { Pick, Sentence, useFilters } from '../../parts/filters.tsx';
import { List } from '../../parts/list.tsx';
import { PartnerName, PracticeName } from '../../parts/name.tsx';
import { Page } from '../../parts/page.tsx';
import { PickNamed } from '../../parts/pick-named.tsx';
import { When } from '../../parts/when.tsx';
import { ChangeState, changeStates, toFields } from './change-words.tsx';
import { SubmissionTypeName } from './submission-type-name.tsx';

/** What partners changed, and whether the practice software has it. */
export function Changes() {
  const { values, set, clear } = useFilters(['state', 'partner_id', 'practice_group_id']);
  const query = { ...values, state: values.state as Change['state'] | undefined };
  return (
    <Page
      title="Changes"
      actions={
        <Link className="button" to="/subscriptions">
          Subscriptions
        </Link>
      }
    >
      <Sentence isFiltered={Object.keys(values).length > 0} clear={clear}>
        changes that are
        <Pick
          label="State"
          value={values.state}
          choices={Object.entries(changeStates).map(([value, [, title]]) => ({ value, title }))}
          any="in any state"
          onChange={(value) => set('state', value)}
        />
        of
        <PickNamed kind="partner" value={values.partner_id} onChange={(id) => set('partner_id', id)} />
        for
        <PickNamed
          kind="practice_group"
          value={values.practice_group_id}
          onChange={(id) => set('practice_group_id', id)}
        />
      </Sentence>
      <List
        label="Changes"
        of="listLatestChanges"
        input={{ query }}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => `/changes/${id}`}
        empty="No change is like that. Partners make them with PATCH /v1/care-nav/submission-types/{id}."
        columns={[
          { title: 'State', width: '8rem', cell: ({ state }) => <ChangeState of={state} /> },
          { title: 'Submission type', width: '1.2fr', cell: (change) => <SubmissionTypeName of={change} /> },
          { title: 'Changed', width: '1.2fr', titled: true, cell: (change) => toFields(change) },
          {
            title: 'Practice',
            width: '1.2fr',
            cell: ({ practice_group_id }) => <PracticeName id={practice_group_id} isPlain />,
          },
          {
            title: 'Partner',
            width: '1fr',
            cell: ({ partner_id }) => <PartnerName id={partner_id} isPlain />,
          },
          { title: 'Made', width: '8rem', titled: true, cell: ({ at }) => <When at={at} /> },
          {
            title: 'Answered',
            width: '8rem',
            wideOnly: true,
            cell: ({ ended_at }) => (ended_at ? <When at={ended_at} /> : '–'),
          },
        ]}
      />
    </Page>
  );
}
