import { UsageError } from '../exit.ts';

const LIMIT_DEFAULT = 100;

export const limitOption = {
  value: 'count',
  summary: `List at most so many; ${LIMIT_DEFAULT} unless given.`,
} as const;

export function limitOf(text: string | undefined): number {
  return text === undefined ? LIMIT_DEFAULT : wholeNumber(text, '--limit', 1);
}

export function wholeNumber(text: string, where: string, min: number): number {
  const value = Number(text);
  if (!/^\d{1,9}$/.test(text) || value < min)
    throw new UsageError(`${where}: "${text}" is not a whole number from ${min} on.`);
  return value;
}
