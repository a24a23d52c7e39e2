import { PorterApiError } from '../../../../packages/sdk/src/errors.ts';
import { isRecord } from '../../../../packages/sdk/src/shape.ts';
import type { PartnerWebhook } from '../../../contract/operator/events/webhooks.ts';
import type { AttentionGroup, AttentionItem } from '../../../contract/operator/oversight/attention.ts';
import type { Node } from '../../../contract/operator/oversight/deployment.ts';
import type { Page } from '../../../contract/page.ts';
import type { Webhook } from '../../../contract/partner/webhooks.ts';
import { problemCatalogue } from '../../../contract/problems.ts';
import { withCommas } from '../../../contract/wording.ts';
import { type Api, type Probed, type Request, refused } from '../../api.ts';
import { defineCommand } from '../../command.ts';
import type { Connection } from '../../connection.ts';
import { Closed, exitCodes, Failure, Unreachable } from '../../exit.ts';
import { named } from '../../names.ts';
import { inLine } from '../../printer.ts';
import { spoken } from '../../words.ts';

/** An event that nobody has after so long, with nobody's receiver to blame, is stuck. */
const STUCK_SECONDS = 300;
const WEBHOOKS_MAX = 1_000;
const PROBE_MS = 10_000;

/** Names are told to operators: with an API key, they are null. */
type Owner = Pick<PartnerWebhook, 'partner_id' | 'partner_name' | 'practice_group_name'>;

type FailingWebhook = Pick<
  Webhook,
  'id' | 'url' | 'practice_group_id' | 'status' | 'status_reason' | 'health'
> & { [K in keyof Owner]: Owner[K] | null };

/** Software of the operator's own that does not take what it is sent. */
type FailingSoftware = AttentionItem['subject'] & Pick<AttentionItem, 'message'>;

type KnownNode = Pick<Node, 'name' | 'role' | 'version' | 'calls_per_minute' | 'deliveries_per_minute'>;

interface Status {
  url: string;
  /** Every process of the service, on every machine; null without the token of an operator. */
  nodes: KnownNode[] | null;
  /** null: the service does not show its probes to this machine. */
  ready: boolean | null;
  /** null: it is ready, or does not say. */
  not_ready_because: string | null;
  /** By how much the clock of the node is ahead of the database's. */
  clock_skew_seconds: number | null;
  queue: { new: number; due: number; waiting: number; held: number } | null;
  oldest_undelivered_seconds: number | null;
  /** null without a token or key, or when the service does not list them. */
  failing_webhooks: FailingWebhook[] | null;
  /** null without the token of an operator. */
  failing_software: FailingSoftware[] | null;
  /** Webhooks to which nothing may be sent. They are not ill: somebody took access away. */
  withheld_webhooks: number | null;
  healthy: boolean;
}

export const statusCommand = defineCommand({
  name: 'status',
  section: 'setUp',
  calls: 'either',
  summary: 'Show whether the service runs, whether it is healthy, and what is stuck.',
  details:
    'Asks the probes of the service, which answer on its own machine, and with the token of an operator for all webhooks that fail (with an API key: for your own). Ends with 0 if all is well, 1 if something is not, 3 if nothing answers.',
  examples: ['status'],
  async run({ api, out }) {
    const connection = await api.connection();
    const { url } = connection;
    const [live, readyAnswer, metrics, webhooks, software, nodes] = await out.during(
      'Asking the service',
      Promise.all([
        api.probe('/healthz', PROBE_MS),
        probeOfDatabase(api, '/readyz'),
        probeOfDatabase(api, '/metrics'),
        failingWebhooks(api),
        failingSoftware(api),
        knownNodes(api),
      ]),
    );
    const ready = showsProbes(live, url) ? readyAnswer?.status === 200 && metrics !== undefined : null;
    const told = readMetrics(ready === null ? '' : String(metrics?.body));
    const numbers = ready ? told : new Map<string, number>();
    const oldest = numbers.get('porter_delivery_oldest_seconds') ?? null;
    const queued = (state: string) => numbers.get(`porter_delivery_queue{state="${state}"}`) ?? 0;
    const status: Status = {
      url,
      nodes,
      ready,
      not_ready_because: ready === false ? reasonOf(readyAnswer) : null,
      clock_skew_seconds: told.get('porter_clock_skew_seconds') ?? null,
      queue:
        oldest === null
          ? null
          : {
              new: queued('new'),
              due: queued('due'),
              waiting: queued('waiting'),
              held: queued('held'),
            },
      oldest_undelivered_seconds: oldest,
      failing_webhooks: webhooks.failing,
      failing_software: software,
      withheld_webhooks: numbers.get('porter_delivery_withheld_webhooks') ?? null,
      healthy: false,
    };
    status.healthy =
      ready !== false &&
      (webhooks.failing ?? []).length + (software ?? []).length === 0 &&
      (oldest ?? 0) < STUCK_SECONDS;
    out.document(status, () => inWords(status, webhooks.why, (text) => out.paint('red', text)));
    if (out.isForPeople) out.note(inLine(`Next: ${nextStep(status, connection)}`));
    return status.healthy ? exitCodes.ok : exitCodes.failed;
  },
});

