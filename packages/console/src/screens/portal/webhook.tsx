import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { one } from '../../api/client.ts';
import type { Delivery, PortalWay, PortalWebhook } from '../../api/generated-portal.ts';
import { Due } from '../../parts/attempts.tsx';
import { Sentence, useFilters } from '../../parts/filters.tsx';
import { Id } from '../../parts/id.tsx';
import { List } from '../../parts/list.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { nameOfKey } from '../../parts/name.tsx';
import { Banner, Empty, Facts, Page, Section } from '../../parts/page.tsx';
import { Lasting, When } from '../../parts/when.tsx';
import { DeliveryState, PickDeliveryStatus } from '../events/delivery-state.tsx';
import { eventTitles, toEvents } from '../events/event-words.ts';
import { hostOf, stateOf, toQueued, withheldReasons } from '../events/webhook-state.tsx';
import { type Acted, Activate, Pause, Remove, Replay, Rotate, SendTest } from './webhook-acts.tsx';

/** Why did it fail, what is waiting, since when? */
export function Webhook() {
  const { id } = useParams({ strict: false }) as { id: string };
  const query = useQuery(one('getPortalWebhook', { params: { id } }));
  const acted = query.data && actedOf(query.data);
  return (
    <Page
      title={query.data ? hostOf(query.data.url) : 'Webhook'}
      trail={[{ title: 'Webhooks', to: '/portal/webhooks' }]}
      actions={
        acted && (
          <>
            <SendTest of={acted} />
            <Replay of={acted} />
            <Rotate of={acted} />
            {query.data?.status === 'active' && <Pause of={acted} />}
            <Remove of={acted} />
          </>
        )
      }
    >
      <Loaded query={query}>
        {(webhook) => (
          <>
            <Standing of={webhook} />
            {!acted && <NoWay of={webhook.way} />}
            {webhook.way && <Deliveries of={webhook} way={webhook.way} />}
            <About of={webhook} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** Undefined: nobody changes it in the portal. */
function actedOf({ id, url, health, way, event_types }: PortalWebhook): Acted | undefined {
  if (!way || way.demands === 'proof' || !way.scopes.includes('webhooks:write')) return undefined;
  return { id, name: hostOf(url), queued: health.queued, way, event_types };
}

function NoWay({ of: way }: { of: PortalWay | null }) {
  return (
    <Empty>
      {way === null
        ? 'No key of yours that works may look after it here. Ask support for one with the scope webhooks:read.'
        : way.demands === 'proof'
          ? 'The key that reaches its practice asks for a certificate or an assertion, which this page cannot show. You see everything; change it with the key itself.'
          : 'The key that reaches its practice may read webhooks, and not change them.'}
    </Empty>
  );
}

function Standing({ of: webhook }: { of: PortalWebhook }) {
  const { status, status_reason, health, updated_at } = webhook;
  const [kind] = stateOf(webhook);
  const acted = actedOf(webhook);
  const waits =
    health.queued === 0
      ? 'Nothing waits.'
      : `${toQueued(health.queued)} ${health.queued === 1 ? 'delivery waits' : 'deliveries wait'}.`;
  if (status !== 'active')
    return (
      <Banner tone="stopped" actions={acted && <Activate of={acted} />}>
        <strong>
          {status === 'paused' ? 'Paused' : 'Disabled'} <When at={updated_at} />.
        </strong>{' '}
        <bdi>{status_reason ?? 'Somebody of your company has paused it.'}</bdi> {waits}
      </Banner>
    );
  if (kind === 'withheld')
    return (
      <Banner tone="stopped">
        <strong>
          Withheld for <Lasting since={health.withheld_since} />.
        </strong>{' '}
        Nothing is sent because{' '}
        {health.withheld_reason ? withheldReasons[health.withheld_reason] : 'you may not receive it'}. It goes
        on by itself when that has changed. {waits}
      </Banner>
    );
  if (kind === 'failing')
    return (
      <Banner tone="failing">
        <strong>
          Failing for <Lasting since={health.failing_since} />.
        </strong>{' '}
        <LastDiagnosis of={webhook} /> Once the receiver takes events again, what waits is sent by itself.{' '}
        {waits}
      </Banner>
    );
  return (
    <Banner tone={kind === 'fine' ? 'fine' : 'waiting'}>
      <strong>{kind === 'fine' ? 'Everything that was sent has arrived.' : 'It answers.'}</strong> {waits} The
      last success was <When at={health.last_success_at} />.
    </Banner>
  );
}

/** How many deliveries are looked through for the attempt that was made last. */
const LATEST = 20;

/** Why the last attempt failed, and what to do about it. */
function LastDiagnosis({ of: { id, way, health } }: { of: PortalWebhook }) {
  const { data } = useQuery({
    ...one('listWebhookDeliveries', {
      way: way ?? { key_id: '', practice_group_id: '' },
      params: { id },
      query: { page_size: LATEST },
    }),
    enabled: way !== null,
  });
  const [last] = (data?.data ?? [])
    .flatMap(({ attempts }) => attempts.slice(-1))
    .filter(({ outcome }) => outcome === 'failed')
    .sort((a, b) => Date.parse(b.at) - Date.parse(a.at));
  if (last) return <bdi>{last.diagnosis}</bdi>;
  return health.failures === 1 ? 'The last attempt failed.' : `The last ${health.failures} attempts failed.`;
}

function Deliveries({ of: { id, status: state }, way }: { of: PortalWebhook; way: PortalWay }) {
  const { values, set } = useFilters(['status']);
  const status = values.status as Delivery['status'] | undefined;
  return (
    <Section title="Delivery log">
      <Sentence isFiltered={status !== undefined} clear={() => void set('status', undefined)}>
        deliveries that are
        <PickDeliveryStatus value={status} onChange={(value) => set('status', value)} />
      </Sentence>
      <List
        label="Deliveries"
        of="listWebhookDeliveries"
        input={{ way, params: { id }, query: { status } }}
        keyOf={(delivery) => delivery.id}
        hrefOf={(delivery) => `/portal/webhooks/${id}/deliveries/${delivery.id}`}
        empty="No delivery is like that. Send a test event to see one."
        columns={[
          {
            title: 'State',
            width: '12rem',
            cell: (delivery) => <DeliveryState of={delivery} to={{ kind: 'webhook', status: state }} />,
          },
          { title: 'Event', width: '1.1fr', whole: true, cell: ({ event }) => eventTitles[event] },
          {
            title: 'About',
            width: '0.8fr',
            wideOnly: true,
            cell: ({ object_id }) => <code>{object_id}</code>,
          },
          {
            title: 'What came of it',
            width: '2.3fr',
            whole: true,
            cell: ({ attempts }) => <bdi>{attempts.at(-1)?.diagnosis ?? 'not sent yet'}</bdi>,
          },
          {
            title: 'Queued',
            width: '6.75rem',
            wideOnly: true,
            cell: ({ created_at }) => <When at={created_at} />,
          },
          {
            title: 'Next attempt',
            width: '6.25rem',
            titled: true,
            broad: true,
            // While it is paused or disabled there is none.
            cell: ({ next_attempt_at: next }) => (next && state === 'active' ? <Due at={next} /> : null),
          },
        ]}
      />
    </Section>
  );
}

const signatures: Record<PortalWebhook['signature'], string> = {
  hmac: 'with its own secret (v1)',
  ed25519: 'with the key of this service (v1a)',
  both: 'with its own secret (v1) and the key of this service (v1a)',
};

function About({ of: webhook }: { of: PortalWebhook }) {
  const { practice_group_name: practice, practice_group_ids: only, health, way } = webhook;
  return (
    <Section title="About it">
      <Facts
        of={{
          Address: <bdi>{webhook.url}</bdi>,
          Description: webhook.description === null ? undefined : <bdi>{webhook.description}</bdi>,
          'For the practices': <bdi>{practice ?? only?.join(', ') ?? 'all that you may act for'}</bdi>,
          Events: toEvents(webhook.event_types),
          Signed: signatures[webhook.signature],
          'Headers of your own': webhook.header_names.length > 0 ? webhook.header_names.join(', ') : 'none',
          'Looked after with': way ? <bdi>{nameOfKey(way)}</bdi> : undefined,
          Registered: <When at={webhook.created_at} />,
          ID: <Id>{webhook.id}</Id>,
        }}
      />
      {health.withheld_practice_groups.length > 0 && (
        <>
          <h3>Withheld, while the others go on</h3>
          <ul className="plain">
            {health.withheld_practice_groups.map(({ practice_group_id, since, reason }) => (
              <li key={practice_group_id}>
                <code>{practice_group_id}</code> for <Lasting since={since} />: {withheldReasons[reason]}
              </li>
            ))}
          </ul>
        </>
      )}
    </Section>
  );
}
