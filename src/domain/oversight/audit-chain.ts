import { hash } from 'node:crypto';

/**
 * Entries of the audit whose identifiers an erasure took out. Their text is no longer the one that was hashed, so two things stand in for
 * it, both in the entry that the erasure appended: the hash before the entry, and the digest of its text as it reads now. Whoever
 * walks the chain collects what such entries claim and what erasures list, and compares the two at the end: an entry that is changed
 * in any other way, and one that is put back as it was, come out.
 */

export const REDACTION = 'erasure.redact';

/** An entry as an erasure left it, as its own entry lists it. */
export interface Redacted {
  seq: number;
  /** The hash of the entry before, in hex. */
  before: string;
  /** SHA-256 of the text without the identifiers, in hex. */
  body: string;
}

export function redactedEntry(seq: number, before: Buffer, body: string): Redacted {
  return { seq, before: before.toString('hex'), body: hash('sha256', body) };
}

export class Redactions {
  readonly #claimed = new Map<number, Redacted>();
  readonly #listed = new Map<number, Redacted>();

  /** An entry says that it was redacted. */
  claim(entry: Redacted): void {
    this.#claimed.set(entry.seq, entry);
  }

  /** An entry of an erasure lists what it redacted. What was redacted twice is as the later one left it. */
  list(entries: readonly Redacted[]): void {
    for (const entry of entries) this.#listed.set(entry.seq, entry);
  }

  /** The first entry that is not as the erasures left it. */
  firstBad(): number | undefined {
    const seqs = new Set([...this.#claimed.keys(), ...this.#listed.keys()]);
    const bad = [...seqs].filter((seq) => {
      const claimed = this.#claimed.get(seq);
      const listed = this.#listed.get(seq);
      return !claimed || !listed || claimed.before !== listed.before || claimed.body !== listed.body;
    });
    return bad.length === 0 ? undefined : Math.min(...bad);
  }
}
