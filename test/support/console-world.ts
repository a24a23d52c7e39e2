import { expect, vi } from 'vitest';
import { type Partner, partnerWith, publish } from './post.ts';
import { type Harness, type Loose, makeKey } from './service.ts';

/** People and things for the console to show, by names that can be told apart. */

/** What a partner or a practice may write into any field, and what must come out as it went in. */
export const HOSTILE = '<img src=x onerror="document.title=\'broken\'"> \u202egnikoob 🏥';

let count = 0;

export async function newPractice({ operator }: Pick<Harness, 'operator'>, name: string): Promise<string> {
  const { id } = await operator('POST', '/practice-groups', { id: `practice-${++count}`, name });
  return id;
}

/** A verified partner of this name with a key for a practice, or for a new one. */
export async function newNamedPartner(
  house: Harness,
  name: string,
  practiceId?: string,
  key: Record<string, unknown> = {},
): Promise<Partner> {
  const groupId = practiceId ?? (await newPractice(house, `Practice of ${name}`));
  const made = await makeKey(house, groupId, { label: `Key of ${name}`, ...key });
  await house.operator('PATCH', `/partners/${made.partnerId}`, { name: name.slice(0, 255) });
  return partnerWith(house, groupId, made);
}

export async function newHook(partner: Partner, url: string): Promise<string> {
  const { id } = await partner.call('POST', '/v1/webhooks', { url, event_types: ['appointment.confirmed'] });
  return id as string;
}

const MINUTE = 60_000;
/** Ends what would never end. */
export const PATIENCE = { timeout: MINUTE, interval: 50 };

/** The receiver has been failing for an hour. Gives the IDs of the events. */
export async function failForAnHour(house: Harness, partner: Partner, webhookId: string): Promise<string[]> {
  const ids = await publish(house, partner.groupId, 'appointment.confirmed', 'appointment.confirmed');
  await vi.waitFor(async () => {
    const { health } = await house.operator('GET', `/webhooks/${webhookId}`);
    expect(health.failing_since).not.toBeNull();
  }, PATIENCE);
  house.clock.advance(61 * MINUTE);
  return ids;
}

/** Looks for what is to be told now, as the service does every minute. */
export async function lookForAlerts(house: Harness, webhookId: string): Promise<void> {
  await house.service.alerts.look();
  const { data } = await house.operator('GET', '/alerts?open=true&page_size=100');
  expect(data.map(({ subject }: Loose) => subject.id)).toContain(webhookId);
}
