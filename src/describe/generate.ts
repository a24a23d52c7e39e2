import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { webhookDocument } from './asyncapi.ts';
import { errorReference } from './error-reference.ts';
import { eventReference } from './event-reference.ts';
import { stripExtensions } from './extensions.ts';
import { hazardPage } from './hazards.ts';
import { limitsReference } from './limits-reference.ts';
import { operatorDocument, partnerDocument, portalDocument, practiceDocument } from './openapi.ts';
import { securityPage } from './security-standards.ts';
import { withSettingTables } from './settings-reference.ts';

/**
 * Writes the committed documents from the contract, or with `--check` only compares them, so that a change of the
 * contract without its documents cannot be merged.
 */
const root = resolve(import.meta.dirname, '../..');

const partner = partnerDocument();
const webhooks = webhookDocument();
const files: Record<string, string> = {
  'spec/openapi.json': asJson(partner),
  'spec/operator.openapi.json': asJson(operatorDocument()),
  'spec/portal.openapi.json': asJson(portalDocument()),
  'spec/practice.openapi.json': asJson(practiceDocument()),
  'spec/asyncapi.json': asJson(webhooks),
  'spec/specified/openapi.json': asJson(stripExtensions(partner)),
  'spec/specified/asyncapi.json': asJson(stripExtensions(webhooks)),
  'docs/reference/errors.md': errorReference(),
  'docs/reference/events.md': eventReference(),
  'docs/reference/limits.md': limitsReference(),
  'docs/operating/hazards.md': hazardPage(onDisk('docs/safety/hazards.json') ?? ''),
  'docs/operating/security-standards.md': securityPage(onDisk('docs/safety/security-standards.json') ?? ''),
  'docs/operating/settings.md': withSettingTables(onDisk('docs/operating/settings.md') ?? ''),
};

const drifted = Object.entries(files).filter(([path, text]) => onDisk(path) !== text);

if (process.argv.includes('--check')) {
  if (drifted.length > 0) {
    console.error('These files no longer say what the contract says:');
    for (const [path] of drifted) console.error(`  ${path}`);
    console.error('Run `npm run generate` and commit the result.');
    process.exitCode = 1;
  }
} else {
  for (const [path, text] of drifted) {
    const target = resolve(root, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
    console.log(`wrote ${path}`);
  }
}

function asJson(document: unknown): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

function onDisk(path: string): string | undefined {
  try {
    return readFileSync(resolve(root, path), 'utf8');
  } catch {
    return undefined;
  }
}
