import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { one, useChange } from '../../api/client.ts';
import type { Stop } from '../../api/generated.ts';
import { pageOf } from '../../frame/addresses.ts';
import { useMay } from '../../frame/session.ts';
import { FormDialog, Typed } from '../../parts/form.tsx';
import { Section } from '../../parts/page.tsx';
import { State } from '../../parts/state.tsx';
import { Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';

const SHOWN_MAX = 100;

type Whose = { partner_id: string } | { practice_group_id: string };

/** Those in force. */
export const stopsOf = (whose: Whose) =>
  one('listStops', { query: { ...whose, in_force: 'true', page_size: SHOWN_MAX } });

/** Partners that a practice has stopped, or practices that have stopped a partner; nothing where there is none. */
export function Stops({ of: whose }: { of: Whose }) {
  const { data } = useQuery(stopsOf(whose));
  const isAdmin = useMay('admin');
  if (!data || data.count === 0) return null;
  const isOfPartner = 'partner_id' in whose;
  const title = isOfPartner ? 'Practices that have stopped them' : 'Partners that they have stopped';
  return (
    <Section title={title}>
      <Table
        label={title}
        items={data.data}
        keyOf={({ id }) => id}
        empty="None."
        columns={[
          {
            title: isOfPartner ? 'Practice' : 'Partner',
            width: '2fr',
            cell: ({ partner, practice_group }) => {
              const { id, name } = isOfPartner ? practice_group : partner;
              return (
                <Link to={pageOf(isOfPartner ? 'practice_group' : 'partner', id)}>
                  <bdi>{name}</bdi>
                </Link>
              );
            },
          },
          { title: 'State', width: '7rem', cell: () => <State kind="stopped">stopped</State> },
          {
            title: 'By',
            width: '2fr',
            cell: ({ stopped_by, stopped_at }) => (
              <>
                <bdi>{stopped_by}</bdi>, <When at={stopped_at} />
              </>
            ),
          },
          { title: 'Reason', width: '3fr', cell: ({ reason }) => <bdi className="said">{reason}</bdi> },
          ...(isAdmin ? [{ title: 'Lift', width: '6rem', cell: (stop: Stop) => <Lift of={stop} /> }] : []),
        ]}
      />
    </Section>
  );
}

function Lift({ of: { id, partner, practice_group, stopped_by } }: { of: Stop }) {
  const { mutateAsync } = useChange('liftStop', ['listStops', 'getAttention', 'listAllAlerts']);
  return (
    <FormDialog
      action="Lift"
      title={`Lift the stop of ${partner.name}?`}
      submit="Lift the stop"
      initial={{ reason: '' }}
      run={({ reason }) => mutateAsync({ params: { id }, body: { reason: reason.trim() } })}
    >
      {({ field }) => (
        <>
          <p>
            <bdi>{partner.name}</bdi> reaches <bdi>{practice_group.name}</bdi> again with its next call, and
            what was queued for it is sent. It was <bdi>{stopped_by}</bdi> of the practice who stopped it.
          </p>
          <Typed
            label="Reason"
            description="The practice sees it, with your name. The audit keeps it."
            field={field('reason')}
            autoFocus
          />
        </>
      )}
    </FormDialog>
  );
}
