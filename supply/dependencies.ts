import { readFileSync } from 'node:fs';

/** What the lockfile says of the packages that Porter is made of. Nothing is asked over the network. */

const ROOT = new URL('../', import.meta.url);
const FOLDER = 'node_modules/';

export interface Dependency {
  /** Where it is installed, below the root. */
  path: string;
  name: string;
  version: string;
  /** As SPDX writes it; empty if the package says nothing. */
  license: string;
  /** `sha512-…`, as npm checks it. */
  integrity: string;
  /** `dev`: not installed with `--omit=dev`, so not in production. */
  use: 'required' | 'optional' | 'dev';
  /** Where each of those is installed that it needs itself. */
  needs: string[];
}

interface LockedPackage {
  version?: string;
  license?: string;
  integrity?: string;
  dev?: boolean;
  devOptional?: boolean;
  optional?: boolean;
  link?: boolean;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

export const readText = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8');

/** All that are installed, in the order of their paths. */
export function lockedDependencies(lock = readText('package-lock.json')): Dependency[] {
  const packages: Record<string, LockedPackage> = JSON.parse(lock).packages;
  return Object.entries(packages)
    .filter(([path, one]) => path.startsWith(FOLDER) && !one.link)
    .map(([path, one]) => ({
      path,
      name: path.slice(path.lastIndexOf(FOLDER) + FOLDER.length),
      version: one.version ?? '',
      license: one.license ?? '',
      integrity: one.integrity ?? '',
      use: useOf(one),
      needs: Object.keys({ ...one.dependencies, ...one.optionalDependencies }).flatMap((name) =>
        resolve(packages, path, name),
      ),
    }));
}

/** What `porter` itself needs, without what only development does. */
export function directDependencies(lock = readText('package-lock.json')): string[] {
  const packages: Record<string, LockedPackage> = JSON.parse(lock).packages;
  const { dependencies, optionalDependencies } = packages[''] ?? {};
  return Object.keys({ ...dependencies, ...optionalDependencies }).map((name) => FOLDER + name);
}

function useOf({ dev, devOptional, optional }: LockedPackage): Dependency['use'] {
  if (dev || devOptional) return 'dev';
  return optional ? 'optional' : 'required';
}

/** As Node looks for a package: in the folder of whoever asks, then in each one above. None: it is for another system. */
function resolve(packages: Record<string, LockedPackage>, from: string, name: string): string[] {
  for (let folder = from; ; ) {
    const path = `${folder && `${folder}/`}${FOLDER}${name}`;
    if (packages[path]) return [path];
    if (folder === '') return [];
    const above = folder.lastIndexOf(`/${FOLDER}`);
    folder = above < 0 ? '' : folder.slice(0, above);
  }
}
