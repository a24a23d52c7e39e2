import { vi } from 'vitest';
import { cookieOf, type Visitor, visitor } from './console-session.ts';
import { PATIENCE } from './console-world.ts';
import type { Inviting } from './guest-browser.ts';
import type { Mailbox } from './mailbox.ts';
import type { Answer, Harness, Loose, Send } from './service.ts';

const LINK = /\/console\/enter#(pti_[0-9A-Za-z]{43})/;

/** The link in the message that somebody gets who is invited, through a real mail server. */
export async function invited(
  house: Pick<Harness, 'operator' | 'service'>,
  mailbox: Mailbox,
  whom: Inviting,
  person: { name: string; email: string },
): Promise<{ invitation: Loose; path: string; token: string }> {
  const of = 'partner' in whom ? `/partners/${whom.partner}` : `/practice-groups/${whom.practice}`;
  const invitation = await house.operator('POST', `${of}/invitations`, person);
  await house.service.alerts.tell();
  // The service itself may have been first to take the message up, and is then still sending it.
  return vi.waitFor(() => {
    const mail = mailbox.messages.filter(({ to }) => to.includes(person.email)).at(-1);
    const [path, token] = LINK.exec(mail?.text ?? '') ?? [];
    if (path === undefined || token === undefined) throw new Error(`no link came to ${person.email}`);
    return { invitation, path, token };
  }, PATIENCE);
}

/** Somebody who came in by an invitation, as far as the service can tell. */
export interface Guest extends Visitor {
  invitation: Loose;
  /** An operation of the partner API, with a key of the partner named by its ID. */
  act(method: string, path: string, way: { key: string; group?: string }, options?: Send): Promise<Answer>;
}

let count = 0;

export async function guestOf(
  house: Harness,
  mailbox: Mailbox,
  whom: Inviting,
  name = 'Ada Marsh',
): Promise<Guest> {
  const person = { name, email: `guest-${++count}@guests.example` };
  const { invitation, token } = await invited(house, mailbox, whom, person);
  const answer = await house.send('POST', '/console/enter', { body: { token } });
  const cookie = cookieOf(answer);
  if (answer.status !== 204 || cookie === undefined) throw new Error(`${answer.status} ${answer.text}`);
  const self: Guest = Object.assign(visitor(house, cookie), {
    invitation,
    act(method: string, path: string, { key, group }: { key: string; group?: string }, options: Send = {}) {
      const headers = {
        'x-porter-key': key,
        ...(group !== undefined && { 'x-practice-group-id': group }),
        ...options.headers,
      };
      return self.send(method, path, { ...options, headers });
    },
  });
  return self;
}
