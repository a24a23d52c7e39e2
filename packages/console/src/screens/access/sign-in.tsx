import { useQuery } from '@tanstack/react-query';
import { useRouter, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { FieldError } from 'react-aria-components/FieldError';
import { Form } from 'react-aria-components/Form';
import { Input } from 'react-aria-components/Input';
import { Label } from 'react-aria-components/Label';
import { Text } from 'react-aria-components/Text';
import { TextField } from 'react-aria-components/TextField';
import { queryClient } from '../../api/client.ts';
import { Mark } from '../../frame/frame.tsx';
import { forgetRecent } from '../../frame/recent.ts';
import { redeemToken } from './redeem-token.ts';

/** What is known before anybody is signed in. These calls answer with cookies and are no part of the API. */
interface Options {
  sign_in: 'token' | 'oidc';
  environment: string;
  support_contact: string;
}

const readOptions = async (): Promise<Options> => (await fetch('/console/sign-in/options')).json();

export function SignIn() {
  const { data: options } = useQuery({ queryKey: ['sign-in'], queryFn: readOptions });
  useEffect(() => {
    document.title = 'Sign in · Porter console';
  }, []);
  return (
    <main className="sign-in" data-environment={options?.environment}>
      <h1>
        <Mark /> Porter console
      </h1>
      {options && <strong className="environment">{options.environment}</strong>}
      {options?.sign_in === 'oidc' ? <WithProvider /> : <WithToken />}
      <p className="soft">
        Are you here for a partner or a practice? Come in by the link in your invitation. It is good for one
        session; ask whoever invited you for another one
        {options?.support_contact && ` (${options.support_contact})`}.
      </p>
    </main>
  );
}

/** The provider sends the browser back to the console's first page. */
function WithProvider() {
  return (
    <div className="stack">
      <a className="button primary" href="/console/sign-in/oidc">
        Sign in with your organisation
      </a>
      <details>
        <summary>The provider is down, and you have an emergency token</summary>
        <WithToken />
      </details>
    </div>
  );
}

/** The token goes to the service once and is kept nowhere in the browser: what stays is a cookie that no script can read. */
function WithToken() {
  const { history } = useRouter();
  const { to } = useSearch({ from: '/sign-in' });
  const [token, setToken] = useState('');
  const [refusal, setRefusal] = useState<string>();
  const [isRunning, setRunning] = useState(false);
  const submit = async () => {
    setRunning(true);
    setRefusal(undefined);
    const refused = await redeemToken('/console/sign-in', token.trim());
    setRunning(false);
    if (refused !== undefined) return setRefusal(refused);
    queryClient.clear();
    forgetRecent();
    history.replace(to);
  };
  return (
    <Form
      className="stack"
      // The service says what is wrong; the browser would not let the form be sent again until it is right.
      validationBehavior="aria"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <TextField
        value={token}
        onChange={setToken}
        isRequired
        isInvalid={refusal !== undefined}
        type="password"
      >
        <Label>Operator token</Label>
        <Input autoComplete="current-password" spellCheck={false} />
        <Text slot="description">The first one is printed by the first start of the service.</Text>
        <FieldError>{refusal}</FieldError>
      </TextField>
      <Button className="button primary" type="submit" isPending={isRunning}>
        Sign in
      </Button>
    </Form>
  );
}
