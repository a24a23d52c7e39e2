import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Button } from 'react-aria-components/Button';
import { pages } from '../../api/client.ts';
import type { ReachingPartner } from '../../api/generated.ts';
import { useMe } from '../../frame/me.ts';
import { Failure } from '../../parts/failure.tsx';
import { Skeleton } from '../../parts/loaded.tsx';
import { Banner, Empty, Page, Section } from '../../parts/page.tsx';
import { State } from '../../parts/state.tsx';
import { toExact, When } from '../../parts/when.tsx';
import { toAbilities, toCount, toWay } from './words.ts';

/** Who reaches us, by which network, and may do what? */
export function Home() {
  const { practice_group } = useMe();
  return (
    <Page title={practice_group?.name ?? 'My practice'}>
      <Reaching />
    </Page>
  );
}

function Reaching() {
  const query = useInfiniteQuery(pages('listReachingPartners', {}));
  if (query.isPending) return <Skeleton rows={6} />;
  if (query.error && !query.data) return <Failure error={query.error} retry={() => void query.refetch()} />;
  const partners = query.data.pages.flatMap(({ data }) => data);
  const stopped = partners.filter(({ stop }) => stop);
  const reaching = partners.filter(({ stop, ways }) => !stop && ways.length > 0);
  const former = partners.filter(({ stop, ways }) => !stop && ways.length === 0);
  const more = query.hasNextPage ? ' or more' : '';
  return (
    <>
      <Banner tone={stopped.length > 0 ? 'stopped' : 'fine'}>
        <strong>
          {reaching.length === 0 ? 'No partner' : `${toCount(reaching.length, 'partner')}${more}`}{' '}
          {reaching.length <= 1 ? 'reaches' : 'reach'} your practice.
        </strong>{' '}
        {stopped.length > 0 &&
          `You have stopped ${stopped.length === 1 ? 'one' : stopped.length}: what it asks for is refused, and nothing is sent to it.`}
      </Banner>
      <p>
        Partners are companies that work with your practice through Porter. Open one to see what it read,
        changed and was sent, and to stop it.
      </p>
      {stopped.length > 0 && <Partners title="Stopped" of={stopped} />}
      <Partners
        title="They reach you"
        of={reaching}
        empty="None. A partner reaches you when a key was issued to it for your practice, or for one in a network of yours."
      />
      {former.length > 0 && <Partners title="They reach you no more" of={former} />}
      {query.hasNextPage && (
        <Button
          className="button"
          isPending={query.isFetchingNextPage}
          onPress={() => void query.fetchNextPage()}
        >
          Show more
        </Button>
      )}
    </>
  );
}

function Partners({ title, of, empty }: { title: string; of: readonly ReachingPartner[]; empty?: string }) {
  return (
    <Section title={title}>
      {of.length === 0 && <Empty>{empty}</Empty>}
      <ul className="reaching">
        {of.map((one) => (
          <li key={one.partner.id}>
            <One of={one} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

function One({ of: { partner, ways, last_call_at, stop } }: { of: ReachingPartner }) {
  const abilities = toAbilities(ways);
  return (
    <>
      <h3>
        <Link to={`/my-practice/partners/${encodeURIComponent(partner.id)}`}>
          <bdi>{partner.name}</bdi>
        </Link>{' '}
        {stop && <State kind="stopped">stopped</State>}
      </h3>
      {stop && (
        <p>
          <bdi>{stop.stopped_by}</bdi> stopped it <When at={stop.stopped_at} />:{' '}
          <bdi className="said">{stop.reason}</bdi>
        </p>
      )}
      {ways.length > 0 && (
        <>
          <p>
            {stop ? 'It would reach you' : 'It reaches you'}{' '}
            {ways.map((way, at) => (
              <span key={way.network?.id ?? ''}>
                {at > 0 && (at === ways.length - 1 ? ' and ' : ', ')}
                <bdi>{toWay(way)}</bdi>{' '}
                <span className="soft">(since {toExact(way.since).split(',')[0]})</span>
              </span>
            ))}
            {stop ? ', and could:' : ', and may:'}
          </p>
          <ul className="abilities">
            {abilities.map((ability) => (
              <li key={ability}>{ability}</li>
            ))}
          </ul>
        </>
      )}
      <p className="soft">
        {last_call_at ? (
          <>
            It last asked for something <When at={last_call_at} />.
          </>
        ) : (
          'It has not asked for anything lately.'
        )}
      </p>
    </>
  );
}
