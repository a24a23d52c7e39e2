import { useQueries, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { all, one } from '../../api/client.ts';
import type { ApiKey, Network, OperatorPracticeGroup } from '../../api/generated.ts';
import { pageOf } from '../../frame/addresses.ts';
import { Skeleton } from '../../parts/loaded.tsx';
import { KnownKey, PartnerName, PracticeName } from '../../parts/name.tsx';
import { Empty, Section } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';
import { reachOf, type StoppedReach, type Way } from '../access/network-reach.ts';
import { toCount, toGrant } from '../access/network-words.tsx';
import { PartnerState } from '../access/partner-state.tsx';
import { type Scope, scopeChoices } from '../access/scopes.ts';
import { Stops, stopsOf } from '../access/stops.tsx';

/** Of each network; who else is in it is on its own page. */
const MEMBERS_MAX = 30;

/** Who may reach the practice: partners by name, with which key, through which network, to do what. */
export function PracticeReach({ practice }: { practice: OperatorPracticeGroup }) {
  const { id, networks: listed } = practice;
  const networks = useQueries({
    queries: listed.map((network) => one('getNetwork', { params: { id: network.id } })),
    combine: (results) => results.flatMap(({ data }) => data ?? []),
  });
  const homes = [id, ...neighboursOf(networks, id)];
  const { keys, isLoading } = useQueries({
    queries: homes.map((home) => all('listKeys', { query: { practice_group_id: home, status: 'active' } })),
    combine: (results) => ({
      keys: results.flatMap(({ data }) => data?.data ?? []),
      isLoading: results.some(({ isPending }) => isPending),
    }),
  });
  const stops = useQuery(stopsOf({ practice_group_id: id }));
  const named = [...new Set(networks.flatMap(({ partner_ids }) => partner_ids ?? []))];
  const partners = useQueries({
    queries: named.map((partnerId) => one('getPartner', { params: { id: partnerId } })),
    combine: (results) => results.flatMap(({ data }) => data ?? []),
  });
  return (
    <>
      <Stops of={{ practice_group_id: id }} />
      <Section title="Partners that reach them">
        {isLoading || stops.isPending || networks.length < listed.length ? (
          <Skeleton rows={4} />
        ) : (
          <Table
            label="Partners that reach them"
            items={waysTo(id, keys, networks, stops.data?.data ?? [])}
            keyOf={({ key, network }) => `${key.id} ${network?.id}`}
            empty="Nobody: there is no key for them, and none through a network."
            columns={[
              { title: 'Partner', width: '2fr', cell: ({ key }) => <Who partnerId={key.partner_id} /> },
              { title: 'With', width: '2fr', cell: ({ key }) => <KnownKey of={key} /> },
              { title: 'Through', width: '2fr', cell: (way) => <Through way={way} /> },
              { title: 'To', width: '3fr', cell: ({ scopes }) => toScopes(scopes) },
              { title: 'Last use', width: '8rem', cell: ({ key }) => <When at={key.last_used_at} /> },
              {
                title: 'Who let them',
                width: '7rem',
                cell: ({ key, network }) => (
                  <Link to="/audit" search={{ subject_id: network?.id ?? key.id }}>
                    Audit
                  </Link>
                ),
              },
            ]}
          />
        )}
      </Section>
      <Section title="Networks that they share">
        {listed.length === 0 && <Empty>None: only keys of their own reach them.</Empty>}
        <ul className="plain">
          {networks.map((network) => (
            <li key={network.id}>
              <Link to={pageOf('network', network.id)}>
                <bdi>{network.name}</bdi>
              </Link>{' '}
              <span className="soft">
                {toCount(network.practice_group_ids.length, 'practice')}: {toGrant(network, partners)}.
                {network.practice_group_ids.length > MEMBERS_MAX &&
                  ` Keys of the first ${MEMBERS_MAX} are looked at here.`}
              </span>
            </li>
          ))}
        </ul>
      </Section>
    </>
  );
}

function neighboursOf(networks: readonly Network[], id: string): string[] {
  const members = networks.flatMap(({ practice_group_ids }) => practice_group_ids.slice(0, MEMBERS_MAX));
  return [...new Set(members)].filter((member) => member !== id);
}

/** By the same rule as what a partner reaches. */
function waysTo(
  id: string,
  keys: readonly ApiKey[],
  networks: readonly Network[],
  stops: readonly StoppedReach[],
): Way[] {
  const partners = Object.groupBy(keys, ({ partner_id }) => partner_id);
  return Object.entries(partners).flatMap(
    ([partnerId, its = []]) => reachOf(partnerId, its, networks, stops).get(id) ?? [],
  );
}

const toScopes = (granted: readonly Scope[]): string =>
  granted.length === scopeChoices.length ? 'everything' : granted.join(', ');

function Who({ partnerId }: { partnerId: string }) {
  const { data } = useQuery(one('getPartner', { params: { id: partnerId } }));
  return (
    <>
      <PartnerName id={partnerId} /> {data && data.status !== 'verified' && <PartnerState of={data.status} />}
    </>
  );
}

function Through({ way: { key, network } }: { way: Way }) {
  if (!network) return <>a key of their own</>;
  return (
    <span>
      <Link to={pageOf('network', network.id)}>
        <bdi>{network.name}</bdi>
      </Link>
      , from <PracticeName id={key.practice_group_id} />
    </span>
  );
}
