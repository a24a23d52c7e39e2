import { usePrefetchQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { one } from '../../api/client.ts';
import type { PortalHome } from '../../api/generated-portal.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Banner, Empty, Facts, Page, Section } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';
import { hostOf, WebhookState } from '../events/webhook-state.tsx';
import { alertTitles } from '../oversight/alert-words.ts';
import { Called } from '../oversight/refusal.tsx';
import { toRefusal } from '../oversight/refusal-words.ts';
import { AlertSubject } from './alerts.tsx';
import { Calls } from './calls.tsx';
import { CreateWebhook } from './create-webhook.tsx';

const FEW = 5;
const openAlerts = one('listPortalAlerts', { query: { open: 'true', page_size: FEW } });
const webhooks = one('listPortalWebhooks', { query: { page_size: FEW } });
const latestRefusals = one('listPortalRefusals', { query: { page_size: FEW } });

/** Is my integration well? */
export function Home() {
  const query = useQuery(one('getPortalHome', {}));
  // They are shown below it, and do not wait for it.
  usePrefetchQuery(openAlerts);
  usePrefetchQuery(webhooks);
  usePrefetchQuery(latestRefusals);
  return (
    <Page title="Is my integration well?" actions={<CreateWebhook />}>
      <Loaded query={query}>
        {(home) => (
          <>
            <Standing of={home} />
            <OpenAlerts />
            <Webhooks />
            <LatestRefusals />
            <Section title="Calls">
              <Calls of={home.days} />
            </Section>
            <Section title="In short">
              <Facts
                of={{
                  'Keys that work': (
                    <Link to="/portal/keys">
                      {home.keys.active}
                      {home.keys.ending > 0 &&
                        `, ${home.keys.ending} of them ${home.keys.ending === 1 ? 'ends' : 'end'} soon`}
                    </Link>
                  ),
                  Practices: <Link to="/portal/practices">those that you may act for</Link>,
                  Support: <bdi>{home.support_contact}</bdi>,
                }}
              />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Standing({ of: { partner, webhooks, keys, alerts_open: alerts } }: { of: PortalHome }) {
  if (partner.status !== 'verified')
    return (
      <Banner tone="stopped">
        <strong>Your company is not verified yet ({partner.status.replaceAll('_', ' ')}).</strong> Keys work
        once it is. Support tells you the next step.
      </Banner>
    );
  const troubles = [
    many(webhooks.failing, 'webhook is failing', 'webhooks are failing'),
    many(webhooks.disabled, 'webhook was disabled', 'webhooks were disabled'),
    many(webhooks.withheld, 'webhook is withheld', 'webhooks are withheld'),
    keys.active === 0 ? 'no key works' : undefined,
    many(keys.ending, 'key ends soon', 'keys end soon'),
    many(alerts, 'alert is open', 'alerts are open'),
  ].filter((one) => one !== undefined);
  if (troubles.length > 0)
    return (
      <Banner tone="failing">
        <strong>Something needs you:</strong> {troubles.join(', ')}.
      </Banner>
    );
  return (
    <Banner tone="fine">
      <strong>All is well.</strong>{' '}
      {many(webhooks.active, 'webhook receives', 'webhooks receive') ?? 'No webhook receives'} events
      {webhooks.paused > 0 && `, ${many(webhooks.paused, 'is paused', 'are paused')}`}.
    </Banner>
  );
}

const many = (count: number, single: string, several: string): string | undefined =>
  count === 0 ? undefined : `${count} ${count === 1 ? single : several}`;

function OpenAlerts() {
  const { data } = useQuery(openAlerts);
  if (!data || data.data.length === 0) return null;
  return (
    <Section title="Open alerts">
      <Table
        label="Open alerts"
        items={data.data}
        keyOf={({ id }) => id}
        empty=""
        more={data.next_cursor ? { to: '/portal/alerts', title: 'All alerts' } : undefined}
        columns={[
          { title: 'What', width: '1fr', cell: ({ kind }) => alertTitles[kind] },
          { title: 'About', width: '1fr', cell: ({ subject }) => <AlertSubject of={subject} /> },
          { title: 'What to do', width: '2.4fr', cell: ({ remedy }) => remedy },
          { title: 'Since', width: '8rem', cell: ({ began_at }) => <When at={began_at} /> },
        ]}
      />
    </Section>
  );
}

function Webhooks() {
  const query = useQuery(webhooks);
  return (
    <Section title="Webhooks">
      <Loaded query={query} rows={2}>
        {({ data, next_cursor }) => (
          <Table
            label="Webhooks"
            items={data}
            keyOf={({ id }) => id}
            hrefOf={({ id }) => `/portal/webhooks/${id}`}
            empty="You have none yet: events wait in the feed, and are sent nowhere."
            more={next_cursor ? { to: '/portal/webhooks', title: 'All webhooks' } : undefined}
            columns={[
              { title: 'Address', width: '2fr', cell: ({ url }) => <bdi>{hostOf(url)}</bdi> },
              { title: 'State', width: '7rem', cell: (webhook) => <WebhookState of={webhook} /> },
              {
                title: 'Practice',
                width: '1.4fr',
                wideOnly: true,
                cell: ({ practice_group_name: name }) => <bdi>{name ?? 'every practice'}</bdi>,
              },
              {
                title: 'Last success',
                width: '8rem',
                cell: ({ health }) => <When at={health.last_success_at} />,
              },
            ]}
          />
        )}
      </Loaded>
    </Section>
  );
}

function LatestRefusals() {
  const query = useQuery(latestRefusals);
  return (
    <Section title="Latest refused calls">
      <Loaded query={query} rows={2}>
        {({ data, next_cursor }) =>
          data.length === 0 ? (
            <Empty>None of your calls was refused lately.</Empty>
          ) : (
            <Table
              label="Latest refused calls"
              items={data}
              keyOf={({ request_id, at }) => `${request_id} ${at}`}
              hrefOf={({ request_id }) => `/portal/refused?open=${encodeURIComponent(request_id)}`}
              empty=""
              more={next_cursor ? { to: '/portal/refused', title: 'All refused calls' } : undefined}
              columns={[
                { title: 'Why', width: '1.4fr', cell: (call) => `${call.status}: ${toRefusal(call)}` },
                {
                  title: 'Call',
                  width: '2fr',
                  wideOnly: true,
                  cell: (call) => <Called of={call} />,
                },
                { title: 'When', width: '8rem', cell: ({ at }) => <When at={at} /> },
              ]}
            />
          )
        }
      </Loaded>
    </Section>
  );
}
