import type { Readable, Writable } from 'node:stream';
import { styleText } from 'node:util';
import pino from 'pino';

export type Logger = pino.Logger;

const KEY_PREFIXES = ['ptr_live_', 'ptr_test_', 'pto_', 'pts_', 'pti_', 'whsec_'];
const ADDRESS = 'postgres(?:ql)?:\\/\\/';
const ENCODED_PREFIXES = KEY_PREFIXES.map((prefix) => [...prefix].map(orEncoded).join('')).join('|');
/**
 * API keys, tokens of operators and of sessions, links of invitations, webhook secrets, and passwords in database addresses. One ends where the
 * next begins: a slash between two may belong to either.
 */
const SECRETS = new RegExp(
  `(${KEY_PREFIXES.join('|')})(?:(?!${KEY_PREFIXES.join('|')}|${ADDRESS})[0-9A-Za-z+/=])+|(${ADDRESS}[^:@/\\s]*:)[^/\\s]+(?=@)`,
  'g',
);
/** The same in an address, where any character may be written as its number, and the % of that again. */
const ENCODED_SECRETS = new RegExp(
  `(${ENCODED_PREFIXES})(?:(?!${ENCODED_PREFIXES}|${ADDRESS})(?:[0-9A-Za-z+/=]|%(?:25)*(?:2[BF]|3[0-9D]|[46][1-9A-F]|[57][0-9A])))+`,
  'gi',
);
const JSON_STRING = /"[^"\\]*(?:\\.[^"\\]*)*"/g;
/** JSON may hold these as they are. A terminal that shows a line would obey them. */
const STEERING = /[\x7f-\x9f\p{Bidi_Control}]/gu;

export function redact(text: string): string {
  const decoded = text.includes('%') ? text.replace(ENCODED_SECRETS, '$1[redacted]') : text;
  return decoded.replace(SECRETS, (_, prefix, address) => `${prefix ?? address}[redacted]`);
}

function orEncoded(character: string): string {
  return `(?:${character}|%(?:25)*${character.charCodeAt(0).toString(16)})`;
}

/** In each string by itself: across two of them, callers could hide what stands between, and it would be JSON no more. */
export function redactJson(text: string): string {
  return text.replace(JSON_STRING, (one) => redact(one));
}

/**
 * JSON lines. Whatever is logged, and however it got there, no secret passes the last gate before the stream. `node`: named in every line, where
 * several write into one log.
 */
export function createLogger(write: (line: string) => void, node?: string): Logger {
  return pino(
    {
      base: node === undefined ? null : { node },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line: string) => write(redactJson(line).replaceAll(STEERING, escaped)) },
  );
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

const LEVEL_FORMATS: Record<string, Parameters<typeof styleText>[0]> = {
  warn: 'yellow',
  error: 'red',
  fatal: 'red',
};

/**
 * A line of the log for a person at a terminal: the time of day, the level, the message, then every other field. A line that is not
 * JSON stays as it is: Node itself may print one.
 */
export function readable(line: string): string {
  const entry = parsed(line);
  if (!entry) return `${visible(line.trimEnd())}\n`;
  const { level, time, msg, err, ...fields } = entry;
  const { stack, ...error } = err ?? {};
  const told = Object.entries({ ...fields, ...error }).map(([name, value]) => `${name}=${inOneWord(value)}`);
  const at = new Date(String(time)).toTimeString().slice(0, 8);
  const label = styleText(LEVEL_FORMATS[String(level)] ?? 'dim', String(level).padEnd(5));
  const words = msg === undefined ? told : [msg, ...told];
  const trace = stack === undefined ? [] : stack.split('\n').map((one) => `\n    ${visible(one)}`);
  return `${[at, label, ...words.map(visible)].join(' ')}${trace.join('')}\n`;
}

interface Entry {
  level: string;
  time: string;
  msg?: string;
  err?: { stack?: string; [field: string]: unknown };
  [field: string]: unknown;
}

function parsed(line: string): Entry | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function inOneWord(value: unknown): string {
  return typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
}

/** JSON escapes control characters, and parsing brings them back. */
function visible(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, escaped);
}

/** So many bytes wait in memory for whoever collects the log. */
const WAITING_BYTES_MAX = 8 * 1024 * 1024;

/**
 * Writes lines to a stream, and makes them readable for a terminal. While too much waits to be taken they are dropped; once it is, a line tells
 * how many were.
 */
export function lineWriter(stream: Writable & { isTTY?: boolean }): (line: string) => void {
  const write = (line: string) => stream.write(stream.isTTY ? readable(line) : line);
  let dropped = 0;
  return (line) => {
    if (stream.writableLength > WAITING_BYTES_MAX) {
      dropped++;
      return;
    }
    if (dropped > 0)
      write(
        `{"level":"warn"${pino.stdTimeFunctions.isoTime()},"lines":${dropped},"msg":"log lines were dropped"}\n`,
      );
    dropped = 0;
    write(line);
  };
}

/** What another process writes, line by line: one that is not whole yet waits for its end. */
export function passLines(from: Readable, write: (line: string) => unknown): void {
  let rest = '';
  from.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) write(`${line}\n`);
  });
}
