import { problemCatalogue, validationEntry } from '../contract/problems.ts';
import { problemExample, validationExample } from './examples/problem-examples.ts';
import { defaultServers } from './openapi.ts';

/** One entry of the catalogue as its readers see it, on the web page and in the reference. */
export interface ErrorEntry {
  code: string;
  status: number;
  message: string;
  cause: string;
  remedy: string;
  example: unknown;
}

export function errorEntries(): ErrorEntry[] {
  const problems = Object.entries(problemCatalogue).map(([code, { status, message, cause, remedy }]) => ({
    code,
    status,
    message,
    cause,
    remedy,
    example: problemExample(code as keyof typeof problemCatalogue, defaultServers.production),
  }));
  return [{ ...validationEntry, example: validationExample }, ...problems].sort(
    (a, b) => a.status - b.status,
  );
}
