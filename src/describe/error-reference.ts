import { ruleEntries } from '../contract/rules.ts';
import { errorEntries } from './error-catalogue.ts';
import { statusName } from './status-names.ts';

/** The catalogue as one Markdown page. */
export function errorReference(): string {
  const entries = errorEntries();
  return [
    '<!-- Made by `npm run generate` from src/contract/problems.ts. Change it there. -->',
    '',
    '# Errors',
    '',
    'Match on `error`, never on the sentence in `message`: a code keeps its status and its meaning, the wording may improve.',
    "Each answer's `doc_url` leads to a page with the same text.",
    '',
    '| Code | Status | Meaning |',
    '|---|---|---|',
    ...entries.map(
      ({ code, status, message }) =>
        `| [\`${code}\`](#${code}) | ${status} ${statusName(status)} | ${cell(message)} |`,
    ),
    ...entries.flatMap(({ code, status, message, cause, remedy, example }) => [
      '',
      `## ${code}`,
      '',
      `**${status} ${statusName(status)}.** ${message}`,
      '',
      `**Meaning:** ${cause}`,
      '',
      `**What to do:** ${remedy}`,
      '',
      '```json',
      JSON.stringify(example, null, 2),
      '```',
      ...(code === 'business_rule_violation' ? ruleTable : []),
    ]),
    '',
  ].join('\n');
}

const ruleTable = [
  '',
  'The rules, as `rule` names them. `path` leads to the field; in a list it begins with the place of the item.',
  '',
  '| Rule | Field | Message |',
  '|---|---|---|',
  ...ruleEntries.map(([name, { path, message }]) => `| \`${name}\` | \`${path}\` | ${cell(message)} |`),
];

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
