import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { Button } from 'react-aria-components/Button';
import { one } from '../../api/client.ts';
import type { PartnerDelivery, PartnerWebhook, WebhookAttempt } from '../../api/generated.ts';
import { useMay } from '../../frame/session.ts';
import { Attempt, Due } from '../../parts/attempts.tsx';
import { Sentence, useFilters } from '../../parts/filters.tsx';
import { Id } from '../../parts/id.tsx';
import { List } from '../../parts/list.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { PartnerName, PracticeName } from '../../parts/name.tsx';
import { Banner, Empty, Facts, Page, Section } from '../../parts/page.tsx';
import { State } from '../../parts/state.tsx';
import { Lasting, toDuration, useNow, When } from '../../parts/when.tsx';
import { DeliveryState, PickDeliveryStatus } from './delivery-state.tsx';
import { eventTitles, toEvents } from './event-words.ts';
import { Activate, acted, Pause, Remove, Replay, RetryAll } from './webhook-acts.tsx';
import { WebhookHealth } from './webhook-health.tsx';
import { hostOf, stateOf, toQueued, withheldReasons } from './webhook-state.tsx';

/** Why did it fail, what is waiting, since when? */
export function Webhook() {
  const { id } = useParams({ strict: false }) as { id: string };
  const query = useQuery(one('getPartnerWebhook', { params: { id } }));
  const title = query.data ? `${query.data.partner_name} · ${hostOf(query.data.url)}` : 'Webhook';
  return (
    <Page
      title={title}
      trail={[{ title: 'Webhooks', to: '/webhooks' }]}
      actions={query.data && <Acts of={query.data} />}
    >
      <Loaded query={query}>
        {(webhook) => (
          <>
            <Standing of={webhook} />
            <WebhookHealth id={id} />
            <LatestAttempts of={webhook} />
            <About of={webhook} />
            <Deliveries of={webhook} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** Beside the title: what is not the next step of its state. */
function Acts({ of: webhook }: { of: PartnerWebhook }) {
  const isAdmin = useMay('admin');
  const isSupport = useMay('admin', 'support');
  const isNext = stateOf(webhook)[1] === 'failing';
  return (
    <>
      {isSupport && <Replay of={acted(webhook)} />}
      {isAdmin && webhook.status === 'active' && !isNext && <Pause of={acted(webhook)} />}
      {isAdmin && <Remove of={acted(webhook)} />}
    </>
  );
}

/** Its state in words, first of all, with its one next button. */
function Standing({ of: webhook }: { of: PartnerWebhook }) {
  const { status, status_reason, health, updated_at } = webhook;
  const [kind] = stateOf(webhook);
  const isAdmin = useMay('admin');
  const isSupport = useMay('admin', 'support');
  const attempts = useQuery(one('listWebhookAttempts', { params: { id: webhook.id } }));
  const givenUp = useQuery(
    one('listDeliveries', { query: { webhook_id: webhook.id, status: 'failed', page_size: 100 } }),
  );
  const last = attempts.data?.data.find(({ outcome }) => outcome === 'failed');
  const lost = givenUp.data?.data.length ?? 0;
  const waits = <Waits of={webhook} />;

  if (status !== 'active')
    return (
      <Banner tone="stopped" actions={isAdmin && <Activate of={acted(webhook)} isNext />}>
        <strong>
          {status === 'paused' ? 'Paused' : 'Disabled'} <When at={updated_at} />.
        </strong>{' '}
        <bdi>{status_reason ?? 'Its partner has paused it.'}</bdi> {waits}
      </Banner>
    );
  if (kind === 'withheld')
    return (
      <Banner
        tone="stopped"
        actions={
          <Link className="button" to={`/partners/${webhook.partner_id}`}>
            Open the partner
          </Link>
        }
      >
        <strong>
          Withheld for <Lasting since={health.withheld_since} />.
        </strong>{' '}
        Nothing is sent because{' '}
        {health.withheld_reason ? withheldReasons[health.withheld_reason] : 'the partner may not receive it'}.
        It goes on by itself when that has changed. {waits}
      </Banner>
    );
  if (kind === 'failing')
    return (
      <Banner
        tone="failing"
        actions={
          <>
            {isAdmin && <Pause of={acted(webhook)} />}
            {isSupport && lost > 0 && <RetryAll of={acted(webhook)} />}
          </>
        }
      >
        <strong>
          Failing for <Lasting since={health.failing_since} />.
        </strong>{' '}
        {last && <bdi>{last.diagnosis}</bdi>} {waits}{' '}
        {health.last_success_at && (
          <>
            The last success was <When at={health.last_success_at} />.
          </>
        )}
      </Banner>
    );
  if (lost > 0)
    return (
      <Banner tone="failing" actions={isSupport && <RetryAll of={acted(webhook)} />}>
        <strong>
          It answers, and{' '}
          {lost === 1 ? '1 delivery was' : `${lost}${lost === 100 ? ' or more' : ''} deliveries were`} given
          up.
        </strong>{' '}
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

function Waits({ of: { health, oldest_queued_at: oldest } }: { of: PartnerWebhook }) {
  const now = useNow();
  if (health.queued === 0) return <span>Nothing waits.</span>;
  const age = oldest && toDuration(Math.max(0, Math.max(now, Date.now()) - Date.parse(oldest)));
  return (
    <span>
      {toQueued(health.queued)} {health.queued === 1 ? 'waits' : 'wait'}
      {age && `, the oldest for ${age}`}.
    </span>
  );
}

const FEW = 10;

function LatestAttempts({ of: { id, status } }: { of: PartnerWebhook }) {
  const isActive = status === 'active';
  const { values, set } = useFilters(['attempts']);
  const query = useQuery(one('listWebhookAttempts', { params: { id } }));
  const isAll = values.attempts === 'all';
  return (
    <Section title="Attempts">
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty>Nothing was sent to it yet.</Empty>
          ) : (
            <>
              <ol className="attempts" aria-label="Attempts, newest first">
                {(isAll ? data : data.slice(0, FEW)).map((attempt, at) => {
                  const isSame = attempt.answer !== null && attempt.answer === data[at - 1]?.answer;
                  return (
                    <Attempt
                      key={`${attempt.delivery_id} ${attempt.at}`}
                      of={isSame ? { ...attempt, answer: null } : attempt}
                    >
                      <Belongs of={attempt} isActive={isActive} />
                      {isSame && ', with the same answer'}
                    </Attempt>
                  );
                })}
              </ol>
              {data.length > FEW && (
                <Button className="link" onPress={() => void set('attempts', isAll ? undefined : 'all')}>
                  {isAll ? `Only the latest ${FEW}` : `All ${data.length} of the latest`}
                </Button>
              )}
            </>
          )
        }
      </Loaded>
    </Section>
  );
}

/** What an attempt was for, and when it is made again. */
function Belongs({
  of: { delivery_id, event, delivery_status, next_attempt_at },
  isActive,
}: {
  of: WebhookAttempt;
  isActive: boolean;
}) {
  return (
    <>
      <Link to={`/deliveries/${delivery_id}`}>{eventTitles[event]}</Link>
      {next_attempt_at && (
        <>
          ,{' '}
          {isActive ? (
            <>
              next attempt <Due at={next_attempt_at} />
            </>
          ) : (
            'waits until the webhook is active'
          )}
        </>
      )}
      {delivery_status === 'failed' && (
        <>
          , <State kind="failing">given up</State>
        </>
      )}
    </>
  );
}

function Deliveries({ of: { id, status: state } }: { of: PartnerWebhook }) {
  const { values, set } = useFilters(['status']);
  const status = values.status as PartnerDelivery['status'] | undefined;
  return (
    <Section title="Deliveries">
      <Sentence isFiltered={status !== undefined} clear={() => void set('status', undefined)}>
        deliveries that are
        <PickDeliveryStatus value={status} onChange={(value) => set('status', value)} />
      </Sentence>
      <List
        label="Deliveries"
        of="listDeliveries"
        input={{ query: { webhook_id: id, status } }}
        keyOf={(delivery) => delivery.id}
        hrefOf={(delivery) => `/deliveries/${delivery.id}`}
        empty="No delivery is like that."
        columns={[
          {
            title: 'State',
            width: '12rem',
            cell: (delivery) => <DeliveryState of={delivery} to={{ kind: 'webhook', status: state }} />,
          },
          { title: 'Event', width: '2fr', whole: true, cell: ({ event }) => eventTitles[event] },
          {
            title: 'Practice',
            width: '1.2fr',
            wideOnly: true,
            cell: ({ practice_group_id }) => <PracticeName id={practice_group_id} isPlain />,
          },
          { title: 'About', width: '1fr', wideOnly: true, cell: ({ object_id }) => <code>{object_id}</code> },
          { title: 'Attempts', width: '5rem', titled: true, cell: ({ attempts }) => attempts.length },
          {
            title: 'Queued',
            width: '7rem',
            titled: true,
            cell: ({ created_at }) => <When at={created_at} />,
          },
          {
            title: 'Next attempt',
            width: '7rem',
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

const signatures: Record<PartnerWebhook['signature'], string> = {
  hmac: 'with its own secret (v1)',
  ed25519: 'with the key of this deployment (v1a)',
  both: 'with its own secret (v1) and the key of this deployment (v1a)',
};

function About({ of: webhook }: { of: PartnerWebhook }) {
  const { health, practice_group_id: groupId, practice_group_ids: only } = webhook;
  return (
    <Section title="About it">
      <Facts
        of={{
          Partner: <PartnerName id={webhook.partner_id} />,
          Address: <bdi>{webhook.url}</bdi>,
          Description: webhook.description === null ? undefined : <bdi>{webhook.description}</bdi>,
          'For the practices': groupId ? <PracticeName id={groupId} /> : <Practices only={only} />,
          Events: toEvents(webhook.event_types),
          Signed: signatures[webhook.signature],
          'Headers of its own': webhook.header_names.length > 0 ? webhook.header_names.join(', ') : 'none',
          'Said with its state':
            webhook.status === 'active' && webhook.status_reason ? (
              <bdi>{webhook.status_reason}</bdi>
            ) : undefined,
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
                <PracticeName id={practice_group_id} /> for <Lasting since={since} />:{' '}
                {withheldReasons[reason]}
              </li>
            ))}
          </ul>
        </>
      )}
    </Section>
  );
}

function Practices({ only }: { only: readonly string[] | null }) {
  if (only === null) return 'all that its partner may act for';
  return only.map((id, at) => (
    <span key={id}>
      {at > 0 && ', '}
      <PracticeName id={id} />
    </span>
  ));
}
