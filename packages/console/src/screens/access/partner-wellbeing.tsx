import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { one } from '../../api/client.ts';
import type { Partner } from '../../api/generated.ts';
import { useMay } from '../../frame/session.ts';
import { DayBars } from '../../parts/day-bars.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { nameOfKey, PracticeName } from '../../parts/name.tsx';
import { Section } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';
import { WebhookState } from '../events/webhook-state.tsx';
import { KeyState } from './key-state.tsx';

const SHOWN = 10;

export function PartnerKeys({ partner: { id, status } }: { partner: Partner }) {
  const query = useQuery(one('listKeys', { query: { partner_id: id, page_size: SHOWN } }));
  const may = useMay('admin', 'support') && status === 'verified';
  return (
    <Section
      title="Keys"
      actions={
        may && (
          <>
            <Link className="button primary" to={`/partners/${id}/issue`}>
              Issue a key
            </Link>
            <Link className="button" to={`/partners/${id}/issue-many`}>
              Issue many
            </Link>
          </>
        )
      }
    >
      <Loaded query={query} rows={4}>
        {({ data, next_cursor }) => (
          <Table
            label="Keys"
            items={data}
            keyOf={(key) => key.id}
            hrefOf={(key) => `/keys/${key.id}`}
            empty={
              status === 'verified'
                ? 'They have no key yet. A key acts for one practice and for those that share a network with it.'
                : 'They have no key. Keys are issued to partners who are verified.'
            }
            more={next_cursor ? { to: `/keys?partner_id=${id}`, title: 'All keys' } : undefined}
            columns={[
              { title: 'Key', width: '2fr', cell: nameOfKey },
              {
                title: 'Practice',
                width: '2fr',
                cell: ({ practice_group_id }) => <PracticeName id={practice_group_id} />,
              },
              { title: 'State', width: '1.5fr', cell: (key) => <KeyState of={key} /> },
              { title: 'Last use', width: '1fr', cell: ({ last_used_at }) => <When at={last_used_at} /> },
            ]}
          />
        )}
      </Loaded>
    </Section>
  );
}

export function PartnerWebhooks({ partner: { id } }: { partner: Partner }) {
  const query = useQuery(one('listAllWebhooks', { query: { partner_id: id, page_size: SHOWN } }));
  return (
    <Section title="Webhooks">
      <Loaded query={query} rows={3}>
        {({ data, next_cursor }) => (
          <Table
            label="Webhooks"
            items={data}
            keyOf={(webhook) => webhook.id}
            hrefOf={(webhook) => `/webhooks/${webhook.id}`}
            empty="They have registered no webhook."
            more={next_cursor ? { to: `/webhooks?partner_id=${id}`, title: 'All webhooks' } : undefined}
            columns={[
              { title: 'Address', width: '3fr', cell: ({ url }) => url },
              {
                title: 'Practices',
                width: '2fr',
                cell: ({ practice_group_id }) =>
                  practice_group_id === null ? (
                    'all that they reach'
                  ) : (
                    <PracticeName id={practice_group_id} />
                  ),
              },
              { title: 'State', width: '1fr', cell: (webhook) => <WebhookState of={webhook} /> },
              { title: 'Waiting', width: '5rem', cell: ({ health }) => health.queued },
              {
                title: 'Last success',
                width: '1fr',
                wideOnly: true,
                cell: ({ health }) => <When at={health.last_success_at} />,
              },
            ]}
          />
        )}
      </Loaded>
    </Section>
  );
}

const DAY_MS = 86_400_000;
const DAYS = 30;

/** By the calendar of UTC, as usage is counted. */
function firstDay(): string {
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  return new Date(today - (DAYS - 1) * DAY_MS).toISOString();
}

export function PartnerUsage({ partner: { id } }: { partner: Partner }) {
  const query = useQuery(one('getFigures', { query: { partner_id: id, since: firstDay(), step: '1d' } }));
  return (
    <Section title="Usage">
      <Loaded query={query} rows={4}>
        {({ data }) => (
          <div className="columns">
            <DayBars
              label="Calls by day"
              unit={['call', 'calls']}
              parts={[
                { title: 'answered', tone: 'brand' },
                { title: 'refused', tone: 'amber' },
                { title: 'over the limit', tone: 'soft-bar' },
                { title: 'failed', tone: 'red' },
              ]}
              days={data.map(({ at, calls }) => ({
                day: at.slice(0, 10),
                counts: [calls.ok, calls.refused, calls.rate_limited, calls.failed],
              }))}
            />
            <DayBars
              label="Deliveries by day"
              unit={['attempt to deliver', 'attempts to deliver']}
              parts={[
                { title: 'arrived', tone: 'brand' },
                { title: 'to be retried', tone: 'amber' },
                { title: 'given up', tone: 'red' },
              ]}
              days={data.map(({ at, deliveries }) => ({
                day: at.slice(0, 10),
                counts: [deliveries.delivered, deliveries.retried, deliveries.given_up],
              }))}
            />
          </div>
        )}
      </Loaded>
    </Section>
  );
}
