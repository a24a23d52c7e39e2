import type { ApprovalKind, Environment, Role } from '../contract/access.ts';
import type { Answer, Endpoint, Input } from '../contract/endpoint.ts';
import type { Setting } from '../contract/operator/oversight/deployment.ts';
import type {
  OperatorPrincipal,
  PartnerPrincipal,
  PortalPrincipal,
  PracticePrincipal,
  Principal,
} from '../domain/access/principal.ts';
import { type RandomBytes, randomBase62 } from '../domain/ids.ts';
import type { Bell } from '../platform/bell.ts';
import type { Clock } from '../platform/clock.ts';
import type { Targets } from '../platform/egress/ssrf-guard.ts';
import type { TryAddress } from '../platform/egress/try-address.ts';
import type { Oidc } from '../platform/oidc.ts';
import type { Sealer } from '../platform/sealing.ts';
import type { Semaphore } from '../platform/semaphore.ts';
import type { Signer } from '../platform/signer.ts';
import type { Access } from '../runtime/access/access.ts';
import type { Assertions } from '../runtime/access/assertions.ts';
import type { KeyUses } from '../runtime/access/key-uses.ts';
import type { Limits } from '../runtime/access/rate-limits.ts';
import type { Strangers } from '../runtime/access/strangers.ts';
import type { EventAcceptance } from '../runtime/events/event-acceptance.ts';
import type { OpenStreams } from '../runtime/events/event-streams.ts';
import type { ToKeep } from '../runtime/gathering.ts';
import type { AccessLog } from '../runtime/oversight/access-log.ts';
import type { AuditVerification } from '../runtime/oversight/audit-verification.ts';
import type { Figures } from '../runtime/oversight/figures.ts';
import type { Live } from '../runtime/oversight/live.ts';
import type { Refusals } from '../runtime/oversight/refusals.ts';
import type { Usage } from '../runtime/oversight/usage.ts';
import type { SubmissionTypeUpdates } from '../runtime/practices/submission-type-updates.ts';
import type { WriteThrough } from '../runtime/practices/write-through.ts';
import type { Database } from '../store/database.ts';
import type { HandOverPoint } from '../store/events/hand-over.ts';
import type { Retention } from '../store/oversight/retention.ts';
import type { GatheredOperations } from './gathered-calls.ts';

/** What this process is. */
export interface Deployment {
  nodeId: string;
  settings: readonly Setting[];
  /** What the console tells of where it is. */
  version: string;
  sign_in: 'token' | 'oidc';
  approvals: ApprovalKind[];
  support_contact: string;
}

/** What every operation works with. Time and randomness come in here, so that a test decides both. */
export interface App {
  db: Database;
  clock: Clock;
  random: RandomBytes;
  environment: Environment;
  /** The provider of OpenID Connect through which people come in; undefined: they sign in with tokens. */
  people:
    | {
        provider: Oidc;
        /** Whose values say which role somebody has. */
        rolesClaim: string;
        roles: ReadonlyMap<string, Role>;
      }
    | undefined;
  access: Access;
  /** An operation that would widen something throws `NeedsApproval`, and its caller asks a second person. */
  refusesWidening?: true;
  /** Of keys, of operators, and of people who were invited. */
  limits: { keys: Limits; operators: Limits; guests: Limits };
  /** Of those who have none. */
  strangers: Strangers;
  updates: SubmissionTypeUpdates;
  events: EventAcceptance;
  gathered: GatheredOperations;
  writeThrough: WriteThrough;
  refusals: Refusals;
  accessLog: AccessLog;
  assertions: Assertions;
  keyUses: KeyUses;
  usage: Usage;
  figures: Figures;
  /** Whether this deployment can tell which client certificate a call came with. */
  takesCertificates: boolean;
  streams: OpenStreams;
  /** What consoles are told of. */
  live: Live;
  deployment: Deployment;
  /** Whether anybody is mailed. */
  sendsMail: boolean;
  /** A replay is many transactions, each of which waits for the queue of its webhook: the other calls need connections too. Partners take turns. */
  replays: Semaphore;
  /** Seals the secrets of webhooks. */
  sealer: Sealer;
  /** Signs the anchors of the audit. */
  signer: Signer;
  auditVerification: AuditVerification;
  webhookTargets: Targets;
  tryAddress: TryAddress;
  /** The same for webhooks of the operator's own. */
  operatorTargets: Targets;
  /** Rings when a partner has changed something on this node: whoever places changes in their feed need not wait until it looks. */
  newChanges: Bell;
  /** Where the delivery engine of this node takes over events that are accepted here. */
  handOver: HandOverPoint;
  retention: Retention;
}

/** One authorised, validated call. */
type Call<E extends Endpoint, P> = Input<E> & {
  principal: P;
  requestId: string;
  /** Where the call stands in a trace, if anybody traces. */
  traceparent?: string | undefined;
  /** With an Idempotency-Key, where the answer is kept by whoever gathers the calls. */
  keep?: ToKeep | undefined;
};
export type PartnerCall<E extends Endpoint> = Call<E, PartnerPrincipal>;
export type OperatorCall<E extends Endpoint> = Call<E, OperatorPrincipal>;

/** An endpoint and the function that answers it. */
export interface Operation {
  (app: App, call: never): unknown;
  endpoint: Endpoint;
}

type PrincipalOf<E extends Endpoint> = E['access'] extends { roles: unknown }
  ? OperatorPrincipal
  : E['access'] extends { guests: 'partner' }
    ? PortalPrincipal
    : E['access'] extends { guests: 'practice' }
      ? PracticePrincipal
      : PartnerPrincipal;

/** Binds an endpoint to the function that answers it: a function that answers something else does not compile. */
export function operation<
  E extends Endpoint,
  R extends Answer<E> | Promise<Answer<E>>,
  More extends unknown[] = [],
>(endpoint: E, run: (app: App, call: Call<E, PrincipalOf<E>>, ...more: More) => R) {
  return Object.assign(run, { endpoint });
}

export function isOperation(value: unknown): value is Operation {
  return typeof value === 'function' && 'endpoint' in value;
}

/** Who did it and in which request: what an audit entry takes from the call. */
export interface Actor {
  principal: Principal;
  requestId: string | null;
}

/** Of a change: asked once its row is locked. Asked before, whoever waited would put `updated_at` back to before the change it waited for. */
export function nowIso(app: Pick<App, 'clock'>): string {
  return new Date(app.clock.now()).toISOString();
}

/** Of an audit entry that names an object of a patient. */
export function newSalt(app: Pick<App, 'random'>): string {
  return randomBase62(app.random, 22);
}
