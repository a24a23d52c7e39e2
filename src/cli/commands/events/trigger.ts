import { events } from '../../../contract/events.ts';
import { defineCommand } from '../../command.ts';
import { inLine } from '../../printer.ts';

export const triggerCommand = defineCommand({
  name: 'trigger',
  section: 'partner',
  calls: 'partner',
  summary: 'Trigger a test event, on staging.',
  details: 'It reaches your own event feed, streams and webhooks of the practice group, and nobody else.',
  arguments: [{ name: 'event', summary: 'The name of the event.', choices: Object.keys(events) }],
  examples: ['trigger appointment.confirmed'],
  async run({ api, args: { event }, out }) {
    const answer = await api.partner<{ event_id: string }>('POST', '/test-events', { body: { event } });
    out.document(answer, () => `${event} is on its way: ${inLine(answer.event_id)}`);
  },
});
