import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { actions } from '../../packages/console/src/screens/oversight/audit-words.ts';
import { changeStates } from '../../src/contract/partner/changes.ts';

/** The console has words for every action that the audit records: whoever looks for one finds it in the list. */

const sources = globSync('src/{domain,operations,runtime,store}/**/*.ts').map((path) =>
  readFileSync(path, 'utf8'),
);

/** What is recorded under its whole name. */
const whole = sources.flatMap((source) =>
  [...source.matchAll(/(?:\baction\b|\b(?:record\w*|audit\w*|changeKey)\(|REDACTION =)[^;]*;/g)].flatMap(
    ([call]) => [...call.matchAll(/'([a-z_]+\.[a-z-]+)'/g)].map(([, name]) => name ?? ''),
  ),
);

/** What is recorded by its last word: the file knows what it is done to. */
function shortened(subject: string, file: string, call: RegExp): string[] {
  const source = readFileSync(globSync(`src/operations/*/${file}.ts`)[0] as string, 'utf8');
  const words = [...source.matchAll(call)].flatMap(([text]) => [...text.matchAll(/'([a-z-]+)'/g)]);
  return words.map(([, word]) => `${subject}.${word}`);
}

const recorded = [
  ...whole,
  ...['webhooks', 'webhook-secrets', 'webhook-deliveries', 'test-events'].flatMap((file) =>
    shortened('webhook', file, /webhookRecord\(\w+, \w+(\(\w+\))?, '[a-z-]+'/g),
  ),
  ...shortened('subscription', 'subscriptions', /subscriptionRecord\(\w+, \w+, '[a-z-]+'/g),
  ...shortened('contact', 'contacts', /audit\(tx, \w+, \w+(\(\w+\))?, '[a-z-]+'/g),
  ...shortened('write_to_record_job', 'published-facts', /action: 'create'[^,]*,/g),
  ...shortened('partner', 'partners', /step\(app, [^;{]*;|action: '[a-z-]+' }/g),
  ...shortened('partner', 'agreements', /action: '[a-z-]+'/g),
  ...changeStates.filter((state) => state !== 'pending').map((state) => `change.${state}`),
];

test('there are words for every action that is recorded, and for no other', () => {
  expect(Object.keys(actions).sort()).toEqual([...new Set(recorded)].sort());
});
