import fc from 'fast-check';
import { expect, it } from 'vitest';
import { deliveryId, newId, parseDeliveryId } from '../../src/domain/ids.ts';

it('names a delivery by its webhook, its place in the queue and its event, and tells where to look for it', () => {
  expect(deliveryId('wh_0C5N8Z', 42, 1_794_643_199_000)).toBe('dlv_0C5N8Z_42_00VavryCO');
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
        expect(parseDeliveryId(deliveryId(webhookId, sequence, now))).toEqual({ webhookId, sequence });
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
  'dlv_abc_1',
  'dlv_abc_0_00VavryCO',
  'dlv_abc_01_00VavryCO',
  'dlv_abc_-1_00VavryCO',
  'dlv_abc_1.5_00VavryCO',
  'dlv_abc_1000000000000000_00VavryCO',
  'dlv_a-b_1_00VavryCO',
  'dlv_abc_1_00VavryC',
  'dlv_abc_1_00VavryCO\n',
  ' dlv_abc_1_00VavryCO',
  'wh_abc_1_00VavryCO',
  'DLV_abc_1_00VavryCO',
])('%j is no name of a delivery', (id) => {
  expect(parseDeliveryId(id)).toBeUndefined();
});
