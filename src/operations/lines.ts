import { Problem } from '../contract/problems.ts';
import { refused } from '../domain/refused-item.ts';
import { Outage } from '../platform/outage.ts';

/** Processes a chunk of lines, and returns the lines of its outcomes. Lines may come for hours, so the caller's access is checked before each chunk. */
export async function answerChunk(
  { stillAdmitted }: { stillAdmitted: () => Promise<boolean> },
  process: () => Promise<readonly object[]>,
): Promise<string> {
  if (!(await stillAdmitted())) throw new Problem('invalid_credentials');
  return (await process()).map((outcome) => `${JSON.stringify(outcome)}\n`).join('');
}

/** The last line of a response that ends early: it says why, and has no index. An error that is no refusal is thrown again. */
export function lastLine(error: unknown): string {
  const problem = error instanceof Outage ? new Problem('service_unavailable') : error;
  if (!(problem instanceof Problem)) throw error;
  return `${JSON.stringify({ problem: refused(problem).problem })}\n`;
}
