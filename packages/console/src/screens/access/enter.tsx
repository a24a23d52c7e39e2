import { useRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { queryClient } from '../../api/client.ts';
import { Mark } from '../../frame/frame.tsx';
import { forgetRecent } from '../../frame/recent.ts';
import { redeemToken } from './redeem-token.ts';

/**
 * Where the link of an invitation leads. Its token stands behind the #, which no server, log or referrer sees. It is spent by the button and not
 * by opening the page: programs that look into mail open links, too, and the link is good for one session.
 */
export function Enter() {
  const { history } = useRouter();
  const [token] = useState(() => location.hash.slice(1));
  const [refusal, setRefusal] = useState<string>();
  const [isRunning, setRunning] = useState(false);
  useEffect(() => {
    document.title = 'Your invitation · Porter console';
  }, []);
  const enter = async () => {
    setRunning(true);
    const refused = await redeemToken('/console/enter', token);
    setRunning(false);
    if (refused !== undefined) return setRefusal(refused);
    queryClient.clear();
    forgetRecent();
    history.replace('/');
  };
  return (
    <main className="sign-in">
      <h1>
        <Mark /> Porter console
      </h1>
      <div className="stack">
        {token ? (
          <p>You were invited. The link is good for one session, in this browser.</p>
        ) : (
          <p role="alert">
            The address is not whole: what stands behind the # is missing. Open the link in the message again,
            or copy all of it.
          </p>
        )}
        {refusal !== undefined && (
          <div className="failure" role="alert">
            <p>{refusal}</p>
          </div>
        )}
        {token && (
          <Button className="button primary" isDisabled={isRunning} onPress={() => void enter()}>
            Enter
          </Button>
        )}
      </div>
    </main>
  );
}
