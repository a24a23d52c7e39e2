import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useChange } from '../../api/client.ts';
import type { CreatedSubscription, Subscription } from '../../api/generated.ts';
import { useMay } from '../../frame/session.ts';
import { Pick, Sentence, useFilters } from '../../parts/filters.tsx';
import { FormDialog, Ticked, Typed, textOrNull } from '../../parts/form.tsx';
import { List } from '../../parts/list.tsx';
import { Page } from '../../parts/page.tsx';
import { Secret } from '../../parts/secret.tsx';
import { When } from '../../parts/when.tsx';
import { SubscriptionState, topics } from './subscription-words.tsx';
import { hostOf } from './webhook-state.tsx';

/** The operator's own webhooks: where the practice software hears of changes, and the team of alerts. */
export function Subscriptions() {
  const { values, set, clear } = useFilters(['status']);
  const status = values.status as Subscription['status'] | undefined;
  const [made, setMade] = useState<CreatedSubscription>();
  const isAdmin = useMay('admin');
  const navigate = useNavigate();
  return (
    <Page
      title="Subscriptions"
      trail={[{ title: 'Changes', to: '/changes' }]}
      actions={isAdmin && !made && <Create done={setMade} />}
    >
      {made && (
        <Secret
          name={`The secret of ${hostOf(made.url)}`}
          value={made.secret}
          fileName={`porter-${hostOf(made.url)}.txt`}
          done={() => {
            setMade(undefined);
            void navigate({ to: `/subscriptions/${made.id}` });
          }}
        />
      )}
      <Sentence isFiltered={status !== undefined} clear={clear}>
        subscriptions that are
        <Pick
          label="Status"
          value={status}
          choices={['active', 'paused', 'disabled'].map((value) => ({ value, title: value }))}
          any="active or not"
          onChange={(value) => set('status', value)}
        />
      </Sentence>
      <List
        label="Subscriptions"
        of="listSubscriptions"
        input={{ query: { status } }}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => `/subscriptions/${id}`}
        empty="There is none like that. A subscription tells systems of your own of what partners change, or of alerts."
        columns={[
          { title: 'State', width: '7rem', cell: (one) => <SubscriptionState of={one} /> },
          { title: 'Address', width: '2fr', broad: true, cell: ({ url }) => <bdi>{url}</bdi> },
          { title: 'Hears of', width: '1fr', cell: (one) => one.topics.join(', ') },
          {
            title: 'Description',
            width: '1.4fr',
            wideOnly: true,
            cell: ({ description }) => <bdi>{description}</bdi>,
          },
          { title: 'Waiting', width: '5rem', titled: true, cell: ({ health }) => health.queued },
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

type Topic = Subscription['topics'][number];

function Create({ done }: { done: (made: CreatedSubscription) => void }) {
  const { mutateAsync } = useChange('createSubscription', ['listSubscriptions']);
  return (
    <FormDialog
      action="New subscription"
      submit="Create"
      kind="primary"
      title="New subscription"
      initial={{ url: '', topics: ['changes'] as string[], description: '' }}
      run={async ({ url, topics: chosen, description }) => {
        const body = { url: url.trim(), topics: chosen as Topic[], description: textOrNull(description) };
        done((await mutateAsync({ body })).data);
      }}
    >
      {({ field }) => (
        <>
          <p>
            From now on, what belongs to its topics is posted to the address, signed, in order and retried for
            days.
          </p>
          <Typed
            label="Address"
            type="url"
            description="https, at a public address or in a network that this deployment allows."
            field={field('url')}
          />
          <Ticked
            label="It hears of"
            field={field('topics')}
            choices={Object.entries(topics).map(([value, description]) => ({
              value,
              title: value,
              description,
            }))}
          />
          <Typed label="Description" field={field('description')} />
        </>
      )}
    </FormDialog>
  );
}
