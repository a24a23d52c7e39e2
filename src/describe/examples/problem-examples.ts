import type { Endpoint } from '../../contract/endpoint.ts';
import { submissionTypePatch, submissionTypeReadOnly } from '../../contract/partner/submission-types.ts';
import {
  cappedByNetwork,
  PATH_UNKNOWN,
  type ProblemCode,
  type ProblemDetails,
  problemCatalogue,
  STOPPED_BY_PRACTICE,
  unknownKeys,
  unknownTokens,
  unreadable,
} from '../../contract/problems.ts';
import { ruleBroken } from '../../contract/rules.ts';
import { check, type ValidationEntry } from '../../contract/validate.ts';
import type { Audience, Example } from './examples.ts';

export const REQUEST_ID_EXAMPLE = 'req_0VkQ3yXbTm1c8Zr4Hn6Lp2WsE';

/** The rules that an operation can break, one example each. */
export function rulesOf({ operationId, rules: names }: Endpoint): ProblemDetails[] {
  if (!names?.length) throw new Error(`${operationId} answers 422: list its rules in the contract.`);
  return names.map((name) => ruleBroken(name).details);
}

/** What some codes say beyond the catalogue. A code that is not here carries the five common fields only. */
const details: Partial<Record<ProblemCode, ProblemDetails>> = {
  insufficient_permissions: { required_scopes: ['submission-types:write'] },
  business_rule_violation: ruleBroken('assignee_pair').details,
  rate_limit_exceeded: { retry_after: 12 },
  cursor_gone: { resume_cursor: 'WzQyLCIwLTE5YjJjM2Q0ZTVmLTlmODZkMDgxODg0YzdkNjUiXQ' },
};

/** Further reasons of a code that a partner meets, by the name of their example. */
export const furtherDetails: Partial<Record<ProblemCode, Record<string, ProblemDetails>>> = {
  invalid_credentials: Object.fromEntries(
    Object.entries(unknownKeys).map(([name, message]) => [`key_${name}`, { message }]),
  ),
  not_found: { path_unknown: { message: PATH_UNKNOWN } },
  forbidden: {
    stopped_by_practice: { message: STOPPED_BY_PRACTICE },
    capped_by_network: { message: cappedByNetwork(['submission-types:write']) },
  },
};

/** Where an operator hears something else than a partner does. */
export const operatorDetails: Partial<Record<ProblemCode, ProblemDetails>> = {
  invalid_credentials: { message: unknownTokens.refused },
  insufficient_permissions: {
    message: 'Your role does not allow this operation. Use a token with one of the required_roles.',
    required_roles: ['admin'],
  },
};

/** The body that a caller who meets this error receives. `origin` is the service's own address. */
export function problemExample(code: ProblemCode, origin: string, more = details[code] ?? {}) {
  const { message = problemCatalogue[code].message, ...extra } = more;
  return {
    error: code,
    statusCode: problemCatalogue[code].status,
    message,
    request_id: REQUEST_ID_EXAMPLE,
    doc_url: `${origin}/docs/errors/${code}`,
    ...extra,
  };
}

function validationBody(message: ValidationEntry[], statusCode = 400) {
  return { error: true, statusCode, message };
}

export function unreadableExample(status: keyof typeof unreadable) {
  const message = unreadable[status];
  return validationBody([{ code: 'invalid_http', expected: 'string', path: [], message }], status);
}

/** What the real check says, so that no example can promise a sentence that the service does not send. */
function refused(body: unknown) {
  const result = check(submissionTypePatch, body, submissionTypeReadOnly);
  return validationBody(result.ok ? [] : result.problems);
}

export const validationExample = refused({ title: 42, default_priority: 'urgent' });

export function validationExamples(audience: Audience): Record<string, Example> {
  return {
    wrong_type: { summary: 'Two fields at once: each has its own entry', value: validationExample },
    unknown_field: {
      summary: 'A misspelt field, and one that cannot be set',
      value: refused({ titel: 'Sick note', updated_at: null }),
      extension: true,
    },
    ...(audience === 'partner' && {
      missing_practice_group: {
        summary: 'No x-practice-group-id',
        value: validationBody([
          {
            code: 'invalid_type',
            expected: 'string',
            path: ['x-practice-group-id'],
            message: 'Send the ID of the practice group that you act for in the x-practice-group-id header.',
          },
        ]),
        extension: true,
      },
    }),
  };
}
