import nodemailer from 'nodemailer';

/** A mail server, as `PORTER_SMTP_URL` names it. */
export interface MailServer {
  host: string;
  port: number;
  /** TLS from the first byte; otherwise it begins in plain text and must turn to TLS, unless the server is on this machine. */
  isTls: boolean;
  isLocal: boolean;
  user: string | undefined;
  password: string | undefined;
}

export interface MailSettings {
  server: MailServer;
  from: { name: string; address: string };
}

interface Mail {
  to: { name: string | null; address: string };
  subject: string;
  text: string;
  html: string;
  /** When it was written. */
  date: string;
  /** Makes the Message-ID: a message that is sent twice is the same one, and mail programs show it once. */
  id: string;
}

/** Why a message was not taken. Permanent: it never will be, as with an address that does not exist. */
export class MailRefused extends Error {
  readonly isPermanent: boolean;

  constructor(message: string, isPermanent: boolean) {
    super(message);
    this.isPermanent = isPermanent;
  }
}

export interface Mailer {
  send(mail: Mail): Promise<void>;
  close(): void;
}

const CONNECT_MS = 10_000;
const SILENCE_MS = 30_000;
const CONNECTIONS_MAX = 5;
/** What an address is made of that needs no quoting: what else the contract lets through, servers read each in their own way. */
const PLAIN_ADDRESS = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9.-]+$/;

/** The way out to the mail server. It reads no file and follows no address, whatever a message says. */
export function createMailer({ server, from }: MailSettings): Mailer {
  const transport = nodemailer.createTransport({
    pool: true,
    maxConnections: CONNECTIONS_MAX,
    host: server.host,
    port: server.port,
    secure: server.isTls,
    requireTLS: !server.isTls && !server.isLocal,
    tls: { minVersion: 'TLSv1.2' },
    ...(server.user !== undefined && { auth: { user: server.user, pass: server.password ?? '' } }),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1);
  return {
    async send({ to, subject, text, html, date, id }) {
      if (!PLAIN_ADDRESS.test(to.address))
        throw new MailRefused('The address holds characters that mail servers read differently.', true);
      try {
        await transport.sendMail({
          from,
          to: { name: to.name ?? '', address: to.address },
          envelope: { from: from.address, to: [to.address] },
          subject,
          text,
          html,
          date: new Date(date),
          messageId: `<${id}@${domain}>`,
          // No answer by itself to what was written by itself.
          headers: { 'Auto-Submitted': 'auto-generated' },
        });
      } catch (error) {
        throw refusalOf(error);
      }
    },
    close: () => transport.close(),
  };
}

/** A server that says 5xx of the recipient or the message means it; what is wrong with the connection or the login may be mended. */
function refusalOf(error: unknown): MailRefused {
  const { code, responseCode, message } = error as Error & { code?: string; responseCode?: number };
  const isOfMessage = code === 'EENVELOPE' || code === 'EMESSAGE';
  return new MailRefused(message, isOfMessage && responseCode !== undefined && responseCode >= 500);
}
