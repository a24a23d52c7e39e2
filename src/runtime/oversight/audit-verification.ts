import { SYSTEM } from '../../domain/access/principal.ts';
import { Redactions } from '../../domain/oversight/audit-chain.ts';
import type { Clock } from '../../platform/clock.ts';
import { Outage } from '../../platform/outage.ts';
import { type Database, transact } from '../../store/database.ts';
import { auditOrigin, readAuditHead, walkAuditChain } from '../../store/oversight/audit.ts';

export interface Verdict {
  ok: boolean;
  entries: number;
  first_bad?: number;
}

interface Place {
  seq: number;
  hash: Buffer;
}

interface Walk {
  verdict: Promise<Verdict>;
  listeners: number;
  /** Somebody has joined since the head was read: what was appended meanwhile is looked at too. */
  hasNewListener: boolean;
  isStopped: boolean;
}

/** Hashing holds up everybody else; between two stretches their calls go on. */
const STRETCH = 500;
/** After each stretch it rests for so many times as long as that took: it has a quarter of the time at most. */
const REST = 3;
/** Erasures are rare: whoever meets one on each of so many walks has met something else. */
const WALKS_MAX = 3;

/**
 * Verifies the chain of the audit: once for all who ask at a time, and only as long as somebody listens. Entries never change, so each
 * stretch is a short transaction of its own: one long snapshot would slow every other writer down. Only an erasure changes one, and what it
 * says about that may stand behind the head that was walked to: then the walk is made again.
 */
export class AuditVerification {
  readonly #db: Database;
  readonly #clock: Clock;
  #walk: Walk | undefined;

  constructor(db: Database, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
  }

  /** `gone` is aborted when whoever asks listens no more. */
  async verify(gone: AbortSignal): Promise<Verdict> {
    if (this.#walk) this.#walk.hasNewListener = true;
    const walk = this.#walk ?? this.#begin();
    walk.listeners++;
    const leave = () => {
      walk.listeners--;
      if (walk.listeners > 0) return;
      walk.isStopped = true;
      if (this.#walk === walk) this.#walk = undefined;
    };
    if (gone.aborted) leave();
    else gone.addEventListener('abort', leave, { once: true });
    try {
      return await walk.verdict;
    } finally {
      gone.removeEventListener('abort', leave);
    }
  }

  #begin(): Walk {
    const walk: Walk = {
      verdict: Promise.resolve({ ok: true, entries: 0 }),
      listeners: 0,
      hasNewListener: false,
      isStopped: false,
    };
    const end = () => {
      if (this.#walk === walk) this.#walk = undefined;
    };
    this.#walk = walk;
    walk.verdict = this.#check(walk).finally(end);
    // Whoever listens hears of it; with nobody left, nobody need.
    walk.verdict.catch(() => {});
    return walk;
  }

  async #check(walk: Walk): Promise<Verdict> {
    for (let walks = 1; ; walks++) {
      const redactions = new Redactions();
      const { head, verdict } = await this.#walkChain(walk, redactions);
      const firstBad = redactions.firstBad();
      if (!verdict.ok || firstBad === undefined) return verdict;
      const now = await transact(this.#db, SYSTEM, readAuditHead);
      if (now?.seq === head || walks === WALKS_MAX) return bad(verdict.entries, firstBad);
    }
  }

  /** From the origin to the head; `head` is the number of the last entry that there was then. */
  async #walkChain(walk: Walk, redactions: Redactions): Promise<{ head: number; verdict: Verdict }> {
    let seen: Place | undefined;
    for (;;) {
      walk.hasNewListener = false;
      const head = await transact(this.#db, SYSTEM, readAuditHead);
      if (!head) return { head: 0, verdict: bad(0, 1) };
      const origin = auditOrigin(head.cell);
      const entries = head.seq - origin.seq;
      seen ??= origin;
      const broken = (firstBad: number) => ({ head: head.seq, verdict: bad(Math.max(0, entries), firstBad) });
      const first = origin.seq + 1;
      if (entries < 0) return broken(first);
      if (head.first !== undefined && head.first < first) return broken(head.first);
      while (seen.seq < head.seq) {
        if (walk.isStopped) throw new Outage('nobody waits for the verdict any more');
        const began = this.#clock.monotonic();
        const from: Place = seen;
        const stretch = await transact(this.#db, SYSTEM, (tx) =>
          walkAuditChain(tx, from, head.seq, STRETCH, redactions),
        );
        if (stretch.firstBad) return broken(stretch.firstBad);
        if (stretch.entries === 0) return broken(from.seq + 1);
        seen = { seq: from.seq + stretch.entries, hash: stretch.hash };
        const rest = REST * (this.#clock.monotonic() - began);
        if (rest > 0) await this.#clock.sleep(rest);
      }
      if (!seen.hash.equals(head.hash)) return broken(Math.max(seen.seq, first));
      if (head.last !== undefined && head.last > head.seq) return broken(head.seq + 1);
      if (!walk.hasNewListener) return { head: head.seq, verdict: { ok: true, entries } };
    }
  }
}

function bad(entries: number, firstBad: number): Verdict {
  return { ok: false, entries, first_bad: firstBad };
}
