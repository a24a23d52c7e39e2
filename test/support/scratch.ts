import { existsSync, readFileSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

const MEMORY = '/dev/shm';
/** A run of all tests has up to a gigabyte there at a time. */
const ROOM_BYTES = 4 * 2 ** 30;

/**
 * A database is some seven hundred files, and the tests make and throw away as many databases. On a disk that has just lost as many files, making one
 * takes PostgreSQL up to 190 ms (ext4 goes past what was removed in the last minute), in memory 16. What is kept there outlives a killed process, as on
 * a disk. A container has too little of it, and `TMPDIR` says where else.
 */
export const isInMemory = !process.env.TMPDIR && hasRoom();

/** Where PostgreSQL keeps what the tests throw away. */
export const scratch = isInMemory ? MEMORY : tmpdir();

function hasRoom(): boolean {
  if (!existsSync(MEMORY) || !readFileSync('/proc/mounts', 'utf8').includes(` ${MEMORY} tmpfs `))
    return false;
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= ROOM_BYTES;
}
