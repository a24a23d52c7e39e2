import { type ProblemCode, problemCatalogue } from '../../src/contract/problems.ts';

/** What is promised of every answer, whatever was asked. */

interface Seen {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer | string;
}

/** 408 and 431 come before there is a request; they have the shape of 400. */
const UNREADABLE = [400, 408, 431];
const ENTRY_FIELDS = ['code', 'expected', 'message', 'path'];
const PROBLEM_FIELDS = ['error', 'statusCode', 'message', 'request_id', 'doc_url'];
const EXTRA_FIELDS = [
  'required_scopes',
  'required_roles',
  'rule',
  'path',
  'retry_after',
  'resume_cursor',
  'used_by',
];
/** Words of the inside that no caller may ever read. */
const LEAK = /node_modules|\/src\/|\bat [\w.]+ \(|SELECT |INSERT |UPDATE |postgres:\/\/|ptr_(live|test)_\w/;

/** Everything about an answer that is not as promised; empty when all is well. */
export function faultsOf({ status, headers, body }: Seen, { bodiless = false } = {}): string[] {
  const faults: string[] = [];
  const text = body.toString();
  const requestId = headers['x-request-id'];
  if (typeof requestId !== 'string' || requestId === '') faults.push('no x-request-id');
  if (status >= 500) faults.push(`status ${status}`);
  if (bodiless || status === 204) {
    if (text !== '') faults.push('a body where none may be');
    return faults;
  }
  if (status < 400) return faults;
  if (LEAK.test(text)) faults.push('the body tells of the inside');
  if (!String(headers['content-type']).startsWith('application/json'))
    faults.push('a refusal that is not JSON');

  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return [...faults, 'a body that is not JSON'];
  }
  return [
    ...faults,
    ...(UNREADABLE.includes(status)
      ? faultsOfValidation(parsed, status)
      : faultsOfProblem(parsed, status, String(requestId))),
  ];
}

function faultsOfValidation(body: unknown, status: number): string[] {
  const { error, statusCode, message, ...rest } = body as Record<string, unknown>;
  if (error !== true || statusCode !== status || Object.keys(rest).length > 0) return ['not the 400 body'];
  if (!Array.isArray(message) || message.length === 0) return ['a 400 without an entry'];
  const wrong = (message as Record<string, unknown>[]).filter(
    (entry) =>
      Object.keys(entry).sort().join() !== ENTRY_FIELDS.join() ||
      typeof entry.code !== 'string' ||
      typeof entry.expected !== 'string' ||
      typeof entry.message !== 'string' ||
      !Array.isArray(entry.path),
  );
  return wrong.map((entry) => `a 400 entry of the wrong shape: ${JSON.stringify(entry)}`);
}

function faultsOfProblem(body: unknown, status: number, requestId: string): string[] {
  const problem = body as Record<string, unknown>;
  const faults: string[] = [];
  if (PROBLEM_FIELDS.some((field) => !(field in problem))) faults.push('a problem without all its fields');
  const unknown = Object.keys(problem).filter(
    (field) => ![...PROBLEM_FIELDS, ...EXTRA_FIELDS].includes(field),
  );
  if (unknown.length > 0) faults.push(`unknown fields ${unknown}`);
  const code = problem.error as ProblemCode;
  if (problemCatalogue[code]?.status !== status) faults.push(`code ${code} with status ${status}`);
  if (problem.statusCode !== status) faults.push(`statusCode ${problem.statusCode} with status ${status}`);
  if (problem.request_id !== requestId) faults.push('request_id and x-request-id differ');
  if (!String(problem.doc_url).endsWith(`/docs/errors/${code}`)) faults.push('doc_url of another error');
  return faults;
}
