import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../support/afterwards.ts';
import { makeWorld, startHarness } from '../support/service.ts';

/** Judged by others: Debian's testssl.sh, which .ci/run installs. Where it is missing, this fails. */

const run = promisify(execFile);

interface Finding {
  id: string;
  severity: 'OK' | 'INFO' | 'LOW' | 'MEDIUM' | 'HIGH' | 'CRITICAL' | 'WARN' | 'FATAL' | 'DEBUG';
  finding: string;
}

/** As an operator would get it: from an authority, for a name, for 90 days. */
async function makeCertificate(folder: string): Promise<{ ca: string; cert: string; key: string }> {
  const [ca, caKey, cert, key, request, extensions] = [
    ...['ca.pem', 'ca-key.pem', 'cert.pem', 'key.pem', 'request.pem', 'extensions'],
  ].map((name) => join(folder, name)) as [string, string, string, string, string, string];
  const openssl = (...args: string[]) => run('openssl', args);
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const authority = [
    '-addext',
    'keyUsage=critical,keyCertSign,cRLSign',
    '-subj',
    '/CN=Authority/O=Test/C=GB',
  ];
  await openssl('req', '-x509', ...newKey, '-keyout', caKey, '-out', ca, '-days', '365', ...authority);
  await openssl('req', ...newKey, '-keyout', key, '-out', request, '-subj', '/CN=localhost');
  writeFileSync(
    extensions,
    [
      'subjectAltName=DNS:localhost,IP:127.0.0.1',
      'keyUsage=critical,digitalSignature',
      'extendedKeyUsage=serverAuth',
      'basicConstraints=critical,CA:FALSE',
      'crlDistributionPoints=URI:http://authority.example/list.crl',
      'authorityInfoAccess=OCSP;URI:http://authority.example',
    ].join('\n'),
  );
  const signed = ['-CA', ca, '-CAkey', caKey, '-CAcreateserial', '-days', '90', '-extfile', extensions];
  await openssl('x509', '-req', '-in', request, '-out', cert, ...signed);
  return { ca, cert, key };
}

it('testssl.sh finds nothing above low in the TLS of the service', async () => {
  const folder = temporaryFolder();
  const { ca, cert, key } = await makeCertificate(folder);
  const house = await startHarness({ env: { PORTER_TLS_CERT: cert, PORTER_TLS_KEY: key } });
  const report = join(folder, 'report.json');
  // (Of `/docs` it would say that answers are compressed, from which BREACH guesses secrets. Those pages are the same for everybody,
  // hold none, and repeat nothing of the request; the answers of the API are never compressed.)
  const url = `https://localhost:${new URL(house.url).port}`;
  const options = ['--quiet', '--warnings', 'off', '--color', '0', '--nodns', 'none', '--ip', '127.0.0.1'];
  // Its exit code counts findings of every kind; the report tells them apart.
  const { stdout } = await run('testssl', [...options, '--add-ca', ca, '--jsonfile', report, url], {
    maxBuffer: 1 << 26,
  }).catch((error: { stdout?: string; code?: unknown }) => {
    if (typeof error.code !== 'number') throw error;
    return { stdout: error.stdout ?? '' };
  });
  const findings: Finding[] = JSON.parse(readFileSync(report, 'utf8'));
  expect(findings.length, stdout).toBeGreaterThan(100);
  const told = (...severities: Finding['severity'][]) =>
    findings
      // That it has no ciphers of GOST at hand says nothing about the service.
      .filter(({ id }) => id !== 'engine_problem')
      .filter(({ severity }) => severities.includes(severity))
      .map(({ id, severity, finding }) => `${severity} ${id}: ${finding}`);
  // WARN: a check that could not be made, on a machine that is too busy, say.
  console.log(`testssl.sh: ${findings.length} findings, of them:\n${told('LOW', 'WARN').join('\n')}`);
  expect(told('MEDIUM', 'HIGH', 'CRITICAL', 'FATAL'), stdout).toEqual([]);
  // It went on serving meanwhile.
  expect((await makeWorld(house)).key).toMatch(/^ptr_test_/);
});
