export const UNREADABLE = '/unreadable-address';

/**
 * The address by which a request is routed. `GET http://host/path` asks for `/path`; escapes that stand for no text
 * have no route, and so come to `nothingThere` like any address that does not exist.
 */
export function readableAddress(url: string): string {
  const address = withoutOrigin(url);
  return isDecodable(pathOf(address)) ? address : UNREADABLE;
}

export function withoutOrigin(url: string): string {
  return url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?]*\/?/i, '/');
}

export function pathOf(url: string): string {
  const end = url.indexOf('?');
  return end < 0 ? url : url.slice(0, end);
}

function isDecodable(path: string): boolean {
  if (!path.includes('%')) return true;
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
