import type { PortalKey } from '../../api/generated-portal.ts';
import { Pick, Sentence, useFilters } from '../../parts/filters.tsx';
import { List } from '../../parts/list.tsx';
import { nameOfKey } from '../../parts/name.tsx';
import { Page } from '../../parts/page.tsx';
import { State, type StateKind } from '../../parts/state.tsx';
import { When } from '../../parts/when.tsx';

const states: Record<PortalKey['status'], [StateKind, string]> = {
  active: ['fine', 'works'],
  expired: ['stopped', 'expired'],
  revoked: ['stopped', 'revoked'],
};

function KeyState({ of: { status } }: { of: PortalKey }) {
  const [kind, word] = states[status];
  return <State kind={kind}>{word}</State>;
}

/** Which keys do we have, what may each do, how much is it used? */
export function Keys() {
  const { values, set, clear } = useFilters(['status']);
  const status = values.status as PortalKey['status'] | undefined;
  return (
    <Page title="Keys and limits">
      <Sentence isFiltered={status !== undefined} clear={clear}>
        keys that
        <Pick
          label="Status"
          value={status}
          choices={[
            { value: 'active', title: 'work' },
            { value: 'expired', title: 'have expired' },
            { value: 'revoked', title: 'were revoked' },
          ]}
          any="work or do not"
          onChange={(value) => set('status', value)}
        />
      </Sentence>
      <List
        label="Keys"
        of="listPortalKeys"
        input={{ query: { status } }}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => `/portal/keys/${id}`}
        empty="No key is like that. Support issues and rotates keys."
        columns={[
          { title: 'Key', width: '2fr', cell: (key) => <bdi>{nameOfKey(key)}</bdi> },
          { title: 'State', width: '6rem', cell: (key) => <KeyState of={key} /> },
          { title: 'Practice', width: '1.4fr', cell: ({ practice_group: { name } }) => <bdi>{name}</bdi> },
          {
            title: 'Limit',
            width: '5rem',
            titled: true,
            cell: ({ rate_limit_per_minute: limit }) => `${limit}/min`,
          },
          { title: 'Calls today', width: '5.5rem', titled: true, cell: ({ today }) => total(today) },
          {
            title: 'Refused today',
            width: '6.5rem',
            titled: true,
            cell: ({ today }) => today.refused + today.rate_limited,
          },
          {
            title: 'Last use',
            width: '7rem',
            wideOnly: true,
            cell: ({ last_used_at: at }) => <When at={at} />,
          },
          {
            title: 'Ends',
            width: '6rem',
            wideOnly: true,
            cell: ({ expires_at: at }) => (at ? <When at={at} /> : 'never'),
          },
        ]}
      />
    </Page>
  );
}

const total = ({ ok, refused, rate_limited, failed }: PortalKey['today']) =>
  ok + refused + rate_limited + failed;
