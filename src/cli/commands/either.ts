import { UsageError } from '../exit.ts';

/** Commands that partners and operators share. */

export const asEither =
  'With the token of an operator it calls as an operator, and otherwise with your API key, for the practice group acted for.';

export const groupOption = {
  value: 'id',
  summary: 'The practice group to act for; for operators, the only one to list.',
} as const;

/** Rejects options that the partner API has no filter for. */
export function forOperators(options: Record<string, unknown>, names: readonly string[]): void {
  const given = names.find((name) => options[name] !== undefined);
  if (given !== undefined)
    throw new UsageError(
      `--${given} is for operators, and there is no operator token.`,
      'Leave it out, or set PORTER_OPERATOR_TOKEN.',
    );
}
