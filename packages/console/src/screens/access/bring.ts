/** Sends what lets somebody in; the answer is a cookie and no part of the API. Returns why not, in the words of the service. */
export async function bring(path: string, token: string): Promise<string | undefined> {
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
