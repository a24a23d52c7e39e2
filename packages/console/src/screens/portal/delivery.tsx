import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { one, useChange } from '../../api/client.ts';
import type { Delivery as DeliveryRecord, PortalWay } from '../../api/generated-portal.ts';
import { Attempts } from '../../parts/attempts.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Id } from '../../parts/id.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Banner, Empty, Facts, Page, Section } from '../../parts/page.tsx';
import { When } from '../../parts/when.tsx';
import { stateOfDelivery } from '../events/delivery-state.tsx';
import { eventTitles } from '../events/event-words.ts';
import { hostOf, withheldReasons } from '../events/webhook-state.tsx';

/** Did this one arrive, and if not, why? */
export function Delivery() {
  const { id, delivery: deliveryId } = useParams({ strict: false }) as { id: string; delivery: string };
  const webhook = useQuery(one('getPortalWebhook', { params: { id } }));
  const way = webhook.data?.way;
  const query = useQuery({
    ...one('getWebhookDelivery', {
      way: way ?? { key_id: '', practice_group_id: '' },
      params: { id, delivery_id: deliveryId },
    }),
    enabled: Boolean(way),
  });
  const name = webhook.data ? hostOf(webhook.data.url) : id;
  return (
    <Page
      title={query.data ? eventTitles[query.data.event] : 'Delivery'}
      trail={[
        { title: 'Webhooks', to: '/portal/webhooks' },
        { title: name, to: `/portal/webhooks/${id}` },
      ]}
    >
      <Loaded query={query}>
        {(delivery) => (
          <>
            <Standing of={delivery} webhookId={id} way={way ?? undefined} />
            <Section title="Attempts">
              {delivery.attempts.length === 0 ? (
                <Empty>It was not sent yet.</Empty>
              ) : (
                <Attempts of={delivery.attempts} next={delivery.next_attempt_at} />
              )}
            </Section>
            <Section title="About it">
              <Facts
                of={{
                  Event: eventTitles[delivery.event],
                  'What it is about': <code>{delivery.object_id}</code>,
                  'Place in the queue': delivery.sequence.toLocaleString('en'),
                  Queued: <When at={delivery.created_at} />,
                  Finished: delivery.finished_at ? <When at={delivery.finished_at} /> : undefined,
                  'ID of the event': <Id>{delivery.event_id}</Id>,
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

interface StandingProps {
  of: DeliveryRecord;
  webhookId: string;
  way: PortalWay | undefined;
}

function Standing({ of: delivery, webhookId, way }: StandingProps) {
  const { status, attempts, withheld_reason: reason, finished_at } = delivery;
  const [kind] = stateOfDelivery(delivery);
  const last = attempts.at(-1);
  const tries = attempts.length === 1 ? 'one attempt' : `${attempts.length} attempts`;
  const mayReplay =
    way?.scopes.includes('webhooks:write') && way.demands !== 'proof' && status !== 'withheld';
  return (
    <Banner
      tone={kind === 'withheld' ? 'stopped' : kind}
      actions={mayReplay && way && <SendAgain of={delivery} webhookId={webhookId} way={way} />}
    >
      {status === 'delivered' && (
        <strong>
          Delivered <When at={finished_at} />, after {tries}.
        </strong>
      )}
      {status === 'failed' && (
        <strong>
          Given up <When at={finished_at} />, after {tries}.
        </strong>
      )}
      {status === 'waiting' && <strong>It waits: an earlier event about the same object comes first.</strong>}
      {status === 'withheld' && (
        <strong>It is withheld, because {reason ? withheldReasons[reason] : 'you may not have it'}.</strong>
      )}
      {status === 'pending' && (
        <strong>{attempts.length === 0 ? 'To be sent.' : `Not delivered after ${tries}.`}</strong>
      )}{' '}
      {status !== 'delivered' && last && <bdi>{last.diagnosis}</bdi>}
    </Banner>
  );
}

function SendAgain({ of: { event_id, status }, webhookId: id, way }: StandingProps & { way: PortalWay }) {
  const { mutateAsync } = useChange('replayWebhook', [
    'getWebhookDelivery',
    'listWebhookDeliveries',
    'getPortalWebhook',
  ]);
  const isAgain = status === 'delivered';
  return (
    <Confirm
      action={isAgain ? 'Send again' : 'Send now'}
      isDestructive={false}
      title={isAgain ? 'Send this delivery again?' : 'Send this delivery now?'}
      run={() => mutateAsync({ way, params: { id }, body: { event_ids: [event_id] } })}
    >
      <p>
        It is sent now, or as soon as the webhook is active and earlier events about the same object are
        finished.
        {isAgain && ' The receiver has it already, and sees the same webhook-id again.'}
      </p>
    </Confirm>
  );
}
