import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { ask, type Operation, useChange } from '../api/client.ts';
import type { AttentionGroup, AttentionItem } from '../api/generated.ts';
import { pageOf } from '../frame/addresses.ts';
import { useMay } from '../frame/session.ts';
import { Confirm } from '../parts/confirm.tsx';

/** Where to look at what a line is about. */
export function pageOfSubject(kind: AttentionGroup['kind'], { subject, partner }: AttentionItem) {
  if (kind === 'refusals_rising')
    return { to: '/refused', search: { partner_id: partner?.id ?? subject.id } };
  if (kind === 'changes_pending') return { to: '/changes', search: { practice_group_id: subject.id } };
  if (subject.type === 'service') return { to: '/settings', search: {} };
  if (subject.type === 'approval') return { to: '/settings', search: { tab: 'approvals' } };
  return { to: pageOf(subject.type, subject.id), search: {} };
}

interface StepProps {
  of: AttentionItem;
  done: (said: string) => void;
}

/** The one thing to do next. Whoever may not do it can look at what it is about. */
export function NextStep({ kind, of: item }: { kind: AttentionGroup['kind']; of: AttentionItem }) {
  const [said, setSaid] = useState<string>();
  const isAdmin = useMay('admin');
  const isSupport = useMay('admin', 'support');
  const { action } = item;
  if (said) return <span role="status">{said}</span>;
  if (action === 'pause' && isAdmin) return <Pause of={item} done={setSaid} />;
  if (action === 'activate' && isAdmin) return <Activate of={item} done={setSaid} />;
  if (action === 'retry_all' && isSupport) return <RetryAll of={item} done={setSaid} />;
  if (action === 'remind' && isSupport && item.alert_id) return <Remind of={item} done={setSaid} />;
  return (
    <Link className="button" {...pageOfSubject(kind, item)}>
      Open
    </Link>
  );
}

const CHANGED: readonly Operation[] = ['getAttention', 'listAllWebhooks', 'getPartnerWebhook'];

const waiting = (queued: number | null) => (queued === 1 ? '1 delivery' : `${queued ?? 0} deliveries`);

function Pause({ of: { subject, partner, queued }, done }: StepProps) {
  const { mutateAsync } = useChange('updatePartnerWebhook', CHANGED);
  return (
    <Confirm
      action="Pause"
      isDestructive={false}
      title={`Pause ${subject.name}?`}
      run={async () => {
        await mutateAsync({ params: { id: subject.id }, body: { status: 'paused' } });
        done('Paused');
      }}
    >
      <p>
        Nothing is sent to {partner?.name} at this address until somebody activates it. {waiting(queued)} that
        wait now, and those to come, stay queued for as long as events are kept. The partner sees that an
        operator paused it.
      </p>
    </Confirm>
  );
}

function Activate({ of: { subject, partner, queued }, done }: StepProps) {
  const { mutateAsync } = useChange('updatePartnerWebhook', CHANGED);
  return (
    <Confirm
      action="Activate"
      isDestructive={false}
      title={`Activate ${subject.name}?`}
      run={async () => {
        await mutateAsync({ params: { id: subject.id }, body: { status: 'active' } });
        done('Active');
      }}
    >
      <p>
        {waiting(queued)} that wait are sent to {partner?.name} now, in their order. Its count of failures
        begins anew.
      </p>
    </Confirm>
  );
}

function RetryAll({ of: { subject, partner }, done }: StepProps) {
  const { mutateAsync } = useChange('retryFailedDeliveries', [...CHANGED, 'listDeliveries']);
  return (
    <Confirm
      action="Retry all"
      isDestructive={false}
      title={`Retry all for ${subject.name}?`}
      run={async () => {
        const params = { id: subject.id };
        let { count, has_more: hasMore } = (await mutateAsync({ params })).data;
        while (hasMore) {
          const { data } = await ask('retryFailedDeliveries', { params });
          count += data.count;
          hasMore = data.has_more;
        }
        done(count === 1 ? '1 is sent again' : `${count} are sent again`);
      }}
    >
      <p>Every delivery that was given up is sent to {partner?.name} again, in its order.</p>
    </Confirm>
  );
}

function Remind({ of: { subject, partner, alert_id }, done }: StepProps) {
  const { mutateAsync } = useChange('remindOfAlert', []);
  return (
    <Confirm
      action="Remind"
      isDestructive={false}
      title={`Remind ${partner?.name ?? 'the partner'}?`}
      run={async () => {
        await mutateAsync({ params: { id: alert_id ?? '' } });
        done('Reminded');
      }}
    >
      <p>
        The contacts of {partner?.name ?? 'the partner'} are told of {subject.name} once more, by e-mail.
      </p>
    </Confirm>
  );
}
