import { useQuery } from '@tanstack/react-query';
import { one } from '../../api/client.ts';
import type { ApiKey } from '../../api/generated.ts';
import { KeyName } from '../../parts/name.tsx';
import { Banner } from '../../parts/page.tsx';
import { toDuration, toExact, useNow, When } from '../../parts/when.tsx';

/** Whether the key works; during a rotation: for how long yet, and whether anybody still uses it. */
export function KeyWorks({ of: key }: { of: ApiKey }) {
  const now = useNow();
  if (key.status === 'revoked')
    return (
      <Banner tone={key.leak ? 'failing' : 'stopped'}>
        <strong>Revoked</strong> <When at={key.revoked_at} />.{' '}
        {key.leak &&
          `It was found where it should not be${key.leak.source ? ` by ${key.leak.source}` : ''}. `}
        Calls with it are refused.
      </Banner>
    );
  if (key.status === 'expired')
    return (
      <Banner tone="stopped">
        <strong>Expired</strong> <When at={key.expires_at} />.{' '}
        {key.replaced_by && (
          <>
            <KeyName id={key.replaced_by} /> took its place.{' '}
          </>
        )}
        Calls with it are refused.
      </Banner>
    );
  if (key.replaced_by !== null) return <Rotating of={key} replacedBy={key.replaced_by} />;
  if (key.expires_at)
    return (
      <Banner tone="waiting">
        <strong>It works</strong> for another {toDuration(Date.parse(key.expires_at) - now)}, until{' '}
        {toExact(key.expires_at)}.
      </Banner>
    );
  return (
    <Banner tone="fine">
      <strong>It works.</strong> <Used at={key.last_used_at} />
    </Banner>
  );
}

function Used({ at }: { at: string | null | undefined }) {
  if (!at) return 'It was never used.';
  return (
    <>
      It was last used <When at={at} />.
    </>
  );
}

/** A key that is being replaced: is the old one still used? */
function Rotating({ of: key, replacedBy }: { of: ApiKey; replacedBy: string }) {
  const now = useNow();
  const { data: next } = useQuery(one('getKey', { params: { id: replacedBy } }));
  const usedSince = next && key.last_used_at !== null && key.last_used_at > next.created_at;
  const left = key.expires_at === null ? null : Date.parse(key.expires_at) - now;
  return (
    <Banner tone={usedSince ? 'failing' : 'waiting'}>
      <strong>
        {usedSince ? (
          <>
            The old key is still used: <When at={key.last_used_at} /> from {key.last_used_from}.
          </>
        ) : (
          'The old key has not been used since the new one was issued.'
        )}
      </strong>{' '}
      {left !== null && (
        <>
          It ends in <span role="timer">{toDuration(Math.max(0, left))}</span>.{' '}
        </>
      )}
      <KeyName id={replacedBy} /> takes its place. <Used at={next?.last_used_at} />
    </Banner>
  );
}
