import { useRouter, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { Button, FieldError, Form, Input, Label, Text, TextField } from 'react-aria-components';
import { queryClient } from '../api/client.ts';
import { Mark } from '../frame/frame.tsx';
import { forgetRecent } from '../frame/recent.ts';

/** The token goes to the service once and is kept nowhere in the browser: what stays is a cookie that no script can read. */
export function SignIn() {
  const { history } = useRouter();
  const { to } = useSearch({ from: '/sign-in' });
  const [token, setToken] = useState('');
  const [refusal, setRefusal] = useState<string>();
  const [isRunning, setRunning] = useState(false);
  useEffect(() => {
    document.title = 'Sign in · Porter console';
  }, []);
  const submit = async () => {
    setRunning(true);
    setRefusal(undefined);
    const answer = await fetch('/console/sign-in', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-porter-console': '1' },
      body: JSON.stringify({ token: token.trim() }),
    }).catch(() => undefined);
    setRunning(false);
    if (!answer?.ok) {
      setRefusal(
        answer?.status === 401
          ? 'This is not a token that works. It begins with pto_ and was shown when it was made.'
          : 'The service does not answer. Try again in a moment.',
      );
      return;
    }
    queryClient.clear();
    forgetRecent();
    history.replace(to);
  };
  return (
    <main className="sign-in">
      <h1>
        <Mark /> Porter console
      </h1>
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
    </main>
  );
}
