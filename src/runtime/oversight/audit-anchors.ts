import { open } from 'node:fs/promises';
import { SYSTEM } from '../../domain/access/principal.ts';
import { anchorLine, anchorText } from '../../domain/oversight/anchor.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Signer } from '../../platform/signer.ts';
import { type Database, transact } from '../../store/database.ts';
import { readAuditHead } from '../../store/oversight/audit.ts';

interface Surroundings {
  db: Database;
  clock: Clock;
  log: Logger;
  signer: Signer;
  post: Egress['post'];
}

/** Where anchors are given out to, and how often. */
export interface AnchorPlaces {
  file: string | undefined;
  /** With `{seq}` in it, each anchor is an object of its own (PUT); otherwise all are sent to it (POST). */
  url: string | undefined;
  everyMs: number;
}

/** The end of the chain as it is now, signed. */
export async function currentAnchor({ db, clock, signer }: Pick<Surroundings, 'db' | 'clock' | 'signer'>) {
  const head = await transact(db, SYSTEM, readAuditHead);
  if (!head) throw new Error('the audit has no head');
  const anchor = {
    seq: head.seq,
    hash: head.hash.toString('hex'),
    at: new Date(clock.now()).toISOString(),
    key: signer.publicKey,
  };
  return { ...anchor, line: anchorLine(anchor, signer.sign(anchorText(anchor))) };
}

/** Gives out an anchor at the start and then regularly, whenever the chain has grown. What fails is told, and tried again the next time. */
export class AuditAnchors {
  readonly #surroundings: Surroundings;
  readonly #places: AnchorPlaces;
  /** By place: up to which entry it has an anchor. */
  readonly #given = new Map<string, number>();
  #cancel = () => {};
  #underWay: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(surroundings: Surroundings, places: AnchorPlaces) {
    this.#surroundings = surroundings;
    this.#places = places;
  }

  start(): void {
    this.#underWay = this.giveOut().finally(() => {
      if (!this.#isStopped)
        this.#cancel = this.#surroundings.clock.timer(this.#places.everyMs, () => this.start());
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel();
    await this.#underWay;
  }

  async giveOut(): Promise<void> {
    const { file, url } = this.#places;
    try {
      const { seq, line } = await currentAnchor(this.#surroundings);
      if (file !== undefined) await this.#give(file, seq, () => appendTo(file, line));
      if (url !== undefined) await this.#give(url, seq, () => this.#send(url, seq, line));
    } catch (error) {
      this.#surroundings.log.error({ err: error }, 'no anchor of the audit could be made');
    }
  }

  async #give(place: string, seq: number, work: () => Promise<void>): Promise<void> {
    if (this.#given.get(place) === seq) return;
    try {
      await work();
      this.#given.set(place, seq);
    } catch (error) {
      this.#surroundings.log.error({ err: error, seq }, 'an anchor of the audit could not be given out');
    }
  }

  async #send(template: string, seq: number, line: string): Promise<void> {
    const url = template.replaceAll('{seq}', String(seq));
    const outcome = await this.#surroundings.post({
      url,
      method: url === template ? 'POST' : 'PUT',
      headers: { 'content-type': 'text/plain; charset=utf-8' },
      body: `${line}\n`,
    });
    const { status, failure } = outcome;
    if (failure) throw new Error(`${failure.code}: ${failure.detail}`);
    if (status === undefined || status < 200 || status > 299) throw new Error(`it answered ${status}`);
  }
}

/** On the disk before it counts as given out. */
async function appendTo(file: string, line: string): Promise<void> {
  const handle = await open(file, 'a', 0o644);
  try {
    await handle.appendFile(`${line}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
