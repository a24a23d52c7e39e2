import { hash } from 'node:crypto';
import { type ItemKind, itemKinds } from '../../contract/operator/practices/import.ts';
import { digestedItems } from '../../contract/operator/practices/reconcile.ts';
import { check, type ValidationEntry } from '../../contract/validate.ts';
import { type ItemKey, itemKey, unknownKind } from './import.ts';

export interface Digested {
  key: ItemKey;
  digest: string;
}

/** Reads a line, or tells everything that is wrong with it. */
export function readDigested(value: unknown): Digested | ValidationEntry[] {
  const { kind } = (value ?? {}) as { kind?: unknown };
  if (!itemKinds.includes(kind as ItemKind)) return [unknownKind];
  const checked = check(digestedItems[kind as ItemKind], value);
  if (!checked.ok) return checked.problems;
  const item = checked.value;
  const groupId = item.kind === 'practice_group' ? item.id : item.practice_group_id;
  const key = itemKey(item.kind, groupId, item.kind === 'assignee' ? item.assignee_type : '', item.id);
  return { key, digest: item.digest };
}

/**
 * Which items were named, in 8 bytes for each and some more for the set, however long their names are. Two names share a number once in 2^52, and
 * then one that only Porter has is not told; the salt is another one each time, so that the next time it is.
 */
export class Named {
  readonly #salt: string;
  readonly #numbers = new Set<number>();

  constructor(salt: string) {
    this.#salt = salt;
  }

  get size(): number {
    return this.#numbers.size;
  }

  add(key: ItemKey): void {
    this.#numbers.add(this.#numberOf(key));
  }

  has(key: ItemKey): boolean {
    return this.#numbers.has(this.#numberOf(key));
  }

  #numberOf({ key }: ItemKey): number {
    return Number.parseInt(hash('sha256', `${this.#salt} ${key}`).slice(0, 13), 16);
  }
}
