import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { one, useChange } from '../../api/client.ts';
import type { PartnerDelivery } from '../../api/generated.ts';
import { useMay } from '../../frame/session.ts';
import { Attempts, Due } from '../../parts/attempts.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Id } from '../../parts/id.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { PartnerName, PracticeName } from '../../parts/name.tsx';
import { Banner, Empty, Facts, Page, Section } from '../../parts/page.tsx';
import { When } from '../../parts/when.tsx';
import { stateOfDelivery } from './delivery-state.tsx';
import { eventTitles } from './event-words.ts';
import { hostOf, withheldReasons } from './webhook-state.tsx';

/** Did this one arrive, and if not, why? */
export function Delivery() {
  const { id } = useParams({ strict: false }) as { id: string };
  const query = useQuery(one('getDelivery', { params: { id } }));
  const webhookId = query.data?.webhook_id;
  const webhook = useQuery({
    ...one('getPartnerWebhook', { params: { id: webhookId ?? '' } }),
    enabled: webhookId !== undefined,
  });
  const name = webhook.data && `${webhook.data.partner_name} · ${hostOf(webhook.data.url)}`;
  const isStopped = webhook.data !== undefined && webhook.data.status !== 'active';
  return (
    <Page
      title={query.data ? eventTitles[query.data.event] : 'Delivery'}
      trail={[
        { title: 'Webhooks', to: '/webhooks' },
        ...(name ? [{ title: name, to: `/webhooks/${webhookId}` }] : []),
      ]}
    >
      <Loaded query={query}>
        {(delivery) => (
          <>
            <Standing of={delivery} isStopped={isStopped} />
            <Section title="Attempts">
              {delivery.attempts.length === 0 ? (
                <Empty>It was not sent yet.</Empty>
              ) : (
                <Attempts of={delivery.attempts} next={isStopped ? null : delivery.next_attempt_at} />
              )}
            </Section>
            <Section title="About it">
              <Facts
                of={{
                  Event: <Link to={`/events/${delivery.event_id}`}>{eventTitles[delivery.event]}</Link>,
                  Webhook: <Link to={`/webhooks/${delivery.webhook_id}`}>{name ?? delivery.webhook_id}</Link>,
                  Partner: <PartnerName id={delivery.partner_id} />,
                  Practice: <PracticeName id={delivery.practice_group_id} />,
                  'What it is about': <code>{delivery.object_id}</code>,
                  'Place in the queue': delivery.sequence.toLocaleString('en'),
                  Queued: <When at={delivery.created_at} />,
                  Finished: delivery.finished_at ? <When at={delivery.finished_at} /> : undefined,
                  'webhook-id': <Id>{delivery.id}</Id>,
                }}
              />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Standing({ of: delivery, isStopped }: { of: PartnerDelivery; isStopped: boolean }) {
  const { status, attempts, next_attempt_at: next, withheld_reason: reason, finished_at } = delivery;
  const [kind] = stateOfDelivery(delivery);
  const last = attempts.at(-1);
  const mayRetry = useMay('admin', 'support') && status !== 'withheld';
  const tries = attempts.length === 1 ? 'one attempt' : `${attempts.length} attempts`;
  return (
    <Banner tone={kind === 'withheld' ? 'stopped' : kind} actions={mayRetry && <Retry of={delivery} />}>
      {status === 'delivered' && (
        <strong>
          Delivered <When at={finished_at} />, after {tries}.
        </strong>
      )}
      {status === 'failed' && (
        <>
          <strong>
            Given up <When at={finished_at} />, after {tries}.
          </strong>{' '}
          <bdi>{last?.diagnosis}</bdi>
        </>
      )}
      {status === 'waiting' && <strong>It waits: an earlier event about the same object comes first.</strong>}
      {status === 'withheld' && (
        <strong>
          It is withheld, because {reason ? withheldReasons[reason] : 'the partner may not have it'}.
        </strong>
      )}
      {status === 'pending' && (
        <>
          <strong>{attempts.length === 0 ? 'To be sent.' : `Not delivered after ${tries}.`}</strong>{' '}
          {last && <bdi>{last.diagnosis}</bdi>}{' '}
          {isStopped
            ? 'It is sent when somebody activates the webhook.'
            : next &&
              attempts.length > 0 && (
                <>
                  Next attempt: <Due at={next} />.
                </>
              )}
        </>
      )}
    </Banner>
  );
}

function Retry({ of: { id, status } }: { of: PartnerDelivery }) {
  const { mutateAsync } = useChange('retryDelivery', [
    'getDelivery',
    'listDeliveries',
    'getPartnerWebhook',
    'listWebhookAttempts',
    'getEventLife',
  ]);
  const isAgain = status === 'delivered';
  return (
    <Confirm
      action={isAgain ? 'Send again' : 'Retry now'}
      isDestructive={false}
      title={isAgain ? 'Send this delivery again?' : 'Retry this delivery?'}
      run={() => mutateAsync({ params: { id } })}
    >
      <p>
        It is sent now, or as soon as its webhook is active and earlier events about the same object are
        finished.
        {isAgain && ' The receiver has it already, and sees the same webhook-id again.'}
      </p>
    </Confirm>
  );
}
