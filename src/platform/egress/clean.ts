/** What a store or a terminal would choke on, or obey. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** Bytes that somebody else chose as text that can be stored and shown. */
export function clean(bytes: Buffer): string {
  return bytes
    .toString('utf8', 0, wholeCharacters(bytes))
    .replaceAll('\r\n', '\n')
    .replaceAll(CONTROL, '\ufffd');
}

/** The length without the beginning of a character whose end was cut off. */
function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) break;
    if (byte < 0xc0) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}
