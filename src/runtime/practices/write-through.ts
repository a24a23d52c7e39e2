import { shortened } from '../../contract/fields.ts';
import { WRITE_THROUGH_MS } from '../../contract/operator/practices/write-through.ts';
import { Problem, STOPPED_BY_PRACTICE } from '../../contract/problems.ts';
import { ruleBroken } from '../../contract/rules.ts';
import { hasExpired, isReached } from '../../domain/access/access.ts';
import { SYSTEM } from '../../domain/access/principal.ts';
import { CircuitBreaker } from '../../domain/events/flow-control.ts';
import { signedHeaders } from '../../domain/events/signature.ts';
import { newId, type RandomBytes } from '../../domain/ids.ts';
import { type Clock, databaseTime } from '../../platform/clock.ts';
import type { Egress, PostOutcome } from '../../platform/egress/egress.ts';
import { Outage } from '../../platform/outage.ts';
import type { Sealer } from '../../platform/sealing.ts';
import { Semaphore } from '../../platform/semaphore.ts';
import { type Database, type Transaction, transact } from '../../store/database.ts';
import type { Destination } from '../../store/events/deliveries.ts';
import { secretOwner } from '../../store/events/webhook-secrets.ts';
import {
  dropProposal,
  findAsked,
  hurryUntold,
  makeProposed,
  type Proposal,
  propose,
  withdrawProposal,
} from '../../store/practices/write-through.ts';
import { type Access, isHolder } from '../access/access.ts';
import {
  decideAlone,
  type SubmissionTypeUpdates,
  type Update,
  type UpdateOutcome,
} from './submission-type-updates.ts';

