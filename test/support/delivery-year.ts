import { openPostOffice } from './post-office.ts';

const DAY_MS = 24 * 3_600_000;

/**
 * A year in which receivers come and go: one is well, one is away for a few hours now and then, one for days, one fails
 * at random. Time jumps from one due moment to the next, so the year takes as long as its statements.
 */
export async function liveThroughYear(days: number, eventsPerDay: number, roll: (below: number) => number) {
  const office = await openPostOffice();
  const start = office.clock.now();
  const moods: Record<string, (hour: number) => number> = {
    'https://well.example/': () => 200,
    'https://hours.example/': (hour) => (hour % 24 < 5 ? 503 : 200),
    'https://days.example/': (hour) => (hour % (24 * 30) < 24 * 4.5 ? 500 : 200),
    'https://moody.example/': () => (roll(3) === 0 ? 200 : 500),
  };
  office.answerWith(({ url, at }) => moods[url]?.(Math.floor((at - start) / 3_600_000)) ?? 404);
  for (const url of Object.keys(moods)) await office.addWebhook({ url });

  let accepted = 0;
  for (let day = 0; day < days; day++) {
    for (let n = 0; n < eventsPerDay; n++) await office.publish({ id: `appointment-${roll(20)}` });
    accepted += eventsPerDay;
    const nextDay = start + (day + 1) * DAY_MS;
    do await office.engine.drain();
    while ((await office.toNextDue(nextDay)) && office.clock.now() < nextDay);
    office.clock.set(new Date(nextDay).toISOString());
  }
  do await office.engine.drain();
  while (await office.toNextDue());

  const [told] = await office.rows<{
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
  const disabled = await office.rows("SELECT FROM webhooks WHERE status <> 'active'");
  return {
    accepted: accepted * Object.keys(moods).length,
    disabled: disabled.length,
    letters: office.letters,
    ...told,
  };
}
