import { SYSTEM } from '../../domain/access/principal.ts';
import type { Clock } from '../../platform/clock.ts';
import { type Database, transact } from '../../store/database.ts';
import { type QueueNumbers, readQueueNumbers } from '../../store/events/queue-numbers.ts';
import { scraped } from '../oversight/scraped.ts';

type Sample = readonly [labels: string, value: number];

/**
 * The queue of the whole service as Prometheus text. Every node reports it, also a node that only answers requests: when no worker is
 * left, these figures show it. They are left out while the database does not answer.
 */
export function queueMetrics(db: Database, clock: Clock): () => Promise<string> {
  const read = scraped(clock, () => transact(db, SYSTEM, readQueueNumbers));
  return async () => {
    const numbers = await read();
    return numbers ? written(numbers, clock.now()) : '';
  };
}

function written(numbers: QueueNumbers, now: number): string {
  const secondsSince = (moment: string | null) =>
    moment === null ? 0 : Math.max(0, (now - Date.parse(moment)) / 1000);
  return [
    gauge(
      'porter_delivery_queue',
      'Events not yet fanned out, and deliveries that are due (those to be retried later included) or wait for an earlier one; held: those of webhooks that are paused, disabled or withheld. Of what failed before, or waits, 100,000 are counted.',
      [
        ['{state="new"}', numbers.events_new],
        ['{state="due"}', numbers.due],
        ['{state="waiting"}', numbers.waiting],
        ['{state="held"}', numbers.held],
      ],
    ),
    gauge(
      'porter_delivery_oldest_seconds',
      'Age of the oldest event that an active webhook has not received yet, withheld ones aside; 0 when there is none.',
      [['', secondsSince(numbers.oldest)]],
    ),
    gauge(
      'porter_delivery_withheld_webhooks',
      'Webhooks to which nothing is sent because their partner may not receive events of the practice group.',
      [['', numbers.withheld]],
    ),
    gauge(
      'porter_changes_pending',
      'Changes of partners that the practice software has neither applied nor rejected; 100,000 are counted.',
      [['', numbers.changes_pending]],
    ),
    gauge(
      'porter_changes_pending_oldest_seconds',
      'Age of the oldest change that the practice software has neither applied nor rejected; 0 when there is none.',
      [['', secondsSince(numbers.oldest_change)]],
    ),
    gauge(
      'porter_webhook_failing_attempts',
      'Failed attempts since the last success, for the 100 webhooks that have failed most often.',
      numbers.failing.map(({ id, failures }) => [`{webhook_id="${id}"}`, failures]),
    ),
  ].join('');
}

function gauge(name: string, help: string, samples: readonly Sample[]): string {
  const lines = samples.map(([labels, value]) => `${name}${labels} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${lines.join('')}`;
}
