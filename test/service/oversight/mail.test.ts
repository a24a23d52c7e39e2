import { describe, expect, it } from 'vitest';
import { createMailer, MailRefused } from '../../../src/platform/mail.ts';
import { afterwards } from '../../support/afterwards.ts';
import { pem } from '../../support/egress.ts';
import { type Mailbox, startMailbox } from '../../support/mailbox.ts';

/** The way out to a real mail server. */

const mail = {
  to: { name: 'Ann', address: 'ann@partner.example' },
  subject: 'Subject',
  text: 'Text',
  html: '<p>HTML</p>',
  date: '2026-11-16T10:00:00.000Z',
  id: 'ntf_1',
};

function mailerTo({ url }: Pick<Mailbox, 'url'>, changes: Record<string, unknown> = {}) {
  const { hostname, port } = new URL(url);
  const server = {
    host: hostname,
    port: Number(port),
    isTls: false,
    isLocal: true,
    user: undefined,
    password: undefined,
    ...changes,
  };
  const mailer = createMailer({ server, from: { name: 'Porter', address: 'alerts@porter.example' } });
  afterwards(() => mailer.close());
  return mailer;
}

const refusal = (sent: Promise<void>) =>
  sent.then(
    () => undefined,
    (error: unknown) => error as MailRefused,
  );

describe('a mail server', () => {
  it('gets the message whole, with the date and the name that it was written with', async () => {
    const mailbox = await startMailbox();
    await mailerTo(mailbox).send(mail);
    expect(mailbox.messages).toMatchObject([
      { to: ['ann@partner.example'], text: 'Text\n', html: '<p>HTML</p>\n' },
    ]);
    expect(mailbox.messages[0]?.headers).toEqual(
      expect.arrayContaining([
        'From: Porter <alerts@porter.example>',
        'To: Ann <ann@partner.example>',
        'Message-ID: <ntf_1@porter.example>',
        'Date: Mon, 16 Nov 2026 10:00:00 +0000',
      ]),
    );
  });

  it('on another machine is told nothing, not even the password, unless it turns to TLS', async () => {
    const heard: string[] = [];
    const mailbox = await startMailbox({
      onAuth({ password }, _session, done) {
        heard.push(String(password));
        done(null, { user: 'porter' });
      },
    });
    const remote = { isLocal: false, user: 'porter', password: 's3cret' };
    const error = await refusal(mailerTo(mailbox, remote).send(mail));
    expect(error).toMatchObject({ isPermanent: false, message: expect.stringMatching(/STARTTLS/i) });
    expect([heard, mailbox.messages]).toEqual([[], []]);
  });

  it('whose certificate nobody vouches for is told nothing either', async () => {
    const certificate = { key: pem('key'), cert: pem('self-signed') };
    for (const secure of [true, false]) {
      const mailbox = await startMailbox({ ...certificate, secure, disabledCommands: [] });
      const error = await refusal(mailerTo(mailbox, { isLocal: false, isTls: secure }).send(mail));
      expect(error).toMatchObject({
        isPermanent: false,
        message: expect.stringMatching(/certificate|self.signed/i),
      });
      expect(mailbox.messages).toEqual([]);
    }
  });

  it('that refuses the recipient for good is believed, one that is busy or away is asked again', async () => {
    const mailbox = await startMailbox();
    const mailer = mailerTo(mailbox);
    mailbox.refuse = { code: 550, text: 'No such user' };
    expect(await refusal(mailer.send(mail))).toMatchObject({ isPermanent: true });
    mailbox.refuse = { code: 452, text: 'Full' };
    expect(await refusal(mailer.send(mail))).toMatchObject({ isPermanent: false });
    expect(await refusal(mailerTo({ url: 'smtp://127.0.0.1:1' }).send(mail))).toMatchObject({
      isPermanent: false,
    });
  });

  it.each([
    'a,b@partner.example',
    'a b@partner.example',
    '"a"@partner.example',
    'a@[127.0.0.1]',
    'ä@partner.example',
  ])('is not asked about %s, which servers read differently', async (address) => {
    const mailbox = await startMailbox();
    const sent = mailerTo(mailbox).send({ ...mail, to: { name: null, address } });
    expect(await refusal(sent)).toBeInstanceOf(MailRefused);
    expect(mailbox.messages).toEqual([]);
  });
});
