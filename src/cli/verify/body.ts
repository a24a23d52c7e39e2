import { parseJson } from '../json.ts';
import type { Finding, Reading } from './finding.ts';

const REMEDY =
  'Verify the bytes as they arrive, before anything parses, decodes or prints them; parse them afterwards.';

/** The order of the fields in what Porter sends. */
const FIELDS = [
  'object',
  'id',
  'practice_group_id',
  'event',
  'failure_reason',
  'code',
  'resource',
  'resource_id',
];

/** What may have been sent, if this body is what became of it; the likelier comes first. */
export function bodyReadings(body: Buffer): Reading<Buffer>[] {
  const text = body.toString();
  const readings: Reading<Buffer>[] = [{ value: body }];
  const changed = (sent: string, what: string, how: string) => {
    const value = Buffer.from(sent);
    if (readings.every((one) => !one.value.equals(value)))
      readings.push({ value, finding: reencoded(what, how) });
  };
  changed(text, 'bytes in it are not UTF-8', 'With those replaced (\uFFFD)');
  changed(text.replace(/\r?\n$/, ''), 'a line break was added at its end', 'Without it');
  changed(text.replace(/^\uFEFF/, ''), 'a byte order mark was put before it', 'Without it');
  changed(text.trim(), 'white space was added around it', 'Without it');
  changed(text.replaceAll('\r\n', '\n'), 'its line breaks were turned into CRLF', 'With LF');
  changed(Buffer.from(text, 'latin1').toString(), 'its UTF-8 was read as Latin-1', 'Read as UTF-8');
  changed(body.toString('latin1'), 'it was stored as Latin-1', 'As UTF-8');
  if (/^[A-Za-z0-9+/_-]+=*\s*$/.test(text))
    changed(Buffer.from(text, 'base64').toString(), 'it was encoded as base64', 'Decoded');
  const parsed = parseJson(text.replace(/^\uFEFF/, ''));
  if (typeof parsed === 'string') changed(parsed, 'it was put into a JSON string', 'Taken out of it');
  if (typeof parsed === 'object' && parsed !== null) {
    const again = 'the JSON was parsed and written again';
    changed(JSON.stringify(parsed), `${again}${styleOf(text)}`, 'Written as compact JSON');
    changed(
      inOrder(parsed),
      `${again}, with its fields in another order`,
      'In the order in which Porter writes them',
    );
  }
  return readings;
}

function reencoded(what: string, how: string): Finding {
  return {
    kind: 'body_reencoded',
    message: `The body is not the bytes that were sent: ${what}. ${how}, the signature is right.`,
    remedy: REMEDY,
  };
}

/** Which kind of printer wrote it, as far as that shows. */
function styleOf(text: string): string {
  if (/\n/.test(text.trim())) return ', on several lines';
  if (/\\u[0-9a-f]{4}|\\\//i.test(text)) return ', with other characters escaped';
  if (/[:,] /.test(text)) return ', with blanks after its colons and commas';
  return '';
}

function inOrder(parsed: object): string {
  const place = (name: string) => (FIELDS.includes(name) ? FIELDS.indexOf(name) : FIELDS.length);
  return JSON.stringify(Object.fromEntries(Object.entries(parsed).sort(([a], [b]) => place(a) - place(b))));
}

/** What else is visibly wrong with a body that no reading of it fits. */
export function brokenBody(body: Buffer, contentLength: number | undefined): Finding | undefined {
  const text = body.toString();
  if (contentLength !== undefined && contentLength > body.length)
    return truncated(`content-length says ${contentLength} bytes, and there are ${body.length}`);
  if (body.length === 0) return truncated('it is empty');
  if (parseJson(text) === undefined && /^\s*\{/.test(text))
    return truncated(`after ${body.length} bytes it ends in the middle of its JSON`);
  if (text.includes('\uFFFD'))
    return {
      kind: 'body_reencoded',
      message:
        'The body is not the bytes that were sent: characters were replaced (\uFFFD) and cannot be told any more.',
      remedy: REMEDY,
    };
  return undefined;
}

function truncated(why: string): Finding {
  return {
    kind: 'body_truncated',
    message: `The body is not whole: ${why}.`,
    remedy:
      'Read the request to its end before you verify it, and raise any limit on the size of bodies or logs.',
  };
}
