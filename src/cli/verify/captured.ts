/** A request as somebody saved it: header names as they were written, the body byte for byte. */
export interface Captured {
  headers: ReadonlyMap<string, string>;
  body: Buffer;
}

const NEWLINE = 10;
const RETURN = 13;

/** A raw HTTP request: a request line, headers, an empty line, the body. Line breaks may have lost their CR. */
export function readRequest(bytes: Buffer): Captured {
  const { head, rest } = splitHead(bytes);
  const headers = readHeaders(head);
  const length = Number([...headers].find(([name]) => name.toLowerCase() === 'content-length')?.[1]);
  // What an editor added after the end is no part of the request.
  return { headers, body: length < rest.length ? rest.subarray(0, length) : rest };
}

/** Lines such as `webhook-id: …`; a request line before them is passed over. */
export function readHeaders(text: string): Map<string, string> {
  const headers = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    const [, name, value = ''] = /^([^\s:]+):\s*(.*?)\s*$/.exec(line) ?? [];
    if (name === undefined) continue;
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return headers;
}

function splitHead(bytes: Buffer): { head: string; rest: Buffer } {
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) {
    const next = bytes[at + 1] === RETURN ? at + 2 : at + 1;
    if (bytes[next] === NEWLINE)
      return { head: bytes.toString('utf8', 0, at), rest: bytes.subarray(next + 1) };
  }
  return { head: bytes.toString(), rest: Buffer.alloc(0) };
}
