import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';

/** JSON that leaves byte for byte as it is stored: the payload of an event, a refusal as it was answered. */
export class Verbatim {
  readonly json: string;

  constructor(json: string) {
    this.json = json;
  }
}

/** The same, where any part of it may be such a text. */
export type WithVerbatim<T> =
  | Verbatim
  | (T extends readonly (infer Item)[]
      ? WithVerbatim<Item>[]
      : T extends object
        ? { [K in keyof T]: WithVerbatim<T[K]> }
        : T);

/**
 * The one way in which such texts get into an answer. It is written with them as they are, then read again and held against the
 * schema: what is not declared cannot leave the house, as in every other answer. What does not agree is a bug: a text was
 * stored that is not what the contract promises.
 */
export function verbatimText(schema: z.ZodType, body: unknown): string {
  const text = write(body);
  const value: unknown = JSON.parse(text);
  const { success, data, error } = schema.safeParse(value);
  // A schema passes over fields that it does not know, and leaves them out of what it makes.
  if (!success || !isDeepStrictEqual(data, value))
    throw new Error('a stored text is not what the contract declares', { cause: error });
  return text;
}

function write(value: unknown): string {
  if (value instanceof Verbatim) return value.json;
  if (Array.isArray(value)) return `[${value.map(write).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, part]) => `${JSON.stringify(name)}:${write(part)}`)
    .join()}}`;
}
