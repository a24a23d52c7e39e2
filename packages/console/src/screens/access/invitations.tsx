import { useQuery } from '@tanstack/react-query';
import { one, useChange } from '../../api/client.ts';
import type { Invitation } from '../../api/generated.ts';
import { useMay } from '../../frame/session.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { FormDialog, Typed } from '../../parts/form.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Section } from '../../parts/page.tsx';
import { State, type StateKind } from '../../parts/state.tsx';
import { Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';

/** Whom somebody is invited for. */
type Inviting = { partner_id: string } | { practice_group_id: string };

const states: Record<Invitation['status'], [StateKind, string]> = {
  waiting: ['waiting', 'to be sent'],
  sent: ['waiting', 'sent'],
  undeliverable: ['failing', 'not sent'],
  entered: ['fine', 'has come in'],
  expired: ['stopped', 'link is over'],
  withdrawn: ['stopped', 'withdrawn'],
};

/** Who of a partner or a practice may come into the console. */
export function Invitations({ of }: { of: Inviting }) {
  const query = useQuery(one('listInvitations', { query: { ...of, page_size: 100 } }));
  const may = useMay('admin', 'support');
  return (
    <Section title="People in the console" actions={may && <Invite of={of} />}>
      <Loaded query={query} rows={3}>
        {({ data }) => (
          <Table
            label="Invitations"
            items={data}
            keyOf={({ id }) => id}
            empty="Nobody was invited. Whoever is gets a link by e-mail, which is good for one session."
            columns={[
              {
                title: 'State',
                width: '8rem',
                cell: ({ status }) => <State kind={states[status][0]}>{states[status][1]}</State>,
              },
              { title: 'Name', width: '1.4fr', cell: ({ name }) => <bdi>{name}</bdi> },
              {
                title: 'E-mail',
                width: '2fr',
                cell: ({ email, error }) => (
                  <>
                    <bdi>{email}</bdi>
                    {error !== null && <div className="soft small">{error}</div>}
                  </>
                ),
              },
              {
                title: 'Invited',
                width: '8rem',
                wideOnly: true,
                cell: ({ created_at: at }) => <When at={at} />,
              },
              {
                title: 'Came in',
                width: '8rem',
                wideOnly: true,
                cell: ({ entered_at: at }) => (at ? <When at={at} /> : '–'),
              },
              ...(may
                ? [
                    {
                      title: 'Actions',
                      width: '14rem',
                      cell: (invitation: Invitation) => <Acts of={of} invitation={invitation} />,
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

function Acts({ of, invitation }: { of: Inviting; invitation: Invitation }) {
  const { mutateAsync } = useChange('withdrawInvitation', ['listInvitations']);
  const { id, name, email, status } = invitation;
  return (
    <span className="actions small">
      <Invite of={of} person={{ name, email }} action="Invite again" />
      {status !== 'withdrawn' && (
        <Confirm
          action="Withdraw"
          title={`Withdraw the invitation of ${name}?`}
          run={() => mutateAsync({ params: { id } })}
        >
          <p>The link works no more, and whoever came in by it is out with the next call.</p>
        </Confirm>
      )}
    </span>
  );
}

/** Sends somebody a link. People of a practice are invited by admins alone. */
export function Invite({
  of,
  person = { name: '', email: '' },
  action = 'Invite somebody',
}: {
  of: Inviting;
  person?: { name: string; email: string };
  action?: string;
}) {
  const may = useMay('admin', ...('partner_id' in of ? ['support'] : []));
  const toPartner = useChange('createPartnerInvitation', ['listInvitations']);
  const toPractice = useChange('createPracticeInvitation', ['listInvitations']);
  if (!may) return null;
  return (
    <FormDialog
      action={action}
      submit="Invite"
      title={person.email ? `Invite ${person.email}` : 'Invite somebody'}
      initial={person}
      run={(body) =>
        'partner_id' in of
          ? toPartner.mutateAsync({ params: { id: of.partner_id }, body })
          : toPractice.mutateAsync({ params: { id: of.practice_group_id }, body })
      }
    >
      {({ field }) => (
        <>
          <p>
            They get a link by e-mail, which is good for one session and for three days. With it they see and
            do what is {'partner_id' in of ? 'the partner’s, with its keys,' : 'the practice’s,'} under their
            own name.
          </p>
          <Typed label="Name" field={field('name')} />
          <Typed label="E-mail" type="email" field={field('email')} />
        </>
      )}
    </FormDialog>
  );
}
