import { type EventName, events } from '../contract/events.ts';

const COMMON = '`object`, `id`, `practice_group_id`, `event`';

const FIELDS = {
  none: COMMON,
  failure: `${COMMON}; optional: \`failure_reason\`, \`code\``,
  resource: `${COMMON}, \`resource\`, \`resource_id\``,
} as const;

/** The 13 events as one Markdown page. */
export function eventReference(): string {
  const names = Object.keys(events) as EventName[];
  return [
    '<!-- Made by `npm run generate` from src/contract/events.ts. Change it there. -->',
    '',
    '# Events',
    '',
    'Every field is a string. `event` is the name of the event and of its channel, `id` identifies the object.',
    '',
    '| Event | `object` | Sent when | Fields |',
    '|---|---|---|---|',
    ...names.map((name) => {
      const { object, sentWhen, fields } = events[name];
      return `| \`${name}\` | \`${object}\` | ${sentWhen} | ${FIELDS[fields]} |`;
    }),
    '',
  ].join('\n');
}
