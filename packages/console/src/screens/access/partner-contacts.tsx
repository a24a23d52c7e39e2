import { useQuery } from '@tanstack/react-query';
import { one, useChange } from '../../api/client.ts';
import type { Contact, Partner } from '../../api/generated.ts';
import { useMay } from '../../frame/session.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { FormDialog, type FormState, Typed, textOrNull } from '../../parts/form.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Section } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { type ToldFields, ToldOf, toAlertKinds, toldOfContact } from '../oversight/contact-told.tsx';
import { toldOf } from './contact-words.ts';
import { Invite } from './invitations.tsx';

const CHANGES = ['listPartnerContacts', 'getPartner', 'listPartners'] as const;

export function Contacts({ partner }: { partner: Partner }) {
  const params = { id: partner.id };
  const query = useQuery(one('listPartnerContacts', { params, query: { page_size: 100 } }));
  const may = useMay('admin', 'support');
  return (
    <Section title="Contacts" actions={may && <AddContact partner={partner} />}>
      <p className="soft">They are told of alerts by e-mail.</p>
      <Loaded query={query} rows={3}>
        {({ data }) => (
          <Table
            label="Contacts"
            items={data}
            keyOf={({ id }) => id}
            empty="Nobody is told of alerts."
            columns={[
              { title: 'E-mail', width: '2fr', cell: ({ email }) => email },
              { title: 'Name', width: '1.5fr', cell: ({ name }) => name ?? <span className="soft">–</span> },
              { title: 'Is told of', width: '3fr', cell: ({ alert_kinds }) => toldOf(alert_kinds) },
              ...(may
                ? [
                    {
                      title: 'Actions',
                      width: '15rem',
                      cell: (contact: Contact) => <ContactActions partner={partner} contact={contact} />,
                    },
                  ]
                : []),
            ]}
          />
        )}
      </Loaded>
    </Section>
  );
}

interface ContactFields extends ToldFields {
  email: string;
  name: string;
}

const fieldsOf = (contact: Contact | null): ContactFields => ({
  email: contact?.email ?? '',
  name: contact?.name ?? '',
  ...toldOfContact(contact?.alert_kinds ?? null),
});

const bodyOf = ({ email, name, ...told }: ContactFields) => ({
  email,
  name: textOrNull(name),
  alert_kinds: toAlertKinds(told),
});

function ContactForm({ form: { field } }: { form: FormState<ContactFields> }) {
  return (
    <>
      <Typed label="E-mail" type="email" field={field('email')} autoFocus />
      <Typed label="Name" field={field('name')} />
      <ToldOf isAll={field('isAll')} kinds={field('alert_kinds')} />
    </>
  );
}

function AddContact({ partner: { id } }: { partner: Partner }) {
  const create = useChange('createPartnerContact', CHANGES);
  return (
    <FormDialog
      action="Add a contact"
      title="Add a contact"
      submit="Add"
      kind="primary"
      initial={fieldsOf(null)}
      run={(values) => create.mutateAsync({ params: { id }, body: bodyOf(values) })}
    >
      {(form) => <ContactForm form={form} />}
    </FormDialog>
  );
}

function ContactActions({ partner, contact }: { partner: Partner; contact: Contact }) {
  const params = { id: partner.id, contact_id: contact.id };
  const update = useChange('updatePartnerContact', CHANGES);
  const remove = useChange('deletePartnerContact', CHANGES);
  return (
    <span className="actions small">
      <Invite
        of={{ partner_id: partner.id }}
        person={{ name: contact.name ?? '', email: contact.email }}
        action="Invite"
      />
      <FormDialog
        action="Change"
        title={`Change ${contact.email}`}
        submit="Save"
        initial={fieldsOf(contact)}
        run={(values) => update.mutateAsync({ params, body: bodyOf(values) })}
      >
        {(form) => <ContactForm form={form} />}
      </FormDialog>
      {contact.id !== 'first' && (
        <Confirm
          action="Remove"
          title={`Remove ${contact.email}?`}
          run={() => remove.mutateAsync({ params })}
        >
          <p>
            They are told of no alert of {partner.name} any more, and if they were invited into its portal,
            they are out of it at once.
          </p>
        </Confirm>
      )}
    </span>
  );
}
