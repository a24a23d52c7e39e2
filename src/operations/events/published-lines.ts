import { LINE_BYTES_MAX, type Line, type LineStream } from '../../contract/endpoint.ts';
import { type EventPayload, eventPayload } from '../../contract/event-payloads.ts';
import {
  type EventOutcome,
  publishEvents as publishEndpoint,
} from '../../contract/operator/events/events.ts';
import { Problem } from '../../contract/problems.ts';
import { check } from '../../contract/validate.ts';
import { refused, withFewEntries } from '../../domain/refused-item.ts';
import { transact } from '../../store/database.ts';
import type { NewEvent } from '../../store/events/events.ts';
import { type Keyed, keepAnswers } from '../../store/idempotency.ts';
import { findUnknownGroups } from '../../store/practices/practice-groups.ts';
import { type App, type OperatorCall, operation } from '../app.ts';
import { keyedAnswer, usedForAnother } from '../idempotency.ts';
import { answerChunk, lastLine } from '../lines.ts';
import { appendTogether, newEvent, publishBody, unknownGroup } from './events.ts';

type Call = OperatorCall<typeof publishEndpoint>;
type Outcome = Omit<EventOutcome, 'index'>;

/** Lines of one transaction. */
const CHUNK_MAX = 1_000;

export const publishEvents = operation(publishEndpoint, (app, call) => {
  return call.lines ? { lines: publishLines(app, call, call.lines) } : publishBody(app, call);
});

/**
 * Events of NDJSON. Lines that arrived together share a transaction, and no line is read while it runs. Each line has an outcome of its own.
 *
 * With an Idempotency-Key, each accepted line has the key of the header and its index, with a space between: no header holds such a key. The key of
 * a line commits with its event, so a repeated call accepts the lines that an interrupted call has not accepted. A refused line uses up no key.
 */
async function* publishLines(app: App, call: Call, lines: AsyncIterable<Line[]>): LineStream {
  try {
    for await (const together of lines)
      for (let start = 0; start < together.length; start += CHUNK_MAX) {
        const chunk = together.slice(start, start + CHUNK_MAX);
        yield await answerChunk(call, () => publishChunk(app, call, chunk));
      }
  } catch (error) {
    yield lastLine(error);
  }
}

interface LineEvent extends NewEvent {
  keyed: Keyed<{ event_ids: string[] }> | undefined;
}

async function publishChunk(app: App, call: Call, lines: readonly Line[]): Promise<EventOutcome[]> {
  const read = lines.map((line) => ({ index: line.index, of: eventOf(app, call, line) }));
  const outcomes = await accept(
    app,
    call,
    read.flatMap(({ of }) => (isRefused(of) ? [] : of)),
  );
  return withFewEntries(
    read.map(({ index, of }) => ({ index, ...(isRefused(of) ? of : (outcomes.get(of) as Outcome)) })),
  );
}

const isRefused = (of: LineEvent | Outcome): of is Outcome => 'outcome' in of;

function eventOf(app: App, { idempotencyKey, principal }: Call, line: Line): LineEvent | Outcome {
  if ('isTooLong' in line) {
    const message = `A line has at most ${LINE_BYTES_MAX / 1024} KiB.`;
    return refused(new Problem('payload_too_large', { message }));
  }
  if ('problems' in line) return refused(line.problems, 'event');
  const checked = check(eventPayload, line.value);
  if (!checked.ok) return refused(checked.problems, 'event');
  const payload: EventPayload = checked.value;
  const event = newEvent(app, payload);
  const own = { idempotencyKey: idempotencyKey && `${idempotencyKey} ${line.index}` };
  return { ...event, keyed: keyedAnswer(app, own, principal.operatorId, payload, { event_ids: [event.id] }) };
}

/** Accepts them in one transaction, each by itself. */
async function accept(app: App, call: Call, events: readonly LineEvent[]): Promise<Map<LineEvent, Outcome>> {
  if (events.length === 0) return new Map();
  const groupIds = [...new Set(events.map(({ payload }) => payload.practice_group_id))];
  let isChanged = false;
  const outcomes = await transact(app.db, call.principal, async (tx) => {
    const unknown = new Set(await findUnknownGroups(tx, groupIds));
    const isKnown = ({ payload }: LineEvent) => !unknown.has(payload.practice_group_id);
    const kept = await keepAnswers(
      tx,
      events.flatMap((event) => (event.keyed && isKnown(event) ? event.keyed : [])),
    );
    const accepted: NewEvent[] = [];
    const decide = (event: LineEvent): Outcome => {
      const { id, payload, keyed } = event;
      if (!isKnown(event)) return refused(unknownGroup(payload, []));
      const earlier = keyed && kept.get(keyed.key);
      if (!earlier) accepted.push({ id, payload });
      else if (!keyed.bodyHash.equals(earlier.bodyHash)) return refused(usedForAnother());
      return { outcome: 'accepted', event_id: earlier?.answer.event_ids[0] ?? id };
    };
    const outcomes = new Map(events.map((event) => [event, decide(event)]));
    isChanged = accepted.length > 0 && (await appendTogether(app, tx, call, accepted));
    return outcomes;
  });
  if (isChanged) app.access.forget();
  return outcomes;
}
