import { secretHash } from '../../domain/access/api-key.ts';
import { Batcher } from '../batcher.ts';

/** Undefined: the credential is looked up at once. Otherwise it is looked up with all others whose turn this promise is. */
export type Turn = () => Promise<void> | undefined;

export const atOnce: Turn = () => undefined;

const BATCH_MAX = 100;
/** One statement takes this many hashes in about 3 ms: less than the service takes to read that many requests. */
const PATIENT_BATCH_MAX = 1_000;

/**
 * Looks up credentials by their hashes. Concurrent requests share a statement. A credential from an address that is over its limit waits for its
 * turn and has a batcher of its own: every credential is looked up, and noise delays no other address.
 */
export class Lookups<Answer> {
  readonly #prompt: Batcher<Buffer, Answer>;
  readonly #patient: Batcher<Buffer, Answer>;

  constructor(find: (hashes: readonly Buffer[]) => Promise<readonly Answer[]>) {
    this.#prompt = new Batcher(BATCH_MAX, find);
    this.#patient = new Batcher(PATIENT_BATCH_MAX, find);
  }

  /** `wasKnown`: the credential worked a moment ago. */
  async ask(secret: string, turn: Turn, wasKnown = false): Promise<Answer> {
    const wait = wasKnown ? undefined : turn();
    if (!wait) return this.#prompt.submit(secretHash(secret));
    await wait;
    return this.#patient.submit(secretHash(secret));
  }
}
