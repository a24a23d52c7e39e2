import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { afterwards } from './afterwards.ts';

/** A message as the mail server took it. */
export interface Received {
  to: string[];
  /** Every line before the first empty one, unfolded. */
  headers: string[];
  text: string;
  html: string;
}

export interface Mailbox {
  url: string;
  messages: Received[];
  /** To whom, with what; each message is taken out. */
  take(): Received[];
  /** What the server says of the next recipients instead of taking them. */
  refuse: { code: number; text: string } | undefined;
}

/** A real mail server on the loopback. */
export async function startMailbox(options: SMTPServerOptions = {}): Promise<Mailbox> {
  const mailbox: Mailbox = {
    url: '',
    messages: [],
    take: () => mailbox.messages.splice(0),
    refuse: undefined,
  };
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onRcptTo(_address, _session, done) {
      if (!mailbox.refuse) return done();
      done(Object.assign(new Error(mailbox.refuse.text), { responseCode: mailbox.refuse.code }));
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const to = session.envelope.rcptTo.map(({ address }) => address);
        mailbox.messages.push({ to, ...read(Buffer.concat(chunks).toString()) });
        done();
      });
    },
    ...options,
  });
  server.on('error', () => {});
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  mailbox.url = `smtp://127.0.0.1:${(listening.address() as AddressInfo).port}`;
  afterwards(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return mailbox;
}

/** Its headers by their names, in small letters. */
export function headersOf(mail: Received | undefined): Record<string, string> {
  return Object.fromEntries(
    (mail?.headers ?? []).map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
}

function read(raw: string): Omit<Received, 'to'> {
  const { headers, body } = partOf(raw);
  const boundary = /boundary="([^"]+)"/.exec(headers.join('\n'))?.[1];
  const parts = body
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => partOf(part.replace(/^\r\n/, '')));
  const ofType = (type: string) => {
    const part = parts.find((one) => one.headers.some((line) => line.includes(type)));
    if (!part) return '';
    const encoding = part.headers.join('\n').match(/transfer-encoding: (\S+)/i)?.[1];
    return decoded(part.body, encoding).replaceAll('\r\n', '\n');
  };
  return { headers, text: ofType('text/plain'), html: ofType('text/html') };
}

function partOf(raw: string): { headers: string[]; body: string } {
  const end = raw.indexOf('\r\n\r\n');
  const head = raw.slice(0, end).replaceAll(/\r\n[ \t]+/g, ' ');
  return { headers: head.split('\r\n'), body: raw.slice(end + 4) };
}

function decoded(body: string, encoding: string | undefined): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString();
  if (encoding !== 'quoted-printable') return body;
  const bytes = body
    .replaceAll(/=\r\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}
