import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Block, ROOT, Stand } from './examples.ts';
import { clusterPids, freePort, type Porter, signal, startPorter, until } from './porter-process.ts';
import { createDatabase, OPERATOR_TOKEN } from './service.ts';

/** The demo world in a folder that looks like a fresh clone, where the examples of the pages run. */

export interface Surroundings {
  /** Holds what a clone holds, and `.porter`. */
  folder: string;
  /** What a person's terminal would have. */
  env: Record<string, string>;
  stand: Stand;
}

export interface Demo extends Surroundings {
  porter: Porter;
}

const NOT_IN_A_CLONE = ['.git', '.porter'];

/** With a PostgreSQL of its own where an example copies the data folder; otherwise on the one that all tests share. */
export async function startDemo({ embedded = false } = {}): Promise<Demo> {
  const folder = mkdtempSync(join(tmpdir(), 'porter-examples-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));
  for (const name of readdirSync(ROOT).filter((one) => !NOT_IN_A_CLONE.includes(one)))
    symlinkSync(join(ROOT, name), join(folder, name));
  const dataDir = join(folder, '.porter');
  const home = join(folder, 'home');
  mkdirSync(home);
  // A PostgreSQL of its own outlives a service that is killed.
  onTestFinished(() => {
    for (const pid of clusterPids(dataDir)) signal(pid, 'SIGKILL');
  });

  const [port, receiverPort, nobody] = [await freePort(), await freePort(), await freePort()];
  const database: Record<string, string> = embedded ? {} : { DATABASE_URL: await createDatabase() };
  const porter = await startPorter(port, { PORTER_DEMO: 'on', PORTER_DATA_DIR: dataDir, ...database });
  const key = readFileSync(join(dataDir, 'demo-key'), 'utf8');
  const stand = standFor({ port, receiverPort, nobody, key, token: OPERATOR_TOKEN });
  const env = {
    PATH: systemPath(),
    HOME: home,
    // The ports of the pages are taken by somebody, as a rule.
    PORTER_URL: porter.url,
    PORTER_PORT: String(port),
    ...database,
    PORT: String(receiverPort),
  };
  return { folder, porter, stand, env };
}

interface Known {
  port: number;
  receiverPort: number;
  /** A port where nobody listens. */
  nobody: number;
  key: string;
  token: string;
}

/** What the pages write for what only a run knows. */
export function standFor({ port, receiverPort, nobody, key, token }: Known): Stand {
  return new Stand({
    '127.0.0.1:8080': `127.0.0.1:${port}`,
    '127.0.0.1:3000': `127.0.0.1:${receiverPort}`,
    'localhost:3000': `localhost:${receiverPort}`,
    '127.0.0.1:3999': `127.0.0.1:${nobody}`,
    ptr_test_YOUR_KEY: key,
    ...(token && { pto_YOUR_TOKEN: token }),
  });
}

/** `npm test` puts the project's own programs first; whoever reads a page does not have them there. */
export function systemPath(): string {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.filter((folder) => !folder.includes('node_modules')).join(delimiter);
}

/** Where a command runs. */
type Place = Omit<Surroundings, 'stand'>;

export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

const RUN_MS = 120_000;

export async function run(command: string, args: string[], { folder, env }: Place): Promise<Ran> {
  const child = spawn(command, args, {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: RUN_MS,
  });
  const printed = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      printed[name] += text;
    });
  const [code] = (await once(child, 'close').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT')
      throw new Error(`The examples need ${command}, which is not installed here: see .ci/run.`);
    throw error;
  })) as [number | null];
  return { code, ...printed };
}

/** Runs a block to its end, as the page tells to. */
export async function runBlock(block: Block, demo: Surroundings): Promise<Ran> {
  const code = demo.stand.toReal(block.code);
  switch (block.language) {
    case 'sh':
      return run('sh', ['-ec', code], demo);
    case 'ts':
      return run(process.execPath, [saved(block, code, 'ts', demo)], demo);
    case 'python':
      return run('python3', [saved(block, code, 'py', demo)], demo);
    default:
      throw new Error(`Nobody knows how to run ${block.language}.`);
  }
}

function saved(block: Block, code: string, ending: string, { folder }: Place): string {
  const file = join(folder, `example-${block.line}.${ending}`);
  writeFileSync(file, code);
  return file;
}

/** A program that goes on, such as a receiver, while the next blocks run. */
export class Background {
  readonly #child: ChildProcess;
  #printed = '';
  #errors = '';
  #read = 0;

  constructor(code: string, { folder, env }: Place) {
    this.#child = spawn('sh', ['-ec', code], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    // A terminal shows both.
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.setEncoding('utf8').on('data', (given: string) => {
        // What `porter` says when something takes longer than a second.
        const text = given.replaceAll(/^(Connecting|Waiting for the service)…\n/gm, '');
        this.#printed += text;
        if (stream === this.#child.stderr) this.#errors += text;
      });
    onTestFinished(async () => void (await this.stop()));
  }

  /** As many lines as there are to be, once they are there. */
  async lines(count: number): Promise<string> {
    const unread = () => {
      while (this.#printed[this.#read] === '\n') this.#read++;
      return this.#printed.slice(this.#read).split('\n');
    };
    await until(
      () => `${count} lines of ${JSON.stringify(this.#printed.slice(this.#read))}`,
      () => unread().length > count || this.#hasEnded(),
    );
    const taken = unread().slice(0, count).join('\n');
    this.#read += taken.length + 1;
    return taken;
  }

  /** What it wrote to its second output, once that holds what is waited for. */
  async errors(holds: RegExp): Promise<string> {
    await until(
      () => `${holds} in ${this.#errors}`,
      () => holds.test(this.#errors) || this.#hasEnded(),
    );
    return this.#errors;
  }

  #hasEnded = () => this.#child.exitCode !== null || this.#child.signalCode !== null;

  /** Ctrl-C, which reaches whatever it started too. */
  async stop(): Promise<string> {
    if (!this.#hasEnded()) {
      const closed = once(this.#child, 'close');
      process.kill(-(this.#child.pid as number), 'SIGINT');
      await closed;
    }
    return this.#printed.slice(this.#read);
  }
}
