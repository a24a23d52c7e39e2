import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type EventName, events } from '../../../contract/events.ts';
import { withCommas } from '../../../contract/wording.ts';
import { newId } from '../../../domain/ids.ts';
import { defineCommand } from '../../command.ts';
import { Failure, Unreachable, UsageError } from '../../exit.ts';
import { inLine } from '../../printer.ts';
import { readStdin, type World } from '../../world.ts';

/** What one call takes: so many events, and so many bytes with something left over for the brackets. */
const BATCH_EVENTS_MAX = 1_000;
const BATCH_BYTES_MAX = 2 * 1024 * 1024 - 1_024;

const names = Object.keys(events) as EventName[];

const SHAPES = 'Write one event, an array of them, or {"events": […]}.';

export const eventCommands = [
  defineCommand({
    name: 'events publish',
    section: 'operator',
    calls: 'operator',
    summary: 'Publish events of practice groups.',
    details: `Takes one event from options, or a file (\`-\` or none: stdin) with one event, an array of them, or {"events": […]}. They are sent ${withCommas(BATCH_EVENTS_MAX)} at a time. A batch that was accepted before, with the same events in the same order, is not accepted twice: after a break, publish the same file again. To publish the same events once more, add --again; if that breaks off, go on with the --run that it names.`,
    arguments: [{ name: 'file', summary: 'JSON; `-` is stdin.', optional: true }],
    options: {
      event: { value: 'name', summary: 'Build one event with this name.', choices: names },
      id: { value: 'id', summary: 'The ID of the object that it is about, such as an appointment.' },
      group: { value: 'id', summary: 'The practice group concerned.' },
      'failure-reason': { value: 'text', summary: 'Why it failed, where the event is about a failure.' },
      code: { value: 'code', summary: 'The machine-readable failure code.' },
      resource: { value: 'type', summary: 'The resource type of a write-to-record event.' },
      'resource-id': { value: 'id', summary: 'The ID of that resource.' },
      again: { summary: 'Accept the events even if the same file was published before.' },
      run: { value: 'id', summary: 'Go on with a run that broke off.' },
    },
    examples: [
      'events publish --event appointment.confirmed --id apt_1 --group riverside-surgery',
      'events publish events.json',
    ],
    async run({ api, args, options, out, world }) {
      const given = checkedRun(options.run);
      const built = options.event === undefined ? undefined : oneEvent(options);
      if (built && args.file !== undefined) throw new UsageError('Give either a file or --event, not both.');
      const all = built ? [built] : await readEvents(world, args.file);
      const batches = batchesOf(all);
      const isMeant = options.again || built !== undefined;
      const run = given ?? (isMeant ? newId('run', world.clock.now(), world.random) : undefined);
      const keys = contentKeys(batches, run ?? 'file');
      if (options.again) out.note(`This is ${run}.`);

      const event_ids: string[] = [];
      let replayed = 0;
      const send = async () => {
        for (const [at, batch] of batches.entries()) {
          const { data, headers } = await api
            .operatorAnswer<{ event_ids: string[] }>('POST', '/events', {
              body: batch.length === 1 ? batch[0] : { events: batch },
              headers: { 'idempotency-key': keys[at] ?? '' },
            })
            .catch((error) => {
              if (batches.length > 1 || error instanceof Unreachable)
                out.note(brokenOff(event_ids.length, batch.length, all.length, run));
              throw error;
            });
          event_ids.push(...data.event_ids);
          if (headers.get('idempotent-replayed') === 'true') replayed += batch.length;
        }
      };
      await out.during(() => `Accepted ${event_ids.length} of ${all.length} events`, send());
      if (replayed > 0)
        out.note(
          `${replayed} of these were accepted before and are not sent again${run === undefined ? '; --again to mean it' : ''}.`,
        );
      out.document({ event_ids, replayed, ...(run !== undefined && { run }) }, () => {
        if (replayed > 0) return `Accepted ${event_ids.length - replayed} of ${event_ids.length} events now.`;
        return event_ids.length === 1
          ? inLine(`Accepted ${event_ids[0]}.`)
          : `Accepted ${event_ids.length} events.`;
      });
    },
  }),
];

function brokenOff(accepted: number, batch: number, total: number, run: string | undefined): string {
  const again = run === undefined ? 'Run it again' : `Run it again with --run ${run}`;
  return `Accepted ${accepted} of ${total} events; it broke off at events ${accepted + 1} to ${accepted + batch}. ${again} to go on: nothing is accepted twice.`;
}

function checkedRun(run: string | undefined): string | undefined {
  if (run !== undefined && !/^run_\w{1,64}$/.test(run))
    throw new UsageError(
      `--run: "${run}" is not a run.`,
      'It begins with run_ and was named when it broke off.',
    );
  return run;
}

function oneEvent(options: Record<string, string | string[] | boolean | undefined>): object {
  const { event, id, group, code, resource } = options;
  for (const [name, value] of [
    ['id', id],
    ['group', group],
  ])
    if (value === undefined) throw new UsageError(`--event needs --${name} as well.`);
  return {
    object: events[event as EventName].object,
    id,
    practice_group_id: group,
    event,
    failure_reason: options['failure-reason'],
    code,
    resource,
    resource_id: options['resource-id'],
  };
}

async function readEvents(world: World, file: string | undefined): Promise<unknown[]> {
  const text = file === undefined || file === '-' ? await readPiped(world) : await readText(world, file);
  const where = file === undefined || file === '-' ? 'stdin' : file;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Failure(`${where} is not JSON: ${(error as Error).message}`, SHAPES);
  }
  const list = Array.isArray(value) ? value : ((value as { events?: unknown } | null)?.events ?? [value]);
  if (!Array.isArray(list) || list.length === 0)
    throw new Failure(`There are no events in ${where}.`, SHAPES);
  return list;
}

async function readText({ cwd }: World, file: string): Promise<string> {
  return readFile(resolve(cwd, file), 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Failure(`${file} cannot be read (${error.code}).`, 'Check its name, and who may read it.');
  });
}

async function readPiped(world: World): Promise<string> {
  if (world.stdin.isTTY)
    throw new UsageError(
      'Give a file, pipe events in, or build one with --event.',
      'See `porter events publish --help`.',
    );
  return (await readStdin(world)).toString();
}

export function batchesOf(all: readonly unknown[]): unknown[][] {
  const batches: unknown[][] = [[]];
  let bytes = 0;
  for (const event of all) {
    const size = Buffer.byteLength(JSON.stringify(event)) + 1;
    const batch = batches.at(-1) as unknown[];
    if (batch.length > 0 && (batch.length === BATCH_EVENTS_MAX || bytes + size > BATCH_BYTES_MAX)) {
      batches.push([event]);
      bytes = size;
    } else {
      batch.push(event);
      bytes += size;
    }
  }
  return batches;
}

/**
 * A key for each batch that depends on its content, and on the run if one was asked for: after a break, or after a mistake in a later batch was mended,
 * the batches before it are known by their keys. Equal batches of one file are counted, so that each is accepted.
 */
export function contentKeys(batches: readonly unknown[][], run: string): string[] {
  const seen = new Map<string, number>();
  return batches.map((batch) => {
    const digest = hash('sha256', JSON.stringify(batch));
    const count = (seen.get(digest) ?? 0) + 1;
    seen.set(digest, count);
    return `${run}_${digest}_${count}`;
  });
}
