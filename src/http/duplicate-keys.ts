import type { ValidationEntry } from '../contract/validate.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;

/** An object or an array that has begun and not ended. */
interface Level {
  /** Of an object: its fields so far. */
  names: Names | undefined;
  /** The name or the place of what is being read. */
  step: string | number;
}

/** More are not told, nor longer paths: of a body of 64 KiB they could make an answer of 100 MB. */
const TOLD_MAX = 100;
const TOLD_LENGTH_MAX = 16 * 1024;
const DEPTH_MAX = 32;

/** To look through a few is quicker than to hash them; a body of 64 KiB can have ten thousand. */
const FEW = 16;

class Names {
  readonly #few: string[] = [];
  #many: Set<string> | undefined;

  /** False when it was there. */
  add(name: string): boolean {
    if (this.#many) return this.#many.size < this.#many.add(name).size;
    if (this.#few.includes(name)) return false;
    this.#few.push(name);
    if (this.#few.length > FEW) this.#many = new Set(this.#few);
    return true;
  }
}

/**
 * The fields that an object in this text names again, up to a hundred. `JSON.parse` takes the last of them, others take the first: what one program
 * checks, another would do otherwise. The text must be JSON, as `JSON.parse` has found out. It is gone through once, in about the
 * time that `JSON.parse` takes. (To count the fields of what it made would take a third, but V8 13.6 at times reads a name that is
 * spelled with escapes as another one.)
 */
export function duplicateKeys(text: string): ValidationEntry[] {
  const found: ValidationEntry[] = [];
  const levels: Level[] = [];
  let level: Level | undefined;
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE: {
        const end = endOfString(text, at + 1);
        if (level?.names && isName(text, end + 1)) {
          const name = nameOf(text.slice(at + 1, end));
          level.step = name;
          if (!level.names.add(name)) {
            const path = levels.slice(0, DEPTH_MAX).map(({ step }) => step);
            length += path.join().length;
            // The first is told in any case.
            if (found.length > 0 && length > TOLD_LENGTH_MAX) return found;
            if (found.push(repeated(path)) === TOLD_MAX) return found;
          }
        }
        at = end;
        break;
      }
      case OPEN_OBJECT:
        level = { names: new Names(), step: '' };
        levels.push(level);
        break;
      case OPEN_ARRAY:
        level = { names: undefined, step: 0 };
        levels.push(level);
        break;
      case COMMA:
        if (typeof level?.step === 'number') level.step++;
        break;
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        levels.pop();
        level = levels.at(-1);
    }
  }
  return found;
}

/** Where the quote stands that ends it: one with an even number of backslashes before it. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start); ; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
}

/** In an object, a text before a colon is a name, and one that is not is a value. */
function isName(text: string, after: number): boolean {
  let at = after;
  while (text.charCodeAt(at) <= 0x20) at++;
  return text.charCodeAt(at) === COLON;
}

/** `"a"` and `"\u0061"` are one name. */
function nameOf(raw: string): string {
  return raw.includes('\\') ? JSON.parse(`"${raw}"`) : raw;
}

const repeated = (path: (string | number)[]): ValidationEntry => ({
  code: 'duplicate_key',
  expected: 'never',
  path,
  message: 'This field is sent more than once. Send it once.',
});
