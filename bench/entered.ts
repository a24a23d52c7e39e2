import { readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'rolldown/parseAst';

/**
 * Records which functions of `src` run, in the order of their first call. A module hook adds one call to the body of each function before Node
 * loads it, so import this file before anything of the service. V8's own coverage knows what ran, but not in which order.
 */

export interface Entered {
  file: string;
  name: string;
  from: number;
  to: number;
}

interface Node {
  type: string;
  start: number;
  end: number;
  [key: string]: unknown;
}

const SRC = new URL('../src/', import.meta.url).href;

const known: Entered[] = [];
let order = new Set<number>();
Object.assign(globalThis, { __entered: (id: number) => order.add(id) });

/** The functions that ran since the last call of this function. */
export function takeEntered(): Entered[] {
  const taken = [...order].map((id) => known[id] as Entered);
  order = new Set();
  return taken;
}

registerHooks({
  load(url, context, next) {
    if (!url.startsWith(SRC) || !url.endsWith('.ts')) return next(url, context);
    const code = stripTypeScriptTypes(readFileSync(fileURLToPath(url), 'utf8'));
    return {
      format: 'module',
      shortCircuit: true,
      source: instrument(url.slice(SRC.length), code),
    };
  },
});

function instrument(file: string, code: string): string {
  const lineOf = linesOf(code);
  const insertions: [at: number, text: string][] = [];
  visit(parseAst(code) as unknown as Node, '', (node, name) => {
    const body = node.body as Node;
    const id = known.push({ file, name, from: lineOf(node.start), to: lineOf(node.end) }) - 1;
    if (body.type === 'BlockStatement') insertions.push([body.start + 1, `__entered(${id});`]);
    else insertions.push([body.start, `(__entered(${id}), `], [body.end, ')']);
  });
  // Two insertions at one place keep their order: the outer function opens first and closes last.
  const sorted = insertions
    .map((one, index) => ({ one, index }))
    .toSorted((a, b) => b.one[0] - a.one[0] || b.index - a.index);
  let text = code;
  for (const {
    one: [at, added],
  } of sorted)
    text = text.slice(0, at) + added + text.slice(at);
  return text;
}

function linesOf(code: string): (at: number) => number {
  const starts = [0];
  for (let at = code.indexOf('\n'); at >= 0; at = code.indexOf('\n', at + 1)) starts.push(at + 1);
  return (at) => starts.findLastIndex((start) => start <= at) + 1;
}

const FUNCTIONS = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'];

/** Calls `found` for each function with the best name that the code gives it. */
function visit(node: Node, name: string, found: (node: Node, name: string) => void): void {
  const id = node.id ?? node.key;
  const own = isNode(id) && typeof id.name === 'string' ? id.name : name;
  if (FUNCTIONS.includes(node.type) && isNode(node.body)) found(node, own || '(anonymous)');
  for (const [key, child] of Object.entries(node)) {
    if (key === 'id' || key === 'key') continue;
    for (const one of Array.isArray(child) ? child : [child]) if (isNode(one)) visit(one, own, found);
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';
}
