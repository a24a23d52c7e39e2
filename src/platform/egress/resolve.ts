import { Resolver } from 'node:dns/promises';
import { codeOf } from './failures.ts';

/** All addresses of a name. */
export type Lookup = (host: string) => Promise<readonly string[]>;

/**
 * Asks the name servers directly, without a thread: `dns.lookup` blocks one of the four that a process has, so that
 * four names whose servers are silent would hold up every other lookup, and every file.
 */
export function createLookup(): Lookup {
  const resolver = new Resolver({ timeout: 2_000, tries: 3 });
  return async (host) => {
    // By RFC 6761 never asked for: it is this machine.
    if (/(?:^|\.)localhost$/.test(host)) return ['127.0.0.1', '::1'];
    const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const addresses = [four, six].flatMap((found) => (found.status === 'fulfilled' ? found.value : []));
    if (addresses.length > 0) return addresses;
    const failures = [four, six].flatMap((found) => (found.status === 'rejected' ? [found.reason] : []));
    // That one kind of address does not exist says less than that the servers were out of reach for the other.
    throw failures.find((error) => codeOf(error) !== 'ENODATA') ?? failures[0];
  };
}
