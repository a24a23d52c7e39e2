import { WRITE_THROUGH_MS } from '../contract/operator/write-through.ts';
import { Problem, STOPPED_BY_PRACTICE } from '../contract/problems.ts';
import { ruleBroken } from '../contract/rules.ts';
import { hasExpired, isReached } from '../domain/access.ts';
import { CircuitBreaker } from '../domain/flow-control.ts';
import { newId, type RandomBytes } from '../domain/ids.ts';
import { SYSTEM } from '../domain/principal.ts';
import { signedHeaders } from '../domain/signature.ts';
import { type Clock, databaseTime } from '../platform/clock.ts';
import type { Egress, PostOutcome } from '../platform/egress/egress.ts';
import { Outage } from '../platform/outage.ts';
import type { Sealer } from '../platform/sealing.ts';
import { Semaphore } from '../platform/semaphore.ts';
import { type Database, transact } from '../store/database.ts';
import type { Destination } from '../store/deliveries.ts';
import { secretOwner } from '../store/webhook-secrets.ts';
import {
  dropProposal,
  findAsked,
  hurryUntold,
  makeProposed,
  type Proposal,
  propose,
  withdrawProposal,
} from '../store/write-through.ts';
import { type Access, isHolder } from './access.ts';
import {
  decideAlone,
  type SubmissionTypeUpdates,
  type Update,
  type UpdateOutcome,
} from './submission-type-updates.ts';

/**
 * Updates of practice groups whose software is asked first. One at a time for each practice group and node, so nobody else's
 * update waits for it, and partners in turns, so that none keeps another one waiting for all that it sends; a practice whose software is away is answered at once while its circuit is open.
 *
 * The protocol, between Porter and the practice software, for a change with an ID of its own:
 *
 *   1. The update is decided on the row as it is: what is refused or changes nothing is answered, and the practice software not asked.
 *   2. A *proposal* is written and committed. Of one submission type there is one at a time, on all nodes together, and none while the
 *      software has still to be told of an earlier one that was withdrawn.
 *   3. The change is put to the software: `change.proposed`, signed, under the change's ID as `webhook-id`. With 2xx it says that it *has applied* the
 *      change, for good unless it hears otherwise. Asked again under an ID that it knows, it answers the same again.
 *   4. The change is made: in one transaction the row is written, if it still has the version of 1, the audit and the feed (as applied), and
 *      the proposal goes. Or it is not made: somebody else changed the row meanwhile, the answer was lost, the node died. Then the
 *      proposal goes in a transaction that queues `change.withdrawn` with the same ID, which is delivered until it is received. A
 *      change that is made cannot be withdrawn any more, nor the other way round, because each begins by taking the proposal away.
 *
 * So whatever process dies at whatever line, each ID that the software has accepted ends up in the feed as applied, or is withdrawn:
 * proposals that nobody settled are withdrawn by a worker (`withdrawLate`). To reconcile, the software takes back what it was told
 * to withdraw; what it has accepted is otherwise what the feed has.
 *
 * A change waits for its turn and for the software, for minutes at worst, and whoever takes the partner's access away hears after a second that it
 * is gone. So it is asked before 1 and before 4 whether the call would still be let in (`#refusalOf`).
 */
export interface WriteThroughOptions {
  db: Database;
  access: Pick<Access, 'holderOfId' | 'reach'>;
  clock: Clock;
  random: RandomBytes;
  sealer: Sealer;
  egress: Egress;
  /** Called when something was changed. */
  changed: () => void;
}

/** Later than any node that is alive would make the change: asking takes as long as it may, and writing a statement's limit. */
const LATE_MS = WRITE_THROUGH_MS + 15_000;
/** Of a practice group together, and of each partner; one of each partner may always wait. */
const WAITING_MAX = 32;
const WAITING_OF_PARTNER_MAX = 8;
/** Somebody else changes the same row, or asks about it. */
const TRIES_MAX = 3;
const UNSETTLED_WAIT_MS = 100;
const UNSETTLED_WAITS_MAX = 30;
const SENTENCE_MAX = 500;
/** What the caller is told: neither this service nor the request is at fault. */
const SOFTWARE_AWAY = {
  told: 'The software of the practice, which is asked before this is changed, does not answer. Retry after the seconds in Retry-After.',
};
const SOFTWARE_BUSY = {
  told: 'Too many changes wait for the software of the practice. Retry after the seconds in Retry-After.',
};
const UNSETTLED = {
  told: 'An earlier change of this submission type was not made, and the software of the practice has not taken that yet. Retry after the seconds in Retry-After.',
};
const SCOPE = 'submission-types:write';

