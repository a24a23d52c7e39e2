import { List } from '../../parts/list.tsx';
import { Page } from '../../parts/page.tsx';
import { When } from '../../parts/when.tsx';
import { toQueued, WebhookState } from '../events/webhook-state.tsx';
import { CreateWebhook } from './create-webhook.tsx';

export function Webhooks() {
  return (
    <Page title="Webhooks" actions={<CreateWebhook />}>
      <List
        label="Webhooks"
        of="listPortalWebhooks"
        input={{}}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => `/portal/webhooks/${id}`}
        empty="You have none yet. Create one, and events are posted to your address, signed, in order, and retried for days."
        columns={[
          { title: 'Address', width: '2fr', cell: ({ url }) => <bdi>{url}</bdi> },
          { title: 'State', width: '7rem', cell: (webhook) => <WebhookState of={webhook} /> },
          {
            title: 'Practice',
            width: '1.4fr',
            cell: ({ practice_group_name: name }) => <bdi>{name ?? 'every practice'}</bdi>,
          },
          { title: 'Waiting', width: '5rem', titled: true, cell: ({ health }) => toQueued(health.queued) },
          {
            title: 'Oldest',
            width: '7rem',
            wideOnly: true,
            cell: ({ oldest_queued_at: at }) => (at ? <When at={at} /> : '–'),
          },
          {
            title: 'Last success',
            width: '8rem',
            wideOnly: true,
            cell: ({ health }) => <When at={health.last_success_at} />,
          },
        ]}
      />
    </Page>
  );
}
