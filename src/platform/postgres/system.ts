import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** What differs between the systems that the embedded PostgreSQL runs on. Everything else of it is the same on all of them. */
export interface System {
  /** For a program that is started in its data folder: that folder. */
  dataFolder: string;
  /** For a program that is given a file as its descriptor 3: that file. */
  thirdDescriptor: string;
  /** Whether root may have the server run as somebody else. */
  hasUsersToSpare: boolean;
  /** The process's arguments; empty when it does not exist, or is dead and only not yet waited for by its parent. */
  commandLine(pid: number): readonly string[];
  /** The arguments of each process. */
  commandLines(): Map<number, readonly string[]>;
}

export const linux: System = {
  // Leads there without asking for permission on the folders above: `spawn` enters the folder before it gives up root.
  dataFolder: '/proc/self/cwd',
  thirdDescriptor: '/proc/self/fd/3',
  hasUsersToSpare: true,
  commandLine(pid) {
    try {
      const text = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      return text === '' ? [] : text.replace(/\0$/, '').split('\0');
    } catch {
      return [];
    }
  },
  commandLines() {
    const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
    return new Map(pids.map((pid) => [pid, linux.commandLine(pid)]));
  },
};

/** By what POSIX has: for macOS, where there is no /proc. `ps` does not tell where an argument ends, so they are cut at blanks. */
export const posix: System = {
  dataFolder: '.',
  thirdDescriptor: '/dev/fd/3',
  hasUsersToSpare: false,
  commandLine: (pid) => argumentsIn(ps('-o', 'args=', '-p', String(pid))),
  // Of all at once: asking for one after the other takes a program each.
  commandLines() {
    const lines = ps('-A', '-o', 'pid=', '-o', 'args=').matchAll(/^ *(\d+) (.*)$/gm);
    return new Map([...lines].map(([, pid, text = '']) => [Number(pid), argumentsIn(text)]));
  },
};

function argumentsIn(line: string): string[] {
  const text = line.trim();
  // A dead one has its name in brackets.
  return text === '' || /^\(.*\)$|<defunct>$/.test(text) ? [] : text.split(/ +/);
}

function ps(...options: string[]): string {
  return (
    spawnSync('ps', ['-ww', ...options], { encoding: 'utf8', maxBuffer: Number.POSITIVE_INFINITY }).stdout ??
    ''
  );
}

export const system: System = process.platform === 'linux' ? linux : posix;
