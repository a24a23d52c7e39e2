import { type EventName, events } from '../../../contract/events.ts';
import type { AcceptedEvent, EventWithDeliveries } from '../../../contract/operator/events/events.ts';
import type { Page } from '../../../contract/page.ts';
import { type Api, PAGE_SIZE_MAX, type Request } from '../../api.ts';
import { defineCommand } from '../../command.ts';
import type { StreamedEvent } from '../../event-stream.ts';
import { namesOf } from '../../names.ts';
import { inLine } from '../../printer.ts';
import { segment } from '../../segment.ts';
import { asEither, groupOption } from '../either.ts';
import { limitOf, limitOption } from '../limit.ts';

const DAY_MS = 86_400_000;

export const publishedEventCommands = [
  defineCommand({
    name: 'events list',
    section: 'both',
    calls: 'either',
    summary: 'List the events that were accepted.',
    details: `${asEither} An operator sees the newest first. An API key reads the event feed: the oldest first, from --since on, or of the last 24 hours.`,
    options: {
      event: {
        value: 'name',
        summary: 'Only those of this name.',
        choices: Object.keys(events) as EventName[],
      },
      since: { value: 'time', summary: 'Only those accepted since then, such as 2026-11-14T06:00:00Z.' },
      group: groupOption,
      limit: limitOption,
    },
    examples: [
      'events list --since 2026-11-14T06:00:00Z',
      'events list --group riverside-surgery --limit 20',
    ],
    async run({ api, options, out, world }) {
      const limit = limitOf(options.limit);
      if (!(await api.isOperator())) {
        const since = options.since ?? new Date(world.clock.now() - DAY_MS).toISOString();
        return out.page(await readFeed(api, { since, event_types: options.event }, limit), [
          ['ACCEPTED', ({ created_at }) => created_at],
          ['ID', ({ id }) => id],
          ['EVENT', ({ data }) => data.event],
          ['OBJECT', ({ data }) => data.id],
        ]);
      }
      const filter = { event: options.event, since: options.since, practice_group_id: options.group };
      const page = await api.list(
        (query) => api.operator<Page<AcceptedEvent>>('GET', '/events', { query: { ...query, ...filter } }),
        limit,
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
    section: 'operator',
    calls: 'operator',
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

interface FeedPage extends Page<StreamedEvent> {
  next_cursor: string;
  has_more: boolean;
}

/** Pages of the event feed until there are `limit` events. */
async function readFeed(api: Api, begin: Request['query'], limit: number): Promise<FeedPage> {
  const data: StreamedEvent[] = [];
  const { since, ...filter } = begin ?? {};
  for (let cursor: string | undefined; ; ) {
    const place = cursor === undefined ? { since } : { cursor };
    const query = { ...filter, ...place, page_size: Math.min(PAGE_SIZE_MAX, limit - data.length) };
    const page = await api.partner<FeedPage>('GET', '/events', { query });
    data.push(...page.data);
    if (!page.has_more || data.length >= limit) return { ...page, data, count: data.length };
    cursor = page.next_cursor;
  }
}
