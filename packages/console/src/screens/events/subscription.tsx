import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { ask, type Operation, one, queryClient, useChange } from '../../api/client.ts';
import type {
  Subscription as ASubscription,
  RotatedSubscriptionSecret,
  SubscriptionDelivery,
} from '../../api/generated.ts';
import { useMay } from '../../frame/session.ts';
import { Attempts } from '../../parts/attempts.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Disclosure } from '../../parts/disclosure.tsx';
import { Sentence, useFilters } from '../../parts/filters.tsx';
import { Chosen, FormDialog } from '../../parts/form.tsx';
import { Id } from '../../parts/id.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Banner, Empty, Facts, Page, Section } from '../../parts/page.tsx';
import { Paged } from '../../parts/paged.tsx';
import { Secret } from '../../parts/secret.tsx';
import { Lasting, When } from '../../parts/when.tsx';
import { DeliveryState, PickDeliveryStatus } from './delivery-state.tsx';
import { ownEvents, topics } from './subscription-words.tsx';
import { hostOf, toQueued, toWaiting } from './webhook-state.tsx';

const CHANGED: readonly Operation[] = ['getSubscription', 'listSubscriptions', 'listSubscriptionDeliveries'];

/** Does the software of our own hear of it? */
export function Subscription() {
  const { id } = useParams({ strict: false }) as { id: string };
  const query = useQuery(one('getSubscription', { params: { id } }));
  const [rotated, setRotated] = useState<RotatedSubscriptionSecret>();
  const isAdmin = useMay('admin');
  const host = query.data && hostOf(query.data.url);
  return (
    <Page
      title={host ?? 'Subscription'}
      trail={[
        { title: 'Changes', to: '/changes' },
        { title: 'Subscriptions', to: '/subscriptions' },
      ]}
      actions={isAdmin && query.data && !rotated && <Acts of={query.data} rotated={setRotated} />}
    >
      <Loaded query={query}>
        {(subscription) => (
          <>
            {rotated && (
              <Secret
                name={`The new secret of ${host}`}
                value={rotated.secret}
                fileName={`porter-${host}.txt`}
                done={() => setRotated(undefined)}
              />
            )}
            <Standing of={subscription} />
            <Deliveries of={subscription} />
            <Section title="About it">
              <Facts
                of={{
                  Address: <bdi>{subscription.url}</bdi>,
                  'Hears of': subscription.topics.map((topic) => topics[topic]).join(' '),
                  Description:
                    subscription.description === null ? undefined : <bdi>{subscription.description}</bdi>,
                  Since: <When at={subscription.created_at} />,
                  ID: <Id>{subscription.id}</Id>,
                }}
              />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Standing({ of: subscription }: { of: ASubscription }) {
  const { status, status_reason, health } = subscription;
  const isAdmin = useMay('admin');
  const waits = health.queued === 0 ? 'Nothing waits.' : `${toQueued(health.queued)} wait.`;
  if (status !== 'active')
    return (
      <Banner tone="stopped" actions={isAdmin && <Activate of={subscription} />}>
        <strong>{status === 'paused' ? 'Paused.' : 'Disabled.'}</strong> <bdi>{status_reason}</bdi> {waits}
      </Banner>
    );
  if (health.failing_since)
    return (
      <Banner tone="failing" actions={isAdmin && <Pause of={subscription} />}>
        <strong>
          Failing for <Lasting since={health.failing_since} />.
        </strong>{' '}
        {waits}
      </Banner>
    );
  return (
    <Banner tone={health.queued > 0 ? 'waiting' : 'fine'} actions={isAdmin && <Test of={subscription} />}>
      <strong>{health.last_success_at ? 'It answers.' : 'Nothing was sent to it yet.'}</strong> {waits}{' '}
      {health.last_success_at && (
        <>
          The last success was <When at={health.last_success_at} />.
        </>
      )}
    </Banner>
  );
}

interface ActProps {
  of: ASubscription;
}

function Acts({ of, rotated }: ActProps & { rotated: (secret: RotatedSubscriptionSecret) => void }) {
  return (
    <>
      <Rotate of={of} rotated={rotated} />
      {of.status === 'active' && !of.health.failing_since && <Pause of={of} />}
      <Remove of={of} />
    </>
  );
}

function Test({ of: { id, topics: heard } }: ActProps) {
  const { mutateAsync } = useChange('testSubscription', CHANGED);
  const [isSent, setSent] = useState(false);
  return (
    <>
      {isSent && <span role="status">The test is on its way.</span>}
      <FormDialog
        action="Send a test"
        submit="Send"
        title="Send a test event?"
        initial={{ topic: heard[0] as string }}
        run={async ({ topic }) => {
          await mutateAsync({ params: { id }, body: { topic: topic as keyof typeof topics } });
          setSent(true);
        }}
      >
        {({ field }) => (
          <>
            <p>An event with example values is sent to this address alone, signed like any other.</p>
            <Chosen
              label="As if it were of"
              field={field('topic')}
              choices={Object.keys(topics).map((value) => ({ value, title: value }))}
            />
          </>
        )}
      </FormDialog>
    </>
  );
}

function Pause({ of: { id, health } }: ActProps) {
  const { mutateAsync } = useChange('updateSubscription', CHANGED);
  return (
    <Confirm
      action="Pause"
      isDestructive={false}
      title="Pause this subscription?"
      run={() => mutateAsync({ params: { id }, body: { status: 'paused' } })}
    >
      <p>
        Nothing is sent to it until it is activated. {toWaiting(health.queued)}, and those to come, stay
        queued for as long as events are kept.
      </p>
    </Confirm>
  );
}

function Activate({ of: { id, health } }: ActProps) {
  const { mutateAsync } = useChange('updateSubscription', CHANGED);
  return (
    <Confirm
      action="Activate"
      isDestructive={false}
      title="Activate this subscription?"
      run={() => mutateAsync({ params: { id }, body: { status: 'active' } })}
    >
      <p>{health.queued > 0 ? `${toWaiting(health.queued, 'sent now, in order')}.` : 'Nothing waits.'}</p>
    </Confirm>
  );
}

function Rotate({
  of: { id },
  rotated,
}: ActProps & { rotated: (secret: RotatedSubscriptionSecret) => void }) {
  const { mutateAsync } = useChange('rotateSubscriptionSecret', CHANGED);
  return (
    <Confirm
      action="Rotate the secret"
      isDestructive={false}
      title="Rotate the secret?"
      run={async () => rotated((await mutateAsync({ params: { id } })).data)}
    >
      <p>
        A new secret signs from now on, and is shown once. The old one signs as well for 24 hours: put the new
        one into use within that time.
      </p>
    </Confirm>
  );
}

function Remove({ of: { id, url, health } }: ActProps) {
  const navigate = useNavigate();
  return (
    <Confirm
      action="Delete"
      title={`Delete ${hostOf(url)}?`}
      typed={{ label: `Type ${hostOf(url)}`, text: hostOf(url) }}
      run={async () => {
        await ask('deleteSubscription', { params: { id } });
        await queryClient.invalidateQueries({ queryKey: ['listSubscriptions'] });
        await navigate({ to: '/subscriptions' });
      }}
    >
      <p>
        Nothing is sent to it any more.{' '}
        {health.queued > 0 && `${toWaiting(health.queued, 'not sent either')}. `}Its log of deliveries goes.
      </p>
    </Confirm>
  );
}

function Deliveries({ of: { id, status: state } }: ActProps) {
  const { values, set } = useFilters(['status', 'delivery']);
  const status = values.status as SubscriptionDelivery['status'] | undefined;
  return (
    <Section title="Deliveries">
      <Sentence isFiltered={status !== undefined} clear={() => void set('status', undefined)}>
        deliveries that are
        <PickDeliveryStatus
          value={status}
          without={['withheld']}
          onChange={(value) => set('status', value)}
        />
      </Sentence>
      <Paged of="listSubscriptionDeliveries" input={{ params: { id }, query: { status } }}>
        {(deliveries) =>
          deliveries.length === 0 ? (
            <Empty>No delivery is like that.</Empty>
          ) : (
            <ul className="targets">
              {deliveries.map((delivery) => (
                <li key={delivery.id}>
                  <Disclosure
                    isOpen={values.delivery === delivery.id}
                    toggle={(open) => void set('delivery', open ? delivery.id : undefined)}
                    title={
                      <>
                        <span className="name">{ownEvents[delivery.event]}</span>
                        <DeliveryState of={delivery} to={{ kind: 'subscription', status: state }} />
                      </>
                    }
                    aside={<When at={delivery.created_at} />}
                  >
                    <p>
                      About <code>{delivery.object_id}</code>. <Id>{delivery.id}</Id>
                    </p>
                    {delivery.attempts.length > 0 && (
                      <Attempts of={delivery.attempts} next={delivery.next_attempt_at} />
                    )}
                  </Disclosure>
                </li>
              ))}
            </ul>
          )
        }
      </Paged>
    </Section>
  );
}
