import type { ItemProblem } from '../contract/operator/item-problem.ts';
import { type Problem, type ProblemDetails, validationEntry } from '../contract/problems.ts';
import type { ValidationEntry } from '../contract/validate.ts';

/** Keep the problem of one item below 32 KiB, whatever the item holds: names of unknown fields stand in paths. */
const ENTRIES_MAX = 20;
const STEPS_MAX = 8;
const STEP_LENGTH_MAX = 100;

const shortened = (step: string | number) =>
  typeof step === 'string' && step.length > STEP_LENGTH_MAX ? `${step.slice(0, STEP_LENGTH_MAX)}…` : step;

const moreEntries = (count: number) => (count > 0 ? { more_entries: count } : {});

/** For an answer to a thousand items. The entries of the items that come after are only counted. */
const ANSWER_ENTRIES_MAX = 1_000;

export function withFewEntries<O extends { problem?: ItemProblem | undefined }>(outcomes: readonly O[]): O[] {
  let left = ANSWER_ENTRIES_MAX;
  return outcomes.map((outcome) => {
    if (!outcome.problem?.entries) return outcome;
    const { entries, more_entries = 0, ...problem } = outcome.problem;
    left -= entries.length;
    if (left >= 0) return outcome;
    return { ...outcome, problem: { ...problem, ...moreEntries(entries.length + more_entries) } };
  });
}

export function refused(
  problem: Problem | ValidationEntry[],
  noun: 'item' | 'event' = 'item',
): { outcome: 'refused'; problem: ItemProblem } {
  if (Array.isArray(problem)) {
    const message = `The ${noun} is not valid. Correct what the entries name, and send it again.`;
    const entries = problem
      .slice(0, ENTRIES_MAX)
      .map((entry) => ({ ...entry, path: entry.path.slice(0, STEPS_MAX).map(shortened) }));
    const more = moreEntries(problem.length - entries.length);
    return { outcome: 'refused', problem: { error: validationEntry.code, message, entries, ...more } };
  }
  const { rule, path, used_by }: ProblemDetails = problem.details;
  return {
    outcome: 'refused',
    problem: {
      error: problem.code,
      message: problem.message,
      ...(rule !== undefined && { rule }),
      ...(path !== undefined && { path: [...path] }),
      ...(used_by !== undefined && {
        used_by: used_by.map(({ ids, ...use }) => ({ ...use, ids: [...ids] })),
      }),
    },
  };
}
