import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { ask, type Operation, useChange } from '../../api/client.ts';
import type { PartnerWebhook } from '../../api/generated.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { FormDialog, momentOrNull, Typed, toLocalInput } from '../../parts/form.tsx';
import { hostOf, toWaiting } from './webhook-state.tsx';

/** What can be done to a webhook. Each says what will happen, and to how many. */

const CHANGED: readonly Operation[] = [
  'getPartnerWebhook',
  'listAllWebhooks',
  'listWebhookAttempts',
  'listDeliveries',
  'getDelivery',
  'getAttention',
];

/** As much of a webhook as has to be known for that. */
interface Acted {
  id: string;
  /** What people call it: its host. */
  name: string;
  partnerName: string;
  queued: number;
}

export const acted = ({ id, url, partner_name, health }: PartnerWebhook): Acted => ({
  id,
  name: hostOf(url),
  partnerName: partner_name,
  queued: health.queued,
});

interface ActProps {
  of: Acted;
  /** Told when it is done, where that is not seen by itself. */
  done?: (said: string) => void;
}

export function Pause({ of: webhook, done }: ActProps) {
  return (
    <SetStatus of={webhook} action="Pause" status="paused" done={() => done?.('Paused')}>
      Nothing is sent to <bdi>{webhook.partnerName}</bdi> at this address until somebody activates it.{' '}
      {webhook.queued > 0
        ? `${toWaiting(webhook.queued)} now, and those to come, stay`
        : 'Those to come stay'}{' '}
      queued for as long as events are kept.
    </SetStatus>
  );
}

export function Activate({ of: webhook, done, isNext = false }: ActProps & { isNext?: boolean }) {
  return (
    <SetStatus
      of={webhook}
      action="Activate"
      kind={isNext ? 'primary' : 'plain'}
      status="active"
      done={() => done?.('Active')}
    >
      {webhook.queued > 0 ? (
        <>
          {toWaiting(webhook.queued, 'sent')} to <bdi>{webhook.partnerName}</bdi> now, in order.
        </>
      ) : (
        'Nothing waits.'
      )}{' '}
      Its count of failures begins anew.
    </SetStatus>
  );
}

function SetStatus({
  of: { id, name },
  action,
  kind = 'plain',
  status,
  done,
  children,
}: {
  of: Acted;
  action: string;
  kind?: 'plain' | 'primary';
  status: 'active' | 'paused';
  done: () => void;
  children: React.ReactNode;
}) {
  const { mutateAsync } = useChange('updatePartnerWebhook', CHANGED);
  return (
    <FormDialog
      action={action}
      kind={kind}
      title={`${action} ${name}?`}
      initial={{ reason: '' }}
      run={async ({ reason }) => {
        const said = reason.trim();
        await mutateAsync({ params: { id }, body: { status, ...(said && { reason: said }) } });
        done();
      }}
    >
      {({ field }) => (
        <>
          <p>{children}</p>
          <Typed
            label="Reason"
            description="The partner sees it, and the audit keeps it."
            field={field('reason')}
          />
        </>
      )}
    </FormDialog>
  );
}

export function Remove({ of: { id, name, partnerName, queued } }: ActProps) {
  const { mutateAsync } = useChange('deletePartnerWebhook', ['listAllWebhooks', 'getAttention']);
  const navigate = useNavigate();
  return (
    <Confirm
      action="Delete"
      title={`Delete ${name}?`}
      typed={{ label: `Type ${name} to delete it`, text: name }}
      run={async () => {
        await mutateAsync({ params: { id } });
        await navigate({ to: '/webhooks' });
      }}
    >
      <p>
        Its deliveries go, too{queued > 0 && `, and ${toWaiting(queued, 'not sent any more')}`}. Events stay
        in the feed. <bdi>{partnerName}</bdi> cannot bring it back, only make another: pause one that is to go
        on later.
      </p>
    </Confirm>
  );
}

const isSent = (count: number) =>
  count === 1 ? '1 delivery will be sent.' : `${count} deliveries will be sent.`;

/** What was given up, of which the service takes so many at once. */
export function RetryAll({ of: webhook, done }: ActProps) {
  const { mutateAsync } = useChange('retryFailedDeliveries', CHANGED);
  const [said, setSaid] = useState<string>();
  const params = { id: webhook.id };
  const run = async () => {
    let { count, has_more: hasMore } = (await mutateAsync({ params })).data;
    while (hasMore) {
      const { data } = await ask('retryFailedDeliveries', { params });
      count += data.count;
      hasMore = data.has_more;
    }
    setSaid(isSent(count));
    done?.(isSent(count));
  };
  return (
    <>
      {said && <span role="status">{said}</span>}
      <Confirm
        action="Retry all failed"
        isDestructive={false}
        title={`Retry what ${webhook.name} did not receive?`}
        run={run}
      >
        <p>
          Every delivery that was given up is sent to <bdi>{webhook.partnerName}</bdi> again, in its order and
          with the same webhook-id. What waits for its next attempt comes by itself.
        </p>
      </Confirm>
    </>
  );
}

const DAY_MS = 86_400_000;

export function Replay({ of: webhook }: ActProps) {
  const { mutateAsync } = useChange('replayPartnerWebhook', CHANGED);
  const [said, setSaid] = useState<string>();
  const since = new Date(Date.now() - DAY_MS).toISOString();
  return (
    <>
      {said && <span role="status">{said}</span>}
      <FormDialog
        action="Replay…"
        submit="Replay"
        title={`Replay events to ${webhook.name}`}
        initial={{ since: toLocalInput(since), until: '' }}
        run={async (typed) => {
          const until = momentOrNull(typed.until);
          const { data } = await mutateAsync({
            params: { id: webhook.id },
            body: { since: momentOrNull(typed.since) ?? '', ...(until && { until }) },
          });
          setSaid(isSent(data.count));
        }}
      >
        {({ field }) => (
          <>
            <p>
              Every event of these hours that the webhook subscribes to is sent to{' '}
              <bdi>{webhook.partnerName}</bdi>, those that it has received already too, under the same
              webhook-id.
            </p>
            <Typed label="From" type="datetime-local" field={field('since')} />
            <Typed label="To" type="datetime-local" description="Empty: up to now." field={field('until')} />
          </>
        )}
      </FormDialog>
    </>
  );
}
