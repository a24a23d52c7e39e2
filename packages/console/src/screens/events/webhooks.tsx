import type { PartnerWebhook } from '../../api/generated.ts';
import { Pick, Sentence, useFilters } from '../../parts/filters.tsx';
import { List } from '../../parts/list.tsx';
import { Page } from '../../parts/page.tsx';
import { PickNamed } from '../../parts/pick-named.tsx';
import { When } from '../../parts/when.tsx';
import { toQueued, WebhookState, webhookStates } from './webhook-state.tsx';

/** A state is what is stored of a webhook, or what its deliveries tell. */
function toQuery(state: string | undefined) {
  if (state === 'failing' || state === 'withheld') return { health: state } as const;
  return { status: state as PartnerWebhook['status'] | undefined };
}

export function Webhooks() {
  const { values, set, clear } = useFilters(['state', 'partner_id', 'practice_group_id']);
  const { state, ...whose } = values;
  return (
    <Page title="Webhooks">
      <Sentence isFiltered={Object.keys(values).length > 0} clear={clear}>
        webhooks that are
        <Pick
          label="State"
          value={state}
          choices={webhookStates}
          any="in any state"
          onChange={(value) => set('state', value)}
        />
        of
        <PickNamed kind="partner" value={whose.partner_id} onChange={(id) => set('partner_id', id)} />
        for
        <PickNamed
          kind="practice_group"
          value={whose.practice_group_id}
          onChange={(id) => set('practice_group_id', id)}
        />
      </Sentence>
      <List
        label="Webhooks"
        of="listAllWebhooks"
        input={{ query: { ...whose, ...toQuery(state) } }}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => `/webhooks/${id}`}
        empty="No webhook is like that. Partners register them with POST /v1/webhooks."
        columns={[
          { title: 'State', width: '7rem', cell: (webhook) => <WebhookState of={webhook} /> },
          { title: 'Partner', width: '1.2fr', cell: ({ partner_name }) => <bdi>{partner_name}</bdi> },
          { title: 'Address', width: '1.6fr', broad: true, cell: ({ url }) => <bdi>{url}</bdi> },
          { title: 'Practice', width: '1.2fr', cell: (webhook) => <For of={webhook} /> },
          { title: 'Waiting', width: '5rem', titled: true, cell: ({ health }) => toQueued(health.queued) },
          {
            title: 'Oldest',
            width: '7rem',
            titled: true,
            cell: ({ oldest_queued_at: oldest }) => (oldest ? <When at={oldest} /> : null),
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

function For({ of: webhook }: { of: PartnerWebhook }) {
  if (webhook.practice_group_id) return <bdi>{webhook.practice_group_name ?? webhook.practice_group_id}</bdi>;
  const only = webhook.practice_group_ids?.length;
  if (only === undefined) return 'every practice that it may have';
  return only === 1 ? '1 practice' : `${only} practices`;
}
