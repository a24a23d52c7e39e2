import { appendFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Endpoint } from '../../src/contract/endpoint.ts';
import { operatorEndpoints } from '../../src/contract/operator/index.ts';
import { partnerEndpoints } from '../../src/contract/partner/index.ts';
import { portalEndpoints } from '../../src/contract/portal/index.ts';
import { practiceEndpoints } from '../../src/contract/practice/index.ts';

/**
 * With `PORTER_RECORD_CALLS=<folder>` the tests leave their calls and the answers there, for a judge that looks at them later: each process
 * in a file of its own. Of calls that look alike a few are enough.
 */

interface Call {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | Buffer | null;
  answer: { status: number; headers: Record<string, string | string[] | undefined>; body: string };
}

export interface RecordedCall extends Call {
  /** Whose document describes it. */
  audience: 'partner' | 'operator' | 'portal' | 'practice';
  operationId: string;
  /** Base64; null: none, or that of a refused call or of a GET, which nobody looks at. */
  body: string | null;
}

const ALIKE_MAX = 2;
const folder = process.env.PORTER_RECORD_CALLS;
const seen = new Map<string, number>();

const shapesOf = (audience: RecordedCall['audience'], endpoints: Record<string, Endpoint>) =>
  Object.values(endpoints).map(({ operationId, method, path }) => ({
    audience,
    operationId,
    method,
    // Fixed addresses first: `/keys/bulk` is no ID.
    params: path.split('{').length,
    shape: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  }));

const byKey = [...shapesOf('partner', partnerEndpoints), ...shapesOf('operator', operatorEndpoints)];
const open = Object.entries<Endpoint>(partnerEndpoints).filter(([, endpoint]) => endpoint.portal);
/** A session is the way in of the console alone; with an operator's it calls what a token would. */
const bySession = [
  ...shapesOf('portal', { ...portalEndpoints, ...Object.fromEntries(open) }),
  ...shapesOf('practice', practiceEndpoints),
];
for (const shapes of [byKey, bySession]) shapes.sort((a, b) => a.params - b.params);

export function recordCall(call: Call): void {
  if (!folder) return;
  const shapes = call.headers.cookie === undefined ? byKey : bySession;
  const [path = ''] = call.path.split('?');
  const found = shapes.find(({ method, shape }) => method === call.method && shape.test(path));
  if (!found || !isReadable(path)) return;
  const { audience, operationId } = found;
  const alike = `${audience} ${operationId} ${call.answer.status} ${shapeOf(call.answer.body)}`;
  const before = seen.get(alike) ?? 0;
  seen.set(alike, before + 1);
  if (before >= ALIKE_MAX) return;
  const isKept = call.body !== null && call.answer.status < 400 && call.method !== 'GET';
  const body = isKept ? Buffer.from(call.body ?? '').toString('base64') : null;
  const recorded: RecordedCall = { ...call, audience, operationId, body };
  mkdirSync(folder, { recursive: true });
  appendFileSync(join(folder, `${process.pid}.ndjson`), `${JSON.stringify(recorded)}\n`);
}

function isReadable(path: string): boolean {
  try {
    return decodeURIComponent(path) !== '';
  } catch {
    return false;
  }
}

/** What is left of a JSON text without its values. */
const shapeOf = (body: string) => body.replaceAll(/: ?("(\\.|[^"\\])*"|-?\d[\d.e+-]*)/g, ':_');

export const recordedCalls = (from: string): RecordedCall[] =>
  readdirSync(from).flatMap((file) =>
    readFileSync(join(from, file), 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line)),
  );
