import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { one } from '../../api/client.ts';
import type { ReachingPartnerInDetail } from '../../api/generated.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Banner, Empty, Facts, Page, Section } from '../../parts/page.tsx';
import { toExact, When } from '../../parts/when.tsx';
import { Activity } from './activity.tsx';
import { ResumePartner, StopPartner } from './stop.tsx';
import { toAbilities, toCount, toWay } from './words.ts';

/** What may they do, what did they do, and stop them. */
export function Partner() {
  const { id = '' } = useParams({ strict: false });
  const query = useQuery(one('getReachingPartner', { params: { id } }));
  return (
    <Page
      title={query.data?.partner.name ?? 'Partner'}
      trail={[{ title: 'My practice', to: '/my-practice' }]}
    >
      <Loaded query={query}>
        {(detail) => (
          <>
            <Standing of={detail} />
            <div className="may-and-did">
              <May of={detail} />
              <Activity partnerId={detail.partner.id} />
            </div>
            {detail.stops.length > 0 && <EarlierStops of={detail} />}
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Standing({ of: detail }: { of: ReachingPartnerInDetail }) {
  const { stop, ways } = detail;
  if (stop)
    return (
      <Banner tone="stopped" actions={<ResumePartner of={detail} />}>
        <strong>You have stopped it.</strong> What it asks for is refused, and nothing is sent to it.{' '}
        <bdi>{stop.stopped_by}</bdi> did so <When at={stop.stopped_at} />:{' '}
        <bdi className="said">{stop.reason}</bdi>
      </Banner>
    );
  if (ways.length === 0)
    return (
      <Banner tone="stopped" actions={<StopPartner of={detail} />}>
        <strong>It does not reach your practice.</strong> It has no key that works, or is suspended. Stopped,
        it would not reach you again with a new one either.
      </Banner>
    );
  return (
    <Banner tone="fine" actions={<StopPartner of={detail} />}>
      <strong>It reaches your practice.</strong>{' '}
      {detail.last_call_at ? (
        <>
          It last asked for something <When at={detail.last_call_at} />.
        </>
      ) : (
        'It has not asked for anything lately.'
      )}
    </Banner>
  );
}

function May({
  of: { ways, stop, calls_last_day, receivers, deliveries_waiting },
}: {
  of: ReachingPartnerInDetail;
}) {
  return (
    <Section title={stop ? 'What it could do' : 'What it may do'}>
      {ways.length === 0 ? (
        <Empty>Nothing: it does not reach your practice.</Empty>
      ) : (
        <ul className="abilities">
          {toAbilities(ways).map((ability) => (
            <li key={ability}>{ability}</li>
          ))}
        </ul>
      )}
      <Facts
        of={{
          'How it reaches you': ways.length > 0 && (
            <ul className="plain">
              {ways.map((way) => (
                <li key={way.network?.id ?? ''}>
                  <bdi>{toWay(way)}</bdi>, <span className="soft">since {toExact(way.since)}</span>
                </li>
              ))}
            </ul>
          ),
          'In the last 24 hours': toCount(calls_last_day, 'call'),
          'It is told of what happens at':
            receivers === 0 ? 'no address' : toCount(receivers, 'address', 'addresses'),
          'On the way to it': receivers === 0 ? undefined : toCount(deliveries_waiting, 'message'),
        }}
      />
    </Section>
  );
}

function EarlierStops({ of: { stops } }: { of: ReachingPartnerInDetail }) {
  return (
    <Section title="Earlier stops">
      <ul className="reaching">
        {stops.map((stop) => (
          <li key={stop.id}>
            <p>
              <bdi>{stop.stopped_by}</bdi> stopped it {toExact(stop.stopped_at)}:{' '}
              <bdi className="said">{stop.reason}</bdi>
            </p>
            <p className="soft">
              <bdi>{stop.lifted_by}</bdi> let it go on {stop.lifted_at !== null && toExact(stop.lifted_at)}
              {stop.lifted_reason !== null && (
                <>
                  : <bdi className="said">{stop.lifted_reason}</bdi>
                </>
              )}
            </p>
          </li>
        ))}
      </ul>
    </Section>
  );
}
