import { type AlertKindName, type Ending, endings, kindOf } from '../../contract/alerts.ts';
import type { Message } from '../mail.ts';
import { messageOf, remedyOf, subjectOf } from './alert-words.ts';
import type { NewAlert } from './alerts.ts';

/** What goes out by e-mail: when, how it reads, and what follows an attempt that failed. */

const MINUTE = 60_000;

/** Between two messages to the same people. What comes meanwhile gathers, so that a host that goes down with 500 webhooks is one message or two. */
export const QUIET_MS = 15 * MINUTE;

export interface Notice {
  moment: 'began' | 'ended';
  alert: {
    id: string;
    kind: AlertKindName;
    subject: Parameters<typeof messageOf>[0]['subject'];
    practice_group_id: string | null;
    partner_name: string | null;
    group_name: string | null;
    details: Parameters<typeof messageOf>[0]['details'];
    began_at: string;
    ended_at: string | null;
    ended_because: Ending | null;
  };
}

/** Another alert tells of it at the same moment, or it was told when it began. */
const silentEndings: readonly Ending[] = ['disabled', 'told'];

export const isEndTold = (because: Ending): boolean => !silentEndings.includes(because);

/** Null stands for the operator, who is told of everything. */
export function toldTo({ kind, partnerId }: Pick<NewAlert, 'kind' | 'partnerId'>): (string | null)[] {
  return kindOf(kind).toldTo === 'partner' && partnerId !== null ? [null, partnerId] : [null];
}

/** Whether somebody with these preferences wants to hear of it. */
export const wants = (kinds: readonly string[] | null, kind: AlertKindName): boolean =>
  kinds === null || kindOf(kind).urgent === true || kinds.includes(kind);

export interface Surroundings {
  reader: 'partner' | 'operator';
  environment: string;
  /** Where the pages are that say more. */
  docsUrl: string;
  support: string;
}

/** So many of one kind are named. The list of alerts has the rest. */
const NAMED_MAX = 10;

interface Section {
  title: string;
  lines: string[];
  more: number;
  advice: string | undefined;
}

/** One message about everything: a section for each kind that began, what is urgent first, and then for each that ended. */
export function compose(notices: readonly Notice[], surroundings: Surroundings): Message {
  const ended = new Set(notices.filter(({ moment }) => moment === 'ended').map(({ alert }) => alert.id));
  // What came and went meanwhile is told of as over.
  const told = notices.filter(({ moment, alert }) => moment === 'ended' || !ended.has(alert.id));
  const groups = [...Map.groupBy(told, ({ moment, alert }) => `${moment} ${alert.kind}`).values()];
  const inOrder = groups.toSorted(([one], [other]) => placeOf(one) - placeOf(other));
  const sections = inOrder.map((group) => sectionOf(group, surroundings));
  const subject = titleOf(inOrder, surroundings);
  const { docsUrl, support, reader } = surroundings;
  const list =
    reader === 'operator'
      ? `porter alerts, or ${docsUrl.replace(/docs$/, 'console/alerts')}`
      : 'GET /v1/alerts';
  const guide = `${docsUrl}${reader === 'operator' ? '/operating/alerts' : '/guides/alerts'}`;
  const closing = [
    `All alerts: ${list}. What they mean, and who is told of which: ${guide}`,
    ...(reader === 'partner' ? [`Support: ${support}`] : []),
  ];
  return { subject, text: textOf(sections, closing), html: htmlOf(subject, sections, closing) };
}

function placeOf(notice: Notice | undefined): number {
  if (notice?.moment !== 'began') return 2;
  return kindOf(notice.alert.kind).urgent ? 0 : 1;
}

function sectionOf(group: readonly Notice[], { reader }: Surroundings): Section {
  const [first] = group;
  if (!first) throw new Error('a section about nothing');
  const { kind } = first.alert;
  const { title, over } = kindOf(kind);
  const isOver = first.moment === 'ended';
  const line = ({ alert }: Notice) =>
    isOver
      ? `${subjectOf(alert, reader)}: from ${alert.began_at} to ${alert.ended_at}. ${alert.ended_because ? endings[alert.ended_because] : ''}`.trimEnd()
      : messageOf(alert, reader);
  return {
    title: isOver ? over : title,
    lines: group.slice(0, NAMED_MAX).map(line),
    more: Math.max(0, group.length - NAMED_MAX),
    advice: isOver ? undefined : remedyOf(kind, reader),
  };
}

function titleOf(groups: readonly (readonly Notice[])[], { environment }: Surroundings): string {
  const [first] = groups;
  const [notice] = first ?? [];
  if (!first || !notice) throw new Error('a message about nothing');
  const { title, over } = kindOf(notice.alert.kind);
  const count = first.length > 1 ? ` (${first.length})` : '';
  const others = groups.length > 1 ? ', and more' : '';
  return `[Porter ${environment}] ${notice.moment === 'began' ? title : over}${count}${others}`;
}

const andMore = (more: number) => `and ${more} more.`;

function textOf(sections: readonly Section[], closing: readonly string[]): string {
  const parts = sections.map(({ title, lines, more, advice }) => {
    const named = [...lines, ...(more > 0 ? [andMore(more)] : [])].map((line) => `- ${line}`);
    return [title, '', ...named, ...(advice === undefined ? [] : ['', `What to do: ${advice}`])].join('\n');
  });
  return `${[...parts, closing.join('\n')].join('\n\n')}\n`;
}

function htmlOf(subject: string, sections: readonly Section[], closing: readonly string[]): string {
  const parts = sections.map(({ title, lines, more, advice }) => {
    const named = [...lines, ...(more > 0 ? [andMore(more)] : [])];
    const items = named.map((line) => `<li>${escaped(line)}</li>`).join('');
    const todo = advice === undefined ? '' : `<p><b>What to do:</b> ${escaped(advice)}</p>`;
    return `<h2>${escaped(title)}</h2><ul>${items}</ul>${todo}`;
  });
  const last = closing.map((line) => `<p>${escaped(line)}</p>`).join('');
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escaped(subject)}</title></head><body>${parts.join('')}${last}</body></html>`;
}

const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
