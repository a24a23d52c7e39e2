import { useChange } from '../../api/client.ts';
import type { Session } from '../../api/generated.ts';
import { useMay } from '../../frame/session.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Section } from '../../parts/page.tsx';
import { Paged } from '../../parts/paged.tsx';
import { Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';

/** Who is signed in: oneself, or everybody for an admin. */
export function Sessions() {
  const isAdmin = useMay('admin');
  return (
    <Section title="Sessions" actions={<EndOwn />}>
      <p className="soft">{isAdmin ? 'Everybody who is signed in.' : 'Where you are signed in.'}</p>
      <Paged of="listSessions" input={{}}>
        {(sessions) => (
          <Table
            label="Sessions"
            items={sessions}
            keyOf={({ id }) => id}
            empty="Nobody is signed in."
            columns={[
              {
                title: 'Who',
                width: '2fr',
                cell: ({ operator_name, is_current }) => (
                  <>
                    <bdi>{operator_name}</bdi> {is_current && <span className="soft">(this one)</span>}
                  </>
                ),
              },
              { title: 'From', width: '1.5fr', cell: ({ address }) => address },
              {
                title: 'With',
                width: '2fr',
                wideOnly: true,
                cell: ({ user_agent }) => browserOf(user_agent),
              },
              { title: 'Signed in', width: '8rem', cell: ({ created_at }) => <When at={created_at} /> },
              { title: 'Last use', width: '8rem', cell: ({ last_used_at }) => <When at={last_used_at} /> },
              {
                title: 'Ends',
                width: '8rem',
                wideOnly: true,
                cell: ({ idle_expires_at }) => <When at={idle_expires_at} />,
              },
              {
                title: 'Actions',
                width: '7rem',
                cell: (session) => (
                  <span className="actions small">
                    <End of={session} />
                  </span>
                ),
              },
            ]}
          />
        )}
      </Paged>
    </Section>
  );
}

/** Browsers say a lot; which one it is, and on what, is enough to know one's own. */
function browserOf(agent: string | null): string {
  if (!agent) return 'not said';
  const browser = /(Edg|OPR|Firefox|Chrome|Safari)\/[\d.]+/.exec(agent)?.[1];
  const system = /(Windows|Mac OS X|Android|iPhone|Linux)/.exec(agent)?.[1];
  const name = { Edg: 'Edge', OPR: 'Opera' }[browser ?? ''] ?? browser;
  return [name, system].filter(Boolean).join(' on ') || agent.slice(0, 60);
}

function EndOwn() {
  const end = useChange('revokeOwnSessions', ['listSessions', 'getOperatorMe']);
  return (
    <Confirm
      action="Sign out everywhere"
      title="End all of your own sessions?"
      run={() => end.mutateAsync({})}
    >
      <p>You are signed out in every browser, also in this one, about a second from now.</p>
    </Confirm>
  );
}

function End({ of: { id, operator_name, is_current } }: { of: Session }) {
  const end = useChange('revokeSession', ['listSessions', 'getOperatorMe']);
  return (
    <Confirm
      action="End"
      title={is_current ? 'End this very session?' : `End this session of ${operator_name}?`}
      run={() => end.mutateAsync({ params: { id } })}
    >
      <p>Whoever uses it must sign in again, about a second from now.</p>
    </Confirm>
  );
}
