import { Link } from '@tanstack/react-router';
import type { OperatorAlert } from '../../api/generated.ts';
import { pageOf, writeThroughOf } from '../../frame/addresses.ts';
import { Pick, Sentence, useFilters } from '../../parts/filters.tsx';
import { List } from '../../parts/list.tsx';
import { PartnerName } from '../../parts/name.tsx';
import { Page } from '../../parts/page.tsx';
import { PickNamed } from '../../parts/pick-named.tsx';
import { When } from '../../parts/when.tsx';
import { AlertState, type OpenOrOver, PickOpenOrOver } from './alert-state.tsx';
import { alertTitles } from './alert-words.ts';

/** What needed looking after, and what still does. */
export function Alerts() {
  const { values, set, clear } = useFilters(['open', 'kind', 'partner_id']);
  const query = {
    ...values,
    open: values.open as OpenOrOver | undefined,
    kind: values.kind as OperatorAlert['kind'] | undefined,
  };
  return (
    <Page title="Alerts">
      <Sentence isFiltered={Object.keys(values).length > 0} clear={clear}>
        alerts that are
        <PickOpenOrOver value={values.open} onChange={(value) => set('open', value)} />
        about
        <Pick
          label="Kind"
          value={values.kind}
          choices={Object.entries(alertTitles).map(([value, title]) => ({ value, title }))}
          any="anything"
          onChange={(value) => set('kind', value)}
        />
        of
        <PickNamed kind="partner" value={values.partner_id} onChange={(id) => set('partner_id', id)} />
      </Sentence>
      <List
        label="Alerts"
        of="listAllAlerts"
        input={{ query }}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => `/alerts/${id}`}
        empty="No alert is like that. They are looked for once a minute."
        columns={[
          { title: 'State', width: '5rem', cell: (alert) => <AlertState of={alert} /> },
          { title: 'What', width: '1.2fr', cell: ({ kind }) => alertTitles[kind] },
          {
            title: 'About',
            width: '1.2fr',
            cell: ({ subject, practice_group_id }) => <Subject of={subject} practiceId={practice_group_id} />,
          },
          {
            title: 'Partner',
            width: '1fr',
            cell: ({ partner_id: id }) => (id ? <PartnerName id={id} isPlain /> : 'the operator'),
          },
          { title: 'Began', width: '8rem', titled: true, cell: ({ began_at }) => <When at={began_at} /> },
          {
            title: 'Ended',
            width: '8rem',
            wideOnly: true,
            cell: ({ ended_at }) => (ended_at ? <When at={ended_at} /> : '–'),
          },
        ]}
      />
    </Page>
  );
}

/** By its name, which leads to it. */
export function Subject({
  of: { type, id, name },
  practiceId,
}: {
  of: OperatorAlert['subject'];
  practiceId: string | null;
}) {
  if (type === 'service') return 'the service itself';
  if (type === 'stop')
    return (
      <Link to={pageOf('practice_group', practiceId ?? '')} search={{ tab: 'reach' }}>
        <bdi>{name}</bdi>
      </Link>
    );
  if (type === 'write_through')
    return (
      <Link {...writeThroughOf(practiceId ?? '')}>
        <bdi>{name}</bdi>
      </Link>
    );
  return (
    <Link to={pageOf(type, id)}>
      <bdi>{name}</bdi>
    </Link>
  );
}
