import type { PorterOptions } from './options.ts';

/** What is checked once, before anything is sent. No message quotes what may be secret. */

/** What a header can carry. Anything else would be refused by fetch, which quotes it. */
const VISIBLE = /^[!-~]+$/;
const THIS_MACHINE = /^(127(\.\d+){3}|\[::1\]|localhost)$/;

export function checkOptions(options: PorterOptions): void {
  for (const name of ['apiKey', 'practiceGroupId', 'baseUrl'] as const)
    if (!options[name]) throw new TypeError(`new Porter({ ${name} }): it is missing or empty.`);
  for (const name of ['apiKey', 'practiceGroupId'] as const)
    if (!VISIBLE.test(options[name]))
      throw new TypeError(
        `new Porter({ ${name} }): it has a space, a line end or another character that cannot be in it. Copy it again.`,
      );
}

/** Without a slash at the end. The key goes there, so it must not travel in the open. */
export function readBaseUrl(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && THIS_MACHINE.test(url.hostname));
  if (!url || !isSafe)
    throw new TypeError(
      'new Porter({ baseUrl }): give an address that begins with https://, or with http:// for this machine.',
    );
  if (url.username || url.password || url.search || url.hash)
    throw new TypeError('new Porter({ baseUrl }): give it without a user, a password, a ? and a #.');
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}
