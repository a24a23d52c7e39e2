import pino from 'pino';

export type Logger = pino.Logger;

/** API keys, operator tokens, webhook secrets, and passwords in database addresses. */
const SECRETS =
  /(ptr_(?:live|test)_|pto_|whsec_)[0-9A-Za-z+/=]+|(postgres(?:ql)?:\/\/[^:@/\s]*:)[^/\s]+(?=@)/g;

export function redact(text: string): string {
  return text.replace(SECRETS, (_, prefix, address) => `${prefix ?? address}[redacted]`);
}

/** JSON lines. Whatever is logged, and however it got there, no secret passes the last gate before the stream. */
export function createLogger(write: (line: string) => void): Logger {
  return pino(
    {
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line: string) => write(redact(line)) },
  );
}
