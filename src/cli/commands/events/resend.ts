import type { Page } from '../../../contract/page.ts';
import type { Webhook } from '../../../contract/partner/webhooks.ts';
import type { Api } from '../../api.ts';
import { defineCommand } from '../../command.ts';
import { Failure, UsageError } from '../../exit.ts';
import { inLine } from '../../printer.ts';
import { segment } from '../../segment.ts';

export const resendCommand = defineCommand({
  name: 'resend',
  section: 'partner',
  calls: 'partner',
  summary: 'Send events to your webhook again.',
  details: 'They are sent with the same `webhook-id`. Without --webhook, your only webhook gets them.',
  arguments: [{ name: 'event_id', summary: 'The IDs of events.', many: true }],
  options: { webhook: { value: 'id', summary: 'The webhook, if there are several.' } },
  examples: [
    'resend evt_00Vb13pkZeDP1yAD86FW5V4Dr',
    'resend evt_00Vb13pkZeDP1yAD86FW5V4Dr --webhook wh_00Vb13pkZeDP1yAD86FW5V4Dr',
  ],
  async run({ api, args, options, out }) {
    const webhook = options.webhook ?? (await onlyWebhook(api));
    const body = { event_ids: args.event_id };
    const { count } = await api.partner<{ count: number }>('POST', `/webhooks/${segment(webhook)}/replay`, {
      body,
    });
    if (count === 0)
      out.note(`${webhook} does not subscribe to ${args.event_id.length === 1 ? 'it' : 'them'}.`);
    const held = count === 0 ? undefined : await whyHeld(api, webhook);
    out.document({ webhook_id: webhook, count }, () =>
      inLine(
        held === undefined
          ? `${count} on the way to ${webhook}.`
          : `Queued: ${webhook} is ${held}. Activate it: porter webhooks activate ${webhook}`,
      ),
    );
  },
});

/** Why nothing is sent to it now, if so. A key may be allowed to resend without being allowed to read this. */
async function whyHeld(api: Api, webhook: string): Promise<string | undefined> {
  const read = api.partner<Webhook>('GET', `/webhooks/${segment(webhook)}`);
  const { status, status_reason } = await read.catch((error) => {
    if (error instanceof Failure) return { status: 'active', status_reason: null };
    throw error;
  });
  if (status === 'active') return undefined;
  return status_reason === null ? status : `${status} (${status_reason})`;
}

export async function onlyWebhook(api: Api): Promise<string> {
  const { data } = await api.partner<Page<Webhook>>('GET', '/webhooks');
  const [first, second] = data;
  if (!first)
    throw new Failure(
      'You have no webhook for this practice group.',
      'Create one with POST /v1/webhooks, or receive events without one: porter listen',
    );
  if (second)
    throw new UsageError(
      'You have several webhooks: name one with --webhook.',
      data.map(({ id, url, status }) => inLine(`${id}  ${url} (${status})`)).join('\n'),
    );
  return first.id;
}
