/** An ID as one part of a path. Some would make it another path. */
export function segment(id: string): string {
  if (/^\.{0,2}$/.test(id)) throw new TypeError(`${JSON.stringify(id)} is no ID.`);
  return encodeURIComponent(id);
}
