import type { Page } from '../../contract/page.ts';
import type { Webhook } from '../../contract/partner/webhooks.ts';
import { type Answer, type Api, refused } from '../api.ts';
import { defineCommand } from '../command.ts';
import { exitCodes } from '../exit.ts';
import { isObject, parseJson } from '../json.ts';
import { inLine } from '../printer.ts';
import { spoken } from '../words.ts';

/** An event that nobody has after so long, with nobody's receiver to blame, is stuck. */
const STUCK_SECONDS = 300;
const WEBHOOKS_MAX = 1_000;
const PROBE_MS = 10_000;

interface Status {
  url: string;
  /** null: the service does not show its probes to this machine. */
  ready: boolean | null;
  queue: { new: number; due: number; waiting: number } | null;
  oldest_undelivered_seconds: number | null;
  /** null without a token or key. */
  failing_webhooks: Pick<Webhook, 'id' | 'url' | 'practice_group_id' | 'status' | 'health'>[] | null;
  healthy: boolean;
}

export const statusCommand = defineCommand({
  name: 'status',
  section: 'setUp',
  calls: 'either',
  summary: 'Is it running, is it healthy, what is stuck?',
  details:
    'Asks the probes of the service, which answer on its own machine, and with the token of an operator for all webhooks that fail (with an API key: for your own). Ends with 0 if all is well, 1 if something is not, 3 if nothing answers.',
  examples: ['status'],
  async run({ api, out }) {
    const { url } = await api.connection();
    const [live, ready, metrics] = await out.during(
      'Asking the service',
      Promise.all([probe(api, '/healthz'), probe(api, '/readyz'), probe(api, '/metrics')]),
    );
    const numbers = readMetrics(metrics.text);
    const failing = await failingWebhooks(api);
    const oldest = numbers.get('porter_delivery_oldest_seconds') ?? null;
    const queued = (state: string) => numbers.get(`porter_delivery_queue{state="${state}"}`) ?? 0;
    const status: Status = {
      url,
      ready: showsProbes(live, url) ? ready.status === 200 : null,
      queue: oldest === null ? null : { new: queued('new'), due: queued('due'), waiting: queued('waiting') },
      oldest_undelivered_seconds: oldest,
      failing_webhooks: failing,
      healthy: false,
    };
    status.healthy = status.ready !== false && (failing ?? []).length === 0 && (oldest ?? 0) < STUCK_SECONDS;
    out.document(status, () => inWords(status, (text) => out.paint('red', text)));
    return status.healthy ? exitCodes.ok : exitCodes.failed;
  },
});

async function probe(api: Api, path: string): Promise<Answer> {
  return api.answer('GET', path, {}, PROBE_MS);
}

/** Only Porter's own 404 means that this machine may not see them: a proxy answers as well when nothing is behind it. */
function showsProbes(live: Answer, url: string): boolean {
  const body = parseJson(live.text);
  if (live.status === 200 && isObject(body) && body.status === 'ok') return true;
  if (live.status === 404 && isObject(body) && body.error === 'not_found') return false;
  throw refused(live, url);
}

/** `name{labels} value` lines of Prometheus text. */
function readMetrics(text: string): Map<string, number> {
  const lines = text.matchAll(/^(porter_delivery_[a-z_]+(?:\{[^}]*\})?) (\S+)$/gm);
  return new Map(Array.from(lines, ([, name = '', value]) => [name, Number(value)]));
}

async function failingWebhooks(api: Api): Promise<Status['failing_webhooks']> {
  const { operatorToken, key } = await api.connection();
  if (!operatorToken && !key) return null;
  const { data } = await api.list(
    (query) =>
      operatorToken
        ? api.operator<Page<Webhook>>('GET', '/webhooks', { query })
        : api.partner<Page<Webhook>>('GET', '/webhooks', { query }),
    WEBHOOKS_MAX,
  );
  return data
    .filter(({ status, health }) => status === 'disabled' || health.failures > 0)
    .map(({ id, url, practice_group_id, status, health }) => ({
      id,
      url,
      practice_group_id,
      status,
      health,
    }));
}

function inWords(status: Status, red: (text: string) => string): string {
  const { url, ready, queue, oldest_undelivered_seconds: oldest, failing_webhooks: failing } = status;
  const lines = [
    ready === null
      ? `${url} answers. Its probes are not shown to this machine.`
      : ready
        ? `${url} is running and ready.`
        : red(`${url} is running, but not ready: it cannot reach its database, or it is stopping.`),
  ];
  if (queue)
    lines.push(
      queue.new + queue.due + queue.waiting === 0
        ? 'Nothing waits to be delivered.'
        : `To be delivered: ${queue.due} due or to be retried, ${queue.waiting} behind them, ${queue.new} new.`,
    );
  if (oldest !== null && oldest > 0) {
    const text = `The oldest event that somebody has not received is ${spoken(oldest)} old.`;
    lines.push(oldest < STUCK_SECONDS ? text : red(text));
  }
  for (const { id, url: to, practice_group_id, status: state, health } of failing ?? []) {
    const what =
      state === 'disabled'
        ? 'is disabled'
        : `has failed ${health.failures === 1 ? 'once' : `${health.failures} times`} since ${health.failing_since ?? 'its start'}`;
    lines.push(red(inLine(`Webhook ${id} (${practice_group_id}, ${to}) ${what}; ${health.queued} wait.`)));
  }
  if (failing?.length === 0) lines.push('No webhook is failing.');
  if (failing === null)
    lines.push('Whether webhooks fail is told to a token or a key: PORTER_OPERATOR_TOKEN.');
  return lines.join('\n');
}
