import { problemCatalogue } from '../contract/problems.ts';
import { defaultServers } from './openapi.ts';
import { problemExample, validationExample } from './problem-examples.ts';

/** One entry of the catalogue as its readers see it, on the web page and in the reference. */
export interface ErrorEntry {
  code: string;
  status: number;
  message: string;
  cause: string;
  remedy: string;
  example: unknown;
}

/** The 400 has no code in its body; this name stands for it in addresses and lists. */
const validationEntry: ErrorEntry = {
  code: 'validation_error',
  status: 400,
  message: 'The request is not valid.',
  cause:
    'A field is missing, unknown, read only, of the wrong type or out of range, or the body is not JSON. Here `error` is true, and `message` has one entry for every problem found, each with `code`, `expected`, `path` and `message`.',
  remedy:
    'Go through the entries: `path` leads to the field, `expected` and `message` say what belongs there. An empty `path` means the body as a whole. Nothing was changed, so correct the request and send it again.',
  example: validationExample,
};

export function errorEntries(): ErrorEntry[] {
  const problems = Object.entries(problemCatalogue).map(([code, { status, message, cause, remedy }]) => ({
    code,
    status,
    message,
    cause,
    remedy,
    example: problemExample(code as keyof typeof problemCatalogue, defaultServers.production),
  }));
  return [validationEntry, ...problems].sort((a, b) => a.status - b.status);
}
