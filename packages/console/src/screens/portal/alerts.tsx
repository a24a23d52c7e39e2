import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { one, useChange } from '../../api/client.ts';
import type { Alert, Contact } from '../../api/generated-portal.ts';
import { Sentence, useFilters } from '../../parts/filters.tsx';
import { FormDialog } from '../../parts/form.tsx';
import { List } from '../../parts/list.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';
import { toldOf } from '../access/contact-words.ts';
import { AlertState, type OpenOrOver, PickOpenOrOver } from '../oversight/alert-state.tsx';
import { alertTitles } from '../oversight/alert-words.ts';
import { ToldOf, toAlertKinds, toldOfContact } from '../oversight/contact-told.tsx';

/** What needs looking after, and who is told of it? */
export function Alerts() {
  const { values, set, clear } = useFilters(['open']);
  return (
    <Page title="Alerts">
      <Sentence isFiltered={Object.keys(values).length > 0} clear={clear}>
        alerts that are
        <PickOpenOrOver value={values.open} onChange={(value) => set('open', value)} />
      </Sentence>
      <List
        label="Alerts"
        of="listPortalAlerts"
        input={{ query: { open: values.open as OpenOrOver | undefined } }}
        keyOf={({ id }) => id}
        empty={
          values.open === undefined
            ? 'You have had no alerts. They are looked for once a minute.'
            : 'No alert is like that. They are looked for once a minute.'
        }
        columns={[
          { title: 'State', width: '5rem', cell: (alert) => <AlertState of={alert} /> },
          { title: 'What', width: '1fr', cell: ({ kind }) => alertTitles[kind] },
          { title: 'About', width: '1fr', cell: ({ subject }) => <AlertSubject of={subject} /> },
          { title: 'What to do', width: '2.4fr', whole: true, cell: ({ remedy }) => remedy },
          { title: 'Began', width: '8rem', titled: true, cell: ({ began_at }) => <When at={began_at} /> },
        ]}
      />
      <Contacts />
    </Page>
  );
}

/** By its name, which leads to it where the portal has a page of it. */
export function AlertSubject({ of: { type, id, name } }: { of: Alert['subject'] }) {
  if (type !== 'webhook' && type !== 'key') return <bdi>{name}</bdi>;
  return (
    <Link to={`/portal/${type}s/${encodeURIComponent(id)}`}>
      <bdi>{name}</bdi>
    </Link>
  );
}

function Contacts() {
  const query = useQuery(one('listPortalContacts', { query: { page_size: 100 } }));
  return (
    <Section title="Who is told">
      <p className="soft">By e-mail. Support adds people and changes addresses.</p>
      <Loaded query={query} rows={2}>
        {({ data }) => (
          <Table
            label="Contacts"
            items={data}
            keyOf={({ id }) => id}
            empty="Nobody is told of alerts. Ask support to add somebody."
            columns={[
              { title: 'E-mail', width: '2fr', cell: ({ email }) => <bdi>{email}</bdi> },
              { title: 'Name', width: '1.4fr', wideOnly: true, cell: ({ name }) => <bdi>{name ?? '–'}</bdi> },
              { title: 'Is told of', width: '3fr', cell: ({ alert_kinds: told }) => toldOf(told) },
              { title: 'Actions', width: '8rem', cell: (contact) => <Choose contact={contact} /> },
            ]}
          />
        )}
      </Loaded>
    </Section>
  );
}

function Choose({ contact }: { contact: Contact }) {
  const { mutateAsync } = useChange('updatePortalContact', ['listPortalContacts']);
  return (
    <FormDialog
      action="Choose"
      submit="Save"
      title={`What is ${contact.email} told of?`}
      initial={toldOfContact(contact.alert_kinds)}
      run={(told) => mutateAsync({ params: { id: contact.id }, body: { alert_kinds: toAlertKinds(told) } })}
    >
      {({ field }) => <ToldOf isAll={field('isAll')} kinds={field('alert_kinds')} />}
    </FormDialog>
  );
}
