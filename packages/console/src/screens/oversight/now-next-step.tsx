import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useChange } from '../../api/client.ts';
import type { AttentionGroup, AttentionItem } from '../../api/generated.ts';
import { pageOf, writeThroughOf } from '../../frame/addresses.ts';
import { useMay } from '../../frame/session.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Activate, Pause, RetryAll } from '../events/webhook-acts.tsx';

/** Where to look at what a line is about. */
export function pageOfSubject(
  kind: AttentionGroup['kind'],
  { subject, partner, practice_group: practice }: AttentionItem,
) {
  if (kind === 'refusals_rising')
    return { to: '/refused', search: { partner_id: partner?.id ?? subject.id } };
  if (kind === 'changes_pending') return { to: '/changes', search: { practice_group_id: subject.id } };
  if (subject.type === 'stop')
    return { to: pageOf('practice_group', practice?.id ?? ''), search: { tab: 'reach' } };
  if (subject.type === 'write_through') return writeThroughOf(practice?.id ?? '');
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
  const webhook = { ...item.subject, partnerName: item.partner?.name ?? '', queued: item.queued ?? 0 };
  if (action === 'pause' && isAdmin) return <Pause of={webhook} done={setSaid} />;
  if (action === 'activate' && isAdmin) return <Activate of={webhook} done={setSaid} />;
  if (action === 'retry_all' && isSupport) return <RetryAll of={webhook} done={setSaid} />;
  if (action === 'remind' && isSupport && item.alert_id) return <Remind of={item} done={setSaid} />;
  return (
    <Link className="button" {...pageOfSubject(kind, item)}>
      Open
    </Link>
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
