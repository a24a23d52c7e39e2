import type { Environment } from '../../contract/access.ts';
import type { Invitation } from '../../contract/operator/access/invitations.ts';
import { INVITATION_HOURS } from '../../contract/operator/access/invitations.ts';
import type { Message } from '../mail.ts';

/** As it is stored. */
export interface StoredInvitation extends Omit<Invitation, 'status' | 'invited_by'> {
  invited_by: string;
  invited_by_name: string;
  /** When it is tried again to send it; null: it was sent or given up. */
  try_at: string | null;
  revoked_at: string | null;
}

export function invitationStatus(one: StoredInvitation, now: number): Invitation['status'] {
  if (one.revoked_at !== null) return 'withdrawn';
  if (one.entered_at !== null) return 'entered';
  if (one.sent_at !== null) return now < Date.parse(one.expires_at ?? one.sent_at) ? 'sent' : 'expired';
  return one.try_at === null ? 'undeliverable' : 'waiting';
}

export function invitationExpiry(now: number): string {
  return new Date(now + INVITATION_HOURS * 3_600_000).toISOString();
}

/** What somebody is told. The name of the partner or practice may be anything: it is text, and nothing else. */
export function invitationMessage({
  name,
  invitedBy,
  toWhom,
  environment,
  link,
  support,
}: {
  name: string;
  invitedBy: string;
  toWhom: string;
  environment: Environment;
  link: string;
  support: string;
}): Message {
  const subject = `Your access to Porter${environment === 'staging' ? ' (staging)' : ''} for ${oneLine(toWhom)}`;
  const lines = [
    `Hello ${oneLine(name)},`,
    `${oneLine(invitedBy)} invites you to the console of Porter for ${oneLine(toWhom)}.`,
    `Open this link within ${INVITATION_HOURS} hours. It works once:`,
  ];
  const last = `You expected nothing of the kind? Then leave the link alone and tell ${support}.`;
  const html = lines.map((line) => `<p>${escaped(line)}</p>`).join('');
  return {
    subject,
    text: `${[...lines, link, last].join('\n\n')}\n`,
    html: `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escaped(subject)}</title></head><body>${html}<p><a href="${escaped(link)}">${escaped(link)}</a></p><p>${escaped(last)}</p></body></html>`,
  };
}

const oneLine = (text: string) => text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
