import { openDeliveryHarness } from './delivery-harness.ts';

const DAY_MS = 24 * 3_600_000;

/**
 * A year in which receivers come and go: one is well, one is away for a few hours now and then, one for days, one fails
 * at random. Time jumps from one due moment to the next, so the year takes as long as its statements.
 */
export async function liveThroughYear(days: number, eventsPerDay: number, roll: (below: number) => number) {
  const harness = await openDeliveryHarness();
  const start = harness.clock.now();
  const moods: Record<string, (hour: number) => number> = {
    'https://well.example/': () => 200,
    'https://hours.example/': (hour) => (hour % 24 < 5 ? 503 : 200),
    'https://days.example/': (hour) => (hour % (24 * 30) < 24 * 4.5 ? 500 : 200),
    'https://moody.example/': () => (roll(3) === 0 ? 200 : 500),
  };
  harness.answerWith(({ url, at }) => moods[url]?.(Math.floor((at - start) / 3_600_000)) ?? 404);
  for (const url of Object.keys(moods)) await harness.addWebhook({ url });

  let accepted = 0;
  for (let day = 0; day < days; day++) {
    for (let n = 0; n < eventsPerDay; n++) await harness.publish({ id: `appointment-${roll(20)}` });
    accepted += eventsPerDay;
    const nextDay = start + (day + 1) * DAY_MS;
    do await harness.engine.drain();
    while ((await harness.toNextDue(nextDay)) && harness.clock.now() < nextDay);
    harness.clock.set(new Date(nextDay).toISOString());
  }
  do await harness.engine.drain();
  while (await harness.toNextDue());

  const [told] = await harness.rows<{
    delivered: number;
    given_up: number;
    open: number;
    attempts_max: number;
  }>(
    `SELECT count(*) FILTER (WHERE state = 'delivered')::integer AS delivered,
            count(*) FILTER (WHERE state = 'failed')::integer AS given_up,
            count(*) FILTER (WHERE state IN ('due', 'waiting'))::integer AS open,
            max(json_array_length(attempts)) AS attempts_max FROM deliveries`,
  );
  const disabled = await harness.rows("SELECT FROM webhooks WHERE status <> 'active'");
  return {
    accepted: accepted * Object.keys(moods).length,
    disabled: disabled.length,
    sent: harness.sent,
    ...told,
  };
}
