import { createHash } from 'node:crypto';
import { chownSync, lchownSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Whom PostgreSQL runs as when we are root, which it refuses. `nobody` is shared by whatever else has no user of its own, and could
 * then read the data and stop the server. So each data folder has a user ID that nothing else uses. It needs no name: the server asks for none.
 */

/** Above what systemd and containers give out, and what is left of that in a container that maps the usual 65,536. */
const ranges = [
  { first: 0x7001_0000, count: 0x0fff_0000 - 0x2_0000 },
  { first: 30_000, count: 30_000 },
];

/** The same for the same folder, as long as nobody takes it meanwhile. */
export function ownUserId(dataDir: string): number {
  const wish = createHash('sha256').update(dataDir).digest().readUInt32BE(0);
  const taken = new Set([...passwd().matchAll(/^[^:]*:[^:]*:(\d+):/gm)].map(([, uid]) => Number(uid)));
  const mapped = mappedIds();
  for (const { first, count } of ranges) {
    if (!mapped.some((range) => range.first <= first && first + count <= range.first + range.count)) continue;
    for (let step = 0; step <= taken.size; step++) {
      const uid = first + ((wish + step) % count);
      if (!taken.has(uid)) return uid;
    }
  }
  throw new Error(
    'PostgreSQL must not run as root, and this container maps no user IDs to choose one from: run Porter as another user, or set DATABASE_URL',
  );
}

/** `initdb` wants a user with a name. It runs for a second, in a folder that only root can enter, and what it made is then handed over. */
export function namedUser(): { uid: number; gid: number } {
  const entry = /^nobody:[^:]*:(\d+):(\d+):/m.exec(passwd());
  if (entry === null) {
    throw new Error(
      'PostgreSQL must not run as root, and there is no user `nobody` to set it up as: run Porter as another user',
    );
  }
  return { uid: Number(entry[1]), gid: Number(entry[2]) };
}

/** Everything below first, and the folder itself last: if we are interrupted, the next start sees that there is more to do. */
export function handOver(folder: string, uid: number): void {
  if (statSync(folder).uid === uid) return;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    lchownSync(join(entry.parentPath, entry.name), uid, uid);
  chownSync(folder, uid, uid);
}

function passwd(): string {
  return readFileSync('/etc/passwd', 'utf8');
}

/** Which IDs there are: in a container possibly few. */
function mappedIds(): { first: number; count: number }[] {
  return readFileSync('/proc/self/uid_map', 'utf8')
    .trim()
    .split('\n')
    .map((line) => {
      const [first = 0, , count = 0] = line.trim().split(/\s+/).map(Number);
      return { first, count };
    });
}
