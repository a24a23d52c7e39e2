import { expect, it } from 'vitest';
import { KnownWebhooks } from '../../src/delivery/known-webhooks.ts';
import { roomFor } from '../../src/delivery/places.ts';
import { CircuitBreaker } from '../../src/domain/flow-control.ts';
import { newLane } from '../../src/domain/lane.ts';

/** A webhook that is well, and its host. */
function known() {
  const host = new CircuitBreaker(1_000);
  const webhook = {
    ...new KnownWebhooks().meet(1),
    lane: newLane(64),
    receiver: { destination: {} as never, host },
  };
  return { host, webhook };
}

it('claims a backlog in small parts, and what is well far ahead', () => {
  const { host, webhook } = known();
  expect(roomFor(webhook, 0)).toBe(1_024);
  for (let n = 0; n < 5; n++) host.begin(0, 0);
  for (let n = 0; n < 5; n++) host.end(false, 0);
  expect(roomFor(webhook, 1)).toBe(0);
  host.begin(6_000, 6_000);
  host.end(true, 6_000);
  host.begin(6_010, 6_010);
  expect(roomFor(webhook, 6_010)).toBe(40);
  expect(roomFor({ ...webhook, isPaced: true }, 6_010)).toBe(0);
  expect(roomFor(webhook, 7_000)).toBe(1_024);
});
