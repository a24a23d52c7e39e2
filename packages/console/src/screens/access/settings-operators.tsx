import { useState } from 'react';
import { useChange } from '../../api/client.ts';
import type { Approval, NewOperator, Operator } from '../../api/generated.ts';
import { useMay, useSession } from '../../frame/session.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Chosen, FormDialog, momentOrNull, Typed, textOrNull, toLocalInput } from '../../parts/form.tsx';
import { Section } from '../../parts/page.tsx';
import { Paged } from '../../parts/paged.tsx';
import { Secret } from '../../parts/secret.tsx';
import { State, type StateKind } from '../../parts/state.tsx';
import { Table } from '../../parts/table.tsx';
import { isWaiting, Waits } from '../../parts/waits.tsx';
import { When } from '../../parts/when.tsx';

const roles = [
  { value: 'viewer', title: 'viewer', description: 'Reads everything.' },
  {
    value: 'support',
    title: 'support',
    description: 'Reads everything; manages partners and keys, and retries deliveries.',
  },
  {
    value: 'source',
    title: 'source',
    description: 'A system of a practice: says what happened, and reads changes. It is not for people.',
  },
  { value: 'admin', title: 'admin', description: 'Everything.' },
];

const states: Record<Operator['status'], [StateKind, string]> = {
  active: ['fine', 'works'],
  expired: ['stopped', 'expired'],
  revoked: ['stopped', 'revoked'],
};

const CHANGES = ['listOperators'] as const;

/** People and systems with a token: what each may do, and when it was last used. */
export function Operators() {
  const may = useMay('admin');
  const me = useSession().operator.id;
  const [made, setMade] = useState<NewOperator | Approval>();
  return (
    <Section title="Operators" actions={may && <AddOperator made={setMade} />}>
      {made && isWaiting(made) && <Waits approval={made} />}
      {made && !isWaiting(made) && (
        <Secret
          name={`The token of ${made.name}`}
          value={made.token}
          fileName="porter-operator-token.txt"
          done={() => setMade(undefined)}
        />
      )}
      <Paged of="listOperators" input={{}}>
        {(operators) => (
          <Table
            label="Operators"
            items={operators}
            keyOf={({ id }) => id}
            empty="There is none."
            columns={[
              {
                title: 'Name',
                width: '2fr',
                cell: ({ id, name }) => (
                  <>
                    <bdi>{name}</bdi> {id === me && <span className="soft">(you)</span>}
                  </>
                ),
              },
              { title: 'Role', width: '6rem', cell: ({ role }) => role },
              {
                title: 'Token',
                width: '6rem',
                cell: ({ status }) => <State kind={states[status][0]}>{states[status][1]}</State>,
              },
              {
                title: 'For',
                width: '2fr',
                wideOnly: true,
                cell: ({ label }) => label ?? <span className="soft">–</span>,
              },
              { title: 'Last use', width: '8rem', cell: ({ last_used_at }) => <When at={last_used_at} /> },
              {
                title: 'Expires',
                width: '8rem',
                wideOnly: true,
                cell: ({ expires_at }) =>
                  expires_at ? <When at={expires_at} /> : <span className="soft">never</span>,
              },
              ...(may
                ? [
                    {
                      title: 'Actions',
                      width: '12rem',
                      cell: (operator: Operator) =>
                        operator.status === 'active' && <OperatorActions of={operator} waits={setMade} />,
                    },
                  ]
                : []),
            ]}
          />
        )}
      </Paged>
    </Section>
  );
}

function AddOperator({ made }: { made: (operator: NewOperator | Approval) => void }) {
  const create = useChange('createOperator', CHANGES);
  return (
    <FormDialog
      action="Add an operator"
      title="Add an operator"
      submit="Add"
      kind="primary"
      initial={{ name: '', role: 'viewer', label: '', expires_at: '' }}
      run={async ({ name, role, label, expires_at }) => {
        const body = {
          name,
          role: role as Operator['role'],
          label: textOrNull(label),
          expires_at: momentOrNull(expires_at),
        };
        made((await create.mutateAsync({ body })).data);
      }}
    >
      {({ field }) => (
        <>
          <Typed label="Name" description="Changes are audited under it." field={field('name')} autoFocus />
          <Chosen label="Role" field={field('role')} choices={roles} />
          <Typed
            label="For"
            description="What the token is for, or where it is kept."
            field={field('label')}
          />
          <Typed
            label="Expires"
            description="Empty: never."
            type="datetime-local"
            field={field('expires_at')}
          />
        </>
      )}
    </FormDialog>
  );
}

function OperatorActions({
  of: operator,
  waits,
}: {
  of: Operator;
  waits: (approval: Approval | undefined) => void;
}) {
  const update = useChange('updateOperator', CHANGES);
  const revoke = useChange('revokeOperator', [...CHANGES, 'listSessions', 'listInvitations']);
  const params = { id: operator.id };
  const initial = { label: operator.label ?? '', expires_at: toLocalInput(operator.expires_at) };
  return (
    <span className="actions small">
      <FormDialog
        action="Change"
        title={`Change ${operator.name}`}
        submit="Save"
        initial={initial}
        run={async ({ label, expires_at }) => {
          const { data } = await update.mutateAsync({
            params,
            body: {
              label: textOrNull(label),
              ...(expires_at !== initial.expires_at && { expires_at: momentOrNull(expires_at) }),
            },
          });
          waits(isWaiting(data) ? data : undefined);
        }}
      >
        {({ field }) => (
          <>
            <Typed label="For" field={field('label')} autoFocus />
            <Typed
              label="Expires"
              description="Empty: never."
              type="datetime-local"
              field={field('expires_at')}
            />
          </>
        )}
      </FormDialog>
      <Confirm
        action="Revoke"
        title={`Revoke ${operator.name}?`}
        typed={{ label: 'Type the name', text: operator.name.trim() }}
        run={() => revoke.mutateAsync({ params })}
      >
        <p>
          The token works no more, whoever signed in with it is signed out, and invitations by {operator.name}{' '}
          that nobody has used are withdrawn. It was last used <When at={operator.last_used_at} />. It cannot
          be undone.
        </p>
      </Confirm>
    </span>
  );
}
