/**
 * The first script of a page, which needs no other: it asks who is signed in while the rest is still fetched and read. `whoAmI` of
 * api/client.ts takes the answer.
 */
if (!/^\/console\/(sign-in|enter)$/.test(location.pathname)) {
  const asked = fetch('/console/me', { headers: { 'x-porter-console': '1' }, redirect: 'manual' });
  // Whoever takes it hears of a failure.
  asked.catch(() => undefined);
  globalThis.askedEarly = asked;
}
