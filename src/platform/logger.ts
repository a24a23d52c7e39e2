import type { Writable } from 'node:stream';
import pino from 'pino';

export type Logger = pino.Logger;

/** API keys, operator tokens, webhook secrets (as they are, or as they stand in an address), and passwords in database addresses. */
const SECRETS =
  /(ptr_(?:live|test)_|pto_|whsec_)(?:[0-9A-Za-z+/=]|%2[BFbf]|%3[Dd])+|(postgres(?:ql)?:\/\/[^:@/\s]*:)[^/\s]+(?=@)/g;
const JSON_STRING = /"[^"\\]*(?:\\.[^"\\]*)*"/g;
/** JSON may hold these as they are. A terminal that shows a line would obey them. */
const STEERING = /[\x7f-\x9f\p{Bidi_Control}]/gu;

export function redact(text: string): string {
  return text.replace(SECRETS, (_, prefix, address) => `${prefix ?? address}[redacted]`);
}

/** In each string by itself: across two of them, callers could hide what stands between, and it would be JSON no more. */
export function redactJson(text: string): string {
  return text.replace(JSON_STRING, (one) => redact(one));
}

/** JSON lines. Whatever is logged, and however it got there, no secret passes the last gate before the stream. */
export function createLogger(write: (line: string) => void): Logger {
  return pino(
    {
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line: string) => write(redactJson(line).replaceAll(STEERING, escaped)) },
  );
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** So many bytes wait in memory for whoever collects the log. */
const WAITING_BYTES_MAX = 8 * 1024 * 1024;

/** Writes lines to a stream. While too much waits to be taken they are dropped; once it is, a line tells how many were. */
export function lineWriter(stream: Writable): (line: string) => void {
  let dropped = 0;
  return (line) => {
    if (stream.writableLength > WAITING_BYTES_MAX) {
      dropped++;
      return;
    }
    if (dropped > 0)
      stream.write(
        `{"level":"warn"${pino.stdTimeFunctions.isoTime()},"lines":${dropped},"msg":"log lines were dropped"}\n`,
      );
    dropped = 0;
    stream.write(line);
  };
}
