import { submissionTypePatch, submissionTypeReadOnly } from '../contract/partner/submission-types.ts';
import { type ProblemCode, type ProblemDetails, problemCatalogue } from '../contract/problems.ts';
import { check, type ValidationEntry } from '../contract/validate.ts';
import type { Audience, Example } from './examples.ts';

export const REQUEST_ID_EXAMPLE = 'req_0VkQ3yXbTm1c8Zr4Hn6Lp2WsE';

const assigneePair: ProblemDetails = {
  rule: 'assignee_pair',
  path: ['assignee_type'],
  message: 'assignee_id and assignee_type are either both set or both null.',
};

const submissionTypeRules: ProblemDetails[] = [
  assigneePair,
  {
    rule: 'assignee_unknown',
    path: ['assignee_id'],
    message: 'This practice group has no assignee with that ID and type.',
  },
  { rule: 'form_unknown', path: ['form_id'], message: 'This practice group has no form with that ID.' },
  {
    rule: 'external_url_name_without_url',
    path: ['external_url_name'],
    message: 'A name for the external URL needs the external URL itself.',
  },
];

const partnerRules: ProblemDetails[] = [
  { rule: 'partner_unknown', path: ['partner_id'], message: 'There is no such partner.' },
  {
    rule: 'partner_not_verified',
    path: ['partner_id'],
    message: 'Keys are for verified partners; this one is applied.',
  },
];

const formRule = (rule: string, message: string): ProblemDetails => ({
  rule,
  path: ['submission_type_id'],
  message,
});

/** The rules that an operation can break, one example each. */
const ruleExamples: Record<string, ProblemDetails[]> = {
  updateSubmissionType: submissionTypeRules,
  createSubmissionType: submissionTypeRules,
  createNetwork: [
    {
      rule: 'practice_group_unknown',
      path: ['practice_group_ids'],
      message: 'There is no practice group pg_larkhil.',
    },
  ],
  issueKey: [
    ...partnerRules,
    {
      rule: 'practice_group_unknown',
      path: ['practice_group_id'],
      message: 'There is no such practice group.',
    },
    {
      rule: 'expiry_in_the_past',
      path: ['expires_at'],
      message: 'A key cannot expire before it is issued.',
    },
  ],
  rotateKey: partnerRules.slice(1),
  createFormSubmission: [
    formRule('submission_type_unknown', 'This practice group has no submission type with that ID.'),
    formRule('suspended', 'The submission type is suspended.'),
    formRule('outside_hours', 'The submission type takes nothing outside opening hours.'),
    formRule('daily_limit_reached', 'The submission type takes 40 forms a day, and they have been sent.'),
  ],
};

export function rulesOf(operationId: string): ProblemDetails[] {
  const rules = ruleExamples[operationId];
  if (!rules) throw new Error(`Show the rules of ${operationId} in src/describe/problem-examples.ts.`);
  return rules;
}

/** What some codes say beyond the catalogue. A code that is not here carries the five common fields only. */
const details: Partial<Record<ProblemCode, ProblemDetails>> = {
  insufficient_permissions: { required_scopes: ['submission-types:write'] },
  business_rule_violation: assigneePair,
  rate_limit_exceeded: { retry_after: 12 },
  service_unavailable: { retry_after: 1 },
};

/** Where an operator hears something else than a partner does. */
export const operatorDetails: Partial<Record<ProblemCode, ProblemDetails>> = {
  insufficient_permissions: {
    message: 'Your role does not allow this operation.',
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

function validationBody(message: ValidationEntry[]) {
  return { error: true, statusCode: 400, message };
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
