import { describe, expect, it } from 'vitest';
import {
  applyWebhookPatch,
  auditable,
  inOrder,
  type StoredWebhook,
} from '../../src/domain/events/webhook.ts';

const webhook: StoredWebhook = {
  no: 1,
  id: 'wh_1',
  partner_id: 'par_1',
  signature: 'hmac',
  header_names: [],
  practice_group_id: 'pg_1',
  practice_groups: null,
  practice_group_ids: null,
  url: 'https://partner.example/hook?token=secret',
  description: 'null',
  event_types: ['appointment.confirmed', 'prescription.issued'],
  status: 'disabled',
  status_reason: 'It is gone.',
  version: 3,
  health: {
    failures: 7,
    failing_since: '2026-11-01T00:00:00.000Z',
    last_success_at: null,
    queued: 2,
    withheld_since: null,
    withheld_reason: null,
    withheld_practice_groups: [],
  },
  created_at: '2026-10-01T00:00:00.000Z',
  updated_at: '2026-10-01T00:00:00.000Z',
};
const NOW = '2026-11-14T08:00:00.000Z';
const apply = (patch: Parameters<typeof applyWebhookPatch>[1], from = webhook) =>
  applyWebhookPatch(from, patch, NOW);

describe('a patch of a webhook', () => {
  it('that changes no value changes nothing', () => {
    for (const patch of [
      {},
      { url: webhook.url },
      { description: 'null' },
      { event_types: ['prescription.issued' as const, 'appointment.confirmed' as const] },
    ])
      expect(apply(patch)).toEqual({ outcome: 'unchanged' });
  });

  it('tells exactly what changed, without the query of an address', () => {
    expect(apply({ url: 'https://partner.example/new?token=secret', description: null })).toMatchObject({
      outcome: 'changed',
      next: {
        url: 'https://partner.example/new?token=secret',
        description: null,
        version: 4,
        updated_at: NOW,
      },
      before: { url: 'https://partner.example/hook?[redacted]', description: 'null' },
      after: { url: 'https://partner.example/new?[redacted]', description: null },
    });
    expect(JSON.stringify(auditable(webhook))).not.toContain('token');
  });

  it('keeps the reason of a disabled webhook unless its status is set', () => {
    expect(apply({ description: 'x' })).toMatchObject({
      next: { status: 'disabled', status_reason: 'It is gone.', health: { failures: 7 } },
      startsAnew: false,
    });
    expect(apply({ status: 'paused' })).toMatchObject({
      next: { status: 'paused', status_reason: null, health: { failures: 7 } },
      startsAnew: false,
    });
  });

  it('begins anew when it is activated, and when its address changes', () => {
    const anew = { next: { health: { failures: 0, failing_since: null, queued: 2 } }, startsAnew: true };
    expect(apply({ status: 'active' })).toMatchObject(anew);
    expect(apply({ url: 'https://partner.example/new' })).toMatchObject(anew);
    const paused: StoredWebhook = { ...webhook, status: 'paused', status_reason: null };
    expect(apply({ status: 'active' }, paused)).toMatchObject(anew);
  });
});

it('lists events as the catalogue does', () => {
  expect(inOrder(['prescription.issued', 'appointment.confirmed'])).toEqual(webhook.event_types);
});
