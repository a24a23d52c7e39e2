import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { defineCommand } from '../../command.ts';
import { exitCodes, Failure, UsageError } from '../../exit.ts';
import { inLine } from '../../printer.ts';
import { type Captured, readHeaders, readRequest } from '../../verify/captured.ts';
import { diagnose } from '../../verify/diagnose.ts';
import { spoken } from '../../words.ts';
import { readStdin, type World } from '../../world.ts';

export const verifyCommand = defineCommand({
  name: 'verify',
  section: 'partner',
  calls: 'nobody',
  summary: 'Verify a request that you received, and learn why it fails.',
  details:
    'The request is a file as it came over the wire: request line, headers, an empty line, body (`-` or none: stdin). Or give its parts: --headers and --body as files, or --id, --timestamp and --signature with --body. The secret, or a public key of the service (`whpk_…`), is in WEBHOOK_SECRET. Ends with 0 if the request is genuine, with 1 if it is not.',
  arguments: [{ name: 'file', summary: 'A raw HTTP request; `-` is stdin.', optional: true }],
  options: {
    headers: { value: 'file', summary: 'Its headers, one on a line.' },
    body: { value: 'file', summary: 'Its body; `-` is stdin.' },
    id: { value: 'text', summary: 'Its webhook-id.' },
    timestamp: { value: 'text', summary: 'Its webhook-timestamp.' },
    signature: { value: 'text', summary: 'Its webhook-signature.' },
    at: { value: 'time', summary: 'When it arrived, such as 2026-11-14T08:00:00Z; now unless given.' },
  },
  examples: ['verify request.txt', 'verify --headers headers.txt --body body.json --at 2026-11-14T08:00:00Z'],
  async run({ args, options, out, world }) {
    const secret = world.env.WEBHOOK_SECRET;
    if (!secret) throw new UsageError('There is no secret to check with.', 'Set WEBHOOK_SECRET.');
    const now = options.at === undefined ? world.clock.now() : Date.parse(options.at);
    if (Number.isNaN(now))
      throw new UsageError(`--at: "${options.at}" is not a time.`, 'Write it like 2026-11-14T08:00:00Z.');
    const captured = await capture(world, args.file, options);

    const verdict = diagnose(captured, secret, Math.floor(now / 1000));
    out.document(verdict, () =>
      verdict.genuine
        ? `${out.paint('green', 'Genuine')}: signed with this secret ${age(verdict.age_seconds ?? 0)}.`
        : [
            out.paint('red', 'Not genuine.'),
            ...verdict.findings.map(
              ({ kind, message, remedy }) => `${inLine(`${message} [${kind}]`)}\n  ${inLine(remedy)}`,
            ),
          ].join('\n'),
    );
    return verdict.genuine ? exitCodes.ok : exitCodes.failed;
  },
});

function age(seconds: number): string {
  return seconds >= 0 ? `${spoken(seconds)} ago` : `${spoken(seconds)} ahead of this clock`;
}

type Parts = Record<'headers' | 'body' | 'id' | 'timestamp' | 'signature', string | undefined>;

async function capture(world: World, file: string | undefined, parts: Parts): Promise<Captured> {
  const { headers, body, id, timestamp, signature } = parts;
  const single = [
    ['webhook-id', id],
    ['webhook-timestamp', timestamp],
    ['webhook-signature', signature],
  ].filter((pair): pair is [string, string] => pair[1] !== undefined);
  const inParts = headers !== undefined || body !== undefined || single.length > 0;
  if (!inParts) {
    const request = readRequest(await read(world, file));
    if (request.headers.length > 0) return request;
    throw new UsageError(
      'This is not a request: expected headers, an empty line, the body.',
      'Save it as it came over the wire, or give its parts: porter verify --help',
    );
  }
  if (file !== undefined) throw new UsageError('Give either a whole request or its parts, not both.');
  if (headers === '-' && (body ?? '-') === '-')
    throw new UsageError('Headers and body cannot both come from stdin.', 'Put one of them into a file.');
  const lines = headers === undefined ? '' : (await read(world, headers)).toString();
  const others = readHeaders(lines).filter(([name]) => single.every(([own]) => own !== name.toLowerCase()));
  return { headers: [...others, ...single], body: await read(world, body) };
}

async function read(world: World, file: string | undefined): Promise<Buffer> {
  if (file !== undefined && file !== '-')
    return readFile(resolve(world.cwd, file)).catch((error: NodeJS.ErrnoException) => {
      throw new Failure(`${file} cannot be read (${error.code}).`, 'Check its name, and who may read it.');
    });
  if (world.stdin.isTTY) throw new UsageError('There is no request.', 'Name a file, or pipe it in.');
  return readStdin(world);
}
