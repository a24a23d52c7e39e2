import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { all, one } from '../../api/client.ts';
import type { AuditEntry, Network } from '../../api/generated.ts';
import { pageOf } from '../../frame/addresses.ts';
import { Disclosure } from '../../parts/disclosure.tsx';
import { useEvery, usePracticeNames } from '../../parts/every.ts';
import { Failure } from '../../parts/failure.tsx';
import { Loaded, Skeleton } from '../../parts/loaded.tsx';
import { KnownKey } from '../../parts/name.tsx';
import { Banner, Empty } from '../../parts/page.tsx';
import { When } from '../../parts/when.tsx';
import { type NetworkArea, Picture } from './network-picture.tsx';
import { reachOf, type Way } from './network-reach.ts';
import { toCount } from './network-words.tsx';
import { Stops, stopsOf } from './stops.tsx';

const KEY_PAGES_MAX = 5;
const SHOWN_MAX = 60;

interface PartnerReachProps {
  partnerId: string;
  networks: readonly Network[];
  practice: string | undefined;
  select: (id: string | undefined) => void;
}

/** Which of our practices can they reach, through what, and who let them? */
export function PartnerReach({ partnerId, networks, practice, select }: PartnerReachProps) {
  const partner = useQuery(one('getPartner', { params: { id: partnerId } }));
  const keys = useEvery('listKeys', { query: { partner_id: partnerId, status: 'active' } }, KEY_PAGES_MAX);
  const stops = useQuery(stopsOf({ partner_id: partnerId }));
  const reach = reachOf(partnerId, keys.items, networks, stops.data?.data ?? []);
  const ids = [...reach.keys()];
  const nameOf = usePracticeNames(ids.slice(0, SHOWN_MAX));
  if (keys.error) return <Failure error={keys.error} retry={keys.retry} />;
  if (stops.error) return <Failure error={stops.error} retry={() => void stops.refetch()} />;
  if (keys.isLoading || stops.isPending) return <Skeleton rows={8} />;
  return (
    <Loaded query={partner}>
      {({ name, status }) => (
        <>
          <Banner tone={status === 'verified' ? 'fine' : 'stopped'}>
            <strong>
              <Link to={pageOf('partner', partnerId)}>
                <bdi>{name}</bdi>
              </Link>{' '}
              {status === 'verified'
                ? `reaches ${toCount(ids.length, 'practice')} with ${toCount(keys.items.length, 'key')}.`
                : `is not verified, so its keys reach nothing. Verified, they would reach ${toCount(ids.length, 'practice')}.`}
            </strong>
          </Banner>
          <Stops of={{ partner_id: partnerId }} />
          {ids.length === 0 ? (
            <Empty>It has no key that works.</Empty>
          ) : (
            <div className="picture-and-list">
              <Reached
                reach={reach}
                networks={networks}
                nameOf={nameOf}
                practice={practice}
                select={select}
              />
              <ul className="targets" aria-label="Practices in reach">
                {[...reach].map(([id, ways]) => (
                  <li key={id}>
                    <Disclosure
                      isOpen={practice === id}
                      toggle={(open) => select(open ? id : undefined)}
                      title={<bdi className="name">{nameOf(id)}</bdi>}
                      aside={toThrough(ways)}
                    >
                      {ways.map((way) => (
                        <HowAndWho
                          key={`${way.key.id} ${way.network?.id}`}
                          way={way}
                          practiceId={id}
                          partnerId={partnerId}
                          nameOf={nameOf}
                        />
                      ))}
                    </Disclosure>
                  </li>
                ))}
              </ul>
            </div>
          )}
        </>
      )}
    </Loaded>
  );
}

function toThrough(ways: readonly Way[]): string {
  const names = [
    ...new Set(ways.map(({ network }) => (network ? `through ${network.name}` : 'by a key of its own'))),
  ];
  return names.join(', ');
}

