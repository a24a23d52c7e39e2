import type { PartnerWebhook } from '../api/generated.ts';
import { Pick, Sentence, useFilters } from '../parts/filters.tsx';
import { List } from '../parts/list.tsx';
import { Page } from '../parts/page.tsx';
import { When } from '../parts/when.tsx';
import { WebhookState } from './webhook-state.tsx';

const statuses = [
  { value: 'active', title: 'active' },
  { value: 'paused', title: 'paused' },
  { value: 'disabled', title: 'disabled' },
];

export function Webhooks() {
  const { values, set, clear } = useFilters(['status', 'partner_id', 'practice_group_id']);
  const query = { ...values, status: values.status as PartnerWebhook['status'] | undefined };
  return (
    <Page title="Webhooks">
      <Sentence isFiltered={Object.keys(values).length > 0} clear={clear}>
        webhooks that are
        <Pick
          label="Status"
          value={values.status}
          choices={statuses}
          any="active or not"
          onChange={(value) => set('status', value)}
        />
      </Sentence>
      <List
        label="Webhooks"
        of="listAllWebhooks"
        input={{ query }}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => `/webhooks/${id}`}
        empty="No webhook is like that. Partners register them with POST /v1/webhooks."
        columns={[
          { title: 'Partner', width: '1.2fr', cell: ({ partner_name }) => partner_name },
          { title: 'Address', width: '2fr', cell: ({ url }) => url },
          { title: 'State', width: '1fr', cell: (webhook) => <WebhookState of={webhook} /> },
          { title: 'Waiting', width: '6rem', cell: ({ health }) => health.queued },
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
