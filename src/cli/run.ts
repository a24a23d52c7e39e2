import { Api } from './api.ts';
import type { Call, Command } from './command.ts';
import { type ConnectionFlags, connect } from './connection.ts';
import { exitCodes, Failure, stoppedCode } from './exit.ts';
import { helpText } from './help.ts';
import { parse } from './parse.ts';
import { Printer, paintFor, safeJson, visible } from './printer.ts';
import type { World } from './world.ts';

/** Runs one command line and resolves to its exit code. */
export async function run(
  argv: readonly string[],
  world: World,
  commands: readonly Command[],
): Promise<number> {
  const json = argv.includes('--json');
  try {
    return await dispatch(argv, world, commands);
  } catch (error) {
    if (world.stop.aborted) return stoppedCode(world.stop);
    report(error, json, world);
    return error instanceof Failure ? error.exitCode : exitCodes.failed;
  }
}

async function dispatch(
  argv: readonly string[],
  world: World,
  commands: readonly Command[],
): Promise<number> {
  const parsed = parse(argv, commands);
  const out = new Printer(world, parsed.json);
  if (parsed.kind === 'help') {
    const bold = (text: string) => out.paint('bold', text);
    const text = helpText(parsed.about, commands, bold);
    out.document({ help: text }, () => text);
    return exitCodes.ok;
  }
  const { command, args, options } = parsed;
  const api = new Api(world, out, () => connect(world, options as ConnectionFlags), command.name);
  const call = { args, options, world, out, api, commands } as Call;
  return (await command.run(call)) ?? exitCodes.ok;
}

function report(error: unknown, json: boolean, world: World): void {
  const { stderr } = world;
  if (!(error instanceof Failure)) {
    // A mistake of ours: the whole story helps whoever mends it.
    const story = String(error instanceof Error ? error.stack : error);
    stderr.write(
      `${json ? safeJson({ error: 'crashed', message: story }) : visible(`porter has failed: ${story}`)}\n`,
    );
    return;
  }
  if (json) {
    stderr.write(`${safeJson(error)}\n`);
    return;
  }
  const paint = paintFor(world, stderr);
  stderr.write(`${paint('red', 'Error:')} ${visible(error.message)}\n`);
  if (error.hint) stderr.write(`${visible(error.hint).replaceAll(/^/gm, '  ')}\n`);
}