function Reached({
  reach,
  networks,
  nameOf,
  practice,
  select,
}: Omit<PartnerReachProps, 'partnerId'> & { reach: Map<string, Way[]>; nameOf: (id: string) => string }) {
  const ids = [...reach.keys()].slice(0, SHOWN_MAX);
  const shown = new Set(ids);
  const used = new Set([...reach.values()].flat().map(({ network }) => network?.id));
  const areas: NetworkArea[] = networks
    .filter(({ id }) => used.has(id))
    .map(({ id, name, practice_group_ids }) => ({
      id,
      name,
      members: practice_group_ids.filter((member) => shown.has(member)),
    }));
  const lines = new Map(
    [...reach].flatMap(([to, ways]) =>
      ways.flatMap(({ key, network }) =>
        network && shown.has(to) && (!practice || practice === to)
          ? [[`${key.practice_group_id} ${to}`, { from: key.practice_group_id, to }] as const]
          : [],
      ),
    ),
  );
  return (
    <div>
      <Picture
        label="Practices in reach"
        practices={ids.map((id) => ({
          id,
          name: nameOf(id),
          mark: reach.get(id)?.some(({ network }) => network === null) ? 'key' : undefined,
        }))}
        areas={areas}
        lines={[...lines.values()]}
        selected={practice}
        select={(id) => select(id === practice ? undefined : id)}
      />
      {reach.size > ids.length && (
        <p className="soft">
          The picture shows {ids.length} of {reach.size} practices.
        </p>
      )}
    </div>
  );
}

/** One way in, and the people who opened it: each step is an entry of the audit. */
function HowAndWho({
  way: { key, network, scopes },
  practiceId,
  partnerId,
  nameOf,
}: {
  way: Way;
  practiceId: string;
  partnerId: string;
  nameOf: (id: string) => string;
}) {
  return (
    <div>
      <p>
        With <KnownKey of={key} />
        {network ? (
          <>
            {' '}
            of <bdi>{nameOf(key.practice_group_id)}</bdi>, through{' '}
            <Link to={pageOf('network', network.id)}>
              <bdi>{network.name}</bdi>
            </Link>
          </>
        ) : (
          ', issued for this practice'
        )}
        : <span className="soft">{scopes.join(', ')}</span>
      </p>
      <ul className="plain who-let">
        <LetIn by={key.id} did={(entry) => /^key\.(issue|rotate)/.test(entry.action)} what="issued the key" />
        {network && (
          <>
            <LetIn
              by={network.id}
              did={adds(practiceId)}
              what={`put ${nameOf(practiceId)} into the network`}
            />
            <LetIn
              by={network.id}
              did={adds(key.practice_group_id)}
              what={`put ${nameOf(key.practice_group_id)} into the network`}
            />
          </>
        )}
        <LetIn by={partnerId} did={({ action }) => action === 'partner.verify'} what="verified the partner" />
      </ul>
    </div>
  );
}

const membersIn = (state: unknown): string[] =>
  (state as { practice_group_ids?: string[] } | null)?.practice_group_ids ?? [];

const adds =
  (practiceId: string) =>
  ({ before, after }: AuditEntry): boolean =>
    membersIn(after).includes(practiceId) && !membersIn(before).includes(practiceId);

function LetIn({
  by: subject,
  did,
  what,
}: {
  by: string;
  did: (entry: AuditEntry) => boolean;
  what: string;
}) {
  const { data, error, isPending } = useQuery(all('listAudit', { query: { subject_id: subject } }));
  const entry = data?.data.find(did);
  if (isPending) return null;
  return (
    <li>
      {entry ? (
        <>
          <strong>
            <bdi>{entry.actor.name ?? entry.actor.id}</bdi>
          </strong>{' '}
          {what} <When at={entry.at} />.{' '}
          <Link to="/audit" search={{ subject_id: subject }}>
            Audit
          </Link>
        </>
      ) : (
        <span className="soft">
          {error ? 'The audit does not answer.' : `Who ${what} is not among the latest entries of the audit.`}
        </span>
      )}
    </li>
  );
}
