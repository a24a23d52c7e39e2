import { Link } from '@tanstack/react-router';
import type { Network, Partner } from '../../api/generated.ts';
import { pageOf } from '../../frame/addresses.ts';
import { useMay } from '../../frame/session.ts';
import { useEvery, usePracticeNames } from '../../parts/every.ts';
import { Failure } from '../../parts/failure.tsx';
import { Sentence, useFilters } from '../../parts/filters.tsx';
import { Skeleton } from '../../parts/loaded.tsx';
import { Empty, Page } from '../../parts/page.tsx';
import { PickNamed } from '../../parts/pick-named.tsx';
import { PartnerReach } from './network-partner.tsx';
import { type NetworkArea, Picture } from './network-picture.tsx';
import { toCount, toGrant } from './network-words.tsx';

const NETWORK_PAGES_MAX = 5;
const PARTNER_PAGES_MAX = 2;
/** More could not be told apart. */
const PRACTICES_SHOWN_MAX = 60;
const MEMBERS_LISTED_MAX = 12;

/** Who reaches whom? The picture, and the same as a list beside it. */
export function Networks() {
  const { values, set, clear } = useFilters(['partner', 'practice']);
  const networks = useEvery('listNetworks', {}, NETWORK_PAGES_MAX);
  const partners = useEvery('listPartners', {}, PARTNER_PAGES_MAX);
  const mayChange = useMay('admin');
  return (
    <Page
      title="Networks"
      actions={
        mayChange && (
          <Link className="button primary" to="/networks/new">
            New network
          </Link>
        )
      }
    >
      <Sentence isFiltered={Object.keys(values).length > 0} clear={clear}>
        what
        <PickNamed kind="partner" value={values.partner} onChange={(id) => void set('partner', id)} />
        reaches
      </Sentence>
      {networks.error && <Failure error={networks.error} retry={networks.retry} />}
      {networks.isLoading ? (
        <Skeleton rows={8} />
      ) : values.partner ? (
        <PartnerReach
          partnerId={values.partner}
          networks={networks.items}
          practice={values.practice}
          select={(id) => void set('practice', id)}
        />
      ) : (
        <Overview
          networks={networks.items}
          partners={partners.items}
          isCut={networks.isCut}
          practice={values.practice}
          select={(id) => void set('practice', id)}
        />
      )}
    </Page>
  );
}

interface OverviewProps {
  networks: readonly Network[];
  partners: readonly Partner[];
  isCut: boolean;
  practice: string | undefined;
  select: (id: string | undefined) => void;
}

function Overview({ networks, partners, isCut, practice, select }: OverviewProps) {
  const shown = firstThatFit(networks);
  const ids = [...new Set(shown.flatMap(({ practice_group_ids }) => practice_group_ids))];
  const nameOf = usePracticeNames(practice ? [...ids, practice] : ids);
  if (networks.length === 0)
    return <Empty>There is no network: every key acts for its own practice alone.</Empty>;
  const own = practice ? networks.filter((one) => one.practice_group_ids.includes(practice)) : [];
  const near = new Set(own.flatMap(({ practice_group_ids }) => practice_group_ids));
  return (
    <div className="picture-and-list">
      <div>
        {shown.length > 0 && (
          <Picture
            label="Networks and their practices"
            practices={ids.map((id) => ({
              id,
              name: nameOf(id),
              isFaint: practice !== undefined && !near.has(id),
            }))}
            areas={shown.map(toArea)}
            lines={
              practice ? [...near].filter((id) => id !== practice).map((to) => ({ from: practice, to })) : []
            }
            selected={practice}
            select={(id) => select(id === practice ? undefined : id)}
          />
        )}
        {shown.length < networks.length && (
          <p className="soft">
            The picture shows {toCount(shown.length, 'network')} of {networks.length}
            {isCut && ' or more'}; open one to see it.
          </p>
        )}
      </div>
      <div>
        {practice ? (
          <Neighbours
            practice={practice}
            networks={own}
            partners={partners}
            nameOf={nameOf}
            select={select}
          />
        ) : (
          <ul className="plain" aria-label="Networks">
            {networks.map((network) => (
              <li key={network.id}>
                <h2>
                  <Link to={pageOf('network', network.id)}>
                    <bdi>{network.name}</bdi>
                  </Link>
                </h2>
                <p className="soft">
                  {toCount(network.practice_group_ids.length, 'practice')} · {toGrant(network, partners)}
                </p>
                <Members of={network} nameOf={nameOf} />
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  );
}

export const toArea = ({ id, name, practice_group_ids }: Network): NetworkArea => ({
  id,
  name,
  members: practice_group_ids,
});

/** Small ones first come into the picture, in the order of the list. */
function firstThatFit(networks: readonly Network[]): Network[] {
  const practices = new Set<string>();
  return networks.filter(({ practice_group_ids: members }) => {
    const all = new Set([...practices, ...members]);
    if (members.length === 0 || all.size > PRACTICES_SHOWN_MAX) return false;
    for (const id of members) practices.add(id);
    return true;
  });
}

function Members({
  of: { practice_group_ids: ids },
  nameOf,
}: {
  of: Network;
  nameOf: (id: string) => string;
}) {
  const listed = ids.slice(0, MEMBERS_LISTED_MAX);
  return (
    <p className="members">
      {listed.map((id) => (
        <Link key={id} to="/networks" search={{ practice: id }}>
          <bdi>{nameOf(id)}</bdi>
        </Link>
      ))}
      {ids.length > listed.length && <span className="soft">and {ids.length - listed.length} more</span>}
    </p>
  );
}

/** Who acts for one practice, and for whom its own keys do: whoever shares a network with it, within what that grants. */
function Neighbours({
  practice,
  networks,
  partners,
  nameOf,
  select,
}: Omit<OverviewProps, 'isCut' | 'practice'> & { practice: string; nameOf: (id: string) => string }) {
  return (
    <section aria-labelledby="neighbours">
      <h2 id="neighbours">
        <Link to={pageOf('practice_group', practice)}>
          <bdi>{nameOf(practice)}</bdi>
        </Link>
      </h2>
      {networks.length === 0 ? (
        <p>It is in no network: only keys of its own act for it.</p>
      ) : (
        <p className="soft">
          Besides keys of its own, those of these practices act for it, and its own for them:
        </p>
      )}
      <ul className="plain">
        {networks.map((network) => (
          <li key={network.id}>
            <h3>
              through{' '}
              <Link to={pageOf('network', network.id)}>
                <bdi>{network.name}</bdi>
              </Link>
            </h3>
            <p className="soft">{toGrant(network, partners)}</p>
            <p className="members">
              {network.practice_group_ids
                .filter((id) => id !== practice)
                .slice(0, PRACTICES_SHOWN_MAX)
                .map((id) => (
                  <button type="button" className="link" key={id} onClick={() => select(id)}>
                    <bdi>{nameOf(id)}</bdi>
                  </button>
                ))}
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}
