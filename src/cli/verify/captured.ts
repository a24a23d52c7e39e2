/** A request as somebody saved it: header names as they were written, the body byte for byte. */
export interface Captured {
  /** A header that came twice is there twice. */
  headers: Iterable<readonly [name: string, value: string]>;
  body: Buffer;
}

const NEWLINE = 10;
const RETURN = 13;

/** A raw HTTP request: a request line, headers, an empty line, the body. Line breaks may have lost their CR. */
export function readRequest(bytes: Buffer): Captured & { headers: Header[] } {
  const { head, rest } = splitHead(bytes);
  const headers = readHeaders(head);
  const header = (wanted: string) => headers.find(([name]) => name.toLowerCase() === wanted)?.[1] ?? '';
  if (/\bchunked$/i.test(header('transfer-encoding'))) return { headers, body: withoutChunks(rest) ?? rest };
  const length = /^\d+$/.test(header('content-length')) ? Number(header('content-length')) : rest.length;
  // What an editor added after the end is no part of the request.
  return { headers, body: rest.subarray(0, length) };
}

type Header = [name: string, value: string];

/** Lines such as `webhook-id: …`; a request line before them is passed over, as is a line of JSON. */
export function readHeaders(text: string): Header[] {
  const headers: Header[] = [];
  for (const line of text.split(/\r?\n/)) {
    const [, name, value = ''] = /^([\w!#$%&'*+.^`|~-]+):\s*(.*?)\s*$/.exec(line) ?? [];
    if (name !== undefined) headers.push([name, value]);
  }
  return headers;
}

/** The body itself, without the sizes between its chunks; undefined if there are none, as in what a framework logged. */
function withoutChunks(bytes: Buffer): Buffer | undefined {
  const chunks: Buffer[] = [];
  for (let rest = bytes; ; ) {
    const end = rest.indexOf(NEWLINE);
    const [, digits] = /^([0-9a-f]{1,8})\s*(?:;|$)/i.exec(rest.toString('latin1', 0, Math.max(end, 0))) ?? [];
    if (digits === undefined) return undefined;
    const size = Number.parseInt(digits, 16);
    if (size === 0) return Buffer.concat(chunks);
    const start = end + 1;
    chunks.push(rest.subarray(start, start + size));
    rest = rest.subarray(start + size);
    rest = rest.subarray(rest[0] === RETURN ? 2 : 1);
  }
}

function splitHead(bytes: Buffer): { head: string; rest: Buffer } {
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) {
    const next = bytes[at + 1] === RETURN ? at + 2 : at + 1;
    if (bytes[next] === NEWLINE)
      return { head: bytes.toString('utf8', 0, at), rest: bytes.subarray(next + 1) };
  }
  return { head: bytes.toString(), rest: Buffer.alloc(0) };
}