interface Group {
  turns: Semaphore;
  breaker: CircuitBreaker;
  /** By partner, with the one whose turn it is. */
  waiting: Map<string, number>;
  isFailing: boolean;
}

export class WriteThrough implements SubmissionTypeUpdates {
  readonly #options: WriteThroughOptions;
  /** Those that have something under way, or whose software failed the last time. */
  readonly #groups = new Map<string, Group>();

  constructor(options: WriteThroughOptions) {
    this.#options = options;
  }

  async submit(update: Update): Promise<UpdateOutcome> {
    const groupId = update.principal.group.id;
    const group = this.#groups.get(groupId) ?? {
      turns: new Semaphore(1),
      breaker: new CircuitBreaker(1),
      waiting: new Map<string, number>(),
      isFailing: false,
    };
    this.#groups.set(groupId, group);
    const { partnerId } = update.principal.holder;
    if (!mayWait(group, partnerId))
      return new Outage('too many updates wait for the practice software', SOFTWARE_BUSY);
    group.waiting.set(partnerId, waitingOf(group, partnerId) + 1);
    try {
      return await group.turns.run(partnerId, () => this.#update(update, group));
    } finally {
      const left = waitingOf(group, partnerId) - 1;
      if (left > 0) group.waiting.set(partnerId, left);
      else group.waiting.delete(partnerId);
      if (group.waiting.size === 0 && !group.isFailing) this.#groups.delete(groupId);
    }
  }

  async close(): Promise<void> {
    await this.#options.egress.close();
  }

  async #update(update: Update, group: Group): Promise<UpdateOutcome> {
    const { db, clock, random } = this.#options;
    for (let attempt = 1; ; attempt++) {
      const ended = await this.#refusalOf(update);
      if (ended) return ended;
      const now = clock.now();
      const decided = await transact(db, update.principal, (tx) => decideAlone(tx, update, now));
      if ('outcome' in decided) return decided.outcome;
      const asked = await findAsked(db, update.principal.group.id);
      if (!asked) return new Outage('changes of this practice group are not written through any more');
      if (group.breaker.room(clock.monotonic()) === 0)
        return new Outage('the practice software is away', SOFTWARE_AWAY);
      const { before, after, write } = decided;
      const id = newId('chg', now, random);
      const proposal: Proposal = {
        id,
        practice_group_id: update.principal.group.id,
        object_id: update.id,
        webhook_no: asked.no,
        partner_id: update.principal.holder.partnerId,
        payload: {
          id,
          kind: 'submission_type',
          practice_group_id: update.principal.group.id,
          object_id: update.id,
          before,
          after,
          partner_id: update.principal.holder.partnerId,
          key_id: update.principal.holder.keyId,
          request_id: update.requestId,
          at: new Date(now).toISOString(),
        },
      };
      if (!(await this.#propose(proposal)))
        return new Outage('an earlier change is not settled yet', UNSETTLED);
      const refusal = await this.#ask(asked, proposal, group);
      if (refusal) return refusal;
      const endedMeanwhile = await this.#refusalOf(update);
      if (endedMeanwhile) {
        await this.#withdraw(id);
        return endedMeanwhile;
      }
      const outcome = await transact(db, update.principal, async (tx) => {
        if (!(await makeProposed(tx, id))) return new Outage('the change was withdrawn meanwhile');
        const written = await write(tx);
        // Undone with all that it did: the proposal is there again, and is withdrawn.
        if (!written) throw new RowChanged();
        return written;
      }).catch(async (error: unknown) => {
        await this.#withdraw(id);
        if (error instanceof RowChanged) return error;
        throw error;
      });
      if (!(outcome instanceof RowChanged)) {
        this.#options.changed();
        return outcome;
      }
      if (update.ifMatch !== undefined) return new Problem('precondition_failed');
      if (attempt === TRIES_MAX) return new Outage('others change the submission type at the same time');
    }
  }

  /** Why the call would not be let in any more, as the door would say it. Undefined: it would. */
  async #refusalOf({ principal: { holder, group } }: Update): Promise<Problem | undefined> {
    const { access, clock } = this.#options;
    const found = await access.holderOfId(holder.keyId);
    if (!isHolder(found) || hasExpired(found, clock.now())) return new Problem('invalid_credentials');
    if (!found.scopes.has(SCOPE))
      return new Problem('insufficient_permissions', { required_scopes: [SCOPE] });
    const reached = await access.reach(found, group.id, SCOPE);
    if (isReached(reached)) return undefined;
    return new Problem('forbidden', reached && { message: STOPPED_BY_PRACTICE });
  }

