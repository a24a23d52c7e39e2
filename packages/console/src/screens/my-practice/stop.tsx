import { useChange } from '../../api/client.ts';
import type { ReachingPartnerInDetail } from '../../api/generated.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { FormDialog, Typed } from '../../parts/form.tsx';
import { toCount } from './words.ts';

const CHANGED = ['listReachingPartners', 'getReachingPartner'] as const;

/** The service counts no further. */
const WAITING_MAX = 1000;
const toWaiting = (count: number): string =>
  count >= WAITING_MAX
    ? `${WAITING_MAX.toLocaleString('en-GB')} messages or more`
    : toCount(count, 'message');

/** Says what will happen to how many, asks once, and wants to know why. */
export function StopPartner({ of: detail }: { of: ReachingPartnerInDetail }) {
  const { partner, calls_last_day: calls, deliveries_waiting: waiting, receivers } = detail;
  const { mutateAsync } = useChange('stopPartner', CHANGED);
  return (
    <FormDialog
      action="Stop this partner"
      title={`Stop ${partner.name}?`}
      kind="danger"
      initial={{ reason: '' }}
      run={({ reason }) => mutateAsync({ params: { id: partner.id }, body: { reason: reason.trim() } })}
    >
      {({ field }) => (
        <>
          <ul className="consequences">
            <li>
              From its next call on, everything that it asks for of your practice is refused.{' '}
              {calls === 0
                ? 'It has made no call in the last 24 hours.'
                : `It has made ${toCount(calls, 'call')} in the last 24 hours.`}
            </li>
            <li>
              {receivers === 0
                ? 'It has no address that messages about your practice are sent to. None are sent while it is stopped.'
                : `Nothing more is sent to it. ${waiting === 0 ? 'No message is on its way.' : `${toWaiting(waiting)} on the way are held back, and sent if you let it go on soon enough.`} What happens meanwhile is not sent later by itself.`}
            </li>
            <li>What it already has, it keeps. Other practices and other partners notice nothing.</li>
            <li>Whoever runs Porter is told at once, and sees your name and your reason.</li>
          </ul>
          <Typed
            label="Why?"
            description="For your colleagues and for whoever runs Porter. Name no patient. The partner does not see it."
            field={field('reason')}
            rows={3}
            autoFocus
          />
          <p className="soft">This takes about a second. You can let it go on at any time.</p>
        </>
      )}
    </FormDialog>
  );
}

export function ResumePartner({
  of: { partner, deliveries_waiting: waiting },
}: {
  of: ReachingPartnerInDetail;
}) {
  const { mutateAsync } = useChange('resumePartner', CHANGED);
  return (
    <Confirm
      action="Let it go on"
      title={`Let ${partner.name} go on?`}
      isDestructive={false}
      run={() => mutateAsync({ params: { id: partner.id } })}
    >
      <p>
        It reaches your practice again with its next call.{' '}
        {waiting === 0 ? 'No message was held back.' : `${toWaiting(waiting)} that were held back are sent.`}{' '}
        It may ask for what it missed meanwhile.
      </p>
    </Confirm>
  );
}
