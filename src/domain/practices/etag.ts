export function etagOf(version: number): string {
  return `"${version}"`;
}

/** RFC 9110: `*`, or a list of entity tags compared strongly, so a weak one never matches. */
export function ifMatchHolds(header: string | undefined, etag: string): boolean {
  if (header === undefined || header.trim() === '*') return true;
  return header.split(',').some((tag) => tag.trim() === etag);
}
