import type { DeliveryAttempt } from '../api/generated.ts';
import { State } from './state.tsx';
import { toClock, toDuration, toExact, useNow, When, zone } from './when.tsx';

/** Attempts to deliver as a timeline, newest first: what came of each, in words, and how the answer began. */
export function Attempts({ of: attempts, next }: { of: readonly DeliveryAttempt[]; next: string | null }) {
  return (
    <ol className="attempts" aria-label="Attempts, newest first">
      {next && (
        <li>
          <State kind="waiting">next</State> <Due at={next} />
        </li>
      )}
      {[...attempts].reverse().map((attempt) => (
        <Attempt key={attempt.at} of={attempt} />
      ))}
    </ol>
  );
}

/** When something is to be done; what should have been done already is due now. */
export function Due({ at }: { at: string }) {
  const now = useNow();
  return Date.parse(at) <= Math.max(now, Date.now()) ? 'now' : <When at={at} />;
}

/** One of them; what else is to be said of it stands below. */
export function Attempt({ of: attempt, children }: { of: DeliveryAttempt; children?: React.ReactNode }) {
  const { at, outcome, status, phase, diagnosis, duration_ms, answer } = attempt;
  // A receiver at an address that is not public may show partners its outcome alone.
  const isTold = status !== null || phase !== null;
  return (
    <li>
      <time dateTime={at} title={`${toExact(at)} (${zone})`}>
        {toClock(at)}
      </time>
      <State kind={outcome === 'delivered' ? 'fine' : 'failing'}>
        {status ?? (phase ? 'no answer' : outcome)}
      </State>
      {isTold && <span className="soft">in {toDuration(duration_ms)}</span>}
      <span className="diagnosis">
        <bdi>{diagnosis}</bdi>
      </span>
      {answer && (
        <pre>
          <code>
            <bdi>{answer}</bdi>
          </code>
        </pre>
      )}
      {children && <span className="more">{children}</span>}
    </li>
  );
}
