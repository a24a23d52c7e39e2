/** Moments of neighbouring rows may be out of order by less than this: what is found by halving is widened by it, and then looked at one by one. */
const DISORDER_SECONDS = 300;

/** The first row at a place or after it. */
type Probe = (place: number) => Promise<{ place: number; seconds: number } | undefined>;

export interface Span {
  since?: string | undefined;
  until?: string | undefined;
}

/** As numbers: PostgreSQL reads fewer spellings of a moment than RFC 3339 and JavaScript allow, and knows no year 0. */
export const spanSeconds = ({ since, until }: Span) => ({
  since: since === undefined ? undefined : Date.parse(since) / 1000,
  until: until === undefined ? undefined : Date.parse(until) / 1000,
});

/** Where in a list that grows with time a span lies: nothing of it is before `from`, or at `before` and after. Undefined: there is no such bound. */
export async function placesOf(
  span: Span,
  newest: () => Promise<number | undefined>,
  probe: Probe,
): Promise<{ from: number | undefined; before: number | undefined }> {
  const { since, until } = spanSeconds(span);
  if (since === undefined && until === undefined) return { from: undefined, before: undefined };
  const end = ((await newest()) ?? 0) + 1;
  const [from, before] = await Promise.all([
    since === undefined ? undefined : firstPlaceAt(end, probe, since - DISORDER_SECONDS),
    until === undefined ? undefined : firstPlaceAt(end, probe, until + DISORDER_SECONDS),
  ]);
  return { from, before: before === end ? undefined : before };
}

/** The first place from that moment on; `end` when there is none. Places may have gaps. */
async function firstPlaceAt(end: number, probe: Probe, seconds: number): Promise<number> {
  let [low, high] = [0, end];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const row = await probe(middle);
    if (row && row.place < high && row.seconds < seconds) low = row.place + 1;
    else high = middle;
  }
  return low;
}
