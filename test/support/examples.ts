import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'vitest';

/** The pages of the documentation, their code blocks, and how an answer that is shown compares with a real one. */

export const ROOT = resolve(import.meta.dirname, '../..');

export interface Block {
  /** Such as `docs/guides/rate-limits.md`. */
  page: string;
  /** Where its first line of code stands. */
  line: number;
  language: string;
  tab: string | undefined;
  /** What the block before it prints. */
  output: boolean;
  code: string;
}

/** Every page that people read, as opposed to those that are generated from the contract. */
export const pages = ['docs', 'docs/guides', 'docs/operating'].flatMap((folder) =>
  readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`),
);

export const textOf = (page: string) => readFileSync(join(ROOT, page), 'utf8');

const FENCE = /^```(\S+)([^\n]*)\n(.*?)^```$/gms;

export function blocksOf(page: string, text = textOf(page)): Block[] {
  return [...text.matchAll(FENCE)].map(({ index, 1: language = '', 2: attributes = '', 3: code = '' }) => ({
    page,
    line: text.slice(0, index).split('\n').length + 1,
    language,
    tab: /tab="([^"]*)"/.exec(attributes)?.[1],
    output: /(^|\s)output(\s|$)/.test(attributes),
    code,
  }));
}

export const nameOf = ({ page, line, language }: Block) => `${page}:${line} (${language})`;

/**
 * What is different in every run. Where it is shown, something of the same kind must stand in the real answer, and
 * what was shown twice must be the same thing twice.
 */
const KINDS = {
  time: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/,
  key: /ptr_(?:test|live)_[0-9A-Za-z]{38}/,
  ending: /ptr_(?:test|live)_…[0-9A-Za-z]{4}/,
  token: /pto_[0-9A-Za-z]{40}/,
  secret: /whsec_[0-9A-Za-z+/]{43}=/,
  id: /dlv_[0-9A-Za-z]{25}_\d+_[0-9A-Za-z]{9}|(?:agr|alt|apv|evt|fs|grp|inv|key|nde|net|ntf|opr|prt|psn|ses|sgk|st|stp|test|wh|wtr)_[0-9A-Za-z]{25}/,
  request: /req_[0-9A-Za-z_-]{12}[0-9a-z]{6}/,
  hash: /\b[0-9a-f]{64}\b/,
  seconds: /(?<=;t=)\d+/,
  cursor: /(?<=^id: )\S+$/,
  duration: /\b\d+ m?s\b/,
} as const;

const VARIES = new RegExp(
  Object.entries(KINDS)
    .map(([name, { source }]) => `(?<${name}>${source})`)
    .join('|'),
  'gm',
);

/** Kinds that lead from one call to the next: a later block that names the one shown means the real one. */
const REFERS = ['id', 'secret', 'key', 'token', 'request', 'cursor'];

interface Varying {
  kind: string;
  text: string;
}

function masked(text: string): { text: string; found: Varying[] } {
  const found: Varying[] = [];
  const replaced = text.replaceAll(VARIES, (match, ...rest) => {
    const groups = rest.at(-1) as Record<string, string | undefined>;
    const kind = Object.keys(groups).find((name) => groups[name] !== undefined) ?? '';
    const prefix = kind === 'id' ? match.slice(0, match.indexOf('_')) : '';
    found.push({ kind, text: match });
    return `<${kind}${prefix && ` ${prefix}`}>`;
  });
  return { text: replaced, found };
}

/** What stands in the page for what is real in this run. */
export class Stand {
  readonly #real = new Map<string, string>();

  constructor(known: Record<string, string>) {
    for (const [shown, real] of Object.entries(known)) this.#real.set(shown, real);
  }

  bind({ kind, text }: Varying, real: string): void {
    // What was known before stands there already as it really is.
    if ([...this.#real.values()].includes(text))
      throw new Error(`${this.toShown(text)} is shown where ${text} was before, but is ${real} here.`);
    // A cursor is short, and might be a part of something else.
    const uses = kind === 'cursor' ? ['cursor=', 'Last-Event-ID: '] : [''];
    for (const use of uses) this.#real.set(use + text, use + real);
  }

  /** Longest first, so that an address is not taken for a part of it. */
  #pairs(): [string, string][] {
    return [...this.#real].sort(([one], [other]) => other.length - one.length);
  }

  toReal(text: string): string {
    return this.#pairs().reduce((result, [shown, real]) => result.replaceAll(shown, real), text);
  }

  toShown(text: string): string {
    return this.#pairs().reduce((result, [shown, real]) => result.replaceAll(real, shown), text);
  }
}

/** Fails unless the real text is the one shown, apart from what varies. Learns what stands for what. */
export function compareText(shown: string, real: string, stand: Stand, where: string): void {
  const [one, other] = [masked(stand.toReal(shown).trim()), masked(real.trim())];
  expect(other.text, where).toBe(one.text);
  learn(one.found, other.found, stand);
}

export function compareJson(shown: unknown, real: unknown, stand: Stand, where: string): void {
  const [one, other] = [maskedJson(JSON.parse(stand.toReal(JSON.stringify(shown)))), maskedJson(real)];
  expect(other.value, where).toEqual(one.value);
  learn(one.found, other.found, stand);
}

function learn(shown: Varying[], real: Varying[], stand: Stand): void {
  shown.forEach((varying, at) => {
    const found = real[at]?.text;
    if (found !== undefined && found !== varying.text && REFERS.includes(varying.kind))
      stand.bind(varying, found);
  });
}

/** For writing the pages: what they show already keeps its name. */
export function learnJson(shown: unknown, real: unknown, stand: Stand, name = ''): void {
  if (typeof shown === 'object' && shown !== null && typeof real === 'object' && real !== null) {
    for (const [key, one] of Object.entries(shown)) learnJson(one, Reflect.get(real, key), stand, key);
  } else if (typeof shown === 'string' && typeof real === 'string') {
    learn(maskedJson(stand.toReal(shown), name).found, maskedJson(real, name).found, stand);
  }
}

export function learnText(shown: string, real: string, stand: Stand): void {
  learn(masked(stand.toReal(shown)).found, masked(real).found, stand);
}

/** Members are visited by name, so that the order in which they stand does not matter. */
function maskedJson(value: unknown, name = ''): { value: unknown; found: Varying[] } {
  if (Array.isArray(value)) {
    const parts = value.map((one) => maskedJson(one));
    return { value: parts.map((part) => part.value), found: parts.flatMap((part) => part.found) };
  }
  if (typeof value === 'object' && value !== null) {
    const parts = Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, one]) => [key, maskedJson(one, key)] as const);
    return {
      value: Object.fromEntries(parts.map(([key, part]) => [key, part.value])),
      found: parts.flatMap(([, part]) => part.found),
    };
  }
  if (name === 'next_cursor' && typeof value === 'string')
    return { value: '<cursor>', found: [{ kind: 'cursor', text: value }] };
  if (name === 'duration_ms' && typeof value === 'number') return { value: '<duration>', found: [] };
  if (name === 'last_four' && typeof value === 'string') return { value: '<last four>', found: [] };
  if (typeof value !== 'string') return { value, found: [] };
  const { text, found } = masked(value);
  return { value: text, found };
}

/** As many characters as the pages show without scrolling. */
const WIDTH = 76;

/** JSON as the pages show it: what fits on a line stands on one. */
export function prettyJson(value: unknown, indent = '', width = WIDTH): string {
  const line = oneLine(value);
  if (typeof value !== 'object' || value === null || indent.length + line.length <= width) return line;
  const inner = `${indent}  `;
  const parts = Array.isArray(value)
    ? value.map((one) => inner + prettyJson(one, inner, width))
    : Object.entries(value).map(
        ([key, one]) => `${inner}"${key}": ${prettyJson(one, inner, width - key.length - 4)}`,
      );
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${parts.join(',\n')}\n${indent}${close}`;
}

function oneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(oneLine).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const parts = Object.entries(value).map(([key, one]) => `"${key}": ${oneLine(one)}`);
  return parts.length > 0 ? `{ ${parts.join(', ')} }` : '{}';
}