/**
 * Write-through: the practice software is asked before a partner's change of a submission type is made.
 *
 *   Change       what one update sets, under an ID of its own.
 *   Proposal     a row in `proposals`: the change may have reached the software, and is neither made nor withdrawn. A submission type has at
 *                most one, on all nodes together.
 *   Withdrawal   the event `change.withdrawn`, delivered until the software takes it: the change was not made.
 *   Outstanding  a withdrawal that the software has not taken yet.
 *   Turn         one pass through steps 1 to 3. An update has up to 30 turns, 100 ms apart.
 *
 * The protocol:
 *
 *   1. Check the caller's access as the door does. It may have ended while the update waited.
 *   2. Read the row and the address of the software, and decide. An update that is rejected or changes nothing is answered here.
 *   3. Insert the proposal. The same transaction then compares the versions of the row and of the address with the versions of step 2. If a
 *      version differs, or the submission type has another proposal or an outstanding withdrawal: next turn.
 *   4. Ask: POST `change.proposed`, signed, with the ID as `webhook-id`. If the connection is established more than 900 ms after
 *      step 3, the address may have changed. No byte is sent, and the proposal is deleted: next turn. 2xx: the software has applied the change,
 *      until it receives a withdrawal. 409 or 422, or no connection: it has not, and the proposal is deleted. Anything else: unknown, so step 6.
 *   5. Make the change: check the access again. Then one transaction deletes the proposal, writes the row, and appends the audit entry, which
 *      goes to the feed as applied. If the row has another version than in step 2, or a form or assignee is gone: step 6, next turn.
 *   6. Withdraw the change: one transaction deletes the proposal, reads the fields of the change as Porter holds them now, and queues the
 *      withdrawal with these values.
 *
 * An operator's PATCH, import or deletion waits for none of these steps. It raises the version of the row, so step 5 does not write over it. While
 * there is a proposal, it also does so when it changes nothing (`overruleProposals`).
 *
 * A crash leaves behind:
 *
 *   before 3 commits      nothing.
 *   between 3 and 5 or 6  the proposal. A worker withdraws it 20 s after step 3 (`withdrawLate`), whether the software was asked or not.
 *   after 5 commits       the change, although the partner may receive no response.
 *   after 6 commits       the withdrawal in the queue of the delivery engine.
 *   of the software       no response, so step 6. It answers an ID that it knows as it did before, and a withdrawn one with 409.
 *
 * Guarantees, if the software does what docs/operating/practice-software.md asks of it:
 *
 *   1. A change is made or withdrawn, never both: steps 5 and 6 both begin by deleting the proposal.
 *   2. Each change that the software has applied ends in the feed as applied, or is withdrawn.
 *   3. The software is asked about a state that Porter held when the proposal was inserted, and only if no withdrawal of it is outstanding.
 *   4. The software and Porter are equal once nothing is proposed or outstanding, whatever order nodes, partners and operators acted in.
 *   5. No other practice group waits. Within one, a node asks for one update at a time, and partners take turns. While the circuit of
 *      the software is open, updates are answered 503 at once.
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

/** A live node has made the change by then: asking has a time limit, and so has each statement. */
const LATE_MS = WRITE_THROUGH_MS + 15_000;
/** Of a practice group together, and of each partner; one of each partner may always wait. */
const WAITING_MAX = 32;
const WAITING_OF_PARTNER_MAX = 8;
/** Times that the software is asked for one update, if an operator changes the row or the address each time. */
const ASKS_MAX = 3;
/** An update waits up to 3 s for its turn: an earlier change is settled sooner, as a rule. */
const TURN_MS = 100;
const TURNS_MAX = 30;
const SENTENCE_MAX = 500;
/** A PUT or DELETE of the setting is answered 1,010 ms after its commit (`settle`). No byte leaves for the old URL after that. */
const ADDRESS_VALID_MS = 900;
/** What the caller is told: neither this service nor the request is at fault. */
const SOFTWARE_AWAY = {
  told: 'The software of the practice, which is asked before this is changed, does not answer. Retry after the seconds in Retry-After.',
};
const SOFTWARE_BUSY = {
  told: 'Too many changes wait for the software of the practice. Retry after the seconds in Retry-After.',
};
const UNSETTLED = {
  told: 'An earlier change of this submission type is not settled with the software of the practice yet. Retry after the seconds in Retry-After.',
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
    const { db, clock } = this.#options;
    let asks = 0;
    for (let turn = 1; turn <= TURNS_MAX; turn++) {
      const refusal = await this.#refusalOf(update);
      if (refusal) return refusal;
      const now = clock.now();
      const decided = await transact(db, update.principal, (tx) => decideAlone(tx, update, now));
      if ('outcome' in decided) return decided.outcome;
      if (asks === ASKS_MAX) return new Outage('others change the submission type at the same time');
      const asked = await findAsked(db, update.principal.group.id);
      if (!asked) return new Outage('changes of this practice group are not written through any more');
      if (group.breaker.room(clock.monotonic()) === 0)
        return new Outage('the practice software is away', SOFTWARE_AWAY);
      const proposal = this.#proposalOf(update, asked, decided, now);
      const decidedOn = { rowVersion: decided.version, webhookVersion: asked.version };
      const monotonic = () => clock.monotonic();
      const proposedAt = await propose(db, proposal, decidedOn, LATE_MS, monotonic);
      if (proposedAt === undefined) {
        // The practice software may be back: it receives the withdrawals that it has not received yet.
        if (turn === 1) await transact(db, SYSTEM, (tx) => hurryUntold(tx, databaseTime(clock), asked.no));
        await clock.sleep(TURN_MS);
        continue;
      }
      asks++;
      const rejected = await this.#ask(asked, proposal, proposedAt, group);
      if (rejected === 'stale') continue;
      if (rejected) return rejected;
      const made = await this.#make(update, proposal, decided.write);
      if (made) return made;
    }
    return new Outage('an earlier change is not settled yet', UNSETTLED);
  }

  #proposalOf(
    { id: objectId, principal, requestId }: Update,
    asked: Destination,
    { before, after }: { before: unknown; after: unknown },
    now: number,
  ): Proposal {
    const id = newId('chg', now, this.#options.random);
    const { group, holder } = principal;
    return {
      id,
      practice_group_id: group.id,
      object_id: objectId,
      webhook_no: asked.no,
      partner_id: holder.partnerId,
      payload: {
        id,
        kind: 'submission_type',
        practice_group_id: group.id,
        object_id: objectId,
        before,
        after,
        partner_id: holder.partnerId,
        key_id: holder.keyId,
        request_id: requestId,
        at: new Date(now).toISOString(),
      },
    };
  }

  /** Makes the change that the practice software has applied. Undefined: it could not be made on the row as it is now, and is withdrawn. */
  async #make(
    update: Update,
    { id }: Proposal,
    write: (tx: Transaction) => Promise<UpdateOutcome | undefined>,
  ): Promise<UpdateOutcome | undefined> {
    const refusal = await this.#refusalOf(update);
    if (refusal) {
      await this.#withdraw(id);
      return refusal;
    }
    try {
      const outcome = await transact(this.#options.db, update.principal, async (tx) => {
        if (!(await makeProposed(tx, id))) return new Outage('the change was withdrawn meanwhile');
        const written = await write(tx);
        // The rollback restores the proposal, which is withdrawn below.
        if (!written) throw new RowChanged();
        return written;
      });
      this.#options.changed();
      return outcome;
    } catch (error) {
      await this.#withdraw(id);
      if (error instanceof RowChanged) return undefined;
      throw error;
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

  /** Puts the change to the practice software. Undefined: it has applied it. `stale`: no byte was sent, and the change has to be decided again. */
  async #ask(
    asked: Destination,
    proposal: Proposal,
    proposedAt: number,
    group: Group,
  ): Promise<Error | 'stale' | undefined> {
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
    const isStale = () => clock.monotonic() - proposedAt >= ADDRESS_VALID_MS;
    const outcome = await egress.post({ url: asked.url, headers, body, isStale });
    if (outcome.failure?.code === 'stale') {
      group.breaker.cancel();
      await dropProposal(db, proposal.id);
      return 'stale';
    }
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
  return shortened(line, SENTENCE_MAX) || undefined;
}
