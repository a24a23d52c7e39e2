import { Link } from '@tanstack/react-router';
import type { Approval } from '../api/generated.ts';
import { Banner } from './page.tsx';
import { When } from './when.tsx';

/** Whether an operation answered that a second person is to approve it first. */
export const isWaiting = (answer: object): answer is Approval => 'requested_by' in answer;

export function Waits({ approval }: { approval: Approval }) {
  return (
    <Banner
      tone="waiting"
      actions={
        <Link className="button" to="/settings" search={{ tab: 'approvals' }}>
          Approvals
        </Link>
      }
    >
      <strong>It waits for a second person.</strong> Nothing was done yet. Once somebody has approved it, you
      collect what it made under Approvals; it ends <When at={approval.expires_at} />.
    </Banner>
  );
}