/** The first of these that applies. */
function nextStep(status: Status, { operatorToken, key }: Connection): string {
  const { url, ready, failing_webhooks: failing, oldest_undelivered_seconds: oldest } = status;
  const guide = `${url}/docs/operating/what-to-do-when`;
  const [webhook] = failing ?? [];
  if (ready === false) return `read the log of the service, and ${guide}`;
  if (webhook && !operatorToken)
    return `see what it answers (GET /v1/webhooks/${webhook.id}/deliveries), mend it, and send again what it missed: porter resend <event_id>`;
  if (webhook)
    return `porter deliveries list --webhook ${webhook.id}${webhook.status === 'disabled' ? `, and once it is mended: porter webhooks activate ${webhook.id}` : ''}`;
  if (status.failing_software?.length)
    return `mend your software, which does not take what it is sent: ${url}/docs/operating/practice-software`;
  if ((oldest ?? 0) >= STUCK_SECONDS)
    return operatorToken ? 'porter deliveries list --status pending' : `read ${guide}`;
  if (operatorToken) return 'porter alerts';
  return key
    ? 'porter listen, and in another terminal: porter trigger appointment.confirmed'
    : 'porter profiles add --help';
}

/** Of some reasons the service tells; the usual sentence says nothing new. */
function reasonOf(answer: Probed | undefined): string | null {
  const message = isRecord(answer?.body) ? answer.body.message : undefined;
  return typeof message === 'string' && message !== problemCatalogue.service_unavailable.message
    ? message
    : null;
}

/** A probe that asks the database hangs when the database does, although the service is there. A connection that is closed tells nothing of that. */
async function probeOfDatabase(api: Api, path: string): Promise<Probed | undefined> {
  return api.probe(path, PROBE_MS).catch((error) => {
    if (error instanceof Unreachable && !(error instanceof Closed)) return undefined;
    throw error;
  });
}

/** Only Porter's own 404 means that this machine may not see them: a proxy answers as well when nothing is behind it. */
function showsProbes({ status, headers, body }: Probed, url: string): boolean {
  if (status === 200 && isRecord(body) && body.status === 'ok') return true;
  if (status === 404 && isRecord(body) && body.error === 'not_found') return false;
  throw refused(new PorterApiError(status, headers, body), url);
}

/** `name{labels} value` lines of Prometheus text. */
function readMetrics(text: string): Map<string, number> {
  const lines = text.matchAll(/^(porter_(?:delivery|clock)_[a-z_]+(?:\{[^}]*\})?) (\S+)$/gm);
  return new Map(Array.from(lines, ([, name = '', value]) => [name, Number(value)]));
}

async function knownNodes(api: Api): Promise<KnownNode[] | null> {
  if (!(await api.connection()).operatorToken) return null;
  try {
    const { data } = await api.operator<{ data: Node[] }>('GET', '/nodes', { waitMs: PROBE_MS });
    return data.map(({ name, role, version, calls_per_minute, deliveries_per_minute }) => ({
      name,
      role,
      version,
      calls_per_minute,
      deliveries_per_minute,
    }));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return null;
  }
}

/** Subscriptions, and addresses that changes are written through to, which have failed for some minutes. */
async function failingSoftware(api: Api): Promise<FailingSoftware[] | null> {
  if (!(await api.connection()).operatorToken) return null;
  try {
    const path = '/attention';
    const { data } = await api.operator<{ data: AttentionGroup[] }>('GET', path, { waitMs: PROBE_MS });
    return data
      .filter(({ kind }) => kind === 'webhook_failing' || kind === 'webhook_disabled')
      .flatMap(({ items }) => items)
      .filter(({ subject: { type } }) => type === 'subscription' || type === 'write_through')
      .map(({ subject, message }) => ({ ...subject, message }));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return null;
  }
}

