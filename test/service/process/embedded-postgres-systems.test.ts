import { execFileSync, spawnSync } from 'node:child_process';
import {
  chownSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findBinaries } from '../../../src/platform/postgres/binaries.ts';
import { namedUser } from '../../../src/platform/postgres/own-user.ts';
import { processesOfCluster } from '../../../src/platform/postgres/processes.ts';
import { linux, posix } from '../../../src/platform/postgres/system.ts';
import { temporaryFolder } from '../../support/afterwards.ts';
import { newDataDir, start } from '../../support/embedded-postgres.ts';

/** The seam between systems: what is used on macOS does here what /proc does. */

const CHECK_NODE = resolve(import.meta.dirname, '../../../supply/check-node.cjs');

describe('the way that needs no /proc', () => {
  it('knows a process by its arguments, and one that is not there by none', () => {
    const own = linux.commandLine(process.pid).join(' ').replaceAll(/ +/g, ' ');
    expect(posix.commandLine(process.pid).join(' ')).toBe(own);
    expect(posix.commandLines().get(process.pid)?.join(' ')).toBe(own);
    const { pid } = spawnSync('true');
    expect(posix.commandLine(pid)).toEqual([]);
  });

  it('finds all processes of a server', async () => {
    const dataDir = newDataDir();
    const server = await start(dataDir);
    const { dev, ino } = statSync(join(dataDir, 'postgres'), { bigint: true });
    const name = `porter-${dev.toString(36)}-${ino.toString(36)}`;
    const found = processesOfCluster(name, posix);
    expect(found.length).toBeGreaterThan(3);
    expect(found.toSorted()).toEqual(processesOfCluster(name, linux).toSorted());
    await server.stop();
    expect(processesOfCluster(name, posix)).toEqual([]);
  });

  it('has PostgreSQL take the folder that it is started in, and a password without a name', () => {
    const folder = temporaryFolder();
    const passwordFile = `${folder}.password`;
    writeFileSync(passwordFile, 'secret\n', { mode: 0o600 });
    const other = process.getuid?.() === 0 ? namedUser() : undefined;
    const runAs = other ?? {};
    if (other) for (const path of [folder, passwordFile]) chownSync(path, other.uid, other.gid);
    const descriptor = openSync(passwordFile, 'r');
    rmSync(passwordFile);
    const { initdb, postgres } = findBinaries();
    const options = [
      '--username=postgres',
      `--pwfile=${posix.thirdDescriptor}`,
      '--auth=scram-sha-256',
      '--locale=C',
    ];
    execFileSync(initdb, [...options, '-D', posix.dataFolder], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe', descriptor],
      ...runAs,
    });
    closeSync(descriptor);
    expect(existsSync(join(folder, 'PG_VERSION'))).toBe(true);
    const asked = ['-D', posix.dataFolder, '-c', 'cluster_name=there', '-C', 'cluster_name'];
    expect(execFileSync(postgres, asked, { cwd: folder, encoding: 'utf8', ...runAs })).toBe('there\n');
  });
});

it('npm start before npm ci says what to run', () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'supply'));
  copyFileSync(CHECK_NODE, join(folder, 'supply/check-node.cjs'));
  copyFileSync(resolve(CHECK_NODE, '../../package.json'), join(folder, 'package.json'));
  const { status, stderr } = spawnSync('npm', ['start', '--silent'], { cwd: folder, encoding: 'utf8' });
  expect([status, stderr]).toEqual([
    1,
    'The packages of Porter are not installed. Run npm ci first, then start Porter again.\n',
  ]);
});

it('a Node that is too old is told in one sentence', () => {
  const as = (version: string) =>
    spawnSync(process.execPath, [
      '-e',
      `Object.defineProperty(process, 'versions', { value: { node: '${version}' } }); require('${CHECK_NODE}')`,
    ]);
  expect(as('22.9.0')).toMatchObject({ status: 1 });
  expect(String(as('22.9.0').stderr)).toMatch(/^Porter needs Node 24 or later, .*start Porter again\.\n$/);
  expect(as('24.0.0')).toMatchObject({ status: 0 });
});
