import type { IncomingMessage } from 'node:http';
import { Problem, ValidationProblem } from '../contract/problems.ts';
import { malformed } from '../contract/validate.ts';

/**
 * Bodies are read whole before anything else is looked at, because of the order of checks: the size is judged before the key,
 * the media type and the JSON only after it, so that an unknown caller learns nothing about either.
 */

const NONE = Buffer.alloc(0);

function hasBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length'];
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/**
 * Reads at most `bytesMax`. A body that is larger is refused at once; Node discards what is still coming, so the
 * connection survives, and the server's request timeout bounds how long that may take.
 */
export async function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  if (!hasBody(request)) return NONE;
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) throw new Problem('payload_too_large');
  return new Promise((resolve, reject) => {
    let bytes: Buffer = NONE;
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      const start = size;
      size += chunk.length;
      if (size > bytesMax) {
        bytes = NONE;
        reject(new Problem('payload_too_large'));
      } else bytes = start === 0 ? chunk : appended(bytes, start, chunk);
    });
    request.on('end', () => resolve(bytes.subarray(0, size)));
    // Gone before the end: nobody is left to answer, but the promise must not hang, and it is not our fault.
    const gone = () => {
      if (!request.complete) reject(new ValidationProblem([malformed('The body ended early.')]));
    };
    request.on('error', gone);
    request.on('close', gone);
  });
}

/**
 * In one piece, which is made twice as large as needed when it is full: kept as they came, the chunks of a body that a stranger
 * sends byte by byte took 400 times its size.
 */
function appended(bytes: Buffer, size: number, chunk: Buffer): Buffer {
  let room = bytes;
  if (size + chunk.length > bytes.length) {
    room = Buffer.allocUnsafeSlow(2 * (size + chunk.length));
    bytes.copy(room, 0, 0, size);
  }
  chunk.copy(room, size);
  return room;
}

/** Any parameters, except a character set other than UTF-8. */
const JSON_TYPE = /^application\/json\s*(;(?!\s*charset\s*=\s*(?!"?utf-8"?\s*(;|$)))[^;]*)*$/i;
const decoder = new TextDecoder('utf-8', { fatal: true });

export function parseJson(request: IncomingMessage, body: Buffer): unknown {
  if (body.length === 0) throw new ValidationProblem([malformed('A JSON body is required.')]);
  const type = request.headers['content-type'];
  const encoding = request.headers['content-encoding'];
  if (!type || !JSON_TYPE.test(type) || (encoding !== undefined && encoding.toLowerCase() !== 'identity'))
    throw new Problem('unsupported_media_type');
  try {
    return JSON.parse(decoder.decode(body));
  } catch {
    throw new ValidationProblem([malformed('The body is not well-formed JSON in UTF-8.')]);
  }
}
