import { type EventName, events } from '../../contract/events.ts';
import type { AcceptedEvent, EventWithDeliveries } from '../../contract/operator/events.ts';
import type { Page } from '../../contract/page.ts';
import { defineCommand } from '../command.ts';
import { namesOf } from '../names.ts';
import { inLine } from '../printer.ts';
import { segment } from '../segment.ts';
import { limitOf, limitOption } from './limit.ts';

const section = 'operator' as const;
const calls = 'operator' as const;

export const publishedEventCommands = [
  defineCommand({
    name: 'events list',
    section,
    calls,
    summary: 'List the events that were accepted, newest first.',
    options: {
      event: {
        value: 'name',
        summary: 'Only those of this name.',
        choices: Object.keys(events) as EventName[],
      },
      group: { value: 'id', summary: 'Only those of this practice group.' },
      limit: limitOption,
    },
    examples: ['events list --group riverside-surgery --limit 20'],
    async run({ api, options, out }) {
      const filter = { event: options.event, practice_group_id: options.group };
      const page = await api.list(
        (query) => api.operator<Page<AcceptedEvent>>('GET', '/events', { query: { ...query, ...filter } }),
        limitOf(options.limit),
      );
      const { group } = await namesOf(api, out, {
        groups: page.data.map(({ payload }) => payload.practice_group_id),
      });
      out.page(page, [
        ['ACCEPTED', ({ accepted_at }) => accepted_at],
        ['ID', ({ id }) => id],
        ['EVENT', ({ payload, test }) => (test ? `${payload.event} (test)` : payload.event)],
        ['OBJECT', ({ payload }) => payload.id],
        ['PRACTICE GROUP', ({ payload }) => group(payload.practice_group_id)],
      ]);
    },
  }),
  defineCommand({
    name: 'events show',
    section,
    calls,
    summary: 'Show an event, and its delivery to each webhook.',
    arguments: [{ name: 'event_id', summary: 'The ID of the event.' }],
    examples: ['events show evt_00Vb13pkZeDP1yAD86FW5V4Dr'],
    async run({ api, args, out }) {
      const event = await api.operator<EventWithDeliveries>('GET', `/events/${segment(args.event_id)}`);
      const { id, accepted_at, payload, deliveries, test } = event;
      out.document(event, () =>
        [
          inLine(`${id}${test ? ', a test' : ''}, accepted at ${accepted_at}`),
          inLine(JSON.stringify(payload)),
          deliveries.length === 0
            ? 'No webhook gets it.'
            : out.table(deliveries, [
                ['DELIVERY', (one) => one.id],
                ['WEBHOOK', ({ webhook_id }) => webhook_id],
                ['STATUS', ({ status }) => status],
              ]),
        ].join('\n'),
      );
      if (deliveries.some(({ status }) => status !== 'delivered'))
        out.note(inLine(`What came of each attempt: porter deliveries list --event ${id}`));
    },
  }),
];
