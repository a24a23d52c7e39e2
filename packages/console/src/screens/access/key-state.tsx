import type { ApiKey } from '../../api/generated.ts';
import { toRelative } from '../../parts/lengths.ts';
import { State } from '../../parts/state.tsx';
import { useNow } from '../../parts/when.tsx';

const SOON_MS = 14 * 86_400_000;

/** Whether a key works, and for how long. */
export function KeyState({ of: key }: { of: ApiKey }) {
  const now = useNow();
  if (key.status === 'revoked')
    return <State kind="stopped">{key.leak ? 'revoked: leaked' : 'revoked'}</State>;
  if (key.status === 'expired')
    return <State kind="stopped">{key.replaced_by ? 'replaced' : 'expired'}</State>;
  if (key.expires_at && Date.parse(key.expires_at) - now < SOON_MS)
    return (
      <State kind="waiting">
        {key.replaced_by ? 'replaced, ends' : 'ends'} {toRelative(Date.parse(key.expires_at), now)}
      </State>
    );
  return <State kind="fine">works</State>;
}
