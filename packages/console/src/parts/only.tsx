import { useMay, useSession } from '../frame/session.ts';
import { Empty } from './page.tsx';

/** What is for some roles alone: whoever finds the address with another is told so, before anything is typed. */
export function Only({ to, children }: { to: readonly string[]; children: React.ReactNode }) {
  const { role } = useSession().operator;
  if (useMay(...to)) return children;
  return (
    <Empty>
      Your role, {role}, does not allow this. Ask somebody with the role {to.join(' or ')}.
    </Empty>
  );
}
