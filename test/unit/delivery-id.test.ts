import fc from 'fast-check';
import { expect, it } from 'vitest';
import { deliveryId, parseDeliveryId } from '../../src/domain/delivery-id.ts';
import { newId } from '../../src/domain/ids.ts';

it('names a delivery by its webhook and its place in the queue, and is read back', () => {
  expect(deliveryId('wh_0C5N8Z', 42)).toBe('dlv_0C5N8Z_42');
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: Date.parse('2200-01-01') }),
      fc.uint8Array({ minLength: 64, maxLength: 64 }),
      fc.integer({ min: 1, max: 999_999_999_999_999 }),
      (now, bytes, sequence) => {
        // Enough fair bytes for any ID, whatever the generator came up with.
        const webhookId = newId('wh', now, (count) =>
          Uint8Array.from({ length: count }, (_, i) => (bytes[i] ?? 0) % 248),
        );
        expect(parseDeliveryId(deliveryId(webhookId, sequence))).toEqual({ webhookId, sequence });
      },
    ),
  );
});

it.each([
  '',
  'dlv_',
  'dlv__1',
  'dlv_abc',
  'dlv_abc_',
  'dlv_abc_0',
  'dlv_abc_01',
  'dlv_abc_-1',
  'dlv_abc_1.5',
  'dlv_abc_1000000000000000',
  'dlv_a-b_1',
  'dlv_abc_1\n',
  ' dlv_abc_1',
  'wh_abc_1',
  'DLV_abc_1',
])('%j is no name of a delivery', (id) => {
  expect(parseDeliveryId(id)).toBeUndefined();
});
