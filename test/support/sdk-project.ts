import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

/** An empty project of a partner, into which the packed library is installed as it would be by anybody. */

const ROOT = resolve(import.meta.dirname, '../..');
const TSC = join(ROOT, 'node_modules/.bin/tsc');
const run = promisify(execFile);

interface Packed {
  size: number;
  unpackedSize: number;
  files: { path: string }[];
}

export interface Project {
  packed: Packed;
  /** Everything below node_modules after the installation. */
  installed: string[];
  write(name: string, code: string): string;
  /** What the compiler says; empty if it is content. */
  compile(files: string[], options: Record<string, unknown>): Promise<string>;
  run(file: string): Promise<string>;
  start(file: string, env?: Record<string, string>): Program;
  remove(): void;
}

export interface Program {
  /** Resolves with the first line that fits. */
  line(pattern: RegExp): Promise<string>;
  stop(): Promise<void>;
}

/** Packs a package and installs it into an empty project, without asking anybody over the network. */
export async function installPacked(
  name: string,
): Promise<{ folder: string } & Pick<Project, 'packed' | 'installed'>> {
  const folder = mkdtempSync(join(tmpdir(), `porter-${name}-`));
  const pack = ['pack', `./packages/${name}`, '--pack-destination', folder, '--json'];
  const { stdout } = await run('npm', pack, { cwd: ROOT });
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf('[\n')));
  // As the guide has it.
  await run('npm', ['init', '-y'], { cwd: folder });
  await run('npm', ['pkg', 'set', 'type=module'], { cwd: folder });
  await run('npm', ['install', '--offline', `./${packed.filename}`], { cwd: folder });
  const modules = join(folder, 'node_modules');
  const installed = readdirSync(modules)
    .filter((entry) => !entry.startsWith('.'))
    .flatMap((entry) => readdirSync(join(modules, entry)).map((inner) => `${entry}/${inner}`));
  return { folder, packed, installed };
}

/** What `npm publish` would do, and what it says that is not well with the package. */
export async function rehearsePublishing(name: string): Promise<string[]> {
  const { stderr } = await run(
    'npm',
    ['publish', '--dry-run', '--loglevel=warn', '--ignore-scripts', `./packages/${name}`],
    { cwd: ROOT },
  );
  return stderr
    .split('\n')
    .filter(
      (line) =>
        /npm (warn|error)/i.test(line) && !/(user|env) config|requires you to be logged in/.test(line),
    );
}

export async function makeProject(): Promise<Project> {
  const { folder, packed, installed } = await installPacked('sdk');
  const modules = join(folder, 'node_modules');
  for (const name of ['express', 'fastify', '@types/node', '@types/express']) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  }

  return {
    packed,
    installed,
    write(name, code) {
      writeFileSync(join(folder, name), code);
      return name;
    },
    async compile(files, options) {
      const compilerOptions = {
        strict: true,
        noEmit: true,
        target: 'es2022',
        module: 'nodenext',
        ...options,
      };
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
      return run(TSC, [], { cwd: folder }).then(
        () => '',
        (error: { stdout: string }) => error.stdout,
      );
    },
    async run(file) {
      return (await run(process.execPath, [file], { cwd: folder })).stdout;
    },
    start(file, env = {}) {
      const child = spawn(process.execPath, [file], { cwd: folder, env: { ...process.env, ...env } });
      return programOf(child);
    },
    remove() {
      if (existsSync(folder)) rmSync(folder, { recursive: true });
    },
  };
}

function programOf(child: ChildProcess): Program {
  const said: string[] = [];
  let listener = () => {};
  const hear = (stream: NodeJS.ReadableStream | null) =>
    stream &&
    createInterface(stream).on('line', (line) => {
      said.push(line);
      listener();
    });
  hear(child.stdout);
  hear(child.stderr);
  return {
    line: (pattern) =>
      new Promise((resolve, reject) => {
        listener = () => {
          const found = said.find((line) => pattern.test(line));
          if (found !== undefined) resolve(found);
        };
        listener();
        child.once('exit', () =>
          reject(new Error(`It ended without saying ${pattern}:\n${said.join('\n')}`)),
        );
      }),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill();
      await once(child, 'exit');
    },
  };
}
