import { RATE_WINDOW_SECONDS, type Scope } from '../../contract/access.ts';
import {
  type CheckName,
  checkNames,
  type RequestCheck,
} from '../../contract/operator/oversight/request-explanation.ts';
import { type RefusalReason, refusalReasons } from '../../contract/partner/requests.ts';
import { type ProblemCode, problemCatalogue, validationEntry } from '../../contract/problems.ts';

/** The door's decision on a call, check by check, from what is kept of its refusal and from how its key and networks stand now. */

export interface RefusedCall {
  operation: string;
  error: ProblemCode | typeof validationEntry.code;
  reason: RefusalReason | null;
  /** The sentence of the answer, or of each problem that it told of. */
  messages: readonly string[];
  address: string | null;
  groupId: string | null;
  requiredScopes: readonly Scope[];
  key: {
    name: string;
    homeId: string;
    scopes: readonly Scope[];
    limitPerMinute: number;
    allowedAddresses: readonly string[] | null;
  } | null;
  isGroupKnown: boolean;
  /** Those that hold the key's group and the one acted for, and let its partner through; null scopes: all. */
  networks: readonly { name: string; scopes: readonly Scope[] | null }[];
  /** Of the partner by the practice, in force now. */
  stop: { by: string; since: string } | null;
}

const checkOf: Partial<Record<RefusedCall['error'], CheckName>> = {
  https_required: 'transport',
  payload_too_large: 'size',
  invalid_credentials: 'key',
  rate_limit_exceeded: 'rate',
  insufficient_permissions: 'scope',
  forbidden: 'network',
  validation_error: 'validation',
  unsupported_media_type: 'validation',
};

function refusedBy({ reason, error }: RefusedCall): CheckName {
  if (reason !== null) return reason === 'stopped_by_practice' ? 'network' : 'key';
  return checkOf[error] ?? 'operation';
}

export function explainCall(call: RefusedCall): RequestCheck[] {
  const refused = checkNames.indexOf(refusedBy(call));
  return checkNames.map((check, place) => {
    if (place > refused) return { check, outcome: 'not_reached', found: null, needed: null };
    if (place < refused) return { check, outcome: 'passed', found: passed[check](call), needed: null };
    return { check, outcome: 'refused', ...refusedWords[check](call) };
  });
}

const list = (names: readonly string[]) => (names.length === 0 ? 'none' : names.join(', '));
const isNowhere = ({ operation }: RefusedCall) => operation === 'none';
const nothingToAsk = 'No operation is at this address, so there was nothing to ask.';

function reachOf({ key, groupId, networks }: RefusedCall): string {
  if (groupId === null || groupId === key?.homeId) return 'It acts for the practice group of the key itself.';
  return `It reaches ${groupId} through ${list(networks.map(({ name }) => name))}.`;
}

const passed: Record<CheckName, (call: RefusedCall) => string> = {
  transport: () => 'The call came over HTTPS, or from the machine itself.',
  size: () => 'The body was within its limit.',
  key: ({ key }) => `The key${key ? ` ${key.name}` : ''} was known and valid.`,
  rate: ({ key }) => `It was within the limit${key ? ` of ${key.limitPerMinute} calls a minute` : ''}.`,
  scope: (call) =>
    isNowhere(call) ? nothingToAsk : `The operation needs ${list(call.requiredScopes)}; the key has it.`,
  network: (call) => (isNowhere(call) ? nothingToAsk : reachOf(call)),
  validation: (call) => (isNowhere(call) ? nothingToAsk : 'Path, query, headers and body were well-formed.'),
  operation: () => '',
};

type Words = Pick<RequestCheck, 'found' | 'needed'>;

const catalogueWords = ({ error, messages }: RefusedCall): Words => {
  const { remedy } = error === 'validation_error' ? validationEntry : problemCatalogue[error];
  return { found: list(messages), needed: remedy };
};

const refusedWords: Record<CheckName, (call: RefusedCall) => Words> = {
  transport: catalogueWords,
  size: catalogueWords,
  key: (call) => {
    const { reason, key, address } = call;
    if (reason === null) return catalogueWords(call);
    const [found, ...needed] = refusalReasons[reason].split(/(?<=\.) /);
    const allowed =
      reason === 'address_not_allowed' && key?.allowedAddresses
        ? `A call from ${list(key.allowedAddresses)}; it came from ${address}.`
        : needed.join(' ');
    return { found: found ?? null, needed: allowed || 'A key that works.' };
  },
  rate: ({ key }) => ({
    found: `There were more calls within ${RATE_WINDOW_SECONDS} seconds than the limit allows.`,
    needed: key
      ? `At most ${key.limitPerMinute} calls in any ${RATE_WINDOW_SECONDS} seconds.`
      : 'Fewer calls.',
  }),
  scope: ({ key, requiredScopes }) => ({
    found: `The key has ${list(key?.scopes ?? [])}.`,
    needed: `A key with ${list(requiredScopes)}.`,
  }),
  network: ({ reason, key, groupId, isGroupKnown, networks, requiredScopes, stop }) => {
    if (reason === 'stopped_by_practice')
      return {
        found: stop
          ? `The practice has stopped the partner: ${stop.by} did so at ${stop.since}.`
          : 'The practice had stopped the partner. That stop has been lifted since.',
        needed: 'That the practice, or an admin for it, lifts the stop.',
      };
    if (!isGroupKnown)
      return {
        found: `There is no practice group ${groupId}.`,
        needed: `The ID of a practice group that the key reaches${key ? `, such as ${key.homeId}` : ''}.`,
      };
    if (networks.length === 0)
      return {
        found: `The key is tied to ${key?.homeId}, and no network that holds ${groupId} too lets its partner through.`,
        needed: `A network with both practice groups, or a key of ${groupId} itself.`,
      };
    const grants = networks.map(({ name, scopes }) => `${name} (${scopes ? list(scopes) : 'everything'})`);
    return {
      found: `It reaches ${groupId} through ${list(grants)}.`,
      needed: `A network with both that grants ${list(requiredScopes)}.`,
    };
  },
  validation: catalogueWords,
  operation: catalogueWords,
};