  /** What is not settled is so within seconds, as a rule. */
  async #propose(proposal: Proposal): Promise<boolean> {
    const { db, clock } = this.#options;
    for (let wait = 0; wait < UNSETTLED_WAITS_MAX; wait++) {
      if (await propose(db, proposal, LATE_MS)) return true;
      // It may be back by now.
      if (wait === 0)
        await transact(db, SYSTEM, (tx) => hurryUntold(tx, databaseTime(clock), proposal.webhook_no));
      await clock.sleep(UNSETTLED_WAIT_MS);
    }
    return false;
  }

  /** Puts the change to the practice software. Undefined: it has applied it. */
  async #ask(asked: Destination, proposal: Proposal, group: Group): Promise<Error | undefined> {
    const { db, clock, sealer, egress } = this.#options;
    const body = JSON.stringify({ event: 'change.proposed', ...proposal.payload });
    const now = clock.now();
    const { 'webhook-sequence': _none, ...headers } = signedHeaders({
      id: proposal.id,
      timestampSeconds: Math.floor(now / 1000),
      sequence: 0,
      body,
      secrets: asked.secrets
        .filter(({ expiresAt }) => expiresAt > now)
        .map((secret) => sealer.open(secret, secretOwner(asked.id))),
    });
    group.breaker.begin();
    const outcome = await egress.post({ url: asked.url, headers, body });
    const verdict = verdictOf(outcome);
    group.isFailing = verdict === 'not_reached' || verdict === 'unknown';
    // One that hangs is no better than one that cannot be reached.
    group.breaker.end(!group.isFailing, clock.monotonic());
    if (verdict === 'accepted') return undefined;
    if (verdict === 'unknown') {
      await this.#withdraw(proposal.id);
      return new Outage('the practice software gave no answer that can be relied on', SOFTWARE_AWAY);
    }
    await dropProposal(db, proposal.id);
    if (verdict === 'not_reached') return new Outage('the practice software is out of reach', SOFTWARE_AWAY);
    return ruleBroken('practice_software', sentenceOf(outcome.answer));
  }

  /** Should the database be away, a worker does it later. */
  async #withdraw(id: string): Promise<void> {
    const { db, clock } = this.#options;
    await withdrawProposal(db, id, new Date(clock.now()).toISOString()).catch((error: unknown) => {
      if (!(error instanceof Outage)) throw error;
    });
  }
}

class RowChanged extends Error {}

const waitingOf = ({ waiting }: Group, partnerId: string) => waiting.get(partnerId) ?? 0;

function mayWait(group: Group, partnerId: string): boolean {
  const own = waitingOf(group, partnerId);
  const together = [...group.waiting.values()].reduce((sum, count) => sum + count, 0);
  return own === 0 || (own < WAITING_OF_PARTNER_MAX && together < WAITING_MAX);
}

type Verdict = 'accepted' | 'vetoed' | 'not_reached' | 'unknown';

/** Before the first byte was sent, nobody has heard of it. */
const UNSENT = new Set(['address', 'dns', 'connect', 'tls']);

export function verdictOf({
  status,
  failure,
  wasRepeated,
}: Pick<PostOutcome, 'status' | 'failure' | 'wasRepeated'>): Verdict {
  if (failure) return UNSENT.has(failure.phase) && !wasRepeated ? 'not_reached' : 'unknown';
  if (status !== undefined && status >= 200 && status < 300) return 'accepted';
  return status === 409 || status === 422 ? 'vetoed' : 'unknown';
}

/** The sentence of a veto, for the partner: one line, without what steers a terminal or a page, and bounded. */
export function sentenceOf(answer: string): string | undefined {
  let message: unknown;
  try {
    message = (JSON.parse(answer) as { message?: unknown } | null)?.message;
  } catch {
    return undefined;
  }
  if (typeof message !== 'string') return undefined;
  const line = message.replaceAll(/[\p{C}\p{Z}<>]+/gu, ' ').trim();
  return [...line].slice(0, SENTENCE_MAX).join('') || undefined;
}
