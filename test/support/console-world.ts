import { expect, vi } from 'vitest';
import { scopeNames } from '../../src/contract/access.ts';
import { type Partner, partnerWith, publish } from './post.ts';
import { type Harness, type Loose, makeKey } from './service.ts';

/** People and things for the console to show, by names that can be told apart. */

/** Text that a partner or a practice could have written to do harm, or by being who they are. */
export const HOSTILE = `<img src=x onerror="document.title='taken'"> \u200fבדיקה 🩺 "quoted" & more`;
/** As long as a name may be. */
export const LONG = 'Very long name '.repeat(17).slice(0, 255);

/** A verified partner of this name, with a key for the practice group. */
export async function partnerCalled(
  house: Harness,
  name: string,
  groupId: string,
  key: Record<string, unknown> = {},
): Promise<Partner> {
  const { id } = await house.operator('POST', '/partners', { name, contact_email: 'dev@partner.example' });
  await house.operator('POST', `/partners/${id}/sign-agreement`);
  await house.operator('POST', `/partners/${id}/verify`);
  const issued = await house.operator('POST', '/keys', {
    partner_id: id,
    practice_group_id: groupId,
    scopes: scopeNames,
    ...key,
  });
  return partnerWith(house, groupId, { partnerId: id, key: issued.key, keyId: issued.id });
}

/** A practice of this name, with a submission type. */
export async function practiceCalled(house: Harness, id: string, name: string): Promise<string> {
  await house.operator('POST', '/practice-groups', { id, name });
  await house.operator('PUT', `/practice-groups/${id}/forms/form-1`, { title: 'Form' });
  await house.operator('POST', `/practice-groups/${id}/submission-types`, {
    id: 'repeat-prescription',
    pathway_id: 'pathway-1',
    title: 'Repeat prescription',
  });
  return id;
}

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

/** So many deliveries to the webhook are in the log as delivered: that is written a moment after they were received. */
export async function logged(house: Harness, webhookId: string, count = 1): Promise<void> {
  await vi.waitFor(async () => {
    const delivered = await house.operator('GET', `/deliveries?webhook_id=${webhookId}&status=delivered`);
    expect(delivered.count).toBe(count);
  }, PATIENCE);
}

/** The receiver fails. Gives the IDs of the events. */
export async function fail(house: Harness, partner: Partner, webhookId: string): Promise<string[]> {
  const ids = await publish(house, partner.groupId, 'appointment.confirmed', 'appointment.confirmed');
  await vi.waitFor(async () => {
    const { health } = await house.operator('GET', `/webhooks/${webhookId}`);
    expect(health.failing_since).not.toBeNull();
  }, PATIENCE);
  return ids;
}

/** The receiver has been failing for an hour. Gives the IDs of the events. */
export async function failForAnHour(house: Harness, partner: Partner, webhookId: string): Promise<string[]> {
  const ids = await fail(house, partner, webhookId);
  house.clock.advance(61 * MINUTE);
  return ids;
}

/** Looks for what is to be told now, as the service does every minute. */
export async function lookForAlerts(house: Harness, subjectId: string): Promise<void> {
  await house.service.alerts.look();
  const { data } = await house.operator('GET', '/alerts?open=true&page_size=100');
  expect(data.map(({ subject }: Loose) => subject.id)).toContain(subjectId);
}
