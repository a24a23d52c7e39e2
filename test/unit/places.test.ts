import { expect, it } from 'vitest';
import { KnownWebhooks } from '../../src/delivery/known-webhooks.ts';
import { roomFor } from '../../src/delivery/places.ts';
import { BACKLOG_PART, CircuitBreaker } from '../../src/domain/events/flow-control.ts';
import { newLane } from '../../src/domain/events/lane.ts';

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
  host.reservePart(BACKLOG_PART, 6_000);
  expect(roomFor(webhook, 6_010)).toBe(BACKLOG_PART);
  expect(roomFor({ ...webhook, part: 3 }, 6_010)).toBe(3);
  expect(roomFor({ ...webhook, lane: newLane(1), part: 3 }, 6_010)).toBe(3);
  expect(roomFor({ ...webhook, awaitsTurn: true }, 6_010)).toBe(0);
  expect(roomFor(webhook, 7_000)).toBe(1_024);
});

it('claims nothing for a host that rests', () => {
  const { host, webhook } = known();
  for (let n = 0; n < 5; n++) host.begin();
  for (let n = 0; n < 5; n++) host.end(false, 0);
  expect(roomFor(webhook, 1)).toBe(0);
});
