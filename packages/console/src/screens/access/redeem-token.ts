/** Exchanges a token for a session cookie. Returns the message of the service if it refuses the token. */
export async function redeemToken(path: string, token: string): Promise<string | undefined> {
  const answer = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-porter-console': '1' },
    body: JSON.stringify({ token }),
  }).catch(() => undefined);
  if (answer?.ok) return undefined;
  const said: { message?: unknown } | undefined = await answer?.json().catch(() => undefined);
  return typeof said?.message === 'string'
    ? said.message
    : 'The service does not answer. Try again in a moment.';
}