/** `why` says in words why they, or some of them, are not known. A refusal here says nothing about how the service is. */
async function failingWebhooks(
  api: Api,
): Promise<{ failing: FailingWebhook[]; why?: string } | { failing: null; why: string }> {
  const { operatorToken, key } = await api.connection();
  if (!operatorToken && !key)
    return {
      failing: null,
      why: 'Whether webhooks fail is told to a token or a key: PORTER_OPERATOR_TOKEN.',
    };
  const read = (query: Request['query']) => {
    const request = { query, waitMs: PROBE_MS };
    return operatorToken
      ? api.operator<Page<Webhook & Partial<Owner>>>('GET', '/webhooks', request)
      : api.partner<Page<Webhook & Partial<Owner>>>('GET', '/webhooks', request);
  };
  try {
    const disabled = operatorToken
      ? (await api.list((query) => read({ ...query, status: 'disabled' }), WEBHOOKS_MAX)).data
      : [];
    const { data, next_cursor } = await api.list(read, WEBHOOKS_MAX);
    const known = new Map([...disabled, ...data].map((webhook) => [webhook.id, webhook]));
    const failing = [...known.values()]
      .filter(({ status, health }) => status === 'disabled' || health.failures > 0)
      .map((webhook) => ({
        id: webhook.id,
        url: webhook.url,
        partner_id: webhook.partner_id ?? null,
        partner_name: webhook.partner_name ?? null,
        practice_group_id: webhook.practice_group_id,
        practice_group_name: webhook.practice_group_name ?? null,
        status: webhook.status,
        status_reason: webhook.status_reason,
        health: webhook.health,
      }));
    if (next_cursor === null) return { failing };
    const why = `Only the first ${withCommas(WEBHOOKS_MAX)} webhooks were asked whether they fail; porter_webhook_failing_attempts of /metrics names the worst of all.`;
    return { failing, why };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { failing: null, why: inLine(`Webhooks were not listed: ${error.message}`) };
  }
}

function inWords(status: Status, why: string | undefined, red: (text: string) => string): string {
  const { url, ready, queue, oldest_undelivered_seconds: oldest, failing_webhooks: failing } = status;
  const lines = [
    ready === null
      ? `${url} answers. Its probes are not shown to this machine.`
      : ready
        ? `${url} is running and ready.`
        : red(
            status.not_ready_because === null
              ? `${url} is running, but not ready: it cannot reach its database, or it is stopping.`
              : inLine(`${url} is running, but not ready. ${status.not_ready_because}`),
          ),
  ];
  if (status.nodes && status.nodes.length > 1) {
    const each = status.nodes.map(
      ({ name, calls_per_minute: calls, deliveries_per_minute: deliveries }) =>
        `${name} (${calls} calls and ${deliveries} deliveries a minute)`,
    );
    lines.push(inLine(`${each.length} nodes: ${each.join(', ')}.`));
  }
  if (!queue) lines.push('What waits cannot be told now.');
  else
    lines.push(
      queue.new + queue.due + queue.waiting === 0
        ? 'Nothing waits to be delivered.'
        : `To be delivered: ${queue.due} due or to be retried, ${queue.waiting} behind them, ${queue.new} new.`,
    );
  if (queue?.held) lines.push(`Held back for webhooks that are paused, disabled or withheld: ${queue.held}.`);
  if (oldest !== null && oldest > 0) {
    const text = `The oldest event that somebody has not received is ${spoken(oldest)} old.`;
    lines.push(oldest < STUCK_SECONDS ? text : red(text));
  }
  if (status.withheld_webhooks)
    lines.push(
      `Withheld from ${status.withheld_webhooks} ${status.withheld_webhooks === 1 ? 'webhook' : 'webhooks'}, whose partners may not receive at present: porter deliveries list --status withheld`,
    );
  for (const webhook of failing ?? []) lines.push(red(inLine(trouble(webhook))));
  for (const { message } of status.failing_software ?? []) lines.push(red(inLine(message)));
  if (failing?.length === 0)
    lines.push(why === undefined ? 'No webhook is failing.' : 'No webhook that was asked is failing.');
  if (why !== undefined) lines.push(why);
  return lines.join('\n');
}

/** Whose webhook it is, since when it fails, and how much waits for it. */
function trouble(webhook: FailingWebhook): string {
  const { id, url, status, status_reason: reason, health } = webhook;
  const { partner_id: partner, practice_group_id: group } = webhook;
  const of = partner === null ? '' : ` of ${named(webhook.partner_name, partner)}`;
  const to = group === null ? 'all practice groups' : named(webhook.practice_group_name, group);
  const what =
    status === 'disabled'
      ? `is disabled${reason === null ? '' : ` (${reason})`}`
      : `has failed ${health.failures === 1 ? 'once' : `${health.failures} times`} since ${health.failing_since ?? 'its start'}`;
  const waits = `${health.queued} ${health.queued === 1 ? 'waits' : 'wait'}`;
  return `Webhook ${id}${of} for ${to}, at ${url}, ${what}; ${waits}.`;
}
